// The section that solves games.

{
    /** What a game declares, as settings of a form. */
    const settingsOf = name => {
        const game = data.games.find(game => game.name === name);
        const limit = { name: 'limit', help: game.limit, placeholder: String(game.published) };
        const declared = game.settings.map(({ name, help, value, choices, published }) => ({
            name,
            help,
            isFlag: value == null,
            choices: choices.length > 0 ? choices : null,
            placeholder: published,
        }));
        const kernels = game.operations.flatMap(operation =>
            operationNamed.get(operation).kernels.map(kernel => `${operation}=${kernel.name}`),
        );
        return [
            limit,
            ...declared,
            { name: 'kernel', help: 'the kernel of an operation', placeholder: 'the fastest', suggestions: kernels },
        ];
    };

    const line = (term, ...description) => [html('dt', {}, term), html('dd', {}, ...description)];

    function show({ title, question, limit, parameters, answer, details, kernels, evidence, time }) {
        const used = kernels.map(([operation, kernel, claim]) => [
            html('code', {}, operation),
            ' ',
            kernelLink({ operation, kernel, machine: null }),
            claim === 'exact' ? '' : ' (observed, not proved)',
            ' ',
        ]);
        byId('solve-answer').replaceChildren(
            html('h3', {}, `${title} at ${grouped(limit)}`),
            html(
                'dl',
                {},
                line('question', question),
                ...parameters.map(([name, value]) => line(name, value)),
                line('answer', html('output', { class: 'answer' }, answer)),
                ...details.map(([name, value]) => line(name.replaceAll('_', ' '), value)),
                line('kernel', ...used.flat()),
                evidence ? line('evidence', evidence) : [],
                line('time', time),
            ),
        );
    }

    activity({
        key: 'solve',
        label: 'Solve',
        names: data.games.map(({ name, title }) => [name, title]),
        settings: settingsOf,
        changed: name =>
            (byId('solve-question').textContent = `The ${data.games.find(game => game.name === name).question}.`),
        async begin(name, settings, signal, say) {
            byId('solve-answer').replaceChildren();
            let solution = null;
            await ask(
                { solve: { name, settings } },
                line => {
                    if (line.stage) {
                        const { operation, kernel, time } = line.stage;
                        say(`${operation} by ${kernel}: about ${time} on the machine that its cost was measured on.`);
                    } else {
                        solution = line.solution;
                        show(solution);
                    }
                },
                signal,
            );
            return `${solution.title}: the answer is ${solution.answer}, found in ${solution.time}.`;
        },
    });
}

// All activities are there: follow the address, now and whenever it changes.
byId('no-module').hidden = !data.no_module;
byId('no-module').textContent = `Race, Solve and Periods do not work in this page: ${data.no_module}.`;
addEventListener('hashchange', followLink);
followLink();
