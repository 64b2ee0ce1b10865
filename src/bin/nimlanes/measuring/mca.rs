//! What `llvm-mca` says of machine code: it simulates the instructions by a model of the CPU.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use super::loops::Instruction;
use super::programs::{ProgramError, complete, program};
use crate::terminal::interrupt;

/// What was simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The program, its version and the model.
    pub by: String,
    /// Cycles of an iteration.
    pub cycles: f64,
    /// All that it said: figures, bottlenecks, and the chain of instructions that is the longest.
    pub text: String,
}

/// Instructions as an assembler takes them: a single label stands for every place that is jumped to or called.
pub fn assembly(instructions: &[Instruction]) -> String {
    let line = |instruction: &Instruction| match (&instruction.text, instruction.text.rfind([' ', ','])) {
        (text, Some(end)) if instruction.goes_to.is_some() => format!("{}.L\n", &text[..=end]),
        (text, _) => format!("{text}\n"),
    };
    instructions.iter().map(line).fold(".L:\n".to_owned(), |text, line| text + &line)
}

/// What a program writes to its standard output, given a text.
///
/// # Errors
/// Why there is nothing: it is not installed, or what it complained of.
pub fn output(command: &mut Command, input: &str) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match complete(command, input, &interrupt::run(1)) {
        Ok(completed) => completed.success().map_err(|complaint| format!("{name}: {complaint}")),
        Err(ProgramError::Start { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Err(format!("{name} is not installed"))
        }
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// Asks the newest llvm-mca about instructions, in assembly, executed so many times.
///
/// # Errors
/// Why there is no answer: it is not installed, or what it complained of.
pub fn simulate(assembly: &str, times: u32) -> Result<Simulated, String> {
    let name = newest();
    let version = output(program(&name).arg("--version"), "")?;
    let cpu = after(&version, "Host CPU:").ok_or_else(|| format!("{name} does not know this CPU"))?;
    let number = after(&version, "LLVM version").unwrap_or_default();
    let mut command = program(&name);
    command.args([format!("-mcpu={cpu}"), format!("-iterations={times}")]);
    command.args(["-bottleneck-analysis", "-resource-pressure=false", "-instruction-info=false"]);
    let text = output(&mut command, assembly)?;
    let cycles = after(&text, "Total Cycles:").and_then(|cycles| cycles.parse::<f64>().ok());
    let cycles = cycles.ok_or_else(|| format!("{name} gives no number of cycles"))? / f64::from(times);
    // Zen 5 had no model of its own at first.
    let of = if cpu == "znver5" { " (up to LLVM 21 the model of Zen 4)" } else { "" };
    Ok(Simulated { by: format!("llvm-mca {number} -mcpu={cpu}{of}"), cycles, text })
}

impl Simulated {
    /// The share of the cycles, from 0 to 1, behind this name: `Resource Pressure`, `Register Dependencies`, `Memory Dependencies`. It
    /// is 0 where nothing waits.
    pub fn share(&self, name: &str) -> f64 {
        let line = self.text.lines().find_map(|line| line.split_once(name));
        let percent = line.and_then(|(_, rest)| rest.split_once('[')?.1.split_once('%')?.0.trim().parse::<f64>().ok());
        percent.unwrap_or_default() / 100.0
    }
}

/// The word after a mark.
fn after(text: &str, mark: &str) -> Option<String> {
    text.split_once(mark)?.1.split_whitespace().next().map(str::to_owned)
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
    use super::*;

    #[test]
    fn jumps_are_to_one_label() {
        let instruction = |text: &str, goes_to| Instruction { address: 0, text: text.to_owned(), goes_to };
        let body = [instruction("add %rax,%rbx", None), instruction("jne 7f10", Some(0x7f10))];
        assert_eq!(assembly(&body), ".L:\nadd %rax,%rbx\njne .L\n");
    }

    #[test]
    fn a_missing_program_is_named() {
        let missing = output(&mut program("nimlanes-has-no-such-tool"), "");
        assert_eq!(missing.unwrap_err(), "nimlanes-has-no-such-tool is not installed");
        assert!(output(program("cat").arg("/nimlanes/none"), "").unwrap_err().starts_with("cat: "));
        assert_eq!(output(&mut program("cat"), "text").as_deref(), Ok("text"));
    }

    #[test]
    fn shares_are_those_of_their_lines() {
        let text = "Throughput Bottlenecks: \n  Resource Pressure       [ 1.50% ]\n  Data Dependencies:      [ 88.89% ]\n  \
                    - Register Dependencies [ 80.00% ]\n";
        let simulated = Simulated { by: String::new(), cycles: 1.0, text: text.to_owned() };
        let shares = ["Resource Pressure", "Register Dependencies", "Memory Dependencies"];
        assert_eq!(shares.map(|name| simulated.share(name)), [0.015, 0.8, 0.0]);
    }
}
