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

/** An element. Attributes that are functions are listeners; others that are null, undefined or false are left out. */
function html(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === 'function') {
            element.addEventListener(key, value);
        } else if (value != null && value !== false) {
            element.setAttribute(key, value === true ? '' : value);
        }
    }
    element.append(...children.flat().filter(child => child != null));
    return element;
}

/** Fills a select with `[value, text]`, and keeps what was chosen if that is still there. */
function choices(select, options) {
    const old = select.value;
    select.replaceChildren(...options.map(([value, text]) => html('option', { value }, text)));
    select.value = options.some(([value]) => String(value) === old) ? old : options[0][0];
}

// ---- what the measurements say ----

const operationNamed = new Map(operations.map(operation => [operation.name, operation]));
for (const operation of operations) {
    operation.kernelNamed = new Map(operation.kernels.map(kernel => [kernel.name, kernel]));
}

/** What is known of a row's kernel; one that is no longer in the list has its name alone. */
const kernelOf = row =>
    operationNamed.get(row.operation)?.kernelNamed.get(row.kernel) ?? {
        name: row.kernel,
        summary: '',
        claim: row.is_exact === false ? 'observed' : 'exact',
        changed: [],
    };

const machineName = machine => machines[machine].name;

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

/** What a kernel is, with a link to the picture of where its time goes, where there is one. */
const about = kernel => [
    kernel.summary,
    kernel.claim === 'exact' ? null : html('em', {}, ' (observed, not proved)'),
    ...(kernel.flamegraph ? [' ', sourceLink('flamegraph', kernel.flamegraph)] : []),
];
