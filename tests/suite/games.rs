//! Complete games: published answers on machines of every tier, brute force from the rules at small sizes, and errors in the
//! sources of the problems.

use std::collections::HashMap;
use std::time::Duration;

use nimlanes::cores::named::ByName;
use nimlanes::games::{BigUint, Figure, GAMES, Positions, Question, Solution, SolveError, Solver, Stage, game};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::session::KernelInfo;
use nimlanes::kernel::{Run, RunError, Yields};
use nimlanes::lab::known;
use nimlanes::machine::Machine;
use nimlanes::machine::isa::Tier;
use nimlanes::moves::{MoveSet, Rules};

/// The published form of a game.
fn published(name: &str, limit: u64) -> Question {
    game(name).expect("a game").question(limit)
}

/// A question with one parameter changed.
fn with(question: Question, setting: &str, value: impl ToString) -> Question {
    question.with(setting, value).expect("a setting of the game")
}

fn solve(question: &Question, selection: &Selection) -> Solution {
    let run = selection.run();
    let solved = question.solve(&Solver::new(selection, &run));
    solved.unwrap_or_else(|error| panic!("{} {}: {error}", question.game().name, question.limit))
}

fn answer(name: &str, limit: u64) -> BigUint {
    solve(&published(name, limit), &Selection::new(Machine::detect())).answer
}

#[test]
fn every_tier_gives_the_known_answers() {
    let mut checked = 0;
    for tier in Tier::here() {
        let selection = Selection::new(Machine::detect().capped(tier));
        for game in GAMES {
            // For a game of one operation, the table lists the operation's answers, as the sum over the P-positions.
            let operation = nimlanes::cores::operation(game.operations[0]).expect("an operation");
            let is_its_own = |known: &known::Known| {
                let as_operation = (operation.name(), operation.workloads()[0].name)
                    == (&*known.case.operation, &*known.case.workload);
                known.case.operation == game.name || (game.operations.len() == 1 && as_operation)
            };
            for known in known::all().filter(|known| is_its_own(known) && known.case.size <= game.published) {
                let solution = solve(&game.question(known.case.size), &selection);
                let mut digest = solution.digest();
                digest.push(("sum", digest[0].1));
                known.check(&digest).unwrap_or_else(|difference| panic!("{}: {difference}", tier.name()));
                checked += 1;
            }
        }
    }
    assert!(checked >= 20 * Tier::here().count(), "only {checked} answers were checked");
}

/// A position as numbers of one type, for all games.
fn widened(positions: &Positions) -> Vec<Vec<u64>> {
    match positions {
        Positions::Two(found) => found.iter().map(|heaps| heaps.to_vec()).collect(),
        Positions::Three(found) => found.iter().map(|heaps| heaps.map(u64::from).to_vec()).collect(),
    }
}

/// Streaming in batches gives the same positions as collecting all of them, in order and without duplicates.
#[test]
fn streams_are_complete_solutions() {
    let machine = Machine::detect();
    for (name, limits) in
        [("stone-game", &[0, 1, 63, 200, 1023, 1100][..]), ("proportionate-nim", &[0, 1, 500, 8192, 8193, 100_000])]
    {
        let game = game(name).expect("a game");
        let operation = nimlanes::cores::operation(game.operations[0]).expect("an operation");
        let can_stream = |kernel: &KernelInfo| kernel.obstacle.is_none() && kernel.yields == Yields::Everything;
        let kernels = operation.kernels(&machine).into_iter().filter(can_stream);
        let named = kernels.map(|kernel| Selection::new(machine).with_kernel(operation.name(), kernel.name));
        for selection in named.map(|selection| selection.expect("it is available")) {
            for limit in limits {
                let (question, run) = (game.question(*limit), Run::new(2));
                // Some kernels try everything, and would take too long.
                let hurry = |stage: &Stage| {
                    if stage.ns > 5e6 {
                        run.cancel()
                    }
                };
                let solver = Solver::new(&selection, &run).watched_by(&hurry);
                let whole = match question.positions(&solver) {
                    Ok(found) => found,
                    Err(SolveError::Select(_) | SolveError::Run(_)) => continue,
                    Err(error) => panic!("{error}"),
                };
                let mut streamed = Vec::new();
                let used = question.stream(&solver, |batch| {
                    streamed.extend(widened(&batch));
                    Ok::<(), ()>(())
                });
                assert_eq!(used, Ok(Ok(whole.used)));
                assert!(streamed == widened(&whole.positions), "{} at {limit}", whole.used.kernel);
            }
        }
    }
}

