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
        Ok(completed) => completed.map_err(|why| format!("{name}: {why}")),
        Err(ProgramError::Start { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Err(format!("{name} is not installed"))
        }
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// The newest llvm-mca, its version, and the model of this CPU.
///
/// # Errors
/// It is not installed, or has no such model.
pub fn model() -> Result<[String; 3], String> {
    let name = newest();
    let version = output(program(&name).arg("--version"), "")?;
    let cpu = after(&version, "Host CPU:").ok_or_else(|| format!("{name} does not know this CPU"))?;
    let number = after(&version, "LLVM version").unwrap_or_default();
    Ok([name, number, cpu])
}

/// Asks the newest llvm-mca about instructions, in assembly, executed so many times.
///
/// # Errors
/// Why there is no answer: it is not installed, or what it complained of.
pub fn simulate(assembly: &str, times: u32) -> Result<Simulated, String> {
    let [name, number, cpu] = model()?;
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

/// Whether a unit of the CPU loads or stores: by its name on AMD, by the number of the port on Intel.
fn loads_or_stores(unit: &str) -> bool {
    match unit.split_once("Port") {
        Some((_, number)) => matches!(number.parse::<u8>(), Ok(2..=4 | 7..=9 | 11 | 23)),
        None => ["AGU", "LSU", "Load", "Store", "FPSt"].iter().any(|name| unit.contains(name)),
    }
}

impl Simulated {
    /// Shares of the cycles, from 0 to 1, and 1 together: those in which the front end would hand out as much as it can, and, of the rest,
    /// what goes to waiting for units that calculate, for units that load and store, and for results. That is by the cycles in which
    /// instructions wait for each, which may be the same ones.
    pub fn shares(&self) -> [f64; 4] {
        let figure = |mark| after(&self.text, mark)?.parse::<f64>().ok();
        let full = || Some(figure("Total uOps:")? / figure("Dispatch Width:")? / figure("Total Cycles:")?);
        let [mut units, mut loads] = [0.0; 2];
        for (name, share) in self.text.lines().filter_map(|line| line.trim_start().strip_prefix("- ")?.split_once('['))
        {
            let share = percent(share);
            match name.trim() {
                name if name.ends_with("Dependencies") => {}
                name if loads_or_stores(name) => loads += share,
                _ => units += share,
            }
        }
        let under =
            |name| self.text.split_once(name).map_or(0.0, |(_, rest)| percent(rest.trim_start_matches([' ', '['])));
        let [pressure, results] = ["Resource Pressure", "Data Dependencies:"].map(under);
        let all = pressure + results;
        let front_end = if all > 0.0 { full().unwrap_or_default().min(1.0) } else { 1.0 };
        let waits = |share: f64| if share > 0.0 { (1.0 - front_end) * share / all } else { 0.0 };
        let loads = if loads > 0.0 { pressure * loads / (units + loads) } else { 0.0 };
        [front_end, waits(pressure - loads), waits(loads), waits(results)]
    }
}

/// The number that a text begins with, before its per cent sign.
fn percent(text: &str) -> f64 {
    text.split_once('%').and_then(|(number, _)| number.trim().parse().ok()).unwrap_or_default()
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

    /// What a kernel on Zen 3 and the same instructions on another CPU give, in part.
    #[test]
    fn shares_are_one_together() {
        let shares = |waits: &str| {
            let text = format!("Total Cycles:      100\nTotal uOps:        300\n\nDispatch Width:    6\n{waits}");
            let simulated = Simulated { by: String::new(), cycles: 1.0, text };
            simulated.shares().map(|share| (1000.0 * share).round() / 1000.0)
        };
        let waits = "Cycles with backend pressure increase [ 44.40% ]\nThroughput Bottlenecks: \n  \
                     Resource Pressure       [ 15.00% ]\n  - Zn3AGU0  [ 1.00% ]\n  - Zn3ALU0  [ 4.00% ]\n  \
                     Data Dependencies:      [ 35.00% ]\n  - Register Dependencies [ 35.00% ]\n  - Memory Dependencies   [ 0.00% ]\n";
        assert_eq!(shares(waits), [0.5, 0.12, 0.03, 0.35]);
        assert_eq!(
            shares(&waits.replace("Zn3AGU0", "SPRPort11").replace("Zn3ALU0", "SPRPort10")),
            [0.5, 0.12, 0.03, 0.35]
        );
        let none = "No resource or data dependency bottlenecks discovered.\n";
        assert_eq!(shares(none), [1.0, 0.0, 0.0, 0.0]);
    }
}
