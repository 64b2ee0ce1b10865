// Charts with logarithmic axes, and the values next to the pointer.

/** A logarithmic axis from `low` to `high`, at the pixels `from` to `to`, with a tick for every `apart` pixels at most. */
function logAxis([low, high], [from, to], apart) {
    const decades = Math.log10(high / low);
    const at = value => from + ((to - from) * Math.log10(value / low)) / decades;
    // As many as have room; one is among them.
    const room = Math.abs(to - from) / apart;
    const digits = decades < 2.5 && 3 * decades < room ? [1, 2, 5] : [1];
    const step = Math.ceil(decades / room);
    const ticks = [];
    for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.log10(high); exponent++) {
        if (exponent % step === 0) {
            const values = digits.map(digit => Number(`${digit}e${exponent}`));
            ticks.push(...values.filter(value => value >= low * 0.9999 && value <= high * 1.0001));
        }
    }
    return { at, ticks };
}

/**
 * Shows the values of one point of a chart: that next to the pointer, or the one that arrow keys lead to. Left and
 * right move along the series of a point, up and down within its column. A point has a place `x` and `y`, a `series`, a
 * `column`, and `text`: lines, of which the first is a heading. `distance` tells how far a point is from a place.
 */
function probe(box, chart, points, distance = (point, x, y) => Math.hypot(point.x - x, point.y - y)) {
    const tip = html('div', { class: 'tip', role: 'status' });
    const ring = svg('circle', { class: 'ring', r: 6, visibility: 'hidden' });
    let current = null;
    chart.append(ring);
    box.append(tip);

    function show(point) {
        current = point;
        ring.setAttribute('visibility', point ? 'visible' : 'hidden');
        if (!point) {
            tip.replaceChildren();
            return;
        }
        ring.setAttribute('cx', point.x);
        ring.setAttribute('cy', point.y);
        const [head, ...lines] = point.text;
        tip.replaceChildren(html('strong', {}, head), ...lines.map(line => html('span', {}, line)));
        const isLeft = point.x + tip.offsetWidth + 16 > box.clientWidth;
        tip.style.left = `${Math.max(0, isLeft ? point.x - tip.offsetWidth - 12 : point.x + 12)}px`;
        tip.style.top = `${Math.max(0, point.y - tip.offsetHeight - 8)}px`;
    }

    function next(key) {
        const isAcross = key === 'ArrowLeft' || key === 'ArrowRight';
        const along = point => (isAcross ? point.x : point.y);
        const sign = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
        const path = points.filter(point =>
            isAcross ? point.series === current.series : point.column === current.column,
        );
        const ahead = path.filter(point => sign * (along(point) - along(current)) > 0);
        const steps = ahead.sort((a, b) => sign * (along(a) - along(b)));
        return steps[0] ?? current;
    }

    function follow(event) {
        const { left, top } = chart.getBoundingClientRect();
        const [x, y] = [event.clientX - left, event.clientY - top];
        const far = point => distance(point, x, y);
        show(points.reduce((nearest, point) => (!nearest || far(point) < far(nearest) ? point : nearest), null));
    }

    chart.addEventListener('pointermove', follow);
    chart.addEventListener('pointerdown', follow);
    // What a finger has touched stays until the focus leaves.
    chart.addEventListener('pointerleave', event => event.pointerType === 'touch' || show(null));
    chart.addEventListener('blur', () => show(null));
    chart.addEventListener('focus', () => show(current ?? points[0]));
    chart.addEventListener('keydown', event => {
        if (event.key.startsWith('Arrow') && points.length > 0) {
            event.preventDefault();
            show(current ? next(event.key) : points[0]);
        } else if (event.key === 'Escape') {
            show(null);
        }
    });
}

/** An empty chart that arrow keys work in. */
function emptyChart(box, width, height, label) {
    const chart = svg('svg', {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        tabindex: 0,
        role: 'application',
        'aria-roledescription': 'chart',
        'aria-label': label,
    });
    box.replaceChildren(chart);
    return chart;
}

