// The section that finds the periods of families of subtraction sets.

{
    const SERIES = [
        ['longest', 'the longest'],
        ['mean', 'the mean'],
    ];
    let found = [];

    const draw = withWidth(byId('family-chart'), width => {
        const pointsOf = kind =>
            found.map(({ largest_move, [kind]: { value, text } }) => ({
                size: largest_move,
                value,
                text: [`largest move ${largest_move}`, text],
            }));
        lineChart(byId('family-chart'), width, {
            series: SERIES.map(([kind, name], i) => ({ name, mark: markAt(i), dash: 0, points: pointsOf(kind) })),
            title: 'longest and mean period',
            across: 'largest move',
            label: 'Longest and mean period by largest move',
            isRatio: true,
            empty: '',
        });
    });

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
            draw();
            let summary = '';
            await ask(
                { family: { name, settings } },
                line => {
                    if (line.family) {
                        found.push(line.family);
                        draw();
                        say(`Largest move ${line.family.largest_move} is done.`);
                    } else {
                        summary = line.summary;
                    }
                },
                signal,
            );
            return summary;
        },
    });
}
