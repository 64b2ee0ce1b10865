//! The program and the libraries that are mapped into this process.

use std::env;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSegment};

/// Code of an ELF file in memory.
#[derive(Debug)]
pub struct Module {
    /// The file's name when it was mapped.
    pub name: PathBuf,
    /// The bytes of the file.
    pub data: Vec<u8>,
    /// The addresses of its code in this process.
    pub range: Range<u64>,
    /// An address in this process minus the one in the file, which wraps around.
    pub bias: u64,
}

impl Module {
    /// The file, which was read before.
    pub fn file(&self) -> object::File<'_> {
        object::File::parse(&*self.data).expect("an ELF file")
    }

    /// The address in the file of one in this process.
    pub fn in_file(&self, address: u64) -> u64 {
        address.wrapping_sub(self.bias)
    }
}

/// The modules of this process, and the name of the program among them.
///
/// # Errors
/// The system does not tell.
pub fn of_this_process() -> io::Result<(Vec<Module>, PathBuf)> {
    let program = env::current_exe()?;
    let maps = fs::read_to_string("/proc/self/maps")?;
    Ok((maps.lines().filter_map(|line| module(line, &program)).collect(), program))
}

/// The module of a line of `/proc/self/maps` if it is the code of a file:
/// `<start>-<end> <permissions> <offset> <device> <inode> <path>`.
fn module(line: &str, program: &Path) -> Option<Module> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let (range, permissions, offset) = (number(start)?..number(end)?, fields.next()?, number(fields.next()?)?);
    // A path may have spaces, and nothing before it has a slash. The file of a library that is `(deleted)` cannot be read.
    let name = PathBuf::from(&line[line.find('/')?..]);
    if !permissions.contains('x') {
        return None;
    }
    // Another file may have taken the program's name.
    let data = fs::read(if name == program { Path::new("/proc/self/exe") } else { &name }).ok()?;
    let bias = range.start.wrapping_sub(address_at(&data, offset..offset + (range.end - range.start))?);
    Some(Module { name, data, range, bias })
}

/// The address in an ELF file of the first byte of a part of it that is mapped; none unless a segment begins in that.
fn address_at(data: &[u8], mapped: Range<u64>) -> Option<u64> {
    let file = object::File::parse(data).ok()?;
    let segment = file.segments().find(|segment| mapped.contains(&segment.file_range().0))?;
    Some(segment.address().wrapping_sub(segment.file_range().0 - mapped.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_function_is_in_this_program() {
        let address = this_function_is_in_this_program as fn() as usize as u64;
        let (modules, program) = of_this_process().expect("Linux");
        let module = modules.iter().find(|module| module.range.contains(&address)).expect("the program");
        assert_eq!(module.name, program);
        let symbols = module.file().symbol_map();
        let symbol = symbols.before(module.in_file(address)).expect("a symbol").name();
        assert!(symbol.contains("this_function_is_in_this_program"), "{symbol}");
    }
}
