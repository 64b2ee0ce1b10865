// The section of races: a duel of the library in this browser, shown turn by turn.

{
    /** The browser and the machine, as far as it tells. */
    function browser() {
        const brand = navigator.userAgentData?.brands.findLast(({ brand }) => !/not.*brand/i.test(brand));
        const [, name, version] = brand
            ? [null, brand.brand, brand.version]
            : (navigator.userAgent.match(/(Firefox|Version|Chrome)\/(\d+)/) ?? [null, 'browser', '']);
        const called = name === 'Version' ? 'Safari' : name;
        const system = navigator.userAgentData?.platform ?? navigator.platform;
        const file = `${called} ${version}`
            .trim()
            .toLowerCase()
            .replace(/[^a-z0-9]+/g, '-');
        return { cpu: `${called} ${version}`.trim(), microarchitecture: file, system };
    }

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
                html('small', {}, ...sentence(kernel), elsewhere, ...flamegraphLink(kernel)),
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
    function rank(lanes, { duel, rows }) {
        const there = machines.map((_, machine) => duelAt(machine, duel.operation, duel.workload, duel.size, DEFAULT));
        const inOrder = duel.rows.map(({ kernel, median_seconds }, i) => {
            const { element, fill, numbers, elsewhere } = lanes.find(lane => lane.name === kernel);
            const { time, ratio, spread } = rows[i];
            const isBase = kernel === duel.baseline;
            const same = isBase ? [] : there.flatMap(rows => rows.find(row => row.kernel === kernel) ?? []);
            fill.style.width = `${(100 * duel.rows[0].median_seconds) / median_seconds}%`;
            numbers.replaceChildren(html('strong', {}, isBase ? 'the baseline' : `× ${ratio} ${spread}`), ` ${time}`);
            elsewhere.textContent = same.map(row => `; × ${row.ratio.text} on ${machineName(row.machine)}`).join('');
            return element;
        });
        byId('race-lanes').replaceChildren(...inOrder);
    }

    function keep(duel, environment) {
        const saved = { ...data.saved, date: `${new Date().toISOString().slice(0, 19)}Z`, environment, content: duel };
        byId('race-json').value = JSON.stringify(saved);
        byId('race-saved').hidden = false;
    }

    byId('race-copy').addEventListener('click', async () => {
        byId('race-json').select();
        await navigator.clipboard.writeText(byId('race-json').value).catch(() => {});
    });

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
                await ask({ race: { name, settings, browser: browser() } }, take, signal);
            } finally {
                byId('race-progress').hidden = true;
            }
            const { duel, environment, verdict } = result;
            rank(lanes, result);
            byId('race-result').hidden = false;
            keep(duel, environment);
            byId('race-skipped').textContent = duel.skipped
                .map(({ kernel, reason }) => `${kernel}: ${reason}`)
                .join('; ');
            return `${verdict} All ${duel.rows.length} outputs agree: ${digest}.`;
        },
    });
}
