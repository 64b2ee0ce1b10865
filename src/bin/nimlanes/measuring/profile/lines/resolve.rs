//! The debug information of an address: the functions, those inlined among them, and the line.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::{Context, Location, demangle_auto};
use gimli::{Dwarf, EndianArcSlice, LittleEndian, SectionId};
use object::{Object, ObjectSection};

use super::modules::Module;

/// The debug information and the symbols of a file.
struct Debug {
    context: Context<EndianArcSlice<LittleEndian>>,
    /// Addresses and names, ascending.
    symbols: Vec<(u64, String)>,
}

impl Debug {
    /// `None` if the debug information cannot be read.
    fn read(module: &Module) -> Option<Self> {
        let file = module.file();
        let section = |id: SectionId| -> Result<_, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
            Ok(EndianArcSlice::new(Arc::from(data.unwrap_or_default()), LittleEndian))
        };
        let context = Context::from_dwarf(Dwarf::load(section).ok()?).ok()?;
        let symbols = file.symbol_map();
        let symbols = symbols.symbols().iter().map(|symbol| (symbol.address(), symbol.name().to_owned()));
        Some(Debug { context, symbols: symbols.collect() })
    }

    /// The last symbol that begins at an address or before it.
    fn symbol(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|(begin, _)| *begin <= address);
        Some(&self.symbols[after.checked_sub(1)?].1)
    }
}

/// The code at an address.
#[derive(Debug, Default)]
pub struct Code {
    /// The function that the compiler did not inline, then those inlined into it, outermost first. What is inlined of
    /// the standard library is part of the line that uses it.
    pub functions: Vec<String>,
    /// The line, in the innermost of these functions, unless that is of the standard library or not in Rust: `<file>.rs:<number>`
    /// and what is written there, if the file is here.
    pub line: Option<String>,
}

impl AsRef<[String]> for Code {
    fn as_ref(&self) -> &[String] {
        &self.functions
    }
}

/// Resolves addresses of this process.
pub struct Resolver<'m> {
    modules: &'m [Module],
    files: Vec<OnceCell<Option<Debug>>>,
    codes: HashMap<u64, Rc<Code>>,
    sources: HashMap<String, Vec<String>>,
}

impl<'m> Resolver<'m> {
    pub fn new(modules: &'m [Module]) -> Self {
        let files = modules.iter().map(|_| OnceCell::new()).collect();
        Resolver { modules, files, codes: HashMap::new(), sources: HashMap::new() }
    }

    /// The code at an address of this process.
    pub fn code(&mut self, address: u64) -> Rc<Code> {
        if let Some(code) = self.codes.get(&address) {
            return code.clone();
        }
        let code = Rc::new(self.look_up(address).unwrap_or_default());
        self.codes.insert(address, code.clone());
        code
    }

    /// `None` outside of files, and in files without debug information and symbols.
    fn look_up(&mut self, address: u64) -> Option<Code> {
        let index = self.modules.iter().position(|module| module.range.contains(&address))?;
        let module = &self.modules[index];
        let file = self.files[index].get_or_init(|| Debug::read(module)).as_ref()?;
        let address = module.in_file(address);
        let mut frames = file.context.find_frames(address).skip_all_loads().ok()?;
        // Innermost first, each with the line that is executed in it.
        let mut found = Vec::new();
        while let Some(frame) = frames.next().ok()? {
            let name = frame.function.and_then(|name| Some(name.demangle().ok()?.into_owned()));
            found.extend(name.map(|name| (name, frame.location.and_then(|location| own_line(&location)))));
        }
        let outermost = found.pop();
        found.retain(|(_, line)| line.is_some());
        found.extend(outermost);
        let line = found.first().and_then(|(_, line)| line.clone());
        let mut functions: Vec<String> = found.into_iter().rev().map(|(name, _)| name).collect();
        if functions.is_empty() {
            let symbol = file.symbol(address).map(|name| demangle_auto(name.into(), None).into_owned());
            functions.push(symbol.unwrap_or_else(|| short_path(&module.name)));
        }
        let line = line.map(|(file, number)| self.line(&file, number));
        Some(Code { functions, line })
    }

    fn line(&mut self, file: &str, number: u32) -> String {
        let read = || fs::read_to_string(file).unwrap_or_default().lines().map(|line| line.trim().to_owned()).collect();
        let lines: &Vec<String> = self.sources.entry(file.to_owned()).or_insert_with(read);
        let text = lines.get(number as usize - 1).cloned().unwrap_or_default();
        format!("{}:{number} {text}", short_path(Path::new(file)))
    }
}

/// Where the sources of the standard library and of what it is built from are said to be.
const STANDARD: [&str; 3] = ["/rustc/", "/rust/deps/", "/lib/rustlib/"];

/// The file and the number of a line of Rust outside of the standard library.
fn own_line(location: &Location<'_>) -> Option<(String, u32)> {
    let (file, number) = (location.file?, location.line?);
    let is_own = file.ends_with(".rs") && !STANDARD.iter().any(|folder| file.contains(folder));
    is_own.then(|| (file.to_owned(), number))
}

/// The name of a file; `mod.rs` with its folder.
fn short_path(path: &Path) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match (name(path), path.parent()) {
        (file, Some(folder)) if file == "mod.rs" => format!("{}/{file}", name(folder)),
        (file, _) => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::profile::lines::modules;

    #[test]
    fn an_address_has_a_function_and_a_line() {
        let address = an_address_has_a_function_and_a_line as fn() as usize as u64;
        let (modules, _) = modules::of_this_process().expect("Linux");
        let code = Resolver::new(&modules).code(address);
        assert!(code.functions[0].ends_with("an_address_has_a_function_and_a_line"), "{code:?}");
        let line = code.line.as_ref().expect("a line of this file");
        assert!(line.starts_with("resolve.rs:"), "{line}");
        assert_eq!(Resolver::new(&modules).code(8).functions, [""; 0]);
    }

    #[test]
    fn modules_are_named_by_their_folder() {
        assert_eq!(short_path(Path::new("/a/src/cores/mex/mod.rs")), "mex/mod.rs");
        assert_eq!(short_path(Path::new("/a/src/cores/mex/stamp.rs")), "stamp.rs");
    }
}