/// This holds whichever operation would fail.
#[test]
fn impossible_requests_are_refused_before_anything_runs() {
    for tier in Tier::here() {
        let small = Selection::new(Machine::described(tier, 2, 1 << 30));
        let slow = small.clone().with_kernel("xor_triples", "pair_loop").expect("it is always there");
        for (name, limit, selection, says) in [
            ("scatterstone-nim", 2_000_000, &small, "too large for xor_partitions"),
            ("scatterstone-nim", u64::MAX, &small, "too large for xor_partitions"),
            ("scatterstone-nim", 1_000_000, &small, "would fit"),
            ("nim-square", 30_000_000, &slow, "xor_triples is predicted to take"),
        ] {
            let run = Run::new(1);
            let nothing = |stage: &Stage| panic!("{stage:?}");
            let solver = Solver::new(selection, &run).watched_by(&nothing);
            let error = published(name, limit).solve(&solver).expect_err(says).to_string();
            assert!(error.contains(says), "{name} on {}: {error}", tier.name());
        }
    }
}

/// The error names the setting and lists what is allowed.
#[test]
fn unknown_settings_are_refused() {
    let set = |name, setting: &str, value: &str| published(name, 10).with(setting, value).expect_err(value);
    let known = vec!["modulus", "exact"];
    let missing = SolveError::NoSetting { game: "scatterstone-nim", name: "rule".to_owned(), known };
    assert_eq!(set("scatterstone-nim", "rule", "all"), missing);
    assert_eq!(missing.to_string(), "scatterstone-nim has no setting `rule`; allowed: modulus, exact");
    for (name, setting, value, says) in [
        ("nim-square", "heaps", "20000", "heaps `20000` is too large; at most 10000"),
        (
            "stone-game",
            "rule",
            "one-or-tow",
            "unknown value `one-or-tow` of rule; did you mean `one-or-two`? allowed: all, one-or-two",
        ),
        ("scatterstone-nim", "exact", "false", "unknown value `false` of exact; allowed: true"),
    ] {
        let error = set(name, setting, value);
        assert!(matches!(&error, SolveError::Value { setting: of, .. } if of == setting), "{error:?}");
        assert_eq!(error.to_string(), says);
    }
}

/// A parameter has its published value until it is set.
#[test]
fn a_question_lists_its_parameters() {
    let text = |question: &Question| {
        question.parameters().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    };
    let question = published("nim-square", 10);
    assert_eq!(text(&question), "moves squares, heaps 3");
    assert_eq!(text(&with(with(question, "heaps", 1e1), "moves", "3, 5")), "moves 3,5, heaps 10");
    let exact = with(with(published("scatterstone-nim", 10), "modulus", 97), "exact", true);
    assert_eq!(text(&exact), "count exact");
    assert_eq!(text(&with(exact, "modulus", "97")), "count modulo 97");
}

/// Required for the command line: setting names are unique within a game, and a name shared by games takes a value in all of
/// them or in none. The published choice is also one of those listed, which can all be set.
#[test]
fn settings_are_unambiguous_and_can_be_set() {
    let mut takes_value = HashMap::new();
    for game in GAMES {
        let settings: Vec<_> = game.settings().collect();
        for setting in &settings {
            let namesakes = settings.iter().filter(|other| other.name == setting.name).count();
            assert_eq!(namesakes, 1, "{} {setting:?}", game.name);
            let takes = setting.value.is_some();
            assert_eq!(*takes_value.entry(setting.name).or_insert(takes), takes, "{} {setting:?}", game.name);
            let choices = &setting.choices;
            assert!(choices.is_empty() || choices.contains(&setting.published), "{} {setting:?}", game.name);
            for choice in choices {
                let set = with(game.question(1), setting.name, choice);
                assert!(set.parameters().any(|(name, value)| name == setting.parameter && value == *choice));
            }
        }
    }
}

/// The size reported to fit is one that all operations can process, including the last.
#[test]
fn the_size_reported_to_fit_can_be_solved() {
    let selection = Selection::new(Machine::described(Tier::Portable, 1, 1 << 20));
    let run = Run::new(1);
    let solver = Solver::new(&selection, &run);
    match published("scatterstone-nim", 100_000).solve(&solver) {
        Err(SolveError::Select(SelectError::Memory { fits: Some(fits), .. })) => {
            assert!((100..10_000).contains(&fits), "{fits}");
            assert!(published("scatterstone-nim", fits).solve(&solver).is_ok(), "{fits}");
        }
        other => panic!("{other:?}"),
    }
}

/// A kernel that needs several threads is quicker here.
#[test]
fn kernels_are_chosen_for_the_threads_of_the_run() {
    let selection = Selection::new(Machine::detect());
    let answer = |run: Run| {
        let question = published("stone-game", 5000);
        question.solve(&Solver::new(&selection, &run)).expect("a solution").answer
    };
    assert_eq!(
        [answer(Run::new(1)), answer(Run::new(2)), answer(selection.run())],
        [20_822_435_826u64; 3].map(Into::into)
    );
}

