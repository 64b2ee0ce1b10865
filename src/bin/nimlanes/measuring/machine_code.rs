//! The machine code of the kernels, read in the file of this program.
//!
//! The code of a kernel is its entry and every function that this reaches: by calls and jumps, and by addresses that it takes, in
//! tables and vtables too.
//!
//! A digest of it is of the bytes of all instructions, without the addresses of what is outside of their function; of the constants
//! that they load; and of which functions each of them reaches, numbered as they are met. So names and places do not matter. Not in it
//! are functions of the crate `std`, tables of numbers, and what the system has.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::error::Error;
use std::hash::Hasher as _;
use std::ops::Range;
use std::sync::LazyLock;
use std::{env, fs, iter};

use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind};
use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::KernelMeta;
use nimlanes::machine::Machine;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};
use twox_hash::XxHash3_64;

/// Crates whose functions ask the CPU and choose by that, so that none is the kernel's: the hash of a checksum, the detection itself,
/// and what stands in for instructions.
const CHOOSE_BY_CPU: [&str; 3] = ["twox_hash::", "std_detect::", "compiler_builtins::"];

/// A crate whose instructions have the places of the variables of threads, which depend on all of the program.
const STANDARD: &str = "std::";

/// The digest of each kernel that is compiled, by `operation=kernel`; none if the file of this program cannot be read.
pub static DIGESTS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| digests().unwrap_or_default());

fn digests() -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let (data, machine) = (fs::read(env::current_exe()?)?, Machine::detect());
    let program = ProgramFile::read(&data)?;
    let of_operation = OPERATIONS.iter().flat_map(|operation| {
        let kernels = operation.kernels(&machine).into_iter();
        kernels.map(|kernel| (format!("{}={}", operation.name(), kernel.name), program.digest(&kernel)))
    });
    Ok(of_operation.filter_map(|(kernel, digest)| Some((kernel, digest?))).collect())
}

/// The file of a program.
#[derive(Default)]
pub struct ProgramFile<'a> {
    /// The bytes of each, by its address.
    sections: BTreeMap<u64, &'a [u8]>,
    /// The pointers that the loader relocates, by where they are.
    pointers: HashMap<u64, u64>,
    /// By the addresses where they begin.
    pub functions: BTreeMap<u64, Function>,
    /// The entries of a kernel, by the module of its list and its name: one for each type that the operation is generic over.
    entries: HashMap<(String, String), Vec<u64>>,
}

/// A function.
#[derive(Default)]
pub struct Function {
    end: u64,
    /// Its name, without a hash.
    pub name: String,
    /// The functions that it refers to, in the order of its instructions.
    reaches: Vec<u64>,
    /// A digest of its instructions, and of the constants that they load.
    digest: u64,
}

/// The addresses that instructions refer to, and how many bytes they load there.
type Targets = Vec<(u64, usize)>;

/// Without the feature, `tzcnt` is `bsf`: the compiler writes it where the two agree.
pub const PLAIN: u32 = DecoderOptions::NO_MPFX_0FBC;

/// Bytes of a pointer.
const POINTER: usize = size_of::<u64>();

impl<'a> ProgramFile<'a> {
    /// Reads the file of a program, and all of its code.
    ///
    /// # Errors
    /// It is none, or lacks instructions where it has a function.
    pub fn read(data: &'a [u8]) -> Result<Self, Box<dyn Error>> {
        let mut program = ProgramFile::listed(data)?;
        let starts = program.functions.keys();
        let found = starts.map(|start| program.targets(*start)).collect::<Result<Vec<_>, _>>()?;
        let targets = found.iter().flat_map(|(targets, _)| targets).map(|(at, _)| *at);
        let objects = targets.chain(program.pointers.values().copied()).collect();
        let reaches: Vec<_> = found.iter().map(|(targets, _)| program.reaches(targets, &objects)).collect();
        for ((function, (_, digest)), reaches) in program.functions.values_mut().zip(found).zip(reaches) {
            (function.digest, function.reaches) = (digest, reaches);
        }
        Ok(program)
    }

