//! The machine code of every kernel, read in the file of this program: it has no instruction above the kernel's tier, and its loops have
//! some of that tier. So code that this CPU cannot run is checked too, and on every CPU alike.
//!
//! The code of a kernel is its entry and every function that this reaches: by calls and jumps, and by addresses that it takes, in tables
//! and vtables too. A function that should be inlined, and is not, is compiled for the build's target, and nothing else shows that: its
//! loops have nothing of the tier.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::iter;
use std::ops::Range;
use std::sync::LazyLock;

use iced_x86::{CpuidFeature, Decoder, DecoderOptions, Mnemonic, OpKind};
use libtest_mimic::{Failed, Trial};
use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::session::KernelInfo;
use nimlanes::kernel::{KernelMeta, Tier};
use nimlanes::machine::Machine;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};

/// What every CPU of the architecture has.
const BASE: &[CpuidFeature] = {
    use CpuidFeature::*;
    &[
        INTEL8086,
        INTEL186,
        INTEL286,
        INTEL386,
        INTEL486,
        X64,
        CMOV,
        CPUID,
        CX8,
        FPU,
        FPU287,
        FPU387,
        MMX,
        SSE,
        SSE2,
        MULTIBYTENOP,
        PAUSE,
        TSC,
        SYSCALL,
        CET_IBT,
    ]
};

/// What iced names the instructions of a feature of rustc, and whether the build's target has them.
macro_rules! features {
    ($($name:literal: $($feature:ident)+;)*) => {
        const FEATURES: &[(&str, &[CpuidFeature], bool)] =
            &[$(($name, &[$(CpuidFeature::$feature),+], cfg!(target_feature = $name))),*];
    };
}

// Each with those that rustc takes it to imply. Below the line, what only a build for another target has.
features! {
    "avx2": SSE3 SSSE3 SSE4_1 SSE4_2 AVX AVX2;
    "bmi1": BMI1;
    "bmi2": BMI2;
    "lzcnt": LZCNT;
    "popcnt": POPCNT;
    "avx512f": FMA F16C AVX512F;
    "avx512bw": AVX512BW;
    "avx512dq": AVX512DQ;
    "avx512vl": AVX512VL;
    "avx512ifma": AVX512_IFMA;
    "avx512vbmi": AVX512_VBMI;
    "avx512vbmi2": AVX512_VBMI2;
    "avx512vpopcntdq": AVX512_VPOPCNTDQ;
    "avx512bitalg": AVX512_BITALG;
    "gfni": GFNI;
    // ----
    "sse3": SSE3;
    "ssse3": SSSE3;
    "sse4.1": SSE4_1;
    "sse4.2": SSE4_2;
    "sse4a": SSE4A;
    "avx": AVX;
    "fma": FMA;
    "f16c": F16C;
    "movbe": MOVBE;
    "adx": ADX;
    "aes": AES;
    "vaes": VAES;
    "pclmulqdq": PCLMULQDQ;
    "vpclmulqdq": VPCLMULQDQ;
    "sha": SHA;
    "cmpxchg16b": CMPXCHG16B;
    "avxvnni": AVX_VNNI;
    "avxifma": AVX_IFMA;
    "avx512cd": AVX512CD;
    "avx512vnni": AVX512_VNNI;
    "avx512bf16": AVX512_BF16;
    "avx512fp16": AVX512_FP16;
    "avx512vp2intersect": AVX512_VP2INTERSECT;
}

/// The features that a tier adds to the base.
fn added(tier: Tier) -> BTreeSet<CpuidFeature> {
    let names = tier.extension().map_or(&[][..], |extension| extension.cpu_features);
    let of = |name: &&str| FEATURES.iter().find(|row| row.0 == *name).expect("a row for each feature of a tier").1;
    names.iter().flat_map(of).copied().collect()
}

/// The features that all code of this build may use.
fn built() -> BTreeSet<CpuidFeature> {
    let rows = FEATURES.iter().filter(|row| row.2);
    rows.flat_map(|row| row.1).chain(BASE).copied().collect()
}

/// The features of the instructions that a kernel of a tier may have.
fn allowed(tier: Tier) -> BTreeSet<CpuidFeature> {
    &built() | &added(tier)
}

/// The features of a tier that neither a tier below it nor this build has.
fn own(tier: Tier) -> BTreeSet<CpuidFeature> {
    let below = Tier::here().filter(|other| *other != tier && tier.includes(*other)).flat_map(added).collect();
    &(&added(tier) - &below) - &built()
}

