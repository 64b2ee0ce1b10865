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
                html('small', {}, ...sentence(kernel), elsewhere, ...flameButton(operation, name)),
            );
            return { name, element, fill, numbers, elsewhere, turns: [] };
        });
        byId('race-lanes').replaceChildren(...lanes.map(lane => lane.element));
        return lanes;
    }

    /** A button that leads to the flamegraph of a kernel, where there is one. */
    function flameButton(operation, kernel) {
        const profile = data.profiles.findIndex(
            profile => profile.operation === operation && profile.kernel === kernel,
        );
        const lead = () => {
            openFlames(profile);
            byId('flamegraphs').scrollIntoView();
        };
        return profile < 0 ? [] : [' ', html('button', { type: 'button', class: 'link', click: lead }, 'flamegraph')];
    }

    /** Shows the best turns so far. */
    function move(lanes) {
        const best = lane => Math.min(...lane.turns);
        const fastest = Math.min(...lanes.map(best));
        for (const lane of lanes.filter(lane => lane.turns.length > 0)) {
            lane.fill.style.width = `${(100 * fastest) / best(lane)}%`;
            lane.numbers.textContent = time(best(lane));
        }
    }

    /** The ranking: the fastest first, and beside each kernel what the machines of the data say. */
    function rank(lanes, duel, machinesThere) {
        const [fastest] = duel.rows;
        const inOrder = duel.rows.map(row => {
            const lane = lanes.find(lane => lane.name === row.kernel);
            const there = machinesThere.flatMap(({ name, rows }) => {
                const same = rows.find(other => other.kernel === row.kernel);
                return same && row.kernel !== duel.baseline ? [`× ${digits(same.ratio)} on ${name}`] : [];
            });
            const own =
                row.kernel === duel.baseline ? 'the baseline' : `× ${digits(row.ratio)} ±${percent(spread(row))}`;
            lane.fill.style.width = `${(100 * fastest.median_seconds) / row.median_seconds}%`;
            lane.numbers.replaceChildren(html('strong', {}, own), ` ${time(row.median_seconds)}`);
            lane.elsewhere.textContent = there.length > 0 ? `; ${there.join(', ')}` : '';
            return lane.element;
        });
        byId('race-lanes').replaceChildren(...inOrder);
    }

    /** This browser beside the machines of the data. */
    let compared = null;
    const drawCompared = withWidth(byId('race-chart'), width => {
        if (!compared) {
            return;
        }
        const { duel, machinesThere } = compared;
        const all = [{ name: 'this browser', rows: duel.rows }, ...machinesThere];
        const names = unique(all.flatMap(({ rows }) => rows.map(row => row.kernel)));
        const groups = names.map(name => {
            const dots = all.flatMap(({ name: where, rows }, place) =>
                rows
                    .filter(row => row.kernel === name)
                    .map(row => ({
                        ratio: row.ratio,
                        low: row.ratio_low,
                        high: row.ratio_high,
                        text: [
                            `${name}, ${where}`,
                            time(row.median_seconds),
                            `${digits(row.ratio)} × the baseline there`,
                        ],
                        machine: place,
                        isHollow: place > 0,
                    })),
            );
            const isHere = !dots[0].isHollow;
            // A machine may have measured a kernel that is no longer in the list.
            const row = all.flatMap(({ rows }) => rows).find(row => row.kernel === name);
            return {
                name,
                mark: isHere ? markAt(0) : NO_MARK,
                note: kernelOf({ ...row, operation: duel.operation }).technology,
                dots,
            };
        });
        dotChart(byId('race-chart'), width, {
            groups,
            label: 'Ratios to the baseline in this browser and on the machines; arrow keys move between dots',
        });
        byId('race-caption').textContent = [
            `Times as fast as ${duel.baseline}, on a logarithmic axis.`,
            machinesThere.length > 0
                ? `Filled: this browser. Hollow: ${machinesThere.map(({ name }) => name).join(', ')}, in this order, native code on one thread.`
                : 'No machine of the data has measured this size.',
        ].join(' ');
    });

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
            let [lanes, lineup, result, digest, checked, began] = [[], null, null, '', 0, null];
            const budget = Number(settings.seconds ?? 5);
            const take = line => {
                if (line.lineup) {
                    lineup = line.lineup;
                    lanes = makeLanes(name, lineup.contenders);
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
                    lanes[line.turn.contender].turns.push(line.turn.seconds);
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
            const { duel, environment } = result;
            const machinesThere = machines
                .map((_, machine) => ({
                    name: machineName(machine),
                    rows: duelAt(machine, name, duel.workload, duel.size, DEFAULT),
                }))
                .filter(({ rows }) => rows.length > 0);
            rank(lanes, duel, machinesThere);
            compared = { duel, machinesThere };
            byId('race-result').hidden = false;
            drawCompared();
            keep(duel, environment);
            byId('race-skipped').textContent = duel.skipped
                .map(({ kernel, reason }) => `${kernel}: ${reason}`)
                .join('; ');
            const [first, second] = duel.rows;
            const gap = second
                ? ` ${digits(second.median_seconds / first.median_seconds)} times as fast as ${second.kernel}`
                : '';
            return [
                `${first.kernel} wins at ${grouped(duel.size)}:`,
                `${digits(first.ratio)} times as fast as ${duel.baseline},${gap}.`,
                `All ${duel.rows.length} outputs agree: ${digest}.`,
                `${first.rounds} rounds; ${percent(duel.disturbed)} of the turns were disturbed and are left out;`,
                `turns of ${time(lineup.turn)} or more; ${environment.cpu}, tier ${environment.tier}.`,
            ].join(' ');
        },
    });
}
