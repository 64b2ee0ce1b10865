// The section of pictures: points as the module finds them.

{
    const GRUNDY = 'grundy';
    const listed = data.games.filter(game => game.lists_positions);

    const settingsOf = name => {
        const game = listed.find(game => game.name === name);
        if (!game) {
            return [
                { name: 'moves', help: 'what may be taken: squares, primes, 1,4,9, 1..5', placeholder: 'squares' },
                {
                    name: 'code',
                    help: 'the code of an octal or hexadecimal game instead',
                    placeholder: 'none',
                    suggestions: ['0.6', '0.137', '4.3', 'grundy'],
                },
                { name: 'limit', help: 'the largest heap', placeholder: '100000' },
            ];
        }
        const declared = game.settings.map(({ name, help, choices, published }) => ({
            name,
            help,
            choices: choices.length > 0 ? choices : null,
            placeholder: published,
        }));
        return [
            { name: 'limit', help: game.limit, placeholder: game.name === 'stone-game' ? '1000' : '10000' },
            ...declared,
        ];
    };

    const canvas = byId('draw-canvas');
    const picture = pointPicture(canvas, byId('draw-point'));
    const { zoom, reset } = picture;
    byId('draw-in').addEventListener('click', () => zoom(2));
    byId('draw-out').addEventListener('click', () => zoom(0.5));
    byId('draw-reset').addEventListener('click', reset);
    byId('draw-save').addEventListener('click', () =>
        canvas.toBlob(blob => {
            const link = html('a', {
                href: URL.createObjectURL(blob),
                download: `nimlanes-${byId('draw-name').value}.png`,
            });
            link.click();
            setTimeout(() => URL.revokeObjectURL(link.href), 1000);
        }),
    );

    /** A position in every order that gives another place: two of its heaps, and the third if it has three. */
    function orders([a, b, c]) {
        const all = [
            [a, b, c],
            [b, a, c],
            ...(c == null
                ? []
                : [
                      [a, c, b],
                      [c, a, b],
                      [b, c, a],
                      [c, b, a],
                  ]),
        ];
        return all.filter(([x, y], i) => all.findIndex(other => other[0] === x && other[1] === y) === i);
    }

    /** What the lines of an answer add to the picture. */
    const add = {
        picture({ title, limit }, name) {
            const all = limit + 1;
            const shapes = {
                [GRUNDY]: { names: ['heap', 'Grundy value'], ranges: [all, null] },
                'stone-game': { names: ['a heap', 'another heap'], ranges: [all, all] },
            };
            picture.begin({
                title,
                ...(shapes[name] ?? { names: ['a heap', 'the other heap'], ranges: [null, null] }),
            });
            this.limit = limit;
        },
        three(heaps) {
            const { limit } = this;
            picture.add(
                heaps.flatMap(orders),
                (x, y, z) => z / limit,
                (x, y, z) => `heaps ${x}, ${y} and ${z}`,
            );
        },
        two(heaps) {
            // Ratios up to three are told apart.
            const ratio = (x, y) => (Math.min(x, y) > 0 ? Math.max(x, y) / Math.min(x, y) : 1);
            picture.add(
                heaps.flatMap(orders),
                (x, y) => Math.min(0.9, (ratio(x, y) - 1) / 2),
                (x, y) => `heaps ${x} and ${y}`,
            );
        },
        values(values) {
            const most = values.reduce((most, value) => Math.max(most, value), 1);
            const points = values.map((value, heap) => [heap, value, 0]);
            picture.add(
                points,
                (_, value) => 0.9 * (value / most),
                (heap, value) => `heap ${heap} has the value ${value}`,
            );
        },
    };

    activity({
        key: 'draw',
        label: 'Draw',
        names: [...listed.map(({ name, title }) => [name, `${title}: P-positions`]), [GRUNDY, 'Grundy values']],
        settings: settingsOf,
        async begin(name, settings, signal, say) {
            const placeholders = settingsOf(listed.some(game => game.name === name) ? name : GRUNDY);
            const limit = placeholders.find(setting => setting.name === 'limit').placeholder;
            let drawn = null;
            say('Drawing.');
            await ask(
                { draw: { name, settings: { limit, ...settings } } },
                line => {
                    const [kind] = Object.keys(line);
                    if (kind === 'drawn') {
                        drawn = line.drawn;
                    } else {
                        add[kind](line[kind], name);
                        byId('draw-figure').hidden = false;
                        picture.resize();
                    }
                },
                signal,
            );
            return `${grouped(picture.count())} points by ${drawn.kernel} in ${time(drawn.seconds)}.`;
        },
    });
}