/** The number of a tick, without zeros after its point. */
const round = text => text.replace(/\.0+(?!\d)/, '');

const text = (x, y, content, attributes) => svg('text', { x, y, dy: '0.35em', ...attributes }, content);
const line = (x1, y1, x2, y2, attributes) => svg('line', { x1, y1, x2, y2, ...attributes });

/**
 * Moves sorted positions apart as little as needed, so that each is `leading` below the one before, and none below
 * `bottom`.
 */
function spreadOut(positions, leading, bottom) {
    const at = [];
    positions.forEach((position, i) => at.push(i === 0 ? position : Math.max(position, at[i - 1] + leading)));
    for (let i = at.length - 1, most = bottom; i >= 0; i--, most -= leading) {
        at[i] = Math.min(at[i], most);
    }
    return at;
}

/** How the lines of several machines differ. */
const DASHES = [
    { name: 'solid', pattern: null },
    { name: 'dashed', pattern: '7 4' },
    { name: 'dotted', pattern: '2 3' },
    { name: 'dashed and dotted', pattern: '9 3 2 3' },
];

/**
 * Lines over sizes; `title` is above their axis. A series has a `name`, a `colour` or none, the number of its `dash`,
 * and `points` with `size`, `value` and `text`, by size. Those with a colour are named at their ends if there is room.
 */
function lineChart(box, width, { series, title, label, valueText, markedValue }) {
    const isNamed = ({ colour, dash }) => colour != null && dash === 0;
    const longest = width > 720 ? Math.max(0, ...series.filter(isNamed).map(({ name }) => name.length)) : 0;
    const height = Math.round(Math.min(480, Math.max(320, width * 0.55)));
    const [left, right, top, bottom] = [64, width - (longest > 0 ? 24 + 7.3 * longest : 18), 28, height - 44];
    const chart = emptyChart(box, width, height, label);
    const points = series.flatMap(one => one.points);
    if (points.length === 0) {
        chart.append(text(width / 2, height / 2, 'not measured', { class: 'axis', 'text-anchor': 'middle' }));
        return;
    }
    const range = (of, margin) => {
        const values = points.map(of);
        const [low, high] = [Math.min(...values), Math.max(...values)];
        return [low / margin, Math.max(high, low * 1.5) * margin];
    };
    const sizes = range(point => point.size, 1.06);
    const x = logAxis(sizes, [left, right], 12 + 7 * grouped(sizes[1]).length);
    const y = logAxis(
        range(point => point.value, 1.2),
        [bottom, top],
        28,
    );
    for (const size of x.ticks) {
        chart.append(line(x.at(size), top, x.at(size), bottom, { class: 'grid' }));
        const isLast = x.at(size) + 40 > width;
        chart.append(
            text(isLast ? width - 2 : x.at(size), bottom + 14, grouped(size), {
                class: 'axis',
                'text-anchor': isLast ? 'end' : 'middle',
            }),
        );
    }
    for (const value of y.ticks) {
        chart.append(
            line(left, y.at(value), right, y.at(value), { class: value === markedValue ? 'grid marked' : 'grid' }),
        );
        chart.append(text(left - 8, y.at(value), round(valueText(value)), { class: 'axis', 'text-anchor': 'end' }));
    }
    chart.append(text((left + right) / 2, bottom + 34, 'size', { class: 'axis', 'text-anchor': 'middle' }));
    chart.append(text(2, 9, title, { class: 'axis' }));

    const placed = [];
    // Those without a colour first, so that they are below the others.
    const inOrder = series.toSorted((a, b) => (a.colour != null) - (b.colour != null));
    for (const { name, colour, dash, points } of inOrder) {
        const at = points.map(point => ({
            ...point,
            x: x.at(point.size),
            y: y.at(point.value),
            series: `${name} ${dash}`,
        }));
        at.forEach(point => placed.push({ ...point, column: point.size }));
        const group = svg('g', {
            class: colour == null ? 'series other' : 'series',
            style: colour && `color: ${colour}`,
        });
        group.append(
            svg('polyline', {
                points: at.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' '),
                'stroke-dasharray': DASHES[dash % DASHES.length].pattern,
            }),
        );
        if (colour != null || at.length === 1) {
            group.append(...at.map(({ x, y }) => svg('circle', { cx: x, cy: y, r: 3 })));
        }
        chart.append(group);
    }
    if (longest > 0) {
        const ends = inOrder
            .filter(isNamed)
            .map(({ name, colour, points }) => ({ name, colour, at: points.at(-1) }))
            .sort((a, b) => b.at.value - a.at.value);
        const places = spreadOut(
            ends.map(({ at }) => y.at(at.value)),
            16,
            bottom,
        );
        ends.forEach(({ name, colour, at }, i) => {
            const corners = [
                [x.at(at.size) + 5, y.at(at.value)],
                [right + 6, places[i]],
                [right + 12, places[i]],
            ];
            chart.append(svg('polyline', { class: 'leader', points: corners.join(' ') }));
            chart.append(text(right + 16, places[i], name, { class: 'name', style: `color: ${colour}` }));
        });
    }
    probe(box, chart, placed);
}

