// The section of operations: which input is chosen, and the charts of the kernels on it.

/** What is shown of which input. The selects hold the rest. */
const state = { operation: null, machines: new Set([0]), marked: [] };

/** What can be drawn by size: a number of a row, and what it is. Ratios have a line at 1. */
const MEASURES = {
    'time per unit of work': { value: 'unit_time', title: unit => `time per ${unit}` },
    'time of a run': { value: 'time', title: () => 'time of a run' },
    'ratio to the best plain Rust': {
        value: 'plain',
        isRatio: true,
        title: () => 'times as fast as the best plain Rust of the same size',
    },
};

const chosenMachines = () => [...state.machines].sort((a, b) => a - b);
const duelOf = (machine, size) =>
    duelAt(machine, state.operation.name, byId('workload').value, size, byId('variant').value);

/** The sizes of the chosen input on the chosen machines. */
function sizesShown() {
    const [workload, variant] = [byId('workload').value, byId('variant').value];
    const shown = rows.filter(
        row =>
            row.operation === state.operation.name &&
            row.workload === workload &&
            variantOf(row) === variant &&
            state.machines.has(row.machine),
    );
    return unique(shown.map(row => row.size)).sort((a, b) => a - b);
}

/** The values of a row, as lines below a heading. */
function about(row) {
    return [
        row.kernel + (machines.length > 1 ? ` on ${machineName(row.machine)}` : ''),
        `size ${grouped(row.size)}`,
        kernelOf(row).technology,
        `${row.time.text} a run${row.unit_time ? `, ${row.unit_time.text} per ${state.operation.unit}` : ''}`,
        isBaseline(row) ? 'the baseline' : `${row.ratio.text} × ${row.baseline}, ${row.spread}`,
        row.is_exact ? null : 'observed, not proved',
        row.slow_mode,
    ].filter(Boolean);
}

/** Marks the baseline, and the kernels that lead at some size, overall or in plain Rust. */
function chooseMarks() {
    const sizes = sizesShown();
    const large = sizes.filter(size => size > data.small);
    const leads = chosenMachines()
        .flatMap(machine => (large.length > 0 ? large : sizes).flatMap(size => duelOf(machine, size)))
        .filter(row => isBaseline(row) || row.is_best || row.is_best_plain);
    const names = new Set(leads.map(row => row.kernel));
    state.marked = state.operation.kernels.map(kernel => kernel.name).filter(name => names.has(name));
}

/** Gives a kernel the first mark that is free, or takes its mark away. */
function toggleMark(name) {
    const { marked } = state;
    if (marked.includes(name)) {
        marked[marked.indexOf(name)] = null;
    } else {
        marked[marked.includes(null) ? marked.indexOf(null) : marked.length] = name;
    }
    paintLegend();
    drawSizes();
}

/** The mark of a kernel; none if it has none. */
const kernelMark = name => (state.marked.includes(name) ? markAt(state.marked.indexOf(name)) : null);

function paintLegend() {
    for (const button of byId('legend').children) {
        const mark = kernelMark(button.value);
        button.setAttribute('aria-pressed', mark != null);
        button.style.setProperty('--mark', mark?.colour ?? 'transparent');
        button.firstChild.replaceChildren(markOf(mark ?? NO_MARK, 0, 0, mark == null));
    }
}

/** Buttons for the kernels that were measured on this input. */
function makeLegend() {
    const duels = sizesShown().flatMap(size => chosenMachines().map(machine => duelOf(machine, size)));
    const measured = new Set(duels.flat().map(row => row.kernel));
    const names = state.operation.kernels.map(kernel => kernel.name).filter(name => measured.has(name));
    byId('legend').replaceChildren(
        ...names.map(name =>
            html(
                'button',
                { type: 'button', value: name, click: () => toggleMark(name) },
                svg('svg', { width: 11, height: 11, viewBox: '-5.5 -5.5 11 11', 'aria-hidden': true }),
                name,
            ),
        ),
    );
    paintLegend();
}

