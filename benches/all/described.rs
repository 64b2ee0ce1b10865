//! Tests of what benches decide and print, on described command lines, times and machines.

use std::time::Duration;

use nimlanes::kernel::Tier;
use nimlanes::kernel::workload::Workload;

use crate::arguments::Arguments;
use crate::pass::extended;
use crate::plan::{Plan, about, around};
use crate::table::{self, Timing};

pub const TESTS: [(&str, fn()); 9] = [
    ("a_short_run_has_three_sizes", a_short_run_has_three_sizes),
    ("a_filter_takes_all_sizes", a_filter_takes_all_sizes),
    ("a_benchmark_takes_what_criterion_does", a_benchmark_takes_what_criterion_does),
    ("untimed_runs_are_off_as_the_timed_ones", untimed_runs_are_off_as_the_timed_ones),
    ("times_are_told_in_words", times_are_told_in_words),
    ("estimates_are_read", estimates_are_read),
    ("operations_have_a_row_for_each_tier", operations_have_a_row_for_each_tier),
    ("kernels_are_ranked_at_the_published_size", kernels_are_ranked_at_the_published_size),
    ("tables_fit_a_terminal", tables_fit_a_terminal),
];

fn plan(arguments: &[&str]) -> Plan {
    Plan::new(Arguments::parse(arguments.iter().map(Into::into)).expect("a command line"))
}

fn a_short_run_has_three_sizes() {
    assert_eq!(around(&[10, 100, 200, 1000], 200), [100, 200, 1000]);
    assert_eq!(around(&[10, 100, 10_000, 1_000_000], 1_000_000), [100, 10_000, 1_000_000]);
    assert_eq!(around(&[10, 100, 1000], 10), [10, 100, 1000]);
    assert_eq!(around(&[100], 1000), [100]);
    assert_eq!(around(&[], 1000), [0u64; 0]);
}

fn a_filter_takes_all_sizes() {
    let octal: &Workload = &nimlanes::cores::operation("mex_octal").expect("an operation").workloads()[0];
    let short = around(octal.sizes, octal.published);
    assert!(short.len() < octal.sizes.len());
    assert_eq!(plan(&["--bench"]).sizes(octal), short);
    assert_eq!(plan(&["--bench", "--save-baseline", "before"]).sizes(octal), short);
    for all in [&["--bench", "mex_octal"][..], &["--bench", "--list"], &["--bench", "--test"], &[]] {
        assert_eq!(plan(all).sizes(octal), octal.sizes, "{all:?}");
    }
    let says = |arguments: &[&str]| plan(arguments).announcement(400, Some(Duration::from_secs(200)));
    assert!(says(&["--bench"]).starts_with("400 benchmarks, about 3 min 20 s: "), "{}", says(&["--bench"]));
    for part in ["every kernel at the published size", "`cargo bench -- mex_zeros`", "--list", "--full"] {
        assert!(says(&["--bench"]).contains(part), "{part}");
    }
    assert_eq!(says(&["--bench", "mex_octal"]), "400 benchmarks, about 3 min 20 s.\n");
    let overridden = plan(&["--bench", "--quick", "a"]);
    assert!(overridden.is_overridden());
    assert_eq!(overridden.announcement(1, None), "1 benchmark, for as long as the options say.\n");
}

fn a_benchmark_takes_what_criterion_does() {
    let ms = Duration::from_millis;
    let plan = plan(&["--bench"]);
    // A run, as many as take 42 ms, doubled each time, and ten or twenty samples.
    assert_eq!(plan.benchmark_time(ms(100), ms(100)), ms(100 + 100 + 10 * 100));
    assert_eq!(plan.benchmark_time(ms(10), ms(10)), ms(10 + 70 + 14 * 10));
    // The number of samples follows from the prediction, whatever the run takes.
    assert_eq!(plan.benchmark_time(ms(1), ms(50)), ms(50 + 50 + 20 * 50));
    let short = plan.benchmark_time(Duration::from_nanos(5), Duration::from_nanos(5));
    assert!((ms(182)..ms(230)).contains(&short), "{short:?}");
    assert!(plan.admits(ms(500)) && !plan.admits(ms(501)));
}

fn untimed_runs_are_off_as_the_timed_ones() {
    let ms = Duration::from_millis;
    let times = [(ms(10), Some(ms(20))), (ms(30), Some(ms(100))), (ms(7), None), (ms(0), None)];
    assert_eq!(extended(&times), [ms(20), ms(100), ms(21), ms(0)]);
    assert_eq!(extended(&[(ms(7), None)]), [ms(7)]);
}

fn times_are_told_in_words() {
    let words = [4.9, 5.1, 57.0, 58.0, 121.0, 304.0].map(|seconds| about(Duration::from_secs_f64(seconds)));
    let want = [
        "a few seconds",
        "about 5 seconds",
        "about 57 seconds",
        "about 1 min 00 s",
        "about 2 min 00 s",
        "about 5 min 05 s",
    ];
    assert_eq!(words, want);
}

