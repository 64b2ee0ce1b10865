//! The loop that holds the most samples, its instructions, and what `llvm-mca` says of them.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use iced_x86::{DecoderOptions, Instruction};

use super::mca;
use super::modules::Module;
use crate::measuring::loops::{hottest, text};
use crate::measuring::machine_code::ProgramFile;
use crate::measuring::profile::HotLoop;
use crate::measuring::profile::picture::percent;

/// The hottest loop of a program, given the samples at addresses of its file.
///
/// # Errors
/// Why there is none.
pub fn find(program: &Module, samples: &HashMap<u64, u64>) -> Result<HotLoop, String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("no loop: {}: {error}", program.name.display());
    let data = fs::read(&program.path).map_err(|error| unreadable(&error))?;
    let file = ProgramFile::listed(&data).map_err(|error| unreadable(&error))?;
    let code = functions(&file, samples).into_iter().filter_map(|function| decode(&file, function, samples));
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

/// The functions that hold more than a fiftieth of the samples.
fn functions(file: &ProgramFile<'_>, samples: &HashMap<u64, u64>) -> Vec<u64> {
    let mut counts = BTreeMap::<u64, u64>::new();
    for (address, count) in samples {
        file.function_with(*address).into_iter().for_each(|function| *counts.entry(function).or_default() += count);
    }
    let total: u64 = samples.values().sum();
    counts.into_iter().filter(|(_, count)| 50 * count > total).map(|(function, _)| function).collect()
}

/// The instructions of a function, with the samples at each.
fn decode(file: &ProgramFile<'_>, function: u64, samples: &HashMap<u64, u64>) -> Option<Vec<(Instruction, u64)>> {
    let decoder = file.decoder(function, DecoderOptions::NONE).ok()?;
    Some(decoder.into_iter().map(|it| (it, samples.get(&it.ip()).copied().unwrap_or_default())).collect())
}

#[cfg(test)]
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
        let file = ProgramFile::listed(&data).expect("an ELF file");
        let start = module.in_file(with_a_loop as fn(u64) -> u64 as usize as u64);
        let code = decode(&file, functions(&file, &HashMap::from([(start, 1)]))[0], &HashMap::new()).expect("code");
        let jumps_back = |it: &&Instruction| (start..it.ip()).contains(&it.near_branch_target());
        let sampled = code.iter().map(|(it, _)| it).find(jumps_back).expect("a loop").ip();
        let found = find(module, &HashMap::from([(sampled, 3), (start, 1)])).expect("a loop");
        assert!(found.summary.contains(", 75.0 % of the samples\n"), "{}", found.summary);
        assert!(found.details.contains(" 75.0 %  j"), "{}", found.details);
    }
}
