//! Tokens of the crate `pulp` for tiers. A token shows that the CPU has some features; what is generic over tokens is compiled for each,
//! in `vectorize`. A function that it calls must be inlined or have such a call of its own; otherwise each operation becomes a call.

use pulp::{Scalar128b, Simd, WithSimd};

use crate::machine::isa::Tier;

/// Compiles `op` for the token of a tier, and runs it. [`Tier::Portable`] has plain Rust on arrays of 128 bits. The tokens of the other
/// tiers have some more CPU features than the tiers; `None` where the CPU lacks one of them.
#[inline(always)]
pub fn vectorize<Op: WithSimd>(tier: Tier, op: Op) -> Option<Op::Output> {
    match tier {
        Tier::Portable => Some(Scalar128b.vectorize(op)),
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        Tier::Avx2 => Some(Simd::vectorize(pulp::x86::V3::try_new()?, op)),
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        Tier::Avx512 => Some(Simd::vectorize(pulp::x86::V4::try_new()?, op)),
        // No kernel is listed at the other tiers.
        _ => None,
    }
}

/// Whether this CPU has the tier, but not its token. A CPU that lacks the tier says nothing about those that have it: costs are the same
/// there.
pub fn lacks(tier: Tier) -> bool {
    let has_token = match tier {
        Tier::Portable => true,
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        Tier::Avx2 => pulp::x86::V3::try_new().is_some(),
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        Tier::Avx512 => pulp::x86::V4::try_new().is_some(),
        _ => false,
    };
    tier.is_on_this_cpu() && !has_token
}