fn estimates_are_read() {
    let of = |name: &str, ns| {
        format!(r#""{name}":{{"confidence_interval":{{"upper_bound":9.0}},"point_estimate":{ns},"x":1}}"#)
    };
    let flat = format!(r#"{{{},{},"slope":null,"std_dev":null}}"#, of("mean", "12.5"), of("median", "11.0"));
    assert_eq!(table::estimate(&flat), Some(12.5));
    let linear = format!("{{{},{}}}", of("mean", "12.5"), of("slope", "1.5e3"));
    assert_eq!(table::estimate(&linear), Some(1500.0));
    assert_eq!(table::estimate("{}"), None);
}

/// A kernel of plain Rust at the published size of the default workload.
fn timing(kernel: &'static str, ms: f64) -> Timing {
    Timing {
        operation: "mex_zeros",
        workload: "squares",
        is_default: true,
        size: 1 << 20,
        is_published: true,
        kernel,
        tier: Tier::Portable,
        is_baseline: false,
        is_public: false,
        is_exact: true,
        is_parallel: false,
        ns: ms * 1e6,
        is_one_run: false,
    }
}

fn kernels() -> Vec<Timing> {
    vec![
        Timing { is_baseline: true, is_one_run: true, ..timing("sieve", 800.0) },
        Timing { is_public: true, ..timing("byte_sieve", 20.0) },
        timing("rows", 10.0),
        Timing { is_exact: false, ..timing("observed", 1.0) },
        Timing { is_parallel: true, ..timing("rows_threads", 1.0) },
        Timing { tier: Tier::Avx2, ..timing("rows_avx2", 9.6) },
        Timing { tier: Tier::Avx512, ..timing("rows_avx512", 5.0) },
        Timing { size: 100, is_published: false, ..timing("rows", 0.001) },
        Timing { workload: "primes", is_default: false, ..timing("rows", 1.0) },
    ]
}

/// A table without its titles and notes, with single spaces.
fn rows(table: &str) -> Vec<String> {
    table.lines().map(|line| line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")).collect()
}

fn operations_have_a_row_for_each_tier() {
    let table = table::of_operations(&kernels(), &[Tier::Portable, Tier::Avx2, Tier::Avx512]);
    let want = [
        "best of kernel, on one thread time × base",
        "mex_zeros baseline sieve 800.00 ms* 1.00",
        "at 1\u{202f}048\u{202f}576 elsewhere byte_sieve 20.00 ms 40.0",
        "portable rows 10.00 ms 80.0",
        "avx2 rows_avx2 9.60 ms 83.3 within 5 % of portable",
        "avx512 rows_avx512 5.00 ms 160",
        "",
        "× base: times as fast as the baseline. Within 5 %, `nimlanes compare` decides. *: one run.",
        "",
    ];
    assert_eq!(rows(&table), want);
    // A tier that this machine lacks has no row.
    let table = table::of_operations(&kernels(), &[Tier::Portable]);
    assert!(!table.contains("avx") && !table.contains("within 5 % of"), "{table}");
    assert_eq!(table::of_operations(&[], &[Tier::Portable]), "");
}

fn kernels_are_ranked_at_the_published_size() {
    let kernels = kernels();
    let want = [
        "mex_zeros, squares, by the time at 1\u{202f}048\u{202f}576",
        "100 1\u{202f}048\u{202f}576 × base",
        "observed – 1.00 ms 800",
        "rows_threads – 1.00 ms 800 within 5 %",
        "rows_avx512 – 5.00 ms 160",
        "rows_avx2 – 9.60 ms 83.3",
        "rows 1.00 µs 10.00 ms 80.0",
        "byte_sieve – 20.00 ms 40.0",
        "sieve – 800.00 ms* 1.00",
    ];
    assert_eq!(rows(&table::of_kernels(&kernels))[..9], want);
    // Of a workload that is not the default one, and without the baseline.
    let table = table::of_kernels(&kernels[8..]);
    let want = [
        "mex_zeros, primes, by the time at 1\u{202f}048\u{202f}576",
        "1\u{202f}048\u{202f}576 × base",
        "rows 1.00 ms –",
    ];
    assert_eq!(rows(&table)[..3], want);
    assert_eq!(table::of_kernels(&[]), "");
}

fn tables_fit_a_terminal() {
    let long = |size| Timing {
        operation: "mex_subtraction",
        size,
        tier: Tier::Avx512,
        is_baseline: true,
        is_one_run: true,
        ..timing("charged_lanes_threads_avx512", 999.99)
    };
    let timings = [10, 100, 10_000, 1_000_000, 10_000_000].map(long);
    let tables = [table::of_operations(&timings[4..], &[Tier::Avx512]), table::of_kernels(&timings)];
    for line in tables.iter().flat_map(|table| table.lines()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}