/// The time that one remainder is predicted to take is allowed, and too short for all of them.
#[test]
fn the_prediction_for_an_exact_number_includes_all_remainders() {
    let run = Run::new(1);
    run.cancel();
    for tier in Tier::here() {
        let question = || published("scatterstone-nim", 100_000);
        let error = |question: Question, longest| {
            let selection = Selection::new(Machine::described(tier, 1, 1 << 40)).within(longest);
            question.solve(&Solver::new(&selection, &run)).expect_err("it does not run")
        };
        let SolveError::Select(SelectError::Long { ns, .. }) = error(question(), Duration::ZERO) else {
            panic!("no time is too short for {}", tier.name());
        };
        let longest = Duration::from_secs_f64(1.01 * ns / 1e9);
        assert!(matches!(error(question(), longest), SolveError::Run(_)), "{}", tier.name());
        let exact = error(with(question(), "exact", true), longest);
        assert!(matches!(exact, SolveError::Select(SelectError::Long { .. })), "{}: {exact:?}", tier.name());
    }
}

/// The complete search of the second would take days.
#[test]
fn a_stream_ends_when_its_consumer_stops() {
    let selection = Selection::new(Machine::detect().with_memory(1 << 40)).allow_long();
    for (name, limit) in [("stone-game", 5000), ("proportionate-nim", 1_000_000_000_000)] {
        let (run, start) = (Run::new(2), std::time::Instant::now());
        let solver = Solver::new(&selection, &run);
        let question = published(name, limit);
        assert_eq!(question.stream(&solver, |_| Err("enough")), Err("enough"));
        run.cancel();
        let stopped = question.stream(&solver, |_| Ok::<(), ()>(()));
        assert_eq!(stopped, Ok(Err(SolveError::Run(RunError::Cancelled))));
        assert!(start.elapsed().as_secs() < 20, "{name}");
    }
}

/// The variant that a dynamic program without the move in all three heaps solves.
#[test]
fn one_or_two_heaps_is_another_game() {
    let question = with(published("stone-game", 100), "rule", "one-or-two");
    assert_eq!(solve(&question, &Selection::new(Machine::detect())).answer, 194_965u32.into());
    assert_eq!(answer("stone-game", 100), 173_895u32.into());
}

/// The exact numbers of a solution, the answer first.
fn figures(solution: &Solution) -> Vec<(&'static str, &BigUint)> {
    let counts = solution.details.iter().filter_map(|(name, figure)| match figure {
        Figure::Count(count) => Some((*name, count)),
        Figure::Ratio(_) => None,
    });
    [("answer", &solution.answer)].into_iter().chain(counts).collect()
}

/// Exact numbers of Scatterstone Nim: one is published, and the others have the known remainders.
#[test]
fn exact_numbers_have_the_known_remainders() {
    let (name, selection) = ("scatterstone-nim", Selection::new(Machine::detect()));
    let solve = |question| solve(&question, &selection);
    assert_eq!(solve(with(published(name, 200), "exact", true)).answer, 773_854_632_033_595u64.into());
    for known in known::all().filter(|known| known.case.operation == name && known.case.size <= 500) {
        let question = published(name, known.case.size);
        let solution = solve(with(question.clone(), "exact", true));
        let exact = figures(&solution);
        let modulo = |modulus: u64| -> Vec<(&'static str, u128)> {
            exact.iter().map(|(name, number)| (*name, (*number % modulus).try_into().expect("small"))).collect()
        };
        known.check(&modulo(1_000_000_007)).unwrap_or_else(|difference| panic!("{difference}"));
        for modulus in [3, 97, (1 << 31) - 1] {
            let remainders = solve(with(question.clone(), "modulus", modulus)).digest();
            assert_eq!(remainders, modulo(modulus), "modulo {modulus}");
        }
    }
}

/// Whether the player to move wins, by brute force from the rules; positions are sorted lists of heaps.
struct Outcomes<F> {
    known: HashMap<Vec<usize>, bool>,
    moves: F,
}

impl<F: Fn(&[usize]) -> Vec<Vec<usize>>> Outcomes<F> {
    fn new(moves: F) -> Self {
        Outcomes { known: HashMap::new(), moves }
    }

    fn wins(&mut self, position: &[usize]) -> bool {
        if let Some(wins) = self.known.get(position) {
            return *wins;
        }
        let wins = (self.moves)(position).into_iter().any(|mut next| {
            next.sort_unstable();
            !self.wins(&next)
        });
        self.known.insert(position.to_vec(), wins);
        wins
    }
}

/// The position with heap `i` replaced.
fn replaced(position: &[usize], i: usize, by: &[usize]) -> Vec<usize> {
    [&position[..i], by, &position[i + 1..]].concat()
}