/// Kernels without an instruction of their tier in a loop, and why.
const EXCEPTIONS: &[(&str, &str)] = if cfg!(debug_assertions) {
    &[("value_scan_avx512", "its sums become vectors only where they are not checked for overflow")]
} else {
    &[]
};

/// Functions with loops that are compiled once, though their source is compiled for several tiers: they prepare a run, or have nothing
/// to gain from a tier. Two parts of each name, whose types each compiler writes in its own way.
const COMPILED_ONCE: &[[&str; 2]] = &[
    ["byte_rows::Bytes", "::new"],
    ["octal::candidates::Candidates", "::new"],
    ["records::residue_classes::run", "closure"],
    ["residue_rows::", "::batches"],
    ["residue_rows::", "::hit_from"], // a bit at a time, also the one from sparse classes
    ["residue_rows::", "::new"],
    ["residue_rows::", "::residues"],
    ["residue_rows::", "::slices"],
    ["residue_rows::", "::sort_classes"],
    ["shifted_rows::", "::range"],
    ["shifted_rows::", "::rows"],
    ["shifted_sets::ShiftedSets", "::new"],
];

/// A test for each compiled kernel.
pub fn trials() -> impl Iterator<Item = Trial> {
    let machine = Machine::detect();
    OPERATIONS.iter().flat_map(move |operation| {
        let mut kernels = operation.kernels(&machine);
        kernels.retain(|kernel| kernel.compiled);
        let all = kernels.clone();
        kernels.into_iter().map(move |kernel| {
            let is_below = |other: &KernelInfo| kernel.tier != other.tier && kernel.tier.includes(other.tier);
            let is_compiled_anew = all.iter().any(|other| is_below(other) && kernel.has_source_of(other));
            let name = format!("machine code/{}/{}", operation.name(), kernel.name);
            Trial::test(name, move || check(PROGRAM.as_ref()?, &kernel, is_compiled_anew))
        })
    })
}

/// Whether a kernel has the instructions of its tier, and no others. A source that is compiled anew for the tier has them in all of its
/// functions.
fn check(program: &Program, kernel: &KernelMeta, is_compiled_anew: bool) -> Result<(), Failed> {
    let (allowed, own) = (allowed(kernel.tier), own(kernel.tier));
    let list = kernel.module.rsplit_once("::").ok_or("a module without a parent")?.0;
    let entries = program.entries.get(&(list.to_owned(), kernel.name.to_owned())).ok_or("no function is its entry")?;
    let parts = kernel.parts.map(|parts| format!("{list}::{}", parts.replace(' ', "")));
    let modules: Vec<String> = iter::once(kernel.module.to_owned()).chain(parts).map(|it| it + "::").collect();
    for entry in entries {
        let reached = program.reached(*entry);
        for address in reached.keys() {
            let code = &program.code[address];
            let is_above = |use_: &&Use| !use_.needs.iter().all(|feature| allowed.contains(feature));
            if let Some(Use { address: at, mnemonic, needs }) = code.uses.iter().find(is_above) {
                let path = program.path(&reached, *address).join("\n  calls ");
                return Err(format!("{mnemonic:?} at {at:#x} needs {needs:?}, in\n  {path}").into());
            }
        }
        let is_of_tier = |use_: &Use| use_.needs.iter().any(|feature| own.contains(feature));
        let has_own = reached.keys().flat_map(|address| program.code[address].in_loops()).any(is_of_tier);
        let tier = kernel.tier.name();
        let is_of_kernel = |name: &str| modules.iter().any(|of| name.trim_start_matches('<').starts_with(of));
        let is_compiled_once =
            |name: &str| COMPILED_ONCE.iter().any(|parts| parts.iter().all(|part| name.contains(part)));
        let lacks_tier = |address: &u64| {
            let code = &program.code[address];
            let name = program.functions[address].name.as_str();
            let is_meant = is_of_kernel(name) && !is_compiled_once(name);
            (is_meant && !code.loops.is_empty() && code.uses.is_empty()).then_some(name)
        };
        if let Some(name) = reached.keys().find_map(lacks_tier).filter(|_| is_compiled_anew && !own.is_empty()) {
            return Err(format!("no instruction is of {tier} in {name}, which has loops").into());
        }
        match EXCEPTIONS.iter().find(|(name, ..)| *name == kernel.name) {
            _ if own.is_empty() => {}
            Some((.., why)) if has_own => {
                return Err(format!("loops have instructions of {tier}, unlike: {why}").into());
            }
            None if !has_own => return Err(format!("no loop has an instruction of {tier}").into()),
            _ => {}
        }
    }
    Ok(())
}

