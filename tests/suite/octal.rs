//! `mex_octal`: published periods and rare heaps, and kernels against each other far past the sizes of the oracle.

use std::sync::{Arc, Mutex};

use nimlanes::cores::mex::octal::{Code, Journal, MexOctal, Octal, Start, has_lasted, period, sparse_space};
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::{Kernel, Operation, Run, RunError, available};
use nimlanes::machine::Machine;
use nimlanes::moves::{FAMOUS, Famous};

fn code(text: &str) -> Code {
    text.parse().expect("a game")
}

fn input(text: &str, limit: u64) -> Octal {
    Octal::new(&code(text), limit).expect("a small limit")
}

/// The values by the kernel that is selected here.
fn values(text: &str, limit: u64) -> Vec<u16> {
    let (selection, input) = (Selection::new(Machine::detect()), input(text, limit));
    let kernel: Kernel<MexOctal> = selection.kernel(&input).expect("a kernel");
    kernel.run(&input, &selection.run()).expect("it ends")
}

/// The heaps that moves leave in games with a name, by their own rules.
fn moves(game: &str, n: usize) -> Vec<[usize; 2]> {
    let splits = |rest: usize| (1..rest).map(move |a| [a, rest - a]);
    // One of `n` in a row is taken, with `beside` on either side of it.
    let around = |beside: usize| (0..n).map(move |i| [i.saturating_sub(beside), (n - 1 - i).saturating_sub(beside)]);
    let two_in_a_row = || (1..n).map(|i| [i - 1, n - 1 - i]);
    let fewer = || (0..n).map(|rest| [0, rest]);
    match game {
        "Nim" => fewer().collect(),
        "Kayles" => around(0).chain(two_in_a_row()).collect(),
        "Dawson's Kayles" => two_in_a_row().collect(),
        "Dawson's Chess" => around(1).collect(),
        "Treblecross" => around(2).collect(),
        "Officers" if n < 2 => Vec::new(),
        "Officers" => splits(n - 1).chain([[0, n - 1]]).collect(),
        "Couples-are-Forever" if n == 2 => Vec::new(),
        "Couples-are-Forever" => splits(n).collect(),
        "Lasker's Nim" => fewer().chain(splits(n)).collect(),
        "Grundy's game" => splits(n).filter(|[a, b]| a != b).collect(),
        _ => panic!("the rules of {game} are missing here"),
    }
}

#[test]
fn games_with_a_name_have_the_values_that_their_rules_give() {
    const SIZES: usize = 150;
    for Famous { code: text, name, more, .. } in FAMOUS {
        let mut by_rules: Vec<u16> = Vec::new();
        for n in 0..SIZES {
            let reached: Vec<u16> = moves(name, n).iter().map(|[a, b]| by_rules[*a] ^ by_rules[*b]).collect();
            by_rules.push((0..).find(|value| !reached.contains(value)).expect("a value"));
        }
        let values = values(text, 160);
        let same = (0..SIZES).all(|size| {
            let heap = size as i64 - i64::from(more);
            heap < 0 || values[heap as usize] == by_rules[size]
        });
        assert!(same, "{text} is {name}");
    }
}

/// From Winning Ways, chapter 4, and Flammenkamp's table: code, period, and its first heap. The last number is a limit
/// past the proof.
#[test]
fn published_periods_are_found_and_proved() {
    for (text, length, first, limit) in [
        ("0.07", 34, 53, 300),
        ("0.77", 12, 71, 300),
        ("0.137", 34, 52, 300),
        ("0.45", 20, 498, 2_000),
        ("0.156", 349, 3_479, 10_000),
        ("0.356", 142, 7_315, 20_000),
        ("0.644", 442, 3_256, 10_000),
        ("0.16", 149_459, 105_351, 1_000_000),
        ("0.56", 144, 326_640, 1_000_000),
    ] {
        let values = values(text, limit);
        let found = period(&code(text), &values, &Run::new(1)).expect("it ends").expect("a period");
        assert_eq!((found.period, found.preperiod, found.saltus), (length, first, 0), "{text}");
        let certificate = found.certificate.expect("two parts");
        assert_eq!(certificate, 2 * first + 2 * length + code(text).last_place().expect("digits end"), "{text}");
        assert!(found.is_proved, "{text}");
        // The proof needs all of these heaps, and no more.
        let period = |heaps: usize| period(&code(text), &values[..heaps], &Run::new(1)).expect("it ends");
        assert!(period(certificate + 1).is_some_and(|found| found.is_proved), "{text}");
        assert!(period(certificate).is_none_or(|found| !found.is_proved), "{text}");
        let far = 1_000_000_000_000 + first as u64;
        let same = first + (far as usize - first) % length;
        assert_eq!(found.value(&values, far), Some(values[same]), "{text}");
    }
}

