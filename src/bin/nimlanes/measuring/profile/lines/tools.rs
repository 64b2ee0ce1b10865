//! Programs that may be installed: `objdump` and `llvm-mca`.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use crate::measuring::profile::hot_loop::Model;
use crate::measuring::programs::{ProgramError, complete, program};
use crate::terminal::interrupt;

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

/// Iterations of the loop that llvm-mca simulates.
const TURNS: u32 = 100;

/// Asks the newest llvm-mca about a loop, in assembly.
///
/// # Errors
/// Why there is no answer: it is not installed, or what it complained of.
pub fn mca(assembly: &str) -> Result<Model, String> {
    let name = newest_mca();
    let version = output(program(&name).arg("--version"), "")?;
    let after = |text: &str, mark: &str| {
        let rest = text.split_once(mark)?.1;
        rest.split_whitespace().next().map(str::to_owned)
    };
    let cpu = after(&version, "Host CPU:").ok_or_else(|| format!("{name} does not know this CPU"))?;
    let number = after(&version, "LLVM version").unwrap_or_default();
    let mut command = program(&name);
    command.args([format!("-mcpu={cpu}"), format!("-iterations={TURNS}")]);
    command.args(["-bottleneck-analysis", "-resource-pressure=false", "-instruction-info=false"]);
    let text = output(&mut command, assembly)?;
    let cycles = after(&text, "Total Cycles:").and_then(|cycles| cycles.parse::<f64>().ok());
    let cycles = cycles.ok_or_else(|| format!("{name} gives no number of cycles"))? / f64::from(TURNS);
    let lines: Vec<&str> = text.lines().filter(|line| !is_off_the_chain(line)).map(str::trim_end).collect();
    // Zen 5 had no model of its own at first.
    let of = if cpu == "znver5" { " (up to LLVM 21 the model of Zen 4)" } else { "" };
    Ok(Model { name: format!("llvm-mca {number} -mcpu={cpu}{of}"), cycles, text: lines.join("\n") + "\n" })
}

/// Whether a line is an instruction that is listed around the critical sequence, but is not part of it: no arrow leads to it.
fn is_off_the_chain(line: &str) -> bool {
    let before = line.split_once('.').map(|(before, _)| before.trim_start_matches([' ', '|']));
    before.is_some_and(|number| number.parse::<usize>().is_ok())
}

/// The name with the greatest number, since that knows the most CPUs: Debian calls it `llvm-mca-19`.
fn newest_mca() -> String {
    let path = env::var_os("PATH").unwrap_or_default();
    let files = env::split_paths(&path).filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let versions = files.filter_map(|file| file.file_name().to_str()?.strip_prefix("llvm-mca-")?.parse::<u32>().ok());
    versions.max().map_or_else(|| "llvm-mca".to_owned(), |version| format!("llvm-mca-{version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_critical_sequence_is_kept() {
        for line in ["        0.    movq\t%rdx, 16(%rsp)", " |      12.   jne\t.L"] {
            assert!(is_off_the_chain(line), "{line}");
        }
        for line in [" +----> 3196. movdqa\t64(%rsp), %xmm2", "IPC:               3.64", " |    < loop carried >"] {
            assert!(!is_off_the_chain(line), "{line}");
        }
    }

    #[test]
    fn a_missing_program_is_named() {
        let missing = output(&mut program("nimlanes-has-no-such-tool"), "");
        assert_eq!(missing.unwrap_err(), "nimlanes-has-no-such-tool is not installed");
        assert!(output(program("cat").arg("/nimlanes/none"), "").unwrap_err().starts_with("cat: "));
        assert_eq!(output(&mut program("cat"), "text").as_deref(), Ok("text"));
    }
}
