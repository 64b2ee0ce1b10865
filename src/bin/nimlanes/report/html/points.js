// A canvas of points that can be moved and enlarged.

/** Colours of a scale from dark to light, as the bytes of a pixel. */
const INKS = new Uint32Array(
    data.scale.map(([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0),
);

/** Round numbers from `low` to `high`, at most `most` of them. */
function roundTicks(low, high, most) {
    const least = (high - low) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = Math.max(
        1,
        [1, 2, 5, 10].map(digit => digit * power).find(step => step >= least),
    );
    const ticks = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) {
        ticks.push(tick);
    }
    return ticks;
}

/**
 * Points on a canvas. They are dragged with a pointer or moved with the arrow keys, and enlarged with two fingers, with the wheel where
 * the canvas has the focus, or with + and -. The point next to the pointer, or to the middle after a key, is described in `readout`.
 */
function pointPicture(canvas, readout) {
    const context = canvas.getContext('2d');
    const MARGIN = { left: 64, right: 14, top: 34, bottom: 44 };
    /** Lists of points: `x`, `y`, `third`, the `ink` of each, and a text for one. */
    let parts = [];
    let about = { title: '', names: ['', ''], ranges: [1, 1] };
    let grows = [false, false];
    /** The corner at the bottom left, and how many units there are in a pixel. */
    let view = null;
    let [width, height, dots] = [0, 0, 1];
    /** Points are drawn larger if there are fewer than this. */
    const FEW = 30_000;

    const count = () => parts.reduce((count, part) => count + part.x.length, 0);

    const inner = () => [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
    const screen = (x, y) => [
        MARGIN.left + (x - view.x) / view.perX,
        height - MARGIN.bottom - (y - view.y) / view.perY,
    ];

    function whole() {
        const [across, up] = inner();
        view = { x: 0, y: 0, perX: about.ranges[0] / across, perY: about.ranges[1] / up };
    }

    /** Puts the points of a part into the pixels of the plot. */
    function stamp(image, [across, up], { x, y, ink }) {
        const pixels = new Uint32Array(image.data.buffer);
        // A unit of a large picture is less than a pixel, and must be seen all the same.
        const least = Math.round(dots * (count() < FEW ? 2 : 1));
        const [side, rise] = [view.perX, view.perY].map(per =>
            Math.max(least, Math.min(Math.ceil(dots / per), 60 * dots)),
        );
        for (let i = 0; i < x.length; i += 1) {
            const left = Math.floor(((x[i] - view.x) / view.perX) * dots);
            const bottom = up - 1 - Math.floor(((y[i] - view.y) / view.perY) * dots);
            const colour = INKS[ink[i]];
            for (let row = Math.max(0, bottom - rise + 1); row <= Math.min(up - 1, bottom); row += 1) {
                for (let column = Math.max(0, left); column < Math.min(across, left + side); column += 1) {
                    pixels[row * across + column] = colour;
                }
            }
        }
    }

    function draw() {
        if (width === 0 || !view) {
            return;
        }
        const { color, backgroundColor, borderTopColor } = getComputedStyle(canvas);
        const [across, up] = inner();
        const size = [across, up].map(length => Math.round(length * dots));
        context.setTransform(dots, 0, 0, dots, 0, 0);
        context.clearRect(0, 0, width, height);
        const image = context.createImageData(...size);
        parts.forEach(part => stamp(image, size, part));
        context.putImageData(image, Math.round(MARGIN.left * dots), Math.round(MARGIN.top * dots));
        // The background goes behind what is drawn.
        context.globalCompositeOperation = 'destination-over';
        context.fillStyle = backgroundColor;
        context.fillRect(0, 0, width, height);
        context.globalCompositeOperation = 'source-over';
        axes(color, borderTopColor);
    }

    function axes(pen, rule) {
        const [across, up] = inner();
        const bottom = height - MARGIN.bottom;
        context.strokeStyle = rule;
        context.strokeRect(MARGIN.left - 0.5, MARGIN.top - 0.5, across + 1, up + 1);
        context.fillStyle = pen;
        context.font = '12px system-ui, sans-serif';
        context.textAlign = 'center';
        for (const tick of roundTicks(view.x, view.x + across * view.perX, across / 90)) {
            const label = grouped(tick);
            const half = context.measureText(label).width / 2;
            context.fillText(label, Math.min(screen(tick, 0)[0], width - half - 2), bottom + 16);
        }
        context.fillText(about.names[0], MARGIN.left + across / 2, bottom + 36);
        context.textAlign = 'right';
        for (const tick of roundTicks(view.y, view.y + up * view.perY, up / 50)) {
            context.fillText(grouped(tick), MARGIN.left - 6, screen(0, tick)[1] + 4);
        }
        context.textAlign = 'left';
        context.fillText(`${about.title}; upwards: ${about.names[1]}`, 8, 20, width - 16);
    }

    /** Tells the point next to a place on the screen, if there is one near. */
    function tell(atX, atY, isSpoken) {
        let [nearest, far] = [null, 20];
        for (const part of parts) {
            for (let i = 0; i < part.x.length; i += 1) {
                const dx = (part.x[i] + 0.5 - view.x) / view.perX + MARGIN.left - atX;
                const dy = height - MARGIN.bottom - (part.y[i] + 0.5 - view.y) / view.perY - atY;
                const distance = Math.abs(dx) < far && Math.abs(dy) < far ? Math.hypot(dx, dy) : Infinity;
                if (distance < far) {
                    [nearest, far] = [{ part, i }, distance];
                }
            }
        }
        readout.setAttribute('aria-live', isSpoken ? 'polite' : 'off');
        readout.textContent = nearest
            ? nearest.part.text(nearest.part.x[nearest.i], nearest.part.y[nearest.i], nearest.part.third[nearest.i])
            : '\u00a0';
    }

    function pan(dx, dy) {
        view.x = Math.max(-0.5 * about.ranges[0], Math.min(about.ranges[0], view.x - dx * view.perX));
        view.y = Math.max(-0.5 * about.ranges[1], Math.min(about.ranges[1], view.y + dy * view.perY));
        schedule();
    }

    /** Enlarges by a factor about a place on the screen, the middle unless it is given. */
    function zoom(factor, atX = MARGIN.left + inner()[0] / 2, atY = MARGIN.top + inner()[1] / 2) {
        if (!view) {
            return;
        }
        const [left, up] = [atX - MARGIN.left, height - MARGIN.bottom - atY];
        const most = Math.max(...about.ranges) / 40;
        const by = Math.max(factor, view.perX / most);
        const [perX, perY] = [view.perX / by, view.perY / by];
        if (perX > 0.01) {
            view = { x: view.x + left * (view.perX - perX), y: view.y + up * (view.perY - perY), perX, perY };
            schedule();
        }
    }

    const schedule = (() => {
        let isDue = false;
        return () => {
            if (!isDue) {
                isDue = true;
                requestAnimationFrame(() => {
                    isDue = false;
                    draw();
                });
            }
        };
    })();

    const fingers = new Map();
    const place = ({ clientX, clientY }) => {
        const { left, top } = canvas.getBoundingClientRect();
        return [clientX - left, clientY - top];
    };
    canvas.addEventListener('pointerdown', event => {
        canvas.setPointerCapture(event.pointerId);
        fingers.set(event.pointerId, place(event));
    });
    for (const type of ['pointerup', 'pointercancel']) {
        canvas.addEventListener(type, event => fingers.delete(event.pointerId));
    }
    canvas.addEventListener('pointermove', event => {
        if (!view) {
            return;
        }
        const [x, y] = place(event);
        const before = fingers.get(event.pointerId);
        if (!before) {
            tell(x, y, false);
            return;
        }
        const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
        if (other) {
            const apart = ([a, b]) => Math.max(1, Math.hypot(a - other[0], b - other[1]));
            zoom(apart([x, y]) / apart(before), ...other);
        } else {
            pan(x - before[0], y - before[1]);
        }
        fingers.set(event.pointerId, [x, y]);
    });
    canvas.addEventListener(
        'wheel',
        event => {
            if (document.activeElement === canvas || event.ctrlKey) {
                event.preventDefault();
                zoom(2 ** (-event.deltaY / 300), ...place(event));
            }
        },
        { passive: false },
    );
    canvas.addEventListener('dblclick', event => zoom(2, ...place(event)));
    canvas.addEventListener('keydown', event => {
        const STEP = 60;
        const moves = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
        const factor = { '+': 1.5, '=': 1.5, '-': 1 / 1.5 }[event.key];
        if (!view || !(event.key in moves || factor || event.key === '0')) {
            return;
        }
        event.preventDefault();
        if (factor) {
            zoom(factor);
        } else if (event.key === '0') {
            reset();
        } else {
            pan(...moves[event.key]);
        }
        tell(MARGIN.left + inner()[0] / 2, MARGIN.top + inner()[1] / 2, true);
    });

    function reset() {
        whole();
        schedule();
    }

    function resize() {
        const now = Math.floor(canvas.parentElement.clientWidth);
        if (now === 0 || now === width) {
            return;
        }
        width = now;
        height = now;
        dots = globalThis.devicePixelRatio || 1;
        [canvas.width, canvas.height] = [width * dots, height * dots].map(Math.round);
        canvas.style.height = `${height}px`;
        whole();
        draw();
    }
    new ResizeObserver(resize).observe(canvas.parentElement);
    // The theme has changed, and the colours with it.
    new MutationObserver(schedule).observe(document.documentElement, { attributeFilter: ['data-theme'] });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', schedule);

    return {
        /** A new picture: its title, the names of its axes and their ranges. A range of null grows with the points. */
        begin({ title, names, ranges }) {
            about = { title, names, ranges: ranges.map(range => range ?? 1) };
            grows = ranges.map(range => range == null);
            parts = [];
            readout.textContent = '\u00a0';
            whole();
            schedule();
        },
        /** Adds points `[x, y, third]`. `share` tells the place of a point in the scale of colours, and `text` what it is. */
        add(points, share, text) {
            const all = [...points];
            const [x, y, third] = [0, 1, 2].map(place => Float64Array.from(all, point => point[place] ?? 0));
            const ink = Uint8Array.from(all, point =>
                Math.max(0, Math.min(INKS.length - 1, Math.floor(share(...point) * INKS.length))),
            );
            parts.push({ x, y, third, ink, text });
            if (grows.includes(true)) {
                const reach = [x, y].map(values => values.reduce((most, value) => Math.max(most, value), 0));
                about.ranges = about.ranges.map((range, i) =>
                    grows[i] ? Math.max(range, 1.03 * reach[i] + 1) : range,
                );
                whole();
            }
            schedule();
        },
        count,
        zoom,
        reset,
        resize,
    };
}