const drawSizes = withWidth(byId('sizes-chart'), width => {
    const measure = MEASURES[byId('measure').value];
    const sizes = sizesShown().filter(size => size > 0);
    const series = chosenMachines()
        .flatMap((machine, dash) =>
            state.operation.kernels.map(({ name }) => {
                const points = sizes.flatMap(size => {
                    const row = duelOf(machine, size).find(row => row.kernel === name);
                    const value = row?.[measure.value]?.value;
                    return value > 0 ? [{ size, value, text: about(row) }] : [];
                });
                return { name, dash, mark: kernelMark(name), points };
            }),
        )
        .filter(series => series.points.length > 0);
    const dashes = chosenMachines().map((machine, i) => `${DASHES[i % DASHES.length].name} ${machineName(machine)}`);
    byId('dashes').textContent = dashes.length > 1 ? `Lines: ${dashes.join(', ')}.` : '';
    lineChart(byId('sizes-chart'), width, {
        series,
        title: measure.title(state.operation.unit),
        isRatio: measure.isRatio,
        label: `${byId('measure').value} of ${state.operation.name} kernels by size; arrow keys move between values`,
    });
});

/** Updates the section after the operation, or what is shown of it, has changed. */
function update(keepsMarks) {
    const operation = state.operation;
    const ofOperation = rows.filter(row => row.operation === operation.name && state.machines.has(row.machine));
    const workloads = operation.workloads.filter(workload => ofOperation.some(row => row.workload === workload.name));
    choices(
        byId('workload'),
        workloads.map(({ name }) => [name, name]),
        workloads[0]?.name,
    );
    const ofWorkload = ofOperation.filter(row => row.workload === byId('workload').value);
    choices(
        byId('variant'),
        unique(ofWorkload.map(variantOf))
            .sort()
            .map(variant => [variant, variantText(variant)]),
        DEFAULT,
    );
    const sizes = sizesShown();
    const { summary, published } = operation.workloads.find(({ name }) => name === byId('workload').value) ?? {};
    choices(
        byId('size'),
        sizes.map(size => [size, grouped(size)]),
        sizes.includes(published) ? published : sizes.at(-1),
    );
    byId('workload-summary').textContent = summary ?? '';
    if (!keepsMarks) {
        chooseMarks();
    }
    makeLegend();
    drawSizes();
    drawLadder();
}

function choose(name) {
    state.operation = operationNamed.get(name);
    for (const button of byId('operations').children) {
        button.setAttribute('aria-pressed', button.value === name);
    }
    // The size of another operation means nothing here.
    byId('size').replaceChildren();
    update(false);
}

function open(name) {
    choose(name);
    byId('operation').scrollIntoView();
    [...byId('operations').children].find(button => button.value === name)?.focus({ preventScroll: true });
}

byId('operations').append(
    ...operations
        .filter(operation => rows.some(row => row.operation === operation.name))
        .map(({ name }) => html('button', { type: 'button', value: name, click: () => choose(name) }, name)),
);
byId('machines').append(
    ...machines.map((_, machine) =>
        html(
            'label',
            {},
            html('input', {
                type: 'checkbox',
                value: machine,
                checked: state.machines.has(machine),
                change: event => {
                    state.machines = new Set(
                        [...byId('machines').querySelectorAll(':checked')].map(box => Number(box.value)),
                    );
                    // One is always shown.
                    if (state.machines.size === 0) {
                        state.machines.add(machine);
                        event.target.checked = true;
                    }
                    update(false);
                },
            }),
            ' ',
            machineName(machine),
        ),
    ),
);
byId('machines').hidden = machines.length < 2;
choices(
    byId('measure'),
    Object.keys(MEASURES).map(name => [name, name]),
);
byId('workload').addEventListener('change', () => {
    byId('size').replaceChildren();
    update(false);
});
byId('variant').addEventListener('change', () => update(true));
byId('measure').addEventListener('change', drawSizes);
byId('size').addEventListener('change', drawLadder);
byId('all-kernels').addEventListener('change', drawLadder);

// The first operation is shown at first.
const [first] = byId('operations').children;
if (first) {
    choose(first.value);
}