/**
 * Bars of ratios from 1, in groups. A group has a `name` and `bars` with a `colour`, the `ratio`, its `low` and `high`,
 * and `text`; the further a bar is from the first of its group, the paler it is.
 */
function barChart(box, width, { groups, label }) {
    const isNarrow = width < 560;
    const [bar, gap] = [groups.some(group => group.bars.length > 1) ? 11 : 14, 9];
    const [left, right, top] = [isNarrow ? 148 : 220, width - 64, 26];
    let bottom = top;
    const tops = groups.map(({ bars }) => (bottom += bars.length * bar + gap) - bars.length * bar - gap / 2);
    const chart = emptyChart(box, width, bottom + 8, label);
    const all = groups.flatMap(group => group.bars);
    const [low, high] = [Math.min(1, ...all.map(bar => bar.low)), Math.max(1.5, ...all.map(bar => bar.high))];
    const x = logAxis([low / 1.05, high * 1.05], [left, right], 36);
    for (const ratio of x.ticks) {
        chart.append(line(x.at(ratio), top, x.at(ratio), bottom, { class: ratio === 1 ? 'grid marked' : 'grid' }));
        chart.append(
            text(x.at(ratio), top - 12, `×\u2009${ratio < 1 ? ratio : grouped(ratio)}`, {
                class: 'axis',
                'text-anchor': 'middle',
            }),
        );
    }
    const placed = [];
    groups.forEach(({ name, bars, isObserved }, i) => {
        const shown = isNarrow && name.length > 19 ? `${name.slice(0, 18)}…` : name;
        chart.append(
            text(left - 8, tops[i] + (bars.length * bar) / 2, shown, {
                class: isObserved ? 'name observed' : 'name',
                'text-anchor': 'end',
            }),
        );
        bars.forEach(({ colour, ratio, low, high, text: lines, machine }, j) => {
            const [at, middle] = [x.at(ratio), tops[i] + (j + 0.5) * bar];
            chart.append(
                svg('rect', {
                    x: Math.min(at, x.at(1)),
                    y: tops[i] + j * bar + 1,
                    width: Math.max(1, Math.abs(at - x.at(1))),
                    height: bar - 2,
                    fill: colour,
                    opacity: 0.6 ** j,
                }),
            );
            chart.append(line(x.at(low), middle, x.at(high), middle, { class: 'whisker' }));
            chart.append(text(Math.max(x.at(high), x.at(1)) + 6, middle, digits(ratio), { class: 'axis' }));
            placed.push({ x: at, y: middle, series: name, column: machine, text: lines });
        });
    });
    probe(box, chart, placed, (point, _, y) => Math.abs(point.y - y));
}
