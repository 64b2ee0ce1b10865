//! The machine code of every kernel, read in the file of this program: it has no instruction above the kernel's tier, and its loops have
//! some of that tier. So code that this CPU cannot run is checked too, and on every CPU alike.
//!
//! The code of a kernel is its entry and every function that this reaches: by calls and jumps, and by addresses that it takes, in tables
//! and vtables too. A function that should be inlined, and is not, is compiled for the build's target, and nothing else shows that: its
//! loops have nothing of the tier.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::LazyLock;
use std::{env, fs, iter};

use iced_x86::{CpuidFeature, Mnemonic, OpKind};
use libtest_mimic::{Failed, Trial};
use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::session::KernelInfo;
use nimlanes::kernel::{KernelMeta, Tier};
use nimlanes::machine::Machine;

use program::{PLAIN, ProgramFile};

#[allow(dead_code, reason = "the digests of all are those of reports")]
#[path = "../../src/bin/nimlanes/measuring/machine_code.rs"]
mod program;

/// The features of every CPU of the architecture.
const BASE: &[CpuidFeature] = {
    use CpuidFeature::{MULTIBYTENOP as NOPS, *};
    &[
        INTEL8086, INTEL186, INTEL286, INTEL386, INTEL486, X64, CMOV, CPUID, CX8, FPU, FPU287, FPU387, MMX, SSE, SSE2,
        NOPS, PAUSE, TSC, SYSCALL, CET_IBT,
    ]
};

/// Whether the build's target has each of these features of rustc.
macro_rules! built {
    ($($name:literal)+) => { &[$(($name, cfg!(target_feature = $name))),+] };
}

/// Those of the tiers, and others that only a build for another target has.
const BUILT: &[(&str, bool)] = built! {
    "adx" "aes" "avx" "avx2" "avx512bf16" "avx512bitalg" "avx512bw" "avx512cd" "avx512dq" "avx512f" "avx512fp16" "avx512ifma"
    "avx512vbmi" "avx512vbmi2" "avx512vl" "avx512vnni" "avx512vp2intersect" "avx512vpopcntdq" "avxifma" "avxvnni" "bmi1" "bmi2"
    "cmpxchg16b" "f16c" "fma" "gfni" "lzcnt" "movbe" "pclmulqdq" "popcnt" "sha" "sse3" "sse4.1" "sse4.2" "sse4a" "ssse3" "vaes"
    "vpclmulqdq"
};

/// iced's names of a feature of rustc, and of those that rustc takes it to imply.
fn features(name: &str) -> impl Iterator<Item = CpuidFeature> {
    use CpuidFeature::*;
    let plain = |name: &str| name.to_lowercase().replace(['.', '_'], "");
    let own = CpuidFeature::values().find(|feature| plain(&format!("{feature:?}")) == plain(name));
    let implied: &[CpuidFeature] = match name {
        "avx2" => &[SSE3, SSSE3, SSE4_1, SSE4_2, AVX],
        "avx512f" => &[FMA, F16C],
        _ => &[],
    };
    [own.expect("a feature")].into_iter().chain(implied.iter().copied())
}

/// The features that a tier adds to the base.
fn added(tier: Tier) -> BTreeSet<CpuidFeature> {
    let names = tier.extension().map_or(&[][..], |extension| extension.cpu_features);
    names.iter().flat_map(|name| features(name)).collect()
}

