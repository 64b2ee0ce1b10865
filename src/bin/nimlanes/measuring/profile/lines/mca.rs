//! What `llvm-mca` says of machine code: it simulates the instructions by a model of the CPU.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use iced_x86::Instruction;

use crate::measuring::loops::{names_target, text};
use crate::measuring::programs::{ProgramError, complete, program};
use crate::terminal::interrupt;

/// Turns of the loop that are simulated.
const TURNS: u32 = 100;

/// Has the newest llvm-mca simulate a loop. Returns how fast it could be and what it waits for, and all else that was printed.
///
/// # Errors
/// It is not installed, does not know this CPU, or failed.
pub fn simulate<'i>(body: impl IntoIterator<Item = &'i Instruction>) -> Result<(String, String), String> {
    let name = newest();
    let version = output(program(&name).arg("--version"), "")?;
    let cpu = after(&version, "Host CPU:").ok_or_else(|| format!("{name} does not know this CPU"))?;
    let mut command = program(&name);
    command.args([format!("-mcpu={cpu}"), format!("-iterations={TURNS}")]);
    command.args(["-bottleneck-analysis", "-resource-pressure=false", "-instruction-info=false"]);
    let printed = output(&mut command, &assembly(body))?;
    let cycles = after(&printed, "Total Cycles:").and_then(|cycles| cycles.parse::<f64>().ok());
    let cycles = cycles.ok_or_else(|| format!("{name} gives no number of cycles"))? / f64::from(TURNS);
    // Zen 5 had no model of its own at first.
    let of = if cpu == "znver5" { " (up to LLVM 21 the model of Zen 4)" } else { "" };
    let number = after(&version, "LLVM version").unwrap_or_default();
    let waits = ["Resource Pressure", "Data Dependencies:"].map(|what| percent(&printed, what));
    let summary = format!(
        "llvm-mca {number} -mcpu={cpu}{of}: {cycles:.1} cycles a turn, if loads hit L1 and no branch leaves it\n\
         waits for units in {} % of the cycles, for results in {} %",
        waits[0], waits[1]
    );
    let lines: Vec<&str> = printed.lines().filter(|line| !is_off_the_chain(line)).map(str::trim_end).collect();
    Ok((summary, lines.join("\n") + "\n"))
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

/// What a program writes to its standard output, given a text.
fn output(command: &mut Command, input: &str) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    complete(command, input, &interrupt::run(1)).map_err(|error| match error {
        ProgramError::Start { source, .. } if source.kind() == ErrorKind::NotFound => {
            format!("{name} is not installed")
        }
        error => error.because(|why| format!("{name}: {why}")).to_string(),
    })
}

/// The word after a mark.
fn after(text: &str, mark: &str) -> Option<String> {
    text.split_once(mark)?.1.split_whitespace().next().map(str::to_owned)
}

/// The share of the cycles in `Mark [ 1.23% ]`; 0 if the mark is missing.
fn percent<'t>(text: &'t str, mark: &str) -> &'t str {
    let share = text.split_once(mark).and_then(|(_, rest)| rest.split_once('%'));
    share.map_or("0", |(share, _)| share.trim_start_matches([' ', '[']))
}

/// Whether a line is an instruction that is listed around the critical sequence, but is not part of it: no arrow leads to it.
fn is_off_the_chain(line: &str) -> bool {
    let before = line.split_once('.').map(|(before, _)| before.trim_start_matches([' ', '|']));
    before.is_some_and(|number| number.parse::<usize>().is_ok())
}

/// The name with the greatest number, since that knows the most CPUs: Debian calls it `llvm-mca-19`.
fn newest() -> String {
    let path = env::var_os("PATH").unwrap_or_default();
    let files = env::split_paths(&path).filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let versions = files.filter_map(|file| file.file_name().to_str()?.strip_prefix("llvm-mca-")?.parse::<u32>().ok());
    versions.max().map_or_else(|| "llvm-mca".to_owned(), |version| format!("llvm-mca-{version}"))
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    #[test]
    fn jumps_are_to_one_label() {
        let code = [0x48, 0x01, 0xc3, 0xc4, 0xc1, 0x75, 0xfe, 0xc8, 0x75, 0xf0];
        let body: Vec<Instruction> = Decoder::with_ip(64, &code, 0x7f10, DecoderOptions::NONE).into_iter().collect();
        assert_eq!(assembly(&body), ".L:\nadd %rax,%rbx\nvpaddd %ymm8,%ymm1,%ymm1\njne .L\n");
    }

    #[test]
    fn a_missing_program_is_named() {
        let missing = output(&mut program("nimlanes-has-no-such-tool"), "");
        assert_eq!(missing.unwrap_err(), "nimlanes-has-no-such-tool is not installed");
        assert!(output(program("cat").arg("/nimlanes/none"), "").unwrap_err().starts_with("cat: "));
        assert_eq!(output(&mut program("cat"), "text").as_deref(), Ok("text"));
    }

    #[test]
    fn waits_are_read() {
        let printed = "Throughput Bottlenecks: \n  Resource Pressure       [ 15.00% ]\n  - Zn3AGU0  [ 1.00% ]\n  \
                       Data Dependencies:      [ 35.00% ]\n  - Register Dependencies [ 34.00% ]\n";
        assert_eq!([percent(printed, "Resource Pressure"), percent(printed, "Data Dependencies:")], ["15.00", "35.00"]);
        assert_eq!(percent("No resource or data dependency bottlenecks discovered.\n", "Resource Pressure"), "0");
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
