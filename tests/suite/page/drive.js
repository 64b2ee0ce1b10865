// Uses the page as a reader would. The value of this script is how many checks it made, and which of them failed.

const findings = { checks: 0, failures: [] };

function check(what, isTrue) {
    findings.checks += 1;
    if (!isTrue) {
        findings.failures.push(what);
    }
}

const rest = () => new Promise(resolve => setTimeout(resolve, 100));

async function drive() {
    const packed = Uint8Array.from(atob(document.getElementById('data').textContent), letter => letter.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    const data = await new Response(unpacked).json();
    while (!document.querySelector('#rows tbody tr')) {
        await rest();
    }
    const one = selector => document.querySelector(selector);
    const all = selector => [...document.querySelectorAll(selector)];
    const heading = (table, text) => all(`${table} thead button`).find(button => button.textContent === text);
    const column = (table, text) => {
        const place = all(`${table} thead tr:last-child button`).findIndex(button => button.textContent === text);
        return all(`${table} tbody tr`).map(row => row.children[place].textContent);
    };
    const number = text => Number(text.replace(/\s/g, ''));
    const isSorted = (values, sign) => values.every((value, i) => i === 0 || sign * (value - values[i - 1]) >= 0);
    const choose = (selector, value) => {
        one(selector).value = value;
        one(selector).dispatchEvent(new Event('change', { bubbles: true }));
    };
    const type = (selector, text) => {
        one(selector).value = text;
        one(selector).dispatchEvent(new Event('input', { bubbles: true }));
    };
    const shown = () => all('#rows tbody tr').length;
    const count = isWanted => data.rows.filter(isWanted).length;
    const isCounted = wanted => number(one('#count').textContent.split(' of ')[0]) === wanted;

    // At first, the best kernels; then the table of all measurements.
    const isBest = row => row.is_best && row.is_published && row.is_default;
    check('the best kernels at first', isCounted(count(isBest)) && shown() === count(isBest) && shown() > 5);
    check(
        'kernels lead to lines of source',
        all('#rows tbody th a').every(link => /\.rs#L\d+$/.test(link.getAttribute('href'))) && one('#rows tbody th a'),
    );
    check('no chart at first', !one('#charts svg'));
    choose('#kind', 'all kernels');
    check('all rows are counted', isCounted(data.rows.length));
    check('a part of the rows is shown at first', shown() === Math.min(100, data.rows.length));
    for (const [direction, sign] of [
        ['ascending', 1],
        ['descending', -1],
    ]) {
        heading('#rows', 'size').click();
        check(`${direction} sizes`, isSorted(column('#rows', 'size').map(number), sign));
        check(`${direction} is said`, heading('#rows', 'size').parentElement.getAttribute('aria-sort') === direction);
    }
    check('one column is sorted', all('#rows [aria-sort]').length === 1);
    heading('#rows', 'time').click();
    const fastest = data.rows.reduce((a, b) => (b.time.value < a.time.value ? b : a));
    check('the fastest run is first', column('#rows', 'kernel')[0].startsWith(fastest.kernel));
    one('#rows button.more').click();
    check('more rows on demand', shown() === Math.min(200, data.rows.length));

    const { kernel, operation } = data.rows.find(row => row.machine === 1);
    type('#find', `${kernel} ${operation}`);
    check(
        'found rows are counted',
        isCounted(count(row => row.kernel.includes(kernel) && row.operation.includes(operation))),
    );
    check(
        'found rows have the name',
        column('#rows', 'kernel').every(name => name.includes(kernel)),
    );
    choose('#filter-machine', '1');
    check(
        'two filters',
        isCounted(count(row => row.kernel.includes(kernel) && row.operation.includes(operation) && row.machine === 1)),
    );
    type('#find', 'nothing has this name');
    check('nothing is found', shown() === 0 && isCounted(0));
    type('#find', '');
    choose('#filter-machine', '');
    choose('#filter-operation', operation);
    choose('#filter-tier', 'portable');
    check('operation and tier', isCounted(count(row => row.operation === operation && row.tier === 'portable')));
    choose('#filter-tier', '');

    // Charts.
    const charts = isWanted => data.charts.filter(chart => chart.operation === operation && isWanted(chart)).length;
    const drawn = () => all('#charts svg').length;
    check('charts of an operation', drawn() === charts(() => true) && drawn() > 1);
    const [{ name: workload }] = data.operations.find(({ name }) => name === operation).workloads;
    choose('#filter-workload', workload);
    check('charts of a workload', drawn() === charts(chart => chart.workload === workload));
    choose('#filter-machine', '1');
    check('a chart of a machine', drawn() === 1 && one('#charts figcaption').textContent.includes(data.machines[1].name));
    check('lines are drawn', all('#charts polyline').length > 10);
    check('a chart fits', one('#charts svg').getBoundingClientRect().width > 300);
    choose('#filter-machine', '');
    const others = data.rows.filter(row => row.operation !== operation).map(row => row.workload);
    check(
        'workloads of others cannot be chosen',
        all('#filter-workload option').every(option => !others.includes(option.value)),
    );

    // Operations.
    const openings = () => all('#rows tbody button.link');
    choose('#filter-operation', '');
    check('no chart without an operation', drawn() === 0);
    for (const { name, workloads } of data.operations) {
        choose('#kind', 'the best at published sizes');
        choose('#filter-operation', '');
        ['workload', 'size', 'build'].forEach(filter => choose(`#filter-${filter}`, ''));
        const opening = openings().find(button => button.textContent === name);
        const isMeasured = data.rows.some(row => row.operation === name && isBest(row));
        check(`${name} is among the best`, Boolean(opening) === isMeasured);
        if (opening) {
            opening.click();
            const isShown = row => row.operation === name && row.is_published && row.is_default;
            check(`kernels of ${name}`, isCounted(count(isShown)) && column('#rows', 'operation').every(it => it === name));
            check(`sizes of ${name}`, one('#filter-size').value === String(workloads[0].published));
            check(`a chart of ${name}`, drawn() > 0);
        }
    }
    choose('#kind', 'all kernels');
    check(
        'kernels lead to their flamegraphs',
        all('#rows tbody td a').some(link => link.getAttribute('href').endsWith('.svg')),
    );
    check('machines have a row', all('#machine-table tbody tr').length === data.machines.length);

    // Names.
    const hasName = element =>
        element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.length > 0;
    check('controls have names', all('button, select, input').every(hasName));
    check(
        'tables can be reached and have names',
        all('.table-box').every(box => box.tabIndex === 0 && box.getAttribute('aria-label')),
    );
}

drive()
    .catch(error => findings.failures.push(`${error.message}: ${error.stack}`))
    .then(() => findings);
