//! The loop that holds the most samples, its instructions, and what `llvm-mca` says of them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Instruction};
use object::{File, Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::mca;
use super::modules::Module;
use crate::measuring::loops::{hottest, text};
use crate::measuring::profile::HotLoop;
use crate::measuring::profile::picture::percent;

/// The hottest loop of a program, given the samples at addresses of its file.
///
/// # Errors
/// Why there is none.
pub fn find(program: &Module, samples: &HashMap<u64, u64>) -> Result<HotLoop, String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("no loop: instructions are read on x86-64 alone".to_owned());
    }
    let unreadable = |error: &dyn std::fmt::Display| format!("no loop: {}: {error}", program.name.display());
    let data = fs::read(&program.path).map_err(|error| unreadable(&error))?;
    let file = File::parse(&*data).map_err(|error| unreadable(&error))?;
    let code = functions(&file, samples).into_iter().map(|function| decode(&file, function, samples));
    let spans = code.filter_map(|code| Some((hottest(&code)?, code)));
    let (span, code) = spans.max_by_key(|(span, _)| span.own).ok_or("no loop holds samples")?;
    let body = &code[span.body];
    let all = samples.values().sum();
    let (simulated, details) = mca::simulate(body.iter().map(|(it, _)| it)).unwrap_or_else(|why| (why, String::new()));
    let summary = format!(
        "hottest loop: {} instructions from {:#x} to {:#x}, {} of the samples\n{simulated}\n",
        body.len(),
        body[0].0.ip(),
        body[body.len() - 1].0.ip(),
        percent(span.count, all),
    );
    let mut text = text();
    let share = |count: u64| if count == 0 { String::new() } else { percent(count, all) };
    let instructions: String = body.iter().map(|(it, count)| format!("{:>7}  {}\n", share(*count), text(it))).collect();
    Ok(HotLoop { summary, details: format!("{instructions}\n{details}") })
}

/// The addresses of functions that hold more than a fiftieth of the samples.
fn functions(file: &File<'_>, samples: &HashMap<u64, u64>) -> Vec<Range<u64>> {
    let code = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
    let all: BTreeMap<u64, u64> = code.map(|it| (it.address(), it.address() + it.size())).collect();
    let mut counts = BTreeMap::<(u64, u64), u64>::new();
    for (address, count) in samples {
        let function = all.range(..=address).next_back().filter(|(_, end)| address < *end);
        function.into_iter().for_each(|(start, end)| *counts.entry((*start, *end)).or_default() += count);
    }
    let total: u64 = samples.values().sum();
    counts.into_iter().filter(|(_, count)| 50 * count > total).map(|((start, end), _)| start..end).collect()
}

/// The instructions of a function, with the samples at each.
fn decode(file: &File<'_>, function: Range<u64>, samples: &HashMap<u64, u64>) -> Vec<(Instruction, u64)> {
    let length = function.end - function.start;
    let bytes = file.sections().find_map(|section| section.data_range(function.start, length).ok().flatten());
    let decoder = Decoder::with_ip(64, bytes.unwrap_or_default(), function.start, DecoderOptions::NONE);
    decoder.into_iter().map(|it| (it, samples.get(&it.ip()).copied().unwrap_or_default())).collect()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::measuring::profile::lines::modules;

    #[inline(never)]
    fn with_a_loop(turns: u64) -> u64 {
        let (mut turn, mut all) = (0, 0);
        while turn < turns {
            turn += 1;
            all ^= turn;
        }
        all
    }

    #[test]
    fn the_loop_with_the_samples_is_shown() {
        let (modules, program) = modules::of_this_process().expect("Linux");
        let module = modules.iter().find(|module| module.name == program).expect("the program");
        let data = fs::read(&module.path).expect("readable");
        let file = File::parse(&*data).expect("an ELF file");
        let start = module.in_file(with_a_loop as fn(u64) -> u64 as usize as u64);
        let code = decode(&file, functions(&file, &HashMap::from([(start, 1)]))[0].clone(), &HashMap::new());
        let jumps_back = |it: &&Instruction| (start..it.ip()).contains(&it.near_branch_target());
        let sampled = code.iter().map(|(it, _)| it).find(jumps_back).expect("a loop").ip();
        let found = find(module, &HashMap::from([(sampled, 3), (start, 1)])).expect("a loop");
        assert!(found.summary.contains(", 75.0 % of the samples\n"), "{}", found.summary);
        assert!(found.details.contains(" 75.0 %  j"), "{}", found.details);
    }
}
