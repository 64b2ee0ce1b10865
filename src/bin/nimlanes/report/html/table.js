// Tables that are sorted by a click on a heading.

const numbered = new Intl.Collator('en', { numeric: true });

/** A column of numbers with their texts, a field of a row. */
const numberColumn = (head, field) => ({
    head,
    value: row => row[field]?.value,
    cell: row => row[field]?.text,
    isNumber: true,
});

/**
 * A table in a box that scrolls. A column has a `head`, the `value` of a row to sort by, what a `cell` shows if that is
 * another thing, a `title` under the pointer, and whether it `isNumber`. At most `page` rows are shown until more are asked for.
 */
function sortedTable({ label, columns, page = Infinity }) {
    let rows = [];
    let shown = page;
    let sorted = { column: null, direction: 1 };
    const body = html('tbody');
    const more = html('button', {
        type: 'button',
        class: 'more',
        click: () => {
            shown += page;
            draw();
        },
    });
    const heads = columns.map(column => {
        const button = html('button', { type: 'button', click: () => sortBy(column) }, column.head);
        return html('th', { scope: 'col', class: column.isNumber ? 'number' : null }, button);
    });
    const table = html('table', {}, html('thead', {}, html('tr', {}, heads)), body);
    const box = html('div', { class: 'table-box', role: 'region', 'aria-label': label, tabindex: 0 }, table);

    function sortBy(column) {
        sorted = { column, direction: sorted.column === column ? -sorted.direction : 1 };
        heads.forEach(head => head.removeAttribute('aria-sort'));
        heads[columns.indexOf(column)].setAttribute('aria-sort', sorted.direction > 0 ? 'ascending' : 'descending');
        draw();
    }

    /** Rows without a value come last, whatever the direction. */
    function compare(a, b) {
        const [x, y] = [a, b].map(sorted.column.value);
        if (x == null || y == null) {
            return (x == null) - (y == null);
        }
        return sorted.direction * (typeof x === 'number' ? x - y : numbered.compare(x, y));
    }

    function cell(column, row, isFirst) {
        const content = (column.cell ?? column.value)(row) ?? '–';
        const attributes = { class: column.isNumber ? 'number' : column.class, title: column.title?.(row) };
        return isFirst ? html('th', { scope: 'row', ...attributes }, content) : html('td', attributes, content);
    }

    function draw() {
        const all = sorted.column ? rows.toSorted(compare) : rows;
        const drawn = all.slice(0, shown).map(row =>
            html(
                'tr',
                {},
                columns.map((column, i) => cell(column, row, i === 0)),
            ),
        );
        body.replaceChildren(...drawn);
        more.hidden = all.length <= shown;
        more.textContent = `Show ${grouped(Math.min(page, all.length - shown))} more`;
    }

    return {
        element: html('div', {}, box, more),
        show(newRows) {
            rows = newRows;
            shown = page;
            draw();
        },
    };
}