/// Published and Flammenkamp's: code, mask if the game is sparse by position, number of rare heaps, and the last of them.
#[test]
fn rare_heaps_are_found() {
    for (text, mask, count, last) in [
        ("0.6", None, 1584, 20_627),
        ("grundy", None, 1274, 82_860),
        ("0.104", Some(0x17), 20, 284),
        ("0.106", Some(0xd), 15, 1103),
        ("0.205", Some(0x27), 97, 1042),
        ("0.142", Some(0xe3), 1357, 117_323),
    ] {
        let space = sparse_space(&code(text), &values(text, 1 << 17));
        assert_eq!(space.mask.position.map(|_| space.mask.values), mask, "{text}");
        assert_eq!((space.rare.len(), space.rare.last()), (count, Some(&last)), "{text}");
        assert!(space.rare.is_sorted_by(|a, b| a < b), "{text}");
    }
    // Games with splits at places of both parities, and a game without splits.
    for text in ["0.44", "0.3", "4.4"] {
        assert_eq!(sparse_space(&code(text), &values(text, 1000)).mask.position, None, "{text}");
    }
}

/// The games of three digits and one split that are sparse by position, and some games with several splits or a place
/// 0.
const BY_POSITION: [&str; 16] = [
    "0.104", "0.106", "0.127", "0.142", "0.204", "0.205", "0.207", "0.215", "0.217", "0.324", "0.325", "0.404",
    "0.606", "4.04", "4.16", "4.204",
];

/// The limits are past the first choices of a mask, new rare heaps (0.16 has one at 13935) and new bits of values (0.56
/// has one past 100000). Some of the games are sparse at once, some late, some never; some have values past nine bits,
/// a place 0, or far places.
#[test]
fn kernels_agree_far_past_the_oracle() {
    let machine = Machine::detect();
    for (text, limit) in [
        ("0.6", 25_000),
        ("grundy", 40_000),
        ("0.16", 60_000),
        ("0.56", 110_000),
        ("0.007", 12_000),
        ("0.06", 8_000),
        ("4.3", 5_000),
        ("4.007", 10_000),
        ("0.0000004", 20_000),
        ("0.00000000000000000000000000000000000000000000000000000000000000000000006", 20_000),
        ("0.3", 3_000),
        ("0.165", 20_000),
        ("0.1337", 20_000),
        ("0.[3]", 600),
        ("0.0[4]", 600),
        ("0.9", 600),
        ("8.1", 300),
        ("C.3F", 300),
        // Past the first windows.
        ("0.106", 26_000),
        ("0.054", 26_000),
    ]
    .into_iter()
    .chain(BY_POSITION.map(|text| (text, 12_000)))
    {
        let input = input(text, limit);
        let first = MexOctal::oracle(&self::input(text, limit.min(1500)));
        let mut want: Option<Vec<u16>> = None;
        let on_threads = |kernel: Kernel<MexOctal>| (kernel, if kernel.def().is_parallel() { 2 } else { 1 });
        let cost = |(kernel, threads): &(Kernel<MexOctal>, usize)| kernel.cost(&input, *threads).ns;
        let mut kernels: Vec<_> = available(&machine).map(on_threads).collect();
        kernels.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        // The quickest three, and others that are quick enough.
        let is_quick = |index: usize, ns: f64| ns.is_finite() && (index < 3 || ns < 3e7);
        for (_, (kernel, threads)) in kernels.into_iter().enumerate().filter(|(i, it)| is_quick(*i, cost(it))) {
            let run = Run::new(threads);
            let values = kernel.run(&input, &run).unwrap_or_else(|error| panic!("{kernel:?} {text}: {error}"));
            assert_eq!(run.done(), MexOctal::steps(&input), "{kernel:?} {text}");
            assert!(values.starts_with(&first), "{kernel:?} {text}");
            let want = want.get_or_insert_with(|| values.clone());
            let differs = want.iter().zip(&values).position(|(a, b)| a != b);
            assert!(differs.is_none() && want.len() == values.len(), "{kernel:?} {text}: first at {differs:?}");
        }
        assert!(want.is_some(), "{text}");
    }
}

