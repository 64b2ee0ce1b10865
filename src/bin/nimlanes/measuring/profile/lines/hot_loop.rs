//! The loop that holds the most samples, its instructions, and the analysis of them by `llvm-mca`.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;

use iced_x86::{DecoderOptions, Instruction};

use super::modules::Module;
use crate::measuring::loops::{hottest, names_target, text};
use crate::measuring::machine_code::ProgramFile;
use crate::measuring::profile::picture::percent;
use crate::measuring::programs::{ProgramError, complete, program};
use crate::terminal::interrupt;

/// The hottest loop of a program, given the samples at addresses of its file: a line on where it is, and how many of the samples it
/// holds; its instructions; and what llvm-mca prints of them.
///
/// # Errors
/// Why there is none.
pub fn find(program: &Module, samples: &HashMap<u64, u64>) -> Result<String, String> {
    let file = ProgramFile::listed(&program.data);
    let file = file.map_err(|error| format!("no loop: {}: {error}", program.name.display()))?;
    let code = functions(&file, samples).into_iter().filter_map(|function| decode(&file, function, samples));
    let spans = code.filter_map(|code| Some((hottest(&code)?, code)));
    let (span, code) = spans.max_by_key(|(span, _)| span.own).ok_or("no loop holds samples")?;
    let body = &code[span.body];
    let all = samples.values().sum();
    let (first, last) = (body[0].0.ip(), body[body.len() - 1].0.ip());
    let (count, share) = (body.len(), percent(span.count, all));
    let mut text = text();
    let share_of = |count: u64| if count == 0 { String::new() } else { percent(count, all) };
    let instructions: String =
        body.iter().map(|(it, count)| format!("{:>7}  {}\n", share_of(*count), text(it))).collect();
    let head = format!("hottest loop: {count} instructions from {first:#x} to {last:#x}, {share} of the samples");
    Ok(format!("{head}\n\n{instructions}\n{}", simulated(body.iter().map(|(it, _)| it))))
}

/// The output of llvm-mca for a loop, by its model of this CPU, or why there is none.
fn simulated<'i>(body: impl IntoIterator<Item = &'i Instruction>) -> String {
    let mut command = program("llvm-mca");
    command.args(["-mcpu=native", "-bottleneck-analysis", "-resource-pressure=false", "-instruction-info=false"]);
    complete(&mut command, &assembly(body), &interrupt::run(1)).unwrap_or_else(|error| match error {
        ProgramError::Start(_, source) if source.kind() == ErrorKind::NotFound => {
            "llvm-mca is not installed\n".to_owned()
        }
        error => format!("{error}\n"),
    })
}

/// Instructions as an assembler takes them: a single label stands for every place that is jumped to or called.
fn assembly<'i>(body: impl IntoIterator<Item = &'i Instruction>) -> String {
    let mut text = text();
    let mut line = |instruction: &Instruction| match (text(instruction), names_target(instruction)) {
        (text, true) => format!("{} .L\n", text.split(' ').next().unwrap_or_default()),
        (text, false) => format!("{text}\n"),
    };
    body.into_iter().fold(".L:\n".to_owned(), |all, instruction| all + &line(instruction))
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
    use iced_x86::Decoder;

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
        let file = ProgramFile::listed(&module.data).expect("an ELF file");
        let start = module.in_file(with_a_loop as fn(u64) -> u64 as usize as u64);
        let code = decode(&file, functions(&file, &HashMap::from([(start, 1)]))[0], &HashMap::new()).expect("code");
        let jumps_back = |it: &&Instruction| (start..it.ip()).contains(&it.near_branch_target());
        let sampled = code.iter().map(|(it, _)| it).find(jumps_back).expect("a loop").ip();
        let found = find(module, &HashMap::from([(sampled, 3), (start, 1)])).expect("a loop");
        assert!(found.contains(", 75.0 % of the samples\n") && found.contains(" 75.0 %  j"), "{found}");
    }

    #[test]
    fn jumps_are_to_one_label() {
        let code = [0x48, 0x01, 0xc3, 0xc4, 0xc1, 0x75, 0xfe, 0xc8, 0x75, 0xf0];
        let body: Vec<Instruction> = Decoder::with_ip(64, &code, 0x7f10, DecoderOptions::NONE).into_iter().collect();
        assert_eq!(assembly(&body), ".L:\nadd %rax,%rbx\nvpaddd %ymm8,%ymm1,%ymm1\njne .L\n");
    }
}
