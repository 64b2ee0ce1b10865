// The section of races: a duel of the library in this browser, shown turn by turn.

{
    const settingsOf = name => {
        const { workloads } = operationNamed.get(name);
        const [first] = workloads;
        return [
            {
                name: 'workload',
                help: first.summary,
                choices: workloads.map(workload => workload.name),
                placeholder: first.name,
            },
            { name: 'size', placeholder: 'published', suggestions: first.sizes.map(String) },
            { name: 'seconds', help: 'how long it measures', placeholder: '5' },
        ];
    };

    /** A lane for each kernel: its name, a bar as long as it is fast compared with the fastest, numbers, and what it is. */
    function makeLanes(operation, contenders) {
        const lanes = contenders.map(name => {
            const kernel = operationNamed.get(operation).kernelNamed.get(name);
            const [fill, numbers, elsewhere] = [html('i'), html('span', {}, 'waits'), html('span')];
            const element = html(
                'li',
                {},
                kernelLink({ operation, kernel: name, machine: null }),
                html('span', { class: 'bar', 'aria-hidden': 'true' }, fill),
                numbers,
                html('small', {}, ...about(kernel), elsewhere),
            );
            return { name, element, fill, numbers, elsewhere, best: null };
        });
        byId('race-lanes').replaceChildren(...lanes.map(lane => lane.element));
        return lanes;
    }

    /** Shows the best turns so far. */
    function move(lanes) {
        const running = lanes.filter(lane => lane.best);
        const fastest = Math.min(...running.map(lane => lane.best.seconds));
        for (const { best, fill, numbers } of running) {
            fill.style.width = `${(100 * fastest) / best.seconds}%`;
            numbers.textContent = best.time;
        }
    }

    /** The ranking: the fastest first, and beside each kernel what the machines of the data say. */
    function rank(lanes, { duel, numbers: texts }) {
        const isIt = row => ['operation', 'workload', 'size'].every(key => row[key] === duel[key]);
        const there = rows.filter(row => row.is_default && isIt(row));
        const inOrder = duel.rows.map(({ kernel, median_seconds }, i) => {
            const { element, fill, numbers, elsewhere } = lanes.find(lane => lane.name === kernel);
            const { time, ratio, spread } = texts[i];
            const isBase = kernel === duel.baseline;
            const same = isBase ? [] : there.filter(row => row.kernel === kernel);
            fill.style.width = `${(100 * duel.rows[0].median_seconds) / median_seconds}%`;
            numbers.replaceChildren(html('strong', {}, isBase ? 'the baseline' : `× ${ratio} ${spread}`), ` ${time}`);
            elsewhere.textContent = same.map(row => `; × ${row.ratio.text} on ${machineName(row.machine)}`).join('');
            return element;
        });
        byId('race-lanes').replaceChildren(...inOrder);
    }

    activity({
        key: 'race',
        label: 'Race',
        names: operations.map(({ name }) => [name, name]),
        settings: settingsOf,
        async begin(name, settings, signal, say) {
            byId('race-lanes').replaceChildren();
            byId('race-skipped').replaceChildren();
            byId('race-result').hidden = true;
            byId('race-progress').hidden = false;
            byId('race-progress').removeAttribute('value');
            say('Comparing outputs.');
            let [lanes, result, digest, checked, began] = [[], null, '', 0, null];
            const budget = Number(settings.seconds ?? 5);
            const take = line => {
                if (line.lineup) {
                    lanes = makeLanes(name, line.lineup.contenders);
                } else if (line.checked) {
                    digest = line.checked.digest;
                    lanes[line.checked.contender].numbers.textContent = 'agrees';
                    checked += 1;
                    if (checked === lanes.length) {
                        say(`All ${lanes.length} outputs agree. Racing.`);
                    }
                } else if (line.turn) {
                    began ??= performance.now();
                    byId('race-progress').value = Math.min(1, (performance.now() - began) / (1000 * budget));
                    const lane = lanes[line.turn.contender];
                    lane.best = lane.best?.seconds < line.turn.seconds ? lane.best : line.turn;
                    move(lanes);
                } else {
                    result = line.duel;
                }
            };
            try {
                await ask({ race: { name, settings } }, take, signal);
            } finally {
                byId('race-progress').hidden = true;
            }
            const { duel, verdict } = result;
            rank(lanes, result);
            byId('race-result').hidden = false;
            byId('race-skipped').textContent = duel.skipped
                .map(({ kernel, reason }) => `${kernel}: ${reason}`)
                .join('; ');
            return `${verdict} All ${duel.rows.length} outputs agree: ${digest}.`;
        },
    });
}
