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
    const press = (element, key) =>
        element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const click = element => element.dispatchEvent(new MouseEvent('click', { bubbles: true }));

    // The table of all measurements.
    const shown = () => all('#rows tbody tr').length;
    check('all rows are counted', number(one('#count').textContent.split(' of ')[0]) === data.rows.length);
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

    const operation = one('#operations [aria-pressed="true"]').value;
    const { kernel } = data.rows.find(row => row.operation === operation);
    const count = isWanted => data.rows.filter(isWanted).length;
    const isCounted = wanted => number(one('#count').textContent.split(' of ')[0]) === wanted;
    type('#find', `${kernel} ${operation}`);
    check(
        'found rows are counted',
        isCounted(count(row => row.kernel.includes(kernel) && row.operation.includes(operation))),
    );
    check(
        'found rows have the name',
        column('#rows', 'kernel').every(name => name.includes(kernel)),
    );
    choose('#filter-machine', data.machines[1].name);
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

    // The chart of sizes.
    const duel = data.rows.filter(
        row =>
            row.operation === operation &&
            row.machine === 0 &&
            row.build === 'default' &&
            row.clock === 'thread' &&
            row.workload === one('#workload').value,
    );
    const chart = () => one('#sizes-chart svg');
    const tip = () => one('#sizes-chart .tip').textContent;
    const labels = all('#sizes-chart .axis[text-anchor="middle"]').filter(label =>
        /^10+$/.test(label.textContent.replace(/\s/g, '')),
    );
    const places = labels.map(label => [Math.log10(number(label.textContent)), Number(label.getAttribute('x'))]);
    const slopes = places.slice(1).map(([x, at], i) => (at - places[i][1]) / (x - places[i][0]));
    check(
        'sizes are on a logarithmic axis',
        slopes.length > 0 && slopes.every(slope => slope > 0 && Math.abs(slope - slopes[0]) < 1),
    );
    const { e: pointX, f: pointY } = one('#sizes-chart .series:not(.other) .mark').transform.baseVal[0].matrix;
    const corner = chart().getBoundingClientRect();
    const pointer = (type, x, y, pointerType = 'mouse') => {
        const place = { clientX: corner.left + x, clientY: corner.top + y };
        chart().dispatchEvent(new PointerEvent(type, { pointerType, ...place }));
    };
    check('no value at first', tip() === '');
    pointer('pointermove', pointX + 2, pointY - 2);
    check(
        'a value under the pointer',
        duel.some(row => tip().startsWith(row.kernel) && tip().includes(`${row.unit_time.text} per `)),
    );
    pointer('pointerleave', 0, 0);
    check('no value away from the chart', tip() === '');
    pointer('pointerdown', 200, 100, 'touch');
    pointer('pointerleave', 200, 100, 'touch');
    check('a value stays after a touch', tip() !== '');
    const sizeShown = () => number(one('#sizes-chart .tip span').textContent.replace('size', ''));
    chart().dispatchEvent(new FocusEvent('focus'));
    press(chart(), 'ArrowLeft');
    press(chart(), 'ArrowLeft');
    const [before, kernelBefore] = [sizeShown(), one('#sizes-chart .tip strong').textContent];
    press(chart(), 'ArrowRight');
    check(
        'the next size by an arrow key',
        sizeShown() > before && one('#sizes-chart .tip strong').textContent === kernelBefore,
    );
    press(chart(), 'Escape');
    check('no value after Escape', tip() === '');
    const coloured = () => all('#sizes-chart .series:not(.other)').length;
    const [first, isPressed] = [coloured(), one('#legend button').getAttribute('aria-pressed')];
    one('#legend button').click();
    check(
        'a kernel loses or gets its colour',
        coloured() !== first && one('#legend button').getAttribute('aria-pressed') !== isPressed,
    );
    const look = mark => `${mark.getAttribute('d')} ${mark.getAttribute('style')}`;
    const legend = () => all('#legend [aria-pressed="true"]');
    const looks = () => new Set(legend().map(button => look(button.querySelector('.mark')))).size;
    all('#legend [aria-pressed="false"]').forEach(button => button.click());
    check(
        'every kernel can have a mark of its own',
        legend().length > 10 && looks() === legend().length && looks() === all('#legend button').length,
    );
    one('#legend button').click();
    check('a mark is taken away', one('#legend button').getAttribute('aria-pressed') === 'false');
    choose('#measure', 'ratio to the best plain Rust');
    check('another measure', one('#sizes-chart').textContent.includes('times as fast as the best plain Rust'));

    // Ladder and machines.
    const times = () => all('#ladder tbody td.number').filter(cell => /^[0-9]/.test(cell.textContent)).length;
    check(
        'the ladder links lines of source',
        all('#ladder tbody th a').every(link => /\.rs#L\d+$/.test(link.getAttribute('href'))),
    );
    const steps = all('#ladder tbody tr').length;
    one('#all-kernels').click();
    const kernels = data.operations.find(({ name }) => name === operation).kernels.length;
    check('all kernels', all('#ladder tbody tr').length === kernels && steps > 1 && steps < kernels);
    const ofOne = times();
    one('#machines input[value="1"]').click();
    check('times of two machines', times() > ofOne && ofOne > 0);
    check('lines of two machines', all('#sizes-chart [stroke-dasharray]').length > 0);
    one('#machines input[value="0"]').click();
    const unmeasured = data.operations.find(
        ({ name }) => !data.rows.some(row => row.operation === name && row.machine),
    );
    one(`#operations [value="${unmeasured.name}"]`).click();
    check('not measured there', one('#sizes-chart').textContent === 'not measured' && times() === 0);
    one('#machines input[value="1"]').click();
    check('one machine is always shown', one('#machines input[value="1"]').checked);
    one('#machines input[value="0"]').click();
    one('#machines input[value="1"]').click();
    for (const button of all('#operations button')) {
        button.click();
        check(`a chart of ${button.value}`, all('#sizes-chart .series').length > 0 && times() > 0);
    }
    one('#summary-table tbody button').click();
    check(
        'the summary leads to an operation',
        one('#operations [aria-pressed="true"]').value === one('#summary-table tbody button').textContent,
    );

    check(
        'kernels lead to their flamegraphs',
        all('#ladder tbody td a').some(link => link.getAttribute('href').endsWith('.svg')),
    );

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
