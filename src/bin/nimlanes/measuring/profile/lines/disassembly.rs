//! The instructions of a function, from `objdump`.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol, SymbolKind};

use super::tools::output;
use crate::measuring::programs::program;

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// In the file.
    pub address: u64,
    /// As an assembler takes it, except for the places that it jumps to.
    pub text: String,
    /// The address that it jumps to or calls, if it names one.
    pub goes_to: Option<u64>,
    /// Whether it comes back from there.
    pub is_call: bool,
}

/// A program to disassemble.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    /// The addresses of its functions, in the file.
    functions: Vec<Range<u64>>,
    /// What was disassembled, by the function's first address.
    known: HashMap<u64, Result<Vec<Instruction>, String>>,
}

impl Program {
    /// The program of a file, with no functions if it is unreadable.
    pub fn new(path: &Path) -> Self {
        let functions = || {
            let data = fs::read(path).ok()?;
            let file = object::File::parse(&*data).ok()?;
            let code = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
            Some(code.map(|symbol| symbol.address()..symbol.address() + symbol.size()).collect())
        };
        Program { path: path.to_owned(), functions: functions().unwrap_or_default(), known: HashMap::new() }
    }

    /// The function at an address.
    pub fn function(&self, address: u64) -> Option<Range<u64>> {
        self.functions.iter().find(|range| range.contains(&address)).cloned()
    }

    /// The instructions of a function.
    ///
    /// # Errors
    /// Why there are none: `objdump` is missing, or failed.
    pub fn instructions(&mut self, function: &Range<u64>) -> Result<&[Instruction], String> {
        let disassemble = || {
            let mut objdump = program("objdump");
            objdump.args(["--disassemble", "--no-show-raw-insn"]);
            objdump.arg(format!("--start-address={:#x}", function.start));
            objdump.arg(format!("--stop-address={:#x}", function.end));
            let text = output(objdump.arg(&self.path), "")?;
            Ok(text.lines().filter_map(instruction).collect())
        };
        let known = self.known.entry(function.start).or_insert_with(disassemble);
        known.as_deref().map_err(|reason| reason.clone())
    }

    /// A frame for the instruction at an address, or for those in the same `size` bytes of the function: how far into the function
    /// they begin, and the first of them if that can be told.
    pub fn group(&mut self, address: u64, size: u64) -> Option<String> {
        let function = self.function(address)?;
        let offset = (address - function.start) / size * size;
        let instructions = self.instructions(&function).unwrap_or_default();
        let first = instructions.iter().find(|it| it.address >= function.start + offset);
        let text = first.map(|it| format!(" {}", it.text.replace(';', ",")));
        Some(format!("+{offset}{}", text.unwrap_or_default()))
    }
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
    let is_call = words.first().is_some_and(|name| name.starts_with("call") || *name == "bl");
    Some(Instruction { address, text: words.join(" "), goes_to, is_call })
}

/// Instructions as an assembler takes them: a single label stands for every place that is jumped to or called.
pub fn assembly(instructions: &[Instruction]) -> String {
    let line = |instruction: &Instruction| match (&instruction.text, instruction.text.rfind([' ', ','])) {
        (text, Some(end)) if instruction.goes_to.is_some() => format!("{}.L\n", &text[..=end]),
        (text, _) => format!("{text}\n"),
    };
    instructions.iter().map(line).fold(".L:\n".to_owned(), |text, line| text + &line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_objdump_are_instructions() {
        let is = |line: &str, address, text: &str, goes_to, is_call| {
            assert_eq!(instruction(line), Some(Instruction { address, text: text.to_owned(), goes_to, is_call }));
        };
        is("    7f31:\tlea    0x1f(%rip),%rax        # 8f57 <x>", 0x7f31, "lea 0x1f(%rip),%rax", None, false);
        is("    7f38:\tjne    7f10 <a::b+0x10>", 0x7f38, "jne 7f10", Some(0x7f10), false);
        is("    7f38:\tcall   7f10 <a::b+0x10>", 0x7f38, "call 7f10", Some(0x7f10), true);
        is("    7f38:\tcbnz\tx0, 7f10 <a>", 0x7f38, "cbnz x0, 7f10", Some(0x7f10), false);
        assert_eq!(instruction("0000000000007f00 <a::b>:"), None);
    }

    #[test]
    fn jumps_are_to_one_label() {
        let instruction =
            |text: &str, goes_to| Instruction { address: 0, text: text.to_owned(), goes_to, is_call: false };
        let body = [instruction("add %rax,%rbx", None), instruction("jne 7f10", Some(0x7f10))];
        assert_eq!(assembly(&body), ".L:\nadd %rax,%rbx\njne .L\n");
    }
}