#[test]
fn nim_square_by_its_rules() {
    let mut outcomes = Outcomes::new(|position: &[usize]| {
        let squares = |heap: usize| (1..).map(|i| i * i).take_while(move |square| *square <= heap);
        let from = |i: usize| squares(position[i]).map(move |square| replaced(position, i, &[position[i] - square]));
        (0..position.len()).flat_map(from).collect()
    });
    for limit in [0, 1, 2, 3, 10, 29] {
        let triples = (0..=limit).flat_map(|a| (a..=limit).flat_map(move |b| (b..=limit).map(move |c| [a, b, c])));
        let lost = triples.filter(|heaps| !outcomes.wins(heaps)).count();
        assert_eq!(answer("nim-square", limit as u64), lost.into(), "{limit}");
    }
}

/// Partitions of `n` into parts of at most `most`, each ascending.
fn partitions(n: usize, most: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let with = |part: usize| {
        partitions(n - part, part).into_iter().map(move |mut rest| {
            rest.push(part);
            rest
        })
    };
    (1..=most.min(n)).flat_map(with).collect()
}

#[test]
fn scatterstone_nim_by_its_rules() {
    for n in 0..=11 {
        let mut sum = 0;
        for k in 2..=n {
            let mut outcomes = Outcomes::new(|position: &[usize]| {
                let splits =
                    |heap: usize| partitions(heap, heap).into_iter().filter(|parts| (2..=k).contains(&parts.len()));
                let from = |i: usize| splits(position[i]).map(move |parts| replaced(position, i, &parts));
                (0..position.len()).flat_map(from).collect()
            });
            sum += partitions(n, n).iter().filter(|position| outcomes.wins(position)).count();
        }
        assert_eq!(answer("scatterstone-nim", n as u64), sum.into(), "{n}");
    }
}

/// A published program sizes its frequency table with `while (next < max)`, which is too small exactly if the largest value is a power of
/// two: at limits up to 24, at 28, and from 1173 up to 1310, among others. It has 80 flags, for values below 80.
#[test]
fn largest_values_that_overflow_a_published_table() {
    let largest = |limit| {
        let solution = solve(&published("nim-square", limit), &Selection::new(Machine::detect()));
        let max = figures(&solution).into_iter().find(|(name, _)| *name == "max").expect("it is listed").1;
        u64::try_from(max).expect("a small number")
    };
    for (limits, overflows) in [([1, 24, 28, 200, 233, 1173, 1310], true), ([25, 26, 27, 199, 234, 1172, 1311], false)]
    {
        let is_power = |limit| largest(limit).is_power_of_two();
        assert_eq!(limits.map(is_power), [overflows; 7]);
    }
    assert_eq!([124_063, 124_064].map(largest), [79, 80]);
}

/// Asks about one heap.
fn asked<T>(ask: impl FnOnce(&Solver) -> Result<T, SolveError>) -> Result<T, SolveError> {
    ask(&Solver::new(&Selection::new(Machine::detect()), &Run::new(1)))
}

#[test]
fn first_heaps_are_those_of_the_values() {
    // Too many moves, few moves, and many odd ones.
    for (set, limit) in [("squares", 20_000), ("factorials", 20_000), ("primes", 5000), ("1..3", 0)] {
        let set: MoveSet = set.parse().expect("a set");
        let values = asked(|solver| solver.grundy_values(&Rules::Moves(set.clone()), limit)).expect("values");
        let largest = values.iter().max().copied().expect("heap 0 has a value");
        let first = |value| values.iter().position(|v| *v == value).expect("no value is skipped") as u64;
        let want = (0..=largest).map(first).collect();
        assert_eq!(asked(|solver| solver.first_heaps(&set, limit)), Ok(want), "{set}");
    }
}

#[test]
fn a_period_is_proved_by_the_heaps_that_it_names_and_not_by_fewer() {
    // By a window of values; by a table, since a move leaves three heaps; of finite sets.
    for (rules, period, preperiod) in [("0.137", 34, 52), ("0.B", 2, 0), ("2,4,7", 3, 8), ("1..5", 6, 0), ("7", 14, 0)]
    {
        let found = |limit| {
            let rules = rules.parse().expect("rules");
            asked(|solver| solver.period(&rules, limit)).expect("a small limit")
        };
        let proved = found(2000).expect(rules);
        assert_eq!((proved.period, proved.preperiod), (period, preperiod), "{rules}");
        assert_eq!(found(proved.heaps - 1), Some(proved), "{rules}");
        assert_eq!(found(proved.heaps - 2), None, "{rules}");
    }
    for rules in ["squares", "all-but:3", "nim", "grundy", "0.6"] {
        assert_eq!(asked(|solver| solver.period(&rules.parse().expect("rules"), 500)), Ok(None), "{rules}");
    }
}