    /// Reads the file of a program, without what functions refer to.
    ///
    /// # Errors
    /// It is none.
    pub fn listed(data: &'a [u8]) -> Result<Self, Box<dyn Error>> {
        let file = object::File::parse(data)?;
        let mut program = ProgramFile::default();
        let sections = file.sections().filter(|section| section.address() != 0);
        program.sections = sections.filter_map(|section| Some((section.address(), section.data().ok()?))).collect();
        let relocations = file.dynamic_relocations().into_iter().flatten();
        let pointers = relocations.filter(|(_, it)| it.target() == RelocationTarget::Absolute);
        program.pointers = pointers.map(|(address, it)| (address, it.addend() as u64)).collect();
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition()) {
            let name = format!("{:#}", rustc_demangle::demangle(symbol.name()?));
            if let Some(kernel) = kernel(&name) {
                program.entries.entry(kernel).or_default().push(symbol.address());
            }
            let new = Function { name, ..Function::default() };
            let function = program.functions.entry(symbol.address()).or_insert(new);
            function.end = function.end.max(symbol.address() + symbol.size());
        }
        Ok(program)
    }

    /// The targets of the instructions of a function, and a digest of them.
    fn targets(&self, start: u64) -> Result<(Targets, u64), Box<dyn Error>> {
        let (mut targets, mut hasher) = (Vec::new(), XxHash3_64::new());
        let end = self.functions[&start].end;
        let mut decoder = self.decoder(start, PLAIN)?;
        while decoder.can_decode() {
            let instruction = decoder.decode();
            let mut bytes = self.bytes(instruction.ip()..instruction.next_ip()).unwrap_or_default().to_vec();
            let offsets = decoder.get_constant_offsets(&instruction);
            let branch = instruction.near_branch_target();
            if instruction.op0_kind() == OpKind::NearBranch64 && !(start..end).contains(&branch) {
                bytes[offsets.immediate_offset()..][..offsets.immediate_size()].fill(0);
                targets.push((branch, 0));
            } else if instruction.is_ip_rel_memory_operand() {
                bytes[offsets.displacement_offset()..][..offsets.displacement_size()].fill(0);
                let is_loaded = instruction.mnemonic() != Mnemonic::Lea;
                let size = if is_loaded { instruction.memory_size().size() } else { 0 };
                let loaded = instruction.ip_rel_memory_address()..instruction.ip_rel_memory_address() + size as u64;
                if self.words(loaded.clone()).all(|word| word.is_none()) {
                    hasher.write(self.bytes(loaded.clone()).unwrap_or_default());
                }
                targets.push((loaded.start, size));
            }
            hasher.write(&bytes);
        }
        Ok((targets, hasher.finish()))
    }

    /// Decodes the instructions of a function.
    ///
    /// # Errors
    /// The file does not have them.
    pub fn decoder(&self, start: u64, options: u32) -> Result<Decoder<'a>, Box<dyn Error>> {
        let Function { end, name, .. } = &self.functions[&start];
        let bytes = self.bytes(start..*end).ok_or_else(|| format!("the file lacks {name}"))?;
        Ok(Decoder::with_ip(64, bytes, start, options))
    }

    /// The bytes at addresses.
    pub fn bytes(&self, range: Range<u64>) -> Option<&'a [u8]> {
        let (start, bytes) = self.sections.range(..=range.start).next_back()?;
        bytes.get((range.start - start) as usize..(range.end - start) as usize)
    }

    /// The pointer at each place for one.
    fn words(&self, range: Range<u64>) -> impl Iterator<Item = Option<u64>> {
        range.step_by(POINTER).map(|at| self.pointers.get(&at).copied())
    }

    /// The function that has the instruction at an address.
    pub fn function_with(&self, address: u64) -> Option<u64> {
        let (start, function) = self.functions.range(..=address).next_back()?;
        (address < function.end).then_some(*start)
    }

    /// The functions at addresses, and those to which pointers there lead. `objects` is what anything has the address of.
    fn reaches(&self, targets: &[(u64, usize)], objects: &BTreeSet<u64>) -> Vec<u64> {
        // A vtable begins with what drops a value, which may be none, its size, and its alignment.
        const NUMBERS: usize = 3;
        let of_target = |(at, size): &(u64, usize)| {
            // A table, of which only the address is taken, ends where anything else begins.
            let next = || objects.range(at + 1..).next().copied().unwrap_or(*at);
            let end = if *size > 0 { at + *size as u64 } else { next() };
            let numbers = NUMBERS.max(*size);
            let words = self.words(*at..end).enumerate();
            let pointers = words.take_while(move |(index, pointer)| *index < numbers || pointer.is_some());
            iter::once(Some(*at)).chain(pointers.map(|(_, pointer)| pointer)).filter_map(|it| self.function_with(it?))
        };
        let chooses = |function: &u64| CHOOSE_BY_CPU.iter().any(|of| self.functions[function].is_of(of));
        targets.iter().flat_map(of_target).filter(|function| !chooses(function)).collect()
    }

    /// The functions that one reaches, in the order in which they are met, each with a function from which it is reached; for the
    /// first, that is itself.
    pub fn reached(&self, entry: u64) -> Vec<(u64, u64)> {
        let (mut reached, mut known) = (vec![(entry, entry)], HashSet::from([entry]));
        let mut next = 0;
        while let Some((from, _)) = reached.get(next).copied() {
            let reaches = self.functions[&from].reaches.iter();
            reached.extend(reaches.filter(|to| known.insert(**to)).map(|to| (*to, from)));
            next += 1;
        }
        reached
    }

    /// The entries of a kernel: one for each type that its operation is generic over.
    pub fn entries(&self, kernel: &KernelMeta) -> &[u64] {
        self.entries.get(&(kernel.list.to_owned(), kernel.name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// A digest of the machine code of a kernel; none if it has no entry.
    pub fn digest(&self, kernel: &KernelMeta) -> Option<String> {
        let digest = |entry: &u64| {
            let (reached, mut hasher) = (self.reached(*entry), XxHash3_64::new());
            let numbers: HashMap<u64, usize> = reached.iter().map(|(function, _)| *function).zip(0..).collect();
            let functions = reached.iter().map(|(function, _)| &self.functions[function]);
            for Function { digest, reaches, .. } in functions.filter(|function| !function.is_of(STANDARD)) {
                hasher.write_u64(*digest);
                reaches.iter().for_each(|to| hasher.write_usize(numbers[to]));
            }
            hasher.finish()
        };
        let digests: BTreeSet<u64> = self.entries(kernel).iter().map(digest).collect();
        let mut hasher = XxHash3_64::new();
        digests.iter().for_each(|digest| hasher.write_u64(*digest));
        (!digests.is_empty()).then(|| format!("{:016x}", hasher.finish()))
    }
}

impl Function {
    /// Whether it is of a crate, which is named with colons.
    fn is_of(&self, of: &str) -> bool {
        self.name.trim_start_matches('<').starts_with(of)
    }
}

/// The kernel of which a function is the entry: the module of the list, and the name. The function is named
/// `<module::Operation<..> as nimlanes_foundation::kernel::definition::Operation>::KERNELS::name`, with or without the types after it.
fn kernel(function: &str) -> Option<(String, String)> {
    let (operation, name) =
        function.split_once(" as nimlanes_foundation::kernel::definition::Operation>::KERNELS::")?;
    let operation = operation.strip_prefix('<')?.split('<').next()?;
    let name = name.split("::<").next().filter(|name| !name.contains("::"))?;
    Some((operation.rsplit_once("::")?.0.to_owned(), name.to_owned()))
}
