// The ladder of an operation: its kernels at one size, as steps from the baseline to the best.

/** Why a kernel has no time. */
function reason(kernel, machine) {
    const build = byId('variant').value.split(' ')[0];
    const wanted = {
        machine,
        operation: state.operation.name,
        workload: byId('workload').value,
        size: Number(byId('size').value),
        build,
        kernel,
    };
    const isWanted = skipped => Object.entries(wanted).every(([key, value]) => skipped[key] === value);
    return data.skipped.find(isWanted)?.reason ?? 'not measured';
}

/** What a kernel is. */
const sentence = kernel => [
    ...(kernel.like ? ['as ', html('code', {}, kernel.like), ': '] : []),
    kernel.summary,
    ...(kernel.claim === 'exact' ? [] : [html('em', {}, ' (observed, not proved)')]),
];

function drawLadder() {
    const chosen = chosenMachines();
    const size = Number(byId('size').value);
    const duels = chosen.map(machine => duelOf(machine, size));
    const rowOf = (kernel, i) => duels[i].find(row => row.kernel === kernel.name);
    // How much faster a step is than the one before it: null for the first, undefined for what is no step.
    const gainOf = (kernel, i) => rowOf(kernel, i)?.step;
    const isAll = byId('all-kernels').checked;
    const isStep = kernel => duels.some((_, i) => gainOf(kernel, i) !== undefined);
    const kernels = state.operation.kernels.filter(kernel => isAll || isStep(kernel));
    const rank = kernel => state.operation.kernels.indexOf(kernel);
    const ofMachine = (machine, i) => [
        {
            head: 'time',
            isNumber: true,
            value: kernel => rowOf(kernel, i)?.median_seconds,
            cell: kernel => {
                const row = rowOf(kernel, i);
                const isBest = row && best(duels[i]) === row;
                return row
                    ? html(isBest ? 'strong' : 'span', {}, time(row.median_seconds))
                    : html('span', { class: 'reason' }, reason(kernel.name, machine));
            },
        },
        {
            head: '× baseline',
            isNumber: true,
            value: kernel => rowOf(kernel, i)?.ratio,
            cell: kernel => {
                const row = rowOf(kernel, i);
                const noise = row && row.kernel !== row.baseline ? `±${percent(spread(row))}` : '';
                return row ? [digits(row.ratio), html('small', {}, noise)] : '';
            },
        },
        {
            head: '× best before',
            isNumber: true,
            value: kernel => gainOf(kernel, i),
            cell: kernel => (gainOf(kernel, i) ? digits(gainOf(kernel, i)) : '–'),
        },
    ];
    const table = sortedTable({
        label: `Kernels of ${state.operation.name}`,
        groups: chosen.length > 1 ? [['', 3], ...chosen.map(machine => [machineName(machine), 3])] : null,
        columns: [
            {
                head: isAll ? 'kernel' : 'step',
                value: rank,
                cell: kernel =>
                    kernelLink({ operation: state.operation.name, kernel: kernel.name, machine: chosen[0] }),
            },
            {
                head: 'what it is',
                class: 'wide',
                value: kernel => kernel.summary,
                cell: kernel =>
                    [
                        sentence(kernel),
                        duels.some(duel => bestPlain(duel)?.kernel === kernel.name)
                            ? html('em', {}, '; the best plain Rust')
                            : [],
                    ].flat(),
            },
            { head: 'technology', value: kernel => kernel.technology },
            ...chosen.flatMap(ofMachine),
        ],
    });
    table.show(kernels);
    byId('ladder').replaceChildren(table.element);
    const what = isAll
        ? 'all kernels, in the order of the list'
        : 'the kernels that beat all before them in the list by more than a tie, and the best in plain Rust';
    byId('ladder-caption').textContent = size > 0 ? `At ${grouped(size)}: ${what}.` : 'Not measured.';
}
