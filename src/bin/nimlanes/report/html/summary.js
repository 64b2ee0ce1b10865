// The head of the page: the best kernels, and the machines.

{
    /** What there is to say of an operation on a machine, at the size that the operation was published with. */
    const resultOf = (operation, machine) => {
        const [workload] = operation.workloads;
        const duel = duelAt(machine, operation.name, workload.name, workload.published, DEFAULT);
        return duel.find(row => row.is_best);
    };
    const results = new Map(
        operations.map(operation => [operation, machines.map((_, machine) => resultOf(operation, machine))]),
    );
    const ofMachine = machine => {
        const result = operation => results.get(operation)[machine];
        return [
            {
                head: 'best kernel',
                value: operation => result(operation)?.kernel,
                cell: operation => result(operation) && kernelLink(result(operation)),
                class: 'long',
            },
            numberColumn('× baseline', 'ratio', result),
            numberColumn('× plain Rust', 'plain', result),
            {
                ...numberColumn('per unit', 'unit_time', result),
                title: operation => `per ${operation.unit}`,
            },
        ];
    };
    const openButton = ({ name, workloads: [{ published }] }) => [
        html('button', { type: 'button', class: 'link', click: () => open(name) }, html('code', {}, name)),
        html('small', { class: 'below' }, `at ${grouped(published)}`),
    ];
    const table = sortedTable({
        label: 'Best kernels',
        groups: [['', 1], ...machines.map((_, machine) => [machineName(machine), 4])],
        columns: [
            { head: 'operation', value: operation => operation.name, cell: openButton },
            ...machines.flatMap((_, machine) => ofMachine(machine)),
        ],
    });
    table.show(operations.filter(operation => results.get(operation).some(Boolean)));
    byId('summary-table').append(table.element);
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
            { head: 'revision', value: machine => machine.revision, cell: revision },
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