/// Crates whose functions ask the CPU and choose by that, so that none is the kernel's: the hash of a checksum, the detection itself,
/// and what stands in for instructions.
const CHOOSE_BY_CPU: [&str; 3] = ["twox_hash::", "std_detect::", "compiler_builtins::"];

/// An instruction that not every CPU has.
struct Use {
    address: u64,
    mnemonic: Mnemonic,
    needs: &'static [CpuidFeature],
}

/// A function that a kernel reaches.
struct Code {
    /// By address.
    uses: Vec<Use>,
    /// The first address of each loop, which is jumped back to, and the last one from which it is.
    loops: BTreeMap<u64, u64>,
    /// The functions whose addresses it has.
    reaches: BTreeSet<u64>,
    /// The data whose addresses it takes, which may be tables of functions.
    data: BTreeSet<u64>,
}

impl Code {
    fn in_loops(&self) -> impl Iterator<Item = &Use> {
        let is_in_loop = |at: u64| self.loops.range(..=at).any(|(_, last)| at <= *last);
        self.uses.iter().filter(move |use_| is_in_loop(use_.address))
    }
}

static PROGRAM: LazyLock<Result<Program, String>> =
    LazyLock::new(|| Program::read().map_err(|error| format!("this program cannot be read: {error}")));

/// The file of this program.
struct Program {
    /// All functions, by the addresses where they begin.
    functions: BTreeMap<u64, Function>,
    /// The entries of a kernel, by the module of its list and its name: one for each type that the operation is generic over.
    entries: HashMap<(String, String), Vec<u64>>,
    /// What the kernels reach.
    code: BTreeMap<u64, Code>,
}

struct Function {
    end: u64,
    name: String,
}

impl Program {
    fn read() -> Result<Self, Box<dyn Error>> {
        let data = std::fs::read(std::env::current_exe()?)?;
        let file = object::File::parse(&*data)?;
        let mut program = Program { functions: BTreeMap::new(), entries: HashMap::new(), code: BTreeMap::new() };
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition()) {
            let name = format!("{:#}", rustc_demangle::demangle(symbol.name()?));
            let address = symbol.address();
            if let Some(kernel) = kernel(&name) {
                program.entries.entry(kernel).or_default().push(address);
            }
            let end = address + symbol.size();
            let known = program.functions.entry(address).or_insert(Function { end, name });
            known.end = known.end.max(end);
        }
        let relocations = file.dynamic_relocations().into_iter().flatten();
        let pointers = relocations.filter(|(_, it)| it.target() == RelocationTarget::Absolute);
        let pointers = pointers.map(|(address, it)| (address, it.addend() as u64)).collect();
        let reader = Reader { sections: sections(&file), pointers, functions: &program.functions };
        let mut left: Vec<u64> = program.entries.values().flatten().copied().collect();
        // A table ends where other data begins, so tables are read when all that calls and jumps reach is known.
        while !left.is_empty() {
            while let Some(address) = left.pop() {
                if let Entry::Vacant(vacant) = program.code.entry(address) {
                    left.extend(&vacant.insert(reader.decode(address)?).reaches);
                }
            }
            let data: BTreeSet<u64> = program.code.values().flat_map(|code| &code.data).copied().collect();
            for code in program.code.values_mut() {
                code.reaches.extend(code.data.iter().flat_map(|table| reader.table(*table, &data)));
                left.extend(&code.reaches);
            }
            left.retain(|address| !program.code.contains_key(address));
        }
        Ok(program)
    }

    /// The functions that one reaches, each with a function from which it is reached; for the first, that is itself.
    fn reached(&self, entry: u64) -> HashMap<u64, u64> {
        let (mut reached, mut left) = (HashMap::from([(entry, entry)]), vec![entry]);
        while let Some(from) = left.pop() {
            for address in &self.code[&from].reaches {
                reached.entry(*address).or_insert_with(|| {
                    left.push(*address);
                    from
                });
            }
        }
        reached
    }

    /// The names of the functions by which one is reached.
    fn path(&self, reached: &HashMap<u64, u64>, to: u64) -> Vec<&str> {
        let before = |address: &u64| Some(reached[address]).filter(|before| before != address);
        let mut path: Vec<&str> =
            std::iter::successors(Some(to), before).map(|address| self.functions[&address].name.as_str()).collect();
        path.reverse();
        path
    }
}

