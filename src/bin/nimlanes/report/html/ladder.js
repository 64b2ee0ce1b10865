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
    kernel.summary,
    ...(kernel.claim === 'exact' ? [] : [html('em', {}, ' (observed, not proved)')]),
];

function drawLadder() {
    const chosen = chosenMachines();
    const size = Number(byId('size').value);
    const duels = chosen.map(machine => duelOf(machine, size));
    const rowOf = (kernel, i) => duels[i].find(row => row.kernel === kernel.name);
    const isAll = byId('all-kernels').checked;
    const isStep = kernel => duels.some((_, i) => rowOf(kernel, i)?.is_step);
    const kernels = state.operation.kernels.filter(kernel => isAll || isStep(kernel));
    const rank = kernel => state.operation.kernels.indexOf(kernel);
    const ofMachine = (machine, i) => [
        {
            head: 'time',
            isNumber: true,
            value: kernel => rowOf(kernel, i)?.time.value,
            cell: kernel => {
                const row = rowOf(kernel, i);
                return row
                    ? html(row.is_best ? 'strong' : 'span', { title: row.slow_mode }, row.time.text)
                    : html('span', { class: 'reason' }, reason(kernel.name, machine));
            },
        },
        {
            head: '× baseline',
            isNumber: true,
            value: kernel => rowOf(kernel, i)?.ratio.value,
            cell: kernel => {
                const row = rowOf(kernel, i);
                return row ? [row.ratio.text, html('small', {}, row.spread ?? '')] : '';
            },
        },
        numberColumn('× best before', 'gain', kernel => rowOf(kernel, i)),
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
                        duels.some((_, i) => rowOf(kernel, i)?.is_best_plain)
                            ? html('em', {}, '; the best plain Rust')
                            : [],
                        flamegraphLink(kernel),
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
