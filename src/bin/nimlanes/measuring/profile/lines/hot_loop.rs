//! The loop that holds the most samples: `objdump` shows where it is, and `llvm-mca` what bounds it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::Range;

use object::{Object, ObjectSymbol, SymbolKind};

use super::modules::Module;
use crate::measuring::loops::{self, Instruction, Span, loops};
use crate::measuring::mca::{Simulated, assembly, output, simulate};
use crate::measuring::profile::HotLoop;
use crate::measuring::profile::picture::percent;
use crate::measuring::programs::program;

/// Iterations of the loop that are simulated.
const TURNS: u32 = 100;

/// The hottest loop of a program, given the samples at addresses of its file.
///
/// # Errors
/// Why there is none: `objdump` is missing, or failed, or no loop holds samples.
pub fn hottest(program: &Module, samples: &HashMap<u64, u64>) -> Result<HotLoop, String> {
    let all: u64 = samples.values().sum();
    let mut best: Option<(Span, Vec<Instruction>)> = None;
    for function in functions(program, samples) {
        let code = disassemble(program, &function)?;
        let found = loops::hottest(&loops(&code, samples));
        if let Some(found) = found.filter(|found| best.as_ref().is_none_or(|(most, _)| most.own < found.own)) {
            best = Some((found, code[found.first..=found.last].to_vec()));
        }
    }
    let (Span { samples: count, .. }, body) = best.ok_or("no loop holds samples")?;
    let (first, last) = (body[0].address, body[body.len() - 1].address);
    let (said, model) = match simulate(&assembly(&body), TURNS) {
        Ok(Simulated { by, cycles, text }) => {
            let lines: Vec<&str> = text.lines().filter(|line| !is_off_the_chain(line)).map(str::trim_end).collect();
            let said = format!("{by}: {cycles:.1} cycles a turn, if loads hit L1 and no branch leaves it");
            (said, lines.join("\n") + "\n")
        }
        Err(reason) => (reason, String::new()),
    };
    let summary = format!(
        "hottest loop: {} instructions, {} of the samples\n\
         objdump --disassemble --start-address={first:#x} --stop-address={:#x} {}\n{said}\n",
        body.len(),
        percent(count, all),
        last + 1,
        program.name.display(),
    );
    Ok(HotLoop { summary, model })
}

/// The addresses of functions that hold more than a fiftieth of the samples.
fn functions(program: &Module, samples: &HashMap<u64, u64>) -> Vec<Range<u64>> {
    let all = || {
        let data = fs::read(&program.path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let code = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
        Some(code.map(|symbol| (symbol.address(), symbol.address() + symbol.size())).collect())
    };
    let all: BTreeMap<u64, u64> = all().unwrap_or_default();
    let mut counts = BTreeMap::<(u64, u64), u64>::new();
    for (address, count) in samples {
        let function = all.range(..=address).next_back().filter(|(_, end)| address < *end);
        function.into_iter().for_each(|(start, end)| *counts.entry((*start, *end)).or_default() += count);
    }
    let total: u64 = samples.values().sum();
    counts.into_iter().filter(|(_, count)| 50 * count > total).map(|((start, end), _)| start..end).collect()
}

/// The instructions of a function.
fn disassemble(of: &Module, function: &Range<u64>) -> Result<Vec<Instruction>, String> {
    let mut objdump = program("objdump");
    objdump.args(["--disassemble", "--no-show-raw-insn"]);
    objdump.arg(format!("--start-address={:#x}", function.start));
    objdump.arg(format!("--stop-address={:#x}", function.end));
    Ok(output(objdump.arg(&of.path), "")?.lines().filter_map(instruction).collect())
}

/// The instruction of a line of `objdump`: `<address>:<tab><instruction>`, with comments after `#`. The name of an address that
/// is jumped to follows in `<>`.
fn instruction(line: &str) -> Option<Instruction> {
    let (address, text) = line.split_once(":\t")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let text = text.split('#').next()?;
    let (text, has_name) = text.split_once('<').map_or((text, false), |(text, _)| (text, true));
    let words: Vec<&str> = text.split_whitespace().collect();
    let target = words.last().and_then(|operands| operands.rsplit(',').next());
    let goes_to = target.filter(|_| has_name).and_then(|target| u64::from_str_radix(target, 16).ok());
    Some(Instruction { address, text: words.join(" "), goes_to })
}

/// Whether a line is an instruction that is listed around the critical sequence, but is not part of it: no arrow leads to it.
fn is_off_the_chain(line: &str) -> bool {
    let before = line.split_once('.').map(|(before, _)| before.trim_start_matches([' ', '|']));
    before.is_some_and(|number| number.parse::<usize>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_objdump_are_instructions() {
        let is = |line: &str, address, text: &str, goes_to| {
            assert_eq!(instruction(line), Some(Instruction { address, text: text.to_owned(), goes_to }));
        };
        is("    7f31:\tlea    0x1f(%rip),%rax        # 8f57 <x>", 0x7f31, "lea 0x1f(%rip),%rax", None);
        is("    7f38:\tjne    7f10 <a::b+0x10>", 0x7f38, "jne 7f10", Some(0x7f10));
        is("    7f38:\tcbnz\tx0, 7f10 <a>", 0x7f38, "cbnz x0, 7f10", Some(0x7f10));
        assert_eq!(instruction("0000000000007f00 <a::b>:"), None);
    }

    #[test]
    fn only_the_critical_sequence_is_kept() {
        for line in ["        0.    movq\t%rdx, 16(%rsp)", " |      12.   jne\t.L"] {
            assert!(is_off_the_chain(line), "{line}");
        }
        for line in [" +----> 3196. movdqa\t64(%rsp), %xmm2", "IPC:               3.64", " |    < loop carried >"] {
            assert!(!is_off_the_chain(line), "{line}");
        }
    }
}