/// The kernel of which a function is the entry: the module of the list, and the name. The function is named
/// `<module::Operation<..> as nimlanes_foundation::kernel::operation::Operation>::KERNELS::name`, with or without the types after it.
fn kernel(function: &str) -> Option<(String, String)> {
    let (operation, name) = function.split_once(" as nimlanes_foundation::kernel::operation::Operation>::KERNELS::")?;
    let operation = operation.strip_prefix('<')?.split('<').next()?;
    let name = name.split("::<").next().filter(|name| !name.contains("::"))?;
    Some((operation.rsplit_once("::")?.0.to_owned(), name.to_owned()))
}

/// The addresses and the bytes of the sections.
fn sections<'data>(file: &object::File<'data>) -> BTreeMap<u64, &'data [u8]> {
    let sections = file.sections().filter(|section| section.address() != 0);
    sections.filter_map(|section| Some((section.address(), section.data().ok()?))).collect()
}

/// Bytes of a pointer.
const POINTER: usize = size_of::<u64>();

/// What finds instructions in a file.
struct Reader<'a> {
    sections: BTreeMap<u64, &'a [u8]>,
    /// The pointers that the loader relocates, by where they are.
    pointers: HashMap<u64, u64>,
    functions: &'a BTreeMap<u64, Function>,
}

impl Reader<'_> {
    fn bytes(&self, range: Range<u64>) -> Option<&[u8]> {
        let (start, bytes) = self.sections.range(..=range.start).next_back()?;
        bytes.get((range.start - start) as usize..(range.end - start) as usize)
    }

    fn decode(&self, start: u64) -> Result<Code, Box<dyn Error>> {
        let Function { end, name } = &self.functions[&start];
        let bytes = self.bytes(start..*end).ok_or_else(|| format!("the file lacks {name}"))?;
        let mut code =
            Code { uses: Vec::new(), loops: BTreeMap::new(), reaches: BTreeSet::new(), data: BTreeSet::new() };
        // Without the feature, `tzcnt` is `bsf`: the compiler writes it where the two agree.
        for instruction in &mut Decoder::with_ip(64, bytes, start, DecoderOptions::NO_MPFX_0FBC) {
            let (address, needs) = (instruction.ip(), instruction.cpuid_features());
            if instruction.is_invalid() {
                return Err(format!("no instruction at {address:#x} in {name}").into());
            }
            if !needs.iter().all(|feature| BASE.contains(feature)) {
                code.uses.push(Use { address, mnemonic: instruction.mnemonic(), needs });
            }
            match instruction.op0_kind() {
                OpKind::NearBranch64 => {
                    let target = instruction.near_branch_target();
                    if !(start..*end).contains(&target) {
                        code.reaches.extend(self.function_with(target));
                    } else if target <= address {
                        let last = code.loops.entry(target).or_default();
                        *last = address.max(*last);
                    }
                }
                _ if instruction.is_ip_rel_memory_operand() => {
                    let at = instruction.ip_rel_memory_address();
                    match (self.function_with(at), instruction.mnemonic()) {
                        (Some(function), _) => drop(code.reaches.insert(function)),
                        (None, Mnemonic::Lea) => drop(code.data.insert(at)),
                        (None, _) => code.reaches.extend(self.loaded(at, instruction.memory_size().size())),
                    }
                }
                _ => {}
            }
        }
        code.reaches.remove(&start);
        Ok(code)
    }

    /// The function that has the instruction at an address, unless it chooses by the CPU.
    fn function_with(&self, address: u64) -> Option<u64> {
        let (start, function) = self.functions.range(..=address).next_back()?;
        let name = function.name.trim_start_matches('<');
        let chooses = CHOOSE_BY_CPU.iter().any(|of| name.starts_with(of));
        (address < function.end && !chooses).then_some(*start)
    }

    /// The functions at which the pointers in `bytes` bytes point.
    fn loaded(&self, address: u64, bytes: usize) -> impl Iterator<Item = u64> {
        let words = (address..address + bytes as u64).step_by(POINTER);
        words.filter_map(|at| self.function_with(*self.pointers.get(&at)?))
    }

    /// The functions of a vtable or another table, which ends before the next of these addresses of `data`.
    fn table(&self, address: u64, data: &BTreeSet<u64>) -> impl Iterator<Item = u64> {
        // A vtable begins with what drops a value, which may be none, its size, and its alignment.
        const NUMBERS: usize = 3;
        let end = data.range(address + 1..).next().copied().unwrap_or(u64::MAX);
        let words = (address..end).step_by(POINTER).map(|at| self.pointers.get(&at).copied()).enumerate();
        let words = words.take_while(|(index, pointer)| *index < NUMBERS || pointer.is_some());
        words.filter_map(|(_, pointer)| self.function_with(pointer?))
    }
}
