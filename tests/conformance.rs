//! Every kernel of every core against the oracle and the known answers, as `tests/trials` has it, and the machine code of two.

use libtest_mimic::{Failed, Trial};
use nimlanes::cores::{COMPLETE, OPERATIONS};

fn main() {
    let entries = [
        (
            "byte_rows_avx2",
            "<nimlanes_table_scan::cores::table_scan::TableScan<S,_> as nimlanes_foundation::kernel::operation::Operation>::KERNELS::byte_rows_avx2",
            "ymm",
        ),
        (
            "automaton_avx2",
            "nimlanes_occupancy::cores::occupancy::loops::plain::avx2::alone::parts::{{closure}}",
            "blsi",
        ),
    ];
    let entries = entries.map(|(kernel, function, sign)| own_instructions(kernel, function, sign));
    nimlanes_trials::run(OPERATIONS, COMPLETE, entries)
}

/// Portable source listed at a higher tier is recompiled in a function of that tier. If a part is not inlined, the function calls code
/// for the build's target instead. Only the machine code shows this: it must contain `sign`.
fn own_instructions(kernel: &str, function: &'static str, sign: &'static str) -> Trial {
    let disassemble = move || {
        let program = std::env::current_exe().ok()?;
        let symbol = format!("--disassemble={function}");
        let output = std::process::Command::new("objdump").args(["-d", "-C", &symbol]).arg(program).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let is_compiled = cfg!(all(target_arch = "x86_64", feature = "avx2"));
    let has_objdump = std::process::Command::new("objdump").arg("--version").output().is_ok();
    Trial::test(format!("{kernel} has its tier's instructions"), move || {
        let code = disassemble().ok_or("objdump cannot read this program")?;
        match (code.contains(function), code.contains(sign)) {
            (true, true) => Ok(()),
            (true, false) => Err(Failed::from(format!("no {sign} in {function}"))),
            (false, _) => Err(Failed::from(format!("no function is called {function}"))),
        }
    })
    .with_ignored_flag(!(is_compiled && has_objdump))
}
