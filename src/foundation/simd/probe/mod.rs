//! Vector loops that do one thing as fast as the machine can: the probes of `nimlanes::lab::ceilings`.
#![allow(unsafe_code, reason = "the dispatch into functions that need CPU features")]

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod avx512;
mod portable;

use std::hint::black_box;

use crate::kernel::Tier;
use crate::machine::Machine;
use crate::simd::array_of;

/// A loop over vectors of 64 bytes, without a result.
#[derive(Clone, Copy, Debug)]
pub enum Probe<'a> {
    /// Loads each of the vectors in turn, and repeats this the given number of times.
    Loads(&'a [[u64; 8]], usize),
    /// This many operations of two operands in registers, alternating XOR and addition.
    Logic(u64),
    /// This many logical operations of three operands.
    LogicOfThree(u64),
    /// This many permutations of the bytes of a register.
    Permute(u64),
}

/// A permutation of 64 bytes, for [`Probe::Permute`].
fn order() -> [u8; 64] {
    black_box(array_of(|i| (5 * i % 64) as u8))
}

/// The tier that [`run`] uses: this CPU has it, and the machine offers it.
pub fn tier(machine: &Machine) -> Tier {
    let is_compiled = cfg!(all(target_arch = "x86_64", feature = "avx512"));
    let has_avx512 = is_compiled && machine.on_this_cpu().offers(Tier::Avx512);
    if has_avx512 { Tier::Avx512 } else { Tier::Portable }
}

/// Runs a probe at the tier that [`tier`] returns.
pub fn run(machine: &Machine, probe: Probe) {
    match tier(machine) {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        // SAFETY: `tier` found that this CPU has the tier's features, and `avx512::run` needs no others.
        Tier::Avx512 => unsafe { avx512::run(probe) },
        _ => portable::run(probe),
    }
}

/// Runs `count` operations in `N` independent chains.
#[inline(always)]
fn operations<R: Copy, const N: usize>(count: u64, mut registers: [R; N], operation: impl Fn(R, R) -> R) {
    for _ in 0..count.div_ceil(N as u64) {
        for i in 0..N {
            registers[i] = operation(registers[i], registers[(i + 1) % N]);
        }
    }
    black_box(registers);
}

/// Combines vectors into `N` sums in turn.
#[inline(always)]
fn sums<R: Copy, const N: usize>(
    vectors: &[[u64; 8]],
    times: usize,
    mut sums: [R; N],
    add: impl Fn(R, &[u64; 8]) -> R,
) {
    for _ in 0..times {
        let (groups, rest) = black_box(vectors).as_chunks::<N>();
        for group in groups {
            for i in 0..N {
                sums[i] = add(sums[i], &group[i]);
            }
        }
        rest.iter().for_each(|vector| sums[0] = add(sums[0], vector));
    }
    black_box(sums);
}
