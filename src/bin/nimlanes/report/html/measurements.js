// The sections of the measured kernels, with the charts of an operation, and of the machines.

{
    /** What the table can show; the first at first. */
    const KINDS = {
        'the best at published sizes': row => row.is_best && row.is_published && row.is_default,
        'all kernels': () => true,
    };
    const table = sortedTable({
        label: 'Measured kernels',
        page: 100,
        columns: [
            { head: 'kernel', value: row => row.kernel, cell: kernelLink },
            {
                head: 'operation',
                value: row => row.operation,
                cell: ({ operation }) =>
                    html('button', { type: 'button', class: 'link', click: () => open(operation) }, operation),
            },
            { head: 'workload', value: row => row.workload },
            { head: 'size', value: row => row.size, cell: row => grouped(row.size), isNumber: true },
            { head: 'machine', value: row => machineName(row.machine) },
            {
                ...numberColumn('time', 'time'),
                cell: row => html(row.is_best ? 'strong' : 'span', { title: row.slow_mode }, row.time.text),
            },
            {
                ...numberColumn('per unit', 'unit_time'),
                title: row => `per ${operationNamed.get(row.operation)?.unit}`,
            },
            {
                ...numberColumn('× baseline', 'ratio'),
                cell: row => [row.ratio.text, html('small', {}, row.spread ?? '')],
                title: row => row.baseline,
            },
            numberColumn('× plain Rust', 'plain'),
            { ...numberColumn('of the limit', 'limit'), title: row => row.needs },
            { head: 'tier', value: row => row.tier },
            { head: 'build', value: row => row.variant },
            {
                head: 'what it is',
                class: 'wide',
                value: row => kernelOf(row).summary,
                cell: row => [...about(kernelOf(row)), row.is_best_plain ? html('em', {}, '; the best plain Rust') : null],
            },
        ],
    });
    const filters = [
        ['Operation', row => row.operation],
        ['Workload', row => row.workload],
        ['Size', row => row.size, grouped],
        ['Machine', row => row.machine, machineName],
        ['Build', row => row.variant],
        ['Tier', row => row.tier],
    ].map(([name, value, text = value => value]) => {
        const select = html('select', { id: `filter-${name.toLowerCase()}`, change: choose });
        return { name, value, text, select };
    });
    const [operation, workload, size, , build] = filters.map(filter => filter.select);
    /** What has no such value fits: a chart is of all sizes. */
    const fits = (row, { value, select }) => select.value === '' || String(value(row) ?? select.value) === select.value;
    const kind = html('select', { id: 'kind', change: choose });
    const find = html('input', { type: 'search', id: 'find', autocomplete: 'off', spellcheck: 'false', input: show });

    const words = rows.map(row =>
        [row.kernel, row.operation, row.workload, row.tier, machineName(row.machine), kernelOf(row).claim]
            .join(' ')
            .toLowerCase(),
    );
    function show() {
        const wanted = find.value.toLowerCase().split(/\s+/);
        const isFound = i => wanted.every(word => words[i].includes(word));
        const isShown = row => KINDS[kind.value](row) && filters.every(filter => fits(row, filter));
        const shown = rows.filter((row, i) => isFound(i) && isShown(row));
        byId('count').textContent = `${grouped(shown.length)} of ${grouped(rows.length)} rows`;
        table.show(shown);
    }

    /** Shows what is chosen: of an operation, its charts as well. */
    function choose() {
        const [first, ...others] = filters;
        const ofOperation = rows.filter(row => fits(row, first));
        for (const { value, text, select } of others) {
            const values = unique(ofOperation.map(value)).sort((a, b) => numbered.compare(a, b));
            choices(select, [['', 'all'], ...values.map(value => [value, text(value)])]);
        }
        const fitting = data.charts.filter(chart => filters.every(filter => fits(chart, filter)));
        byId('charts').replaceChildren(...(operation.value === '' ? [] : fitting.map(figure)));
        show();
    }

    function figure({ machine, svg }) {
        const picture = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
        return html('figure', {}, picture, html('figcaption', {}, `On ${machineName(machine)}, one thread, default build.`));
    }

    /** Shows the kernels of an operation at the size that it was published with. */
    function open(name) {
        const [{ name: published, published: of }] = operationNamed.get(name).workloads;
        [kind.value, operation.value] = ['all kernels', name];
        choose();
        [workload.value, size.value, build.value] = [published, of, rows.find(row => row.is_default).variant];
        choose();
        byId('measurements').scrollIntoView();
    }

    choices(kind, Object.keys(KINDS).map(name => [name, name]));
    choices(operation, [['', 'all'], ...unique(rows.map(row => row.operation)).map(name => [name, name])]);
    byId('filters').append(
        html('label', {}, 'Find ', find),
        html('label', {}, 'Show ', kind),
        ...filters.map(({ name, select }) => html('label', {}, `${name} `, select)),
    );
    byId('rows').append(table.element);
    choose();
}

{
    const table = sortedTable({
        label: 'Machines',
        columns: [
            { head: 'machine', value: machine => machine.name },
            { head: 'CPU', value: machine => machine.cpu, class: 'long' },
            { head: 'up to', value: machine => machine.tier },
            { head: 'CPUs', value: machine => machine.threads, isNumber: true },
            { head: 'caches', value: machine => machine.caches.join(', '), class: 'wide' },
            { head: 'memory', value: machine => machine.memory, isNumber: true },
            { head: 'measured (UTC)', value: machine => machine.measured.replace('T', ' ').replace('Z', '') },
            { head: 'revision', value: machine => machine.revision ?? 'not recorded' },
            {
                head: 'data',
                value: machine => machine.folder,
                cell: machine => sourceLink(machine.folder.split('/').at(-1), machine.folder),
                class: 'long',
            },
        ],
    });
    table.show(machines);
    byId('machine-table').append(table.element);
    byId('draft').hidden = !machines.some(machine => machine.draft);
    byId('changed-note').hidden = !operations.some(operation =>
        operation.kernels.some(kernel => kernel.changed.length > 0),
    );
}
