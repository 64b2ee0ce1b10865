// The data and elements: what all parts of the page use.

/** Unpacks the text of the element with this id. */
function unpacked(id) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), letter => letter.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate')));
}

const data = await unpacked('data').json();
const { machines, operations, rows } = data;

const byId = id => document.getElementById(id);
const unique = values => [...new Set(values)];

/** A whole number with its digits in groups of three. All other numbers come as text. */
const grouped = number => number.toLocaleString('en').replaceAll(',', '\u202f');

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
        claim: row.is_exact === false ? 'observed' : 'exact',
        changed: [],
    };

const machineName = machine => machines[machine].name;

/** A build and a number of threads: duels of one variant can be shown together. */
const variantOf = row => `${row.build} ${row.clock}`;
const variantText = variant => {
    const [build, clock] = variant.split(' ');
    return `${build}, ${clock === 'thread' ? 'one thread' : 'all threads'}`;
};
const DEFAULT = 'default thread';

/** The rows of each duel, by what they have in common: exact kernels before observed ones, fastest first. */
const keyOf = (machine, operation, workload, size, variant) => [machine, operation, workload, size, variant].join('/');
const duels = Map.groupBy(rows, row => keyOf(row.machine, row.operation, row.workload, row.size, variantOf(row)));
const duelAt = (...key) => duels.get(keyOf(...key)) ?? [];

const isBaseline = row => row.kernel === row.baseline;

/** The revision of the source that was measured. */
const revision = machine => html('code', {}, machine.revision ?? 'not recorded');

/** A name that breaks after its underscores. */
const breaking = name => name.split(/(?<=_)/).flatMap((part, i) => (i > 0 ? [html('wbr'), part] : part));

/** A kernel's name, linked to its source. */
function kernelLink(row) {
    const kernel = kernelOf(row);
    const mark = kernel.changed.includes(row.machine)
        ? html('span', { title: 'changed since it was measured' }, '†')
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

/** A link to the picture of where a kernel's time goes, where there is one. */
const flamegraphLink = ({ flamegraph }) => (flamegraph ? [' ', sourceLink('flamegraph', flamegraph)] : []);
