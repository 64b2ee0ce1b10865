// Charts with logarithmic axes, and the values next to the pointer.

/** A logarithmic axis from `low` to `high`, at the pixels `from` to `to`, with at most one tick per `apart` pixels. */
function logAxis([low, high], [from, to], apart) {
    const decades = Math.log10(high / low);
    const at = value => from + ((to - from) * Math.log10(value / low)) / decades;
    // As many as fit; the number 1 is among them if it is on the axis.
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

/** A round number of seconds, at a tick. */
function timeTick(seconds) {
    const units = ['ps', 'ns', 'µs', 'ms', 's'];
    const unit = Math.max(0, Math.min(4, Math.floor((Math.log10(seconds) + 1e-9) / 3 + 4)));
    return `${Number((seconds * 1000 ** (4 - unit)).toPrecision(1))}\u00a0${units[unit]}`;
}

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

/** The shapes of points, as paths around their middle. */
const SHAPES = [
    'M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z',
    'M-3.2-3.2h6.4v6.4h-6.4z',
    'M0-4.4L4.3 3.2h-8.6z',
    'M0-4.7L4.2 0L0 4.7L-4.2 0z',
];
const COLOURS = 10;

/** The colour and the shape of a mark; neighbours differ in both, and forty in either. */
const markAt = index => ({
    colour: `var(--colour-${index % COLOURS})`,
    shape: SHAPES[(index + Math.floor(index / COLOURS)) % SHAPES.length],
});
const NO_MARK = { colour: 'var(--muted)', shape: SHAPES[0] };

/** A mark at a place, or the outline of one. */
const markOf = ({ colour, shape }, x, y, isHollow) =>
    svg('path', {
        class: isHollow ? 'mark hollow' : 'mark',
        d: shape,
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        style: `color: ${colour}`,
    });

/** How the lines of several machines differ. */
const DASHES = [
    { name: 'solid', pattern: null },
    { name: 'dashed', pattern: '7 4' },
    { name: 'dotted', pattern: '2 3' },
    { name: 'dashed and dotted', pattern: '9 3 2 3' },
];

/**
 * Lines over sizes, or over what `across` names; `title` is above their axis, which has numbers or seconds. A series has a `name`, a
 * `mark` or none, the number of its `dash`, and `points` with `size`, `value` and `text`, by size. Those with a mark are named at their
 * ends if there is room. Without any point, the chart says `empty`.
 */
function lineChart(box, width, { series, title, across = 'size', label, isRatio, empty = 'not measured' }) {
    const isNamed = ({ mark, dash }) => mark != null && dash === 0;
    const longest = width > 720 ? Math.max(0, ...series.filter(isNamed).map(({ name }) => name.length)) : 0;
    const height = Math.round(Math.min(480, Math.max(320, width * 0.55)));
    const [left, right, top, bottom] = [64, width - (longest > 0 ? 34 + 7.3 * longest : 18), 28, height - 44];
    const chart = emptyChart(box, width, height, label);
    const points = series.flatMap(one => one.points);
    if (points.length === 0) {
        chart.append(text(width / 2, height / 2, empty, { class: 'axis', 'text-anchor': 'middle' }));
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
            line(left, y.at(value), right, y.at(value), { class: isRatio && value === 1 ? 'grid marked' : 'grid' }),
        );
        const ratio = value < 1 ? String(value) : grouped(value);
        const label = isRatio ? ratio : timeTick(value);
        chart.append(text(left - 8, y.at(value), label, { class: 'axis', 'text-anchor': 'end' }));
    }
    chart.append(text((left + right) / 2, bottom + 34, across, { class: 'axis', 'text-anchor': 'middle' }));
    chart.append(text(2, 9, title, { class: 'axis' }));

    const placed = [];
    // Those without a mark first, so that they are below the others.
    const inOrder = series.toSorted((a, b) => (a.mark != null) - (b.mark != null));
    for (const { name, mark, dash, points } of inOrder) {
        const at = points.map(point => ({
            ...point,
            x: x.at(point.size),
            y: y.at(point.value),
            series: `${name} ${dash}`,
        }));
        at.forEach(point => placed.push({ ...point, column: point.size }));
        const group = svg('g', {
            class: mark ? 'series' : 'series other',
            style: mark && `color: ${mark.colour}`,
        });
        group.append(
            svg('polyline', {
                points: at.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' '),
                'stroke-dasharray': DASHES[dash % DASHES.length].pattern,
            }),
        );
        if (mark || at.length === 1) {
            group.append(...at.map(({ x, y }) => markOf(mark ?? NO_MARK, x, y, dash > 0)));
        }
        chart.append(group);
    }
    if (longest > 0) {
        const ends = inOrder
            .filter(isNamed)
            .map(({ name, mark, points }) => ({ name, mark, at: points.at(-1) }))
            .sort((a, b) => b.at.value - a.at.value);
        const places = spreadOut(
            ends.map(({ at }) => y.at(at.value)),
            16,
            bottom,
        );
        ends.forEach(({ name, mark, at }, i) => {
            const corners = [
                [x.at(at.size) + 5, y.at(at.value)],
                [right + 6, places[i]],
                [right + 12, places[i]],
            ];
            chart.append(svg('polyline', { class: 'leader', points: corners.join(' ') }));
            chart.append(markOf(mark, right + 19, places[i]));
            chart.append(text(right + 28, places[i], name, { class: 'name' }));
        });
    }
    probe(box, chart, placed);
}
