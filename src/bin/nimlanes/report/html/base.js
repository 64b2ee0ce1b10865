// The data, numbers as text, and elements: what all parts of the page use.

/** Unpacks the text of the element with this id. */
function unpacked(id) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), letter => letter.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate')));
}

const data = await unpacked('data').json();
const { machines, operations, rows } = data;

const byId = id => document.getElementById(id);
const sum = numbers => numbers.reduce((total, number) => total + number, 0);
const unique = values => [...new Set(values)];

// ---- numbers as text ----

const grouped = number =>
    Math.round(number)
        .toString()
        .replace(/\B(?=(\d{3})+$)/g, '\u202f');

/** Two or three significant digits, or all digits before the point. */
function digits(number) {
    if (number < 9.995) {
        return number > 0 && number < 0.0995 ? number.toPrecision(2) : number.toFixed(2);
    }
    return number < 99.95 ? number.toFixed(1) : grouped(number);
}

/** A time with a readable unit. */
function time(seconds) {
    const units = [
        [1e-9, 'ns'],
        [1e-6, 'µs'],
        [1e-3, 'ms'],
        [1, 's'],
    ];
    const [scale, unit] = units.findLast(([scale]) => seconds >= 0.9995 * scale) ?? units[0];
    const number = seconds / scale;
    return `${number < 0.9995 ? number.toFixed(3) : digits(number)}\u00a0${unit}`;
}

/** Units of work in a second. */
function rate(perSecond) {
    const scales = [
        [1, ''],
        [1e3, 'k'],
        [1e6, 'M'],
        [1e9, 'G'],
        [1e12, 'T'],
    ];
    const [scale, letter] = scales.findLast(([scale]) => perSecond >= 0.9995 * scale) ?? scales[0];
    return `${digits(perSecond / scale)}\u00a0${letter}/s`;
}

const percent = share => `${(100 * share).toFixed(1)}\u00a0%`;

/** Half the range of the ratios, relative to the ratio. */
const spread = row => (0.5 * (row.ratio_high - row.ratio_low)) / row.ratio;

/** Time for a unit of work, in seconds; none for a run that has no work. */
const perUnit = row => (row.throughput > 0 ? 1 / row.throughput : undefined);

// ---- elements ----

/**
 * Elements of HTML or SVG: attributes that are functions are listeners, others that are null, undefined or false are left out.
 */
const elements =
    create =>
    (name, attributes = {}, ...children) => {
        const element = create(name);
        for (const [key, value] of Object.entries(attributes)) {
            if (typeof value === 'function') {
                element.addEventListener(key, value);
            } else if (key === 'style' && value) {
                // The policy of the page forbids it as an attribute.
                element.style.cssText = value;
            } else if (value != null && value !== false) {
                element.setAttribute(key, value === true ? '' : value);
            }
        }
        element.append(...children.flat().filter(child => child != null));
        return element;
    };
const html = elements(name => document.createElement(name));
const svg = elements(name => document.createElementNS('http://www.w3.org/2000/svg', name));

const numbered = new Intl.Collator('en', { numeric: true });

/** Fills a select with `[value, text]`, and keeps what was chosen if that is still there, else takes `preferred`. */
function choices(select, options, preferred) {
    const old = select.value;
    const values = options.map(([value]) => String(value));
    select.replaceChildren(...options.map(([value, text]) => html('option', { value }, text)));
    select.value = [old, String(preferred)].find(value => values.includes(value)) ?? values[0] ?? '';
}

/** Calls `draw` with the width of an element, now and whenever that changes. Returns a function to draw again. */
function withWidth(element, draw) {
    let width = 0;
    const again = () => width > 0 && draw(width);
    new ResizeObserver(() => {
        const now = Math.floor(element.clientWidth);
        if (now !== width) {
            width = now;
            again();
        }
    }).observe(element);
    return () => {
        width = Math.floor(element.clientWidth);
        again();
    };
}

// ---- what the measurements say ----

const operationNamed = new Map(operations.map(operation => [operation.name, operation]));
for (const operation of operations) {
    operation.kernelNamed = new Map(operation.kernels.map(kernel => [kernel.name, kernel]));
}

/** What is known of a row's kernel; one that is no longer in the list has its name and its tier. */
const kernelOf = row =>
    operationNamed.get(row.operation)?.kernelNamed.get(row.kernel) ?? {
        name: row.kernel,
        summary: '',
        technology: row.tier,
        tier: row.tier,
        claim: row.claim,
        changed: [],
    };

const isExact = row => row.claim === 'exact';
const machineName = machine => machines[machine].name;

/** A build and a number of threads: duels of one variant can be shown together. */
const variantOf = row => `${row.build} ${row.clock}`;
const variantText = variant => {
    const [build, clock] = variant.split(' ');
    return `${build}, ${clock === 'thread' ? 'one thread' : 'all threads'}`;
};
const DEFAULT = 'default thread';

// In the order of the lists, whatever the order of the files.
const placeOf = new Map(
    operations.flatMap(({ name, workloads }, i) =>
        workloads.map((workload, j) => [`${name} ${workload.name}`, 100 * i + j]),
    ),
);
const place = row => placeOf.get(`${row.operation} ${row.workload}`) ?? Infinity;
rows.sort(
    (a, b) =>
        place(a) - place(b) ||
        a.size - b.size ||
        a.machine - b.machine ||
        numbered.compare(variantOf(a), variantOf(b)) ||
        b.ratio - a.ratio,
);

/** The rows of each duel, by what they have in common: exact kernels before observed ones, fastest first. */
const keyOf = (machine, operation, workload, size, variant) => [machine, operation, workload, size, variant].join('/');
const duels = Map.groupBy(rows, row => keyOf(row.machine, row.operation, row.workload, row.size, variantOf(row)));
for (const duel of duels.values()) {
    duel.sort((a, b) => isExact(b) - isExact(a) || b.ratio - a.ratio);
}
const duelAt = (...key) => duels.get(keyOf(...key)) ?? [];

/** The fastest exact kernel of a duel, the fastest in plain Rust, and the baseline. */
const best = duel => duel.find(isExact);
const bestPlain = duel => duel.find(row => kernelOf(row).is_plain);
const baseline = duel => duel.find(row => row.kernel === row.baseline);

/** The revision of the source that was measured. */
const revision = machine => html('code', {}, machine.revision ?? 'not recorded');

/** A name that breaks after its underscores. */
const breaking = name => name.split(/(?<=_)/).flatMap((part, i) => (i > 0 ? [html('wbr'), part] : part));

/** A kernel's name, linked to its source. */
function kernelLink(row) {
    const kernel = kernelOf(row);
    const mark = kernel.changed.includes(row.machine)
        ? html('span', { title: 'the source has changed since it was measured' }, '†')
        : null;
    return html(
        'span',
        { class: 'kernel' },
        sourceLink(html('code', {}, breaking(kernel.name)), kernel.source, kernel.line),
        mark,
    );
}

/** A link to a line of a source file, if the file is known. */
function sourceLink(content, path, line) {
    const to = path && data.links + path + (line ? `#L${line}` : '');
    return to ? html('a', { href: to, title: line ? `${path}:${line}` : path }, content) : content;
}
