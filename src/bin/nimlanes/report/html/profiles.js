// The section of flamegraphs.

/** The profile that is shown, what it is compared with, and their frames. */
const flame = { profile: null, against: null, tree: null };

/** The time of a unit of work in seconds, on the machine that a profile was sampled on. */
function unitTime({ about, operation, workload, size, kernel }) {
    const machine = machines.findIndex(machine => about.includes(` on ${machine.microarchitecture},`));
    const row = duelAt(machine, operation, workload, size, DEFAULT).find(row => row.kernel === kernel);
    return row && perUnit(row);
}

const samples = ({ stacks }) => sum(stacks.split('\n').map(line => Number(line.slice(line.lastIndexOf(' ') + 1))));

function describeFrame({ name, times: [before, now] }) {
    const { profile, against, tree } = flame;
    if (!against) {
        return [name, `${percent(now / tree.times[1])}, ${grouped(now)} of ${grouped(tree.times[1])} samples`];
    }
    const { unit } = operationNamed.get(profile.operation);
    const spent = seconds => (seconds > 0 ? time(seconds) : 'nothing');
    return [name, `${spent(before)} in ${against.kernel}, ${spent(now)} in ${profile.kernel}, per ${unit}`];
}

/** What fills the picture, with a link if it is a line of source, and the share of what was looked for. */
function sayFrame(node) {
    const place = node.name.split(' ')[0];
    const line = flame.profile.lines[place] ?? flame.against?.lines[place];
    const [head, detail] = describeFrame(node);
    const text = byId('flame-find').value.trim().toLowerCase();
    const found = text && html('span', {}, ` · ${percent(shareFound(flame.tree, text))} in frames with “${text}”`);
    const name = html('code', {}, head);
    byId('flame-frame').replaceChildren(
        line ? sourceLink(name, ...line) : name,
        ` ${detail}`,
        found || '',
    );
}

const picture = flamegraph(byId('flame-chart'), {
    describe: describeFrame,
    zoomed: node => {
        byId('flame-reset').disabled = node === flame.tree;
        sayFrame(node);
    },
});

function drawFlames() {
    const { profile, against } = flame;
    const inUnits = profile => [profile.stacks, unitTime(profile) / samples(profile)];
    const nothing = ['', 1];
    flame.tree = flameTree(against ? [inUnits(against), inUnits(profile)] : [nothing, [profile.stacks, 1]]);
    picture.show(flame.tree, against != null);
    const about = against
        ? 'Time per unit of work. A frame is as wide as the larger of its two times: blue is time that ' +
          `${profile.kernel} saves compared with ${against.kernel}, red is time that it adds.`
        : `${profile.about}.`;
    const notes = sourceLink('what there is to see', `profiles/README.md#${profile.operation}`);
    const text = sourceLink('tree and hottest loop', profile.text);
    byId('flame-about').replaceChildren(`${about} See `, notes, ', and its ', text, '.');
}

/** Other profiles of the same input, where both times are known. */
function chooseAgainst() {
    const [operation, place] = [byId('flame-operation').value, Number(byId('flame-kernel').value)];
    const profile = data.profiles[place];
    const others = data.profiles.filter(
        other =>
            other !== profile &&
            other.operation === operation &&
            other.size === profile.size &&
            other.workload === profile.workload &&
            unitTime(other) &&
            unitTime(profile),
    );
    byId('flame-against').replaceChildren();
    choices(
        byId('flame-against'),
        [['', 'nothing'], ...others.map(other => [data.profiles.indexOf(other), other.kernel])],
        '',
    );
    Object.assign(flame, { profile, against: null });
    drawFlames();
}

/** Shows the fastest kernel of an operation. */
function chooseFlames(operation) {
    const own = data.profiles.filter(profile => profile.operation === operation);
    if (own.length === 0) {
        return;
    }
    own.sort((a, b) => (unitTime(a) ?? Infinity) - (unitTime(b) ?? Infinity));
    byId('flame-operation').value = operation;
    byId('flame-kernel').replaceChildren();
    choices(
        byId('flame-kernel'),
        own.map(profile => [data.profiles.indexOf(profile), `${profile.kernel} at ${grouped(profile.size)}`]),
    );
    chooseAgainst();
}

/** Shows a profile, by its place in the list. */
function openFlames(place) {
    chooseFlames(data.profiles[place].operation);
    byId('flame-kernel').value = place;
    chooseAgainst();
}

byId('flamegraphs').hidden = data.profiles.length === 0;
choices(
    byId('flame-operation'),
    unique(data.profiles.map(profile => profile.operation)).map(name => [name, name]),
);
byId('flame-operation').addEventListener('change', event => chooseFlames(event.target.value));
byId('flame-kernel').addEventListener('change', chooseAgainst);
byId('flame-against').addEventListener('change', event => {
    flame.against = data.profiles[event.target.value || -1] ?? null;
    drawFlames();
});
byId('flame-find').addEventListener('input', event => picture.find(event.target.value.trim()));
byId('flame-reset').addEventListener('click', () => picture.reset());