/// The features that all code of this build may use.
fn built() -> BTreeSet<CpuidFeature> {
    let names = BUILT.iter().filter(|(_, is_built)| *is_built).map(|(name, _)| *name);
    names.flat_map(features).chain(BASE.iter().copied()).collect()
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

/// Functions with loops that are compiled once, though their source is compiled for several tiers: they prepare a run, or have nothing
/// to gain from a tier. Two parts of each name, whose types each compiler writes in its own way.
const COMPILED_ONCE: &[[&str; 2]] = &[
    ["byte_rows::Bytes", "::new"],
    ["octal::candidates::Candidates", "::new"],
    ["by_heap::residue_classes::run", "closure"],
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

/// A test for each compiled kernel, and one of their digests.
pub fn trials() -> impl Iterator<Item = Trial> {
    let machine = Machine::detect();
    let digests = Trial::test("machine code/digests", digests);
    let kernels = OPERATIONS.iter().flat_map(move |operation| {
        let mut kernels = operation.kernels(&machine);
        kernels.retain(|kernel| kernel.compiled);
        let all = kernels.clone();
        kernels.into_iter().map(move |kernel| {
            let is_below = |other: &KernelInfo| kernel.tier != other.tier && kernel.tier.includes(other.tier);
            let is_compiled_anew = all.iter().any(|other| is_below(other) && kernel.has_source_of(other));
            let name = format!("machine code/{}/{}", operation.name(), kernel.name);
            Trial::test(name, move || check(PROGRAM.as_ref()?, &kernel, is_compiled_anew))
        })
    });
    kernels.chain([digests])
}

/// A changed instruction changes the digests of all kernels that reach it, and of no others.
fn digests() -> Result<(), Failed> {
    let Read { data: before, program, .. } = PROGRAM.as_ref()?;
    let kernels = OPERATIONS.iter().flat_map(|operation| operation.kernels(&Machine::detect()));
    let kernels: Vec<KernelInfo> = kernels.filter(|kernel| kernel.compiled).collect();
    let reached = |kernel: &KernelMeta| -> BTreeSet<u64> {
        let entries = program.entries(kernel).iter();
        entries.flat_map(|entry| program.reached(*entry)).map(|(function, _)| function).collect()
    };
    let own = |kernel: &KernelMeta| {
        let mut functions = reached(kernel).into_iter();
        functions.find(|function| program.functions[function].name.contains(&format!("{}::", kernel.path())))
    };
    let function = kernels.iter().find_map(|kernel| own(kernel)).ok_or("all functions are inlined")?;
    let mut decoder = program.decoder(function, PLAIN)?;
    let constant = iter::from_fn(|| {
        let instruction = decoder.can_decode().then(|| decoder.decode())?;
        let offsets = decoder.get_constant_offsets(&instruction);
        let is_near = instruction.op0_kind() == OpKind::NearBranch64;
        let at = (offsets.has_immediate() && !is_near).then(|| instruction.ip() + offsets.immediate_offset() as u64);
        Some(at)
    });
    let at = constant.flatten().next().ok_or("no instruction has a constant")?;
    let byte = program.bytes(at..at + 1).ok_or("the program lacks an instruction")?;
    let mut data = before.to_vec();
    data[byte.as_ptr().addr() - before.as_ptr().addr()] ^= 1;
    let changed = ProgramFile::read(&data)?;
    for kernel in &kernels {
        let is_changed = changed.digest(kernel) != program.digest(kernel);
        assert_eq!(is_changed, reached(kernel).contains(&function), "{}", kernel.name);
    }
    Ok(())
}

/// Whether a kernel has the instructions of its tier, and no others. A source that is compiled anew for the tier has them in all of its
/// functions.
fn check(Read { program, code: all, .. }: &Read, kernel: &KernelMeta, is_compiled_anew: bool) -> Result<(), Failed> {
    let (allowed, own) = (allowed(kernel.tier), own(kernel.tier));
    let entries = program.entries(kernel);
    if entries.is_empty() {
        return Err("no function is its entry".into());
    }
    let parts = kernel.parts.map(|parts| format!("{}::{}", kernel.list, parts.replace(' ', "")));
    let modules: Vec<String> = iter::once(kernel.path()).chain(parts).map(|it| it + "::").collect();
    for entry in entries {
        let reached = program.reached(*entry);
        let code = || reached.iter().map(|(address, _)| (*address, &all[address]));
        for (address, code) in code() {
            let is_above = |use_: &&Use| !use_.needs.iter().all(|feature| allowed.contains(feature));
            if let Some(Use { address: at, mnemonic, needs }) = code.uses.iter().find(is_above) {
                let path = path(program, &reached, address).join("\n  calls ");
                return Err(format!("{mnemonic:?} at {at:#x} needs {needs:?}, in\n  {path}").into());
            }
        }
        let is_of_tier = |use_: &Use| use_.needs.iter().any(|feature| own.contains(feature));
        let has_own = code().flat_map(|(_, code)| code.in_loops()).any(is_of_tier);
        let tier = kernel.tier.name();
        let is_of_kernel = |name: &str| modules.iter().any(|of| name.trim_start_matches('<').starts_with(of));
        let is_compiled_once =
            |name: &str| COMPILED_ONCE.iter().any(|parts| parts.iter().all(|part| name.contains(part)));
        let lacks_tier = |(address, code): (u64, &Code)| {
            let name = program.functions[&address].name.as_str();
            let is_meant = is_of_kernel(name) && !is_compiled_once(name);
            (is_meant && !code.loops.is_empty() && code.uses.is_empty()).then_some(name)
        };
        if let Some(name) = code().find_map(lacks_tier).filter(|_| is_compiled_anew && !own.is_empty()) {
            return Err(format!("no instruction is of {tier} in {name}, which has loops").into());
        }
        if !own.is_empty() && !has_own {
            return Err(format!("no loop has an instruction of {tier}").into());
        }
    }
    Ok(())
}

/// An instruction that not every CPU has.
struct Use {
    address: u64,
    mnemonic: Mnemonic,
    needs: &'static [CpuidFeature],
}

/// The instructions of a function.
struct Code {
    /// By address.
    uses: Vec<Use>,
    /// The first address of each loop, which is jumped back to, and the last one from which it is.
    loops: BTreeMap<u64, u64>,
}

impl Code {
    fn of(program: &ProgramFile, start: u64) -> Result<Self, Box<dyn Error>> {
        let mut code = Code { uses: Vec::new(), loops: BTreeMap::new() };
        for instruction in program.decoder(start, PLAIN)? {
            let (address, needs) = (instruction.ip(), instruction.cpuid_features());
            if instruction.is_invalid() {
                return Err(format!("no instruction at {address:#x} in {}", program.functions[&start].name).into());
            }
            if !needs.iter().all(|feature| BASE.contains(feature)) {
                code.uses.push(Use { address, mnemonic: instruction.mnemonic(), needs });
            }
            let target = instruction.near_branch_target();
            if instruction.op0_kind() == OpKind::NearBranch64 && (start..=address).contains(&target) {
                let last = code.loops.entry(target).or_default();
                *last = address.max(*last);
            }
        }
        Ok(code)
    }

    fn in_loops(&self) -> impl Iterator<Item = &Use> {
        let is_in_loop = |at: u64| self.loops.range(..=at).any(|(_, last)| at <= *last);
        self.uses.iter().filter(move |use_| is_in_loop(use_.address))
    }
}

/// A program, and the instructions of all functions that the kernels reach, by address.
struct Read {
    data: &'static [u8],
    program: ProgramFile<'static>,
    code: HashMap<u64, Code>,
}

/// This program.
static PROGRAM: LazyLock<Result<Read, String>> =
    LazyLock::new(|| read().map_err(|error| format!("this program cannot be read: {error}")));

fn read() -> Result<Read, Box<dyn Error>> {
    let data: &'static [u8] = fs::read(env::current_exe()?)?.leak();
    let (program, mut code) = (ProgramFile::read(data)?, HashMap::new());
    for kernel in OPERATIONS.iter().flat_map(|operation| operation.kernels(&Machine::detect())) {
        for (address, _) in program.entries(&kernel).iter().flat_map(|entry| program.reached(*entry)) {
            if let Entry::Vacant(vacant) = code.entry(address) {
                vacant.insert(Code::of(&program, address)?);
            }
        }
    }
    Ok(Read { data, program, code })
}

/// The names of the functions by which one is reached.
fn path<'p>(program: &'p ProgramFile, reached: &[(u64, u64)], to: u64) -> Vec<&'p str> {
    let before = |of: &u64| reached.iter().find(|(to, from)| to == of && to != from).map(|(_, from)| *from);
    let mut path: Vec<&str> =
        iter::successors(Some(to), before).map(|address| program.functions[&address].name.as_str()).collect();
    path.reverse();
    path
}
