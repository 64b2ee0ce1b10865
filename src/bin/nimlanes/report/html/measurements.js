// The section of all measured kernels.

{
    const unitOf = row => operationNamed.get(row.operation)?.unit;
    const filters = [
        ['Operation', row => row.operation, operations.map(operation => operation.name)],
        ['Machine', row => machineName(row.machine), machines.map((_, machine) => machineName(machine))],
        ['Tier', row => row.tier],
        ['Build', row => variantOf(row), null, variantText],
    ];
    const table = sortedTable({
        label: 'All measured kernels',
        page: 100,
        columns: [
            { head: 'kernel', value: row => row.kernel, cell: kernelLink },
            { head: 'operation', value: row => row.operation },
            { head: 'workload', value: row => row.workload },
            { head: 'size', value: row => row.size, cell: row => grouped(row.size), isNumber: true },
            { head: 'build', value: row => row.build },
            { head: 'threads', value: row => row.threads, isNumber: true },
            { head: 'tier', value: row => row.tier },
            numberColumn('time', 'time'),
            { ...numberColumn('per unit', 'unit_time'), title: row => `per ${unitOf(row)}` },
            numberColumn('× baseline', 'ratio'),
            { head: '±', value: row => row.spread, isNumber: true },
            numberColumn('× plain Rust', 'plain'),
            { head: 'baseline', value: row => row.baseline },
            { head: 'machine', value: row => machineName(row.machine) },
            {
                head: 'revision',
                value: row => machines[row.machine].revision,
                cell: row => revision(machines[row.machine]),
            },
        ],
    });
    const find = html('input', { type: 'search', id: 'find', autocomplete: 'off', spellcheck: 'false', input: show });
    const selects = filters.map(([name, value, values, text = value => value]) => {
        const select = html('select', { id: `filter-${name.toLowerCase()}`, change: show });
        choices(
            select,
            [['', 'all'], ...(values ?? unique(rows.map(value)).sort()).map(value => [value, text(value)])],
            '',
        );
        return select;
    });
    byId('filters').append(
        html('label', {}, 'Find ', find),
        ...filters.map(([name], i) => html('label', {}, `${name} `, selects[i])),
    );
    byId('rows').append(table.element);

    const words = rows.map(row =>
        [row.kernel, row.operation, row.workload, row.tier, machineName(row.machine), kernelOf(row).claim]
            .join(' ')
            .toLowerCase(),
    );
    function show() {
        const wanted = find.value.toLowerCase().split(/\s+/);
        const shown = rows.filter(
            (row, i) =>
                wanted.every(word => words[i].includes(word)) &&
                filters.every(([, value], j) => selects[j].value === '' || value(row) === selects[j].value),
        );
        byId('count').textContent = `${grouped(shown.length)} of ${grouped(rows.length)} rows`;
        table.show(shown);
    }
    show();
}
