// The head of the page: light and dark, the best kernels, and the machines.

{
    const system = matchMedia('(prefers-color-scheme: dark)');
    const root = document.documentElement;
    // A page that is opened from a file may have no storage.
    const stored = (use, fallback) => {
        try {
            return use(localStorage);
        } catch {
            return fallback;
        }
    };
    const isDark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
    const label = () => {
        byId('theme').textContent = isDark() ? 'Light' : 'Dark';
    };
    const kept = stored(storage => storage.getItem('nimlanes-theme'), null);
    if (kept === 'dark' || kept === 'light') {
        root.dataset.theme = kept;
    }
    byId('theme').addEventListener('click', () => {
        root.dataset.theme = isDark() ? 'light' : 'dark';
        stored(storage => storage.setItem('nimlanes-theme', root.dataset.theme));
        label();
    });
    system.addEventListener('change', label);
    label();
}

{
    /** What there is to say of an operation on a machine, at the size that the operation was published with. */
    const resultOf = (operation, machine) => {
        const [workload] = operation.workloads;
        const duel = duelAt(machine, operation.name, workload.name, workload.published, DEFAULT);
        const row = best(duel);
        const against = other => (row && other ? row.ratio / other.ratio : undefined);
        return { row, baseline: against(baseline(duel)), plain: against(bestPlain(duel)) };
    };
    const results = new Map(
        operations.map(operation => [operation, machines.map((_, machine) => resultOf(operation, machine))]),
    );
    const number = (head, value, text) => ({
        head,
        value,
        isNumber: true,
        cell: operation => (value(operation) == null ? '–' : text(value(operation))),
    });
    const ofMachine = machine => {
        const result = operation => results.get(operation)[machine];
        return [
            {
                head: 'best kernel',
                value: operation => result(operation).row?.kernel,
                cell: operation => (result(operation).row ? kernelLink(result(operation).row) : '–'),
                class: 'long',
            },
            number('× baseline', operation => result(operation).baseline, digits),
            number('× plain Rust', operation => result(operation).plain, digits),
            {
                ...number('per unit', operation => result(operation).row && perUnit(result(operation).row), time),
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
    table.show(operations.filter(operation => results.get(operation).some(result => result.row)));
    byId('summary-table').append(table.element);
}

{
    const gigabytes = bytes => `${digits(bytes / 1e9)}\u00a0GB`;
    const table = sortedTable({
        label: 'Machines',
        columns: [
            { head: 'machine', value: machine => machine.name },
            { head: 'CPU', value: machine => machine.cpu, class: 'long' },
            { head: 'up to', value: machine => machine.tier },
            { head: 'CPUs', value: machine => machine.threads, isNumber: true },
            { head: 'caches', value: machine => machine.caches.join(', '), class: 'wide' },
            {
                head: 'memory',
                value: machine => machine.memory,
                cell: machine => gigabytes(machine.memory),
                isNumber: true,
            },
            { head: 'measured (UTC)', value: machine => machine.measured[1].replace('T', ' ').replace('Z', '') },
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
