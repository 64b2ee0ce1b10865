// The section that finds the periods of families of subtraction sets.

{
    let found = [];
    const table = sortedTable({
        label: 'Longest and mean period by largest move',
        columns: [
            { head: 'largest move', value: row => row.largest_move, isNumber: true },
            numberColumn('the longest period', 'longest'),
            numberColumn('the mean', 'mean'),
            { head: 'first set with the longest', value: row => row.first, class: 'wide' },
        ],
    });
    table.show(found);
    byId('family-table').append(table.element);
    byId('family-table').hidden = true;

    activity({
        key: 'family',
        label: 'Find periods',
        names: [
            ['all', 'all sets'],
            ['symmetric', 'symmetric sets'],
        ],
        settings: () => [
            { name: 'largest-move', help: 'families with largest moves up to this one', placeholder: '14' },
            {
                name: 'kernel',
                help: 'the kernel of mex_family',
                placeholder: 'the fastest',
                suggestions: operationNamed.get('mex_family').kernels.map(({ name }) => `mex_family=${name}`),
            },
        ],
        async begin(name, settings, signal, say) {
            found = [];
            let summary = '';
            const take = line => {
                if (line.family) {
                    found.push(line.family);
                    table.show(found);
                    byId('family-table').hidden = false;
                    say(`Largest move ${line.family.largest_move} is done.`);
                } else {
                    summary = line.summary;
                }
            };
            await ask({ family: { name, settings } }, take, signal);
            return summary;
        },
    });
}
