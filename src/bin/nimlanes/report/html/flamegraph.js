// Flamegraphs, drawn from folded stacks.

const FRAME_HEIGHT = 19;

/**
 * The frames of one profile, or of two. `stacks` is `[text, scale]` for each; a sample counts as `scale`. A node has the
 * `times` of both, and a `width`, in which the larger of the two times counts wherever a stack ends.
 */
function flameTree(stacks) {
    const node = (name, parent) => ({
        name,
        parent,
        depth: parent ? parent.depth + 1 : 0,
        self: [0, 0],
        times: [0, 0],
        width: 0,
        children: new Map(),
    });
    const root = node('all', null);
    stacks.forEach(([text, scale], which) => {
        for (const line of text.split('\n').filter(line => line.includes(' '))) {
            const end = line.lastIndexOf(' ');
            let at = root;
            for (const name of line.slice(0, end).split(';')) {
                if (!at.children.has(name)) {
                    at.children.set(name, node(name, at));
                }
                at = at.children.get(name);
            }
            at.self[which] += scale * Number(line.slice(end + 1));
        }
    });
    const add = node => {
        const below = [...node.children.values()];
        below.forEach(add);
        node.times = node.self.map((self, which) => self + sum(below.map(child => child.times[which])));
        node.width = Math.max(...node.self) + sum(below.map(child => child.width));
        node.height = 1 + Math.max(0, ...below.map(child => child.height));
    };
    add(root);
    // One outermost frame needs no other below it.
    const [only, ...others] = root.children.values();
    return others.length === 0 && only ? only : root;
}

/** A colour for a function, the same in every picture. */
function hue(name) {
    let hash = 7;
    for (const letter of name.replace(/[: ].*/, '')) {
        hash = (hash * 31 + letter.codePointAt(0)) % 1009;
    }
    return 8 + (hash % 48);
}

/**
 * A flamegraph in a box. `describe` says in lines what a frame is, `zoomed` is told which frame fills the picture.
 * Returns what shows another tree, marks the frames whose names contain a text, and zooms out.
 */
function flamegraph(box, { describe, zoomed }) {
    let [root, zoom, found, isChange] = [null, null, '', false];
    const redraw = withWidth(box, draw);

    function zoomTo(node, isFocused) {
        zoom = node;
        redraw();
        zoomed(node);
        if (isFocused) {
            box.querySelector('[tabindex="0"]')?.focus();
        }
    }

    function fill(node) {
        if (!isChange) {
            return { class: 'flame', style: `--hue: ${hue(node.name)}` };
        }
        const [before, now] = node.times;
        const share = (100 * Math.abs(now - before)) / Math.max(now, before, Number.MIN_VALUE);
        return { class: now > before ? 'flame added' : 'flame saved', style: `--share: ${share.toFixed(0)}%` };
    }

    function draw(width) {
        if (!root) {
            return;
        }
        const height = root.height * FRAME_HEIGHT;
        const chart = svg('svg', {
            width,
            height,
            viewBox: `0 0 ${width} ${height}`,
            role: 'application',
            'aria-roledescription': 'flamegraph',
            'aria-label': 'Flamegraph: arrow keys move, Enter zooms, Escape zooms out',
        });
        const tip = html('div', { class: 'tip' });
        const places = new Map();

        function frame(node, x, frameWidth) {
            const isBelow = node.depth < zoom.depth;
            const y = height - (node.depth - root.depth + 1) * FRAME_HEIGHT;
            const room = Math.floor((frameWidth - 6) / 6.7);
            const isFound = found && node.name.toLowerCase().includes(found);
            const label = room < 3 ? '' : node.name.length > room ? `${node.name.slice(0, room - 1)}…` : node.name;
            const attributes = fill(node);
            const group = svg(
                'g',
                {
                    ...attributes,
                    class: [attributes.class, isBelow && 'below', isFound && 'found'].filter(Boolean).join(' '),
                    role: 'button',
                    'aria-label': describe(node).join(', '),
                    tabindex: node === zoom ? 0 : -1,
                    click: () => zoomTo(node, true),
                    pointerenter: () => point(node),
                    focus: () => point(node),
                },
                svg('rect', {
                    x: x + 0.5,
                    y: y + 0.5,
                    width: Math.max(0.5, frameWidth - 1),
                    height: FRAME_HEIGHT - 1,
                    rx: 2,
                }),
                label && text(x + 4, y + FRAME_HEIGHT / 2, label),
            );
            places.set(node, { group, x, y, width: frameWidth });
            chart.append(group);
        }

        function layout(node, x, frameWidth) {
            if (frameWidth < 0.6) {
                return;
            }
            frame(node, x, frameWidth);
            for (const child of node.children.values()) {
                const childWidth = (frameWidth * child.width) / node.width;
                layout(child, x, childWidth);
                x += childWidth;
            }
        }

        function point(node) {
            const { x, y } = places.get(node);
            const [head, ...lines] = describe(node);
            tip.replaceChildren(html('strong', {}, head), ...lines.map(line => html('span', {}, line)));
            tip.style.left = `${Math.max(0, Math.min(x, width - tip.offsetWidth))}px`;
            tip.style.top = `${y > tip.offsetHeight + 4 ? y - tip.offsetHeight - 4 : y + FRAME_HEIGHT + 4}px`;
        }

        function step(key, node) {
            const drawn = nodes => nodes.filter(node => places.has(node));
            if (key === 'ArrowDown') {
                return places.has(node.parent) ? node.parent : node;
            } else if (key === 'ArrowUp') {
                return drawn([...node.children.values()]).sort((a, b) => b.width - a.width)[0] ?? node;
            }
            const row = drawn([...places.keys()].filter(other => other.depth === node.depth));
            return row[row.indexOf(node) + (key === 'ArrowRight' ? 1 : -1)] ?? node;
        }

        chart.addEventListener('keydown', event => {
            const node = [...places].find(([, { group }]) => group === event.target)?.[0];
            if (!node) {
                return;
            }
            if (event.key.startsWith('Arrow')) {
                const next = step(event.key, node);
                event.target.setAttribute('tabindex', -1);
                places.get(next).group.setAttribute('tabindex', 0);
                places.get(next).group.focus();
            } else if (event.key === 'Enter' || event.key === ' ') {
                zoomTo(node, true);
            } else if (event.key === 'Escape') {
                zoomTo(root, true);
            } else {
                return;
            }
            event.preventDefault();
        });
        chart.addEventListener('pointerleave', () => tip.replaceChildren());
        chart.addEventListener('focusout', () => tip.replaceChildren());
        for (let node = zoom.parent; node && node.depth >= root.depth; node = node.parent) {
            frame(node, 0, width);
        }
        layout(zoom, 0, width);
        box.replaceChildren(chart, tip);
    }

    return {
        show(tree, change) {
            [root, isChange] = [tree, change];
            zoomTo(tree, false);
        },
        find(name) {
            found = name.toLowerCase();
            zoomTo(zoom, false);
        },
        reset: () => zoomTo(root, false),
    };
}

/** The share of a tree in frames whose names contain a text; what is above such a frame counts once. */
function shareFound(tree, name) {
    const inside = node =>
        node.name.toLowerCase().includes(name) ? node.width : sum([...node.children.values()].map(inside));
    return inside(tree) / tree.width;
}