/// Nim has values as large as the heaps. The run resumes from the heaps whose values fit.
#[test]
fn values_past_16_bits_are_an_error() {
    struct Nowhere;
    impl Journal for Nowhere {
        fn keep(&self, _: &[u16], _: bool) {}
    }
    let input = input("0.[3]", 65_536);
    for kernel in available::<MexOctal>(&Machine::detect()).filter(|kernel| kernel.cost(&input, 1).is_possible()) {
        let start = || Start::with_journal(Arc::new(Nowhere), Some((0..=u16::MAX).collect()));
        assert_eq!(kernel.run_from(start(), &input, &Run::new(1)), Err(RunError::LargeValue), "{kernel:?}");
        let shorter = Octal::new(&code("0.[3]"), 65_535).expect("a small limit");
        assert_eq!(kernel.run_from(start(), &shorter, &Run::new(1)), Ok((0..=u16::MAX).collect()), "{kernel:?}");
    }
}

/// A search among many values looks now and then whether the run is cancelled.
#[test]
fn a_run_that_is_stopped_in_a_search_for_a_period_keeps_its_values() {
    struct Kept(Mutex<Vec<usize>>);
    impl Journal for Kept {
        fn keep(&self, values: &[u16], is_last: bool) {
            self.0.lock().expect("no panic").extend(is_last.then_some(values.len()));
        }
    }
    const KNOWN: u32 = 1 << 22;
    let irregular = (0..KNOWN).map(|n| (n.wrapping_mul(n).wrapping_mul(0x9E37_79B9) >> 24) as u16).collect();
    let (kept, run) = (Arc::new(Kept(Mutex::default())), Run::new(1));
    run.cancel();
    let start = Start::with_journal(Arc::clone(&kept) as Arc<dyn Journal>, Some(irregular));
    let kernel = nimlanes::kernel_named::<MexOctal>("greedy").expect("a portable kernel");
    assert_eq!(kernel.run_from(start, &input("0.6", 1 << 23), &run), Err(RunError::Cancelled));
    assert_eq!(*kept.0.lock().expect("no panic"), [KNOWN as usize]);
}

/// Without a proof, a repetition counts from the ninth round on and over half of the heaps, and no longer than it lasts. No theorem is
/// applied to a game with a saltus; codes without an end, such as Nim, which has saltus 1, are not searched.
#[test]
fn an_observed_period_has_lasted() {
    let at = |text: &str, values: &[u16]| period(&code(text), values, &Run::new(1)).expect("it ends");
    let doubling = values("0.2048", 8_000);
    for heaps in (2..=doubling.len()).step_by(211).chain([301, 501, 1_001, 8_001]) {
        assert_eq!(at("0.2048", &doubling[..heaps]), None, "{heaps} heaps");
    }
    // Nine rounds of six heaps, for ever; 30 rounds of 43 heaps from heap 604 on, up to heap 1928.
    for (text, length, saltus, first, from, end) in [("0.3F", 6, 3, 0, 54, 2_001), ("0.F6", 43, 32, 604, 1_208, 1_929)]
    {
        let values = values(text, 2_000);
        assert_eq!(at(text, &values[..from - 1]), None, "{text}");
        for heaps in [from, end] {
            let found = at(text, &values[..heaps]).expect("a period");
            assert_eq!((found.period, found.preperiod, found.is_proved), (length, first, false), "{text} {heaps}");
            assert_eq!((found.certificate, found.saltus), (None, saltus), "{text} {heaps}");
            assert_eq!(found.value(&values, 1_000_000), None, "{text} {heaps}");
        }
        assert!(end == values.len() || at(text, &values[..end + 1]).is_none(), "{text}");
    }
    assert_eq!(at("0.[3]", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), None);
    assert!(has_lasted(1, 0, 9) && !has_lasted(1, 0, 8) && has_lasted(1, 50, 100) && !has_lasted(1, 51, 100));
}
