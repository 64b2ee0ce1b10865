// The common parts of sections that use the module: a form, a status, and a link that repeats the question.

const capitalised = name => name[0].toUpperCase() + name.slice(1);

/** The key, the name and the settings in a link such as `#solve=stone-game&limit=1000`. */
function readLink(hash) {
    const [first, ...rest] = new URLSearchParams(hash.replace(/^#/, ''));
    return first && { key: first[0], name: first[1], settings: Object.fromEntries(rest) };
}

const writeLink = (key, name, settings) => {
    // What need not be escaped in a fragment stays readable.
    const escaped = text => encodeURIComponent(text).replace(/%(2C|3A|3D|40)/g, decodeURIComponent);
    return '#' + [[key, name], ...Object.entries(settings)].map(pair => pair.map(escaped).join('=')).join('&');
};

/** A control for a setting: a list to choose from, a box to tick, or a text. Left empty, it has the value of its `placeholder`. */
function control({ name, choices, isFlag, placeholder, suggestions }, key) {
    const id = `${key}-${name}`;
    if (choices) {
        return html(
            'select',
            { id, name },
            choices.map(choice => html('option', { value: choice === placeholder ? '' : choice }, choice)),
        );
    }
    if (isFlag) {
        return html('input', { id, name, type: 'checkbox', value: 'true' });
    }
    const list = suggestions?.length > 0 ? `${id}-list` : null;
    return [
        html('input', { id, name, type: 'text', placeholder, list, autocomplete: 'off', spellcheck: 'false' }),
        list &&
            html(
                'datalist',
                { id: list },
                suggestions.map(value => html('option', { value })),
            ),
    ];
}

const activities = new Map();

/**
 * A section with a form. `names` are what it can be about, as `[name, title]`, and `settings` returns the settings of a name. `begin` does
 * the work: it is given the name, the settings and a signal that stops it, and returns a text for the status. `changed` is called when
 * the form shows another name.
 */
function activity({ key, label, names, settings, begin, changed = () => {} }) {
    const [section, form, status] = [byId(key), byId(`${key}-form`), byId(`${key}-status`)];
    let working = null;
    const select = html('select', { name: 'name', id: `${key}-name` });
    choices(select, names);
    const fields = html('div', { class: 'settings' });
    const start = html('button', { type: 'submit', class: 'main' }, label);
    const stop = html('button', { type: 'button', disabled: true, click: () => working?.abort() }, 'Stop');
    form.append(
        html('label', {}, section.dataset.what, ' ', select),
        fields,
        html('div', { class: 'buttons' }, start, stop),
    );

    function say(text, isError = false) {
        status.classList.toggle('error', isError);
        status.replaceChildren(...[text].flat());
    }

    function show(name) {
        const shown = settings(name).map(setting =>
            html(
                'label',
                { title: setting.help, class: setting.isFlag ? 'flag' : null },
                `${capitalised(setting.name)} `,
                control(setting, key),
            ),
        );
        fields.replaceChildren(...shown);
        changed(name);
    }

    async function run(name, given) {
        working?.abort();
        const own = (working = new AbortController());
        stop.disabled = false;
        section.setAttribute('aria-busy', 'true');
        try {
            if (data.no_module) {
                throw new Error(data.no_module);
            }
            say(await begin(name, given, own.signal, say));
        } catch (error) {
            // A run that was replaced by another shows nothing.
            if (working === own) {
                say(own.signal.aborted ? 'Stopped.' : `${error.message}.`, !own.signal.aborted);
            }
        } finally {
            if (working === own) {
                working = null;
                stop.disabled = true;
                section.removeAttribute('aria-busy');
            }
        }
    }

    form.addEventListener('submit', event => {
        event.preventDefault();
        const { name, ...given } = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''));
        history.replaceState(null, '', writeLink(key, name, given));
        run(name, given);
    });
    select.addEventListener('change', () => show(select.value));
    show(select.value);

    activities.set(key, ({ name, settings }) => {
        if (names.some(([known]) => known === name)) {
            select.value = name;
            show(name);
        }
        for (const [setting, value] of Object.entries(settings)) {
            const input = form.elements[setting];
            if (input?.type === 'checkbox') {
                input.checked = value === 'true';
            } else if (input) {
                input.value = value;
                // In a list, the value of the default is empty.
                input.value ||= '';
            }
        }
        section.scrollIntoView();
        run(name, settings);
    });
}

/** Begins the activity of the address. */
function followLink() {
    const link = readLink(location.hash);
    // Without a name it is the anchor of a section.
    if (link?.name && activities.has(link.key)) {
        activities.get(link.key)(link);
    }
}
