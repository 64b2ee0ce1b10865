//! Levels of the crate `fearless_simd` for tiers. The crate detects the CPU by itself and offers the best [`Level`]; a
//! kernel runs at the level of its tier, so that its variants differ in nothing else.
//!
//! A level is a value, and `by_level!` or `vectorize` compiles code for it. A function that they call must be inlined
//! or have such a call of its own; otherwise it is compiled for the build's target.

use fearless_simd::Level;

use crate::machine::isa::Tier;

/// The level of a tier. [`Tier::Portable`] has what the build's target has, as plain Rust does. The levels of the other tiers have
/// some more CPU features than the tiers; `None` where the CPU lacks one of them. Inlined, so that a kernel has code of one level alone.
#[inline(always)]
pub fn level(tier: Tier) -> Option<Level> {
    match tier {
        Tier::Portable => Some(Level::baseline()),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => Level::new().as_avx2().map(fearless_simd::Simd::level),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => Level::new().as_avx512().map(fearless_simd::Simd::level),
        // No kernel is listed at the other tiers.
        _ => None,
    }
}

/// `dispatch!` of the crate for the levels of tiers: SSE4.2 is compiled only in builds that have it everywhere.
#[macro_export]
macro_rules! by_level {
    ($level:expr, $simd:ident => $do:expr) => {
        match $level {
            #[cfg(all(target_arch = "x86_64", not(target_feature = "sse4.2")))]
            fearless_simd::Level::Sse2($simd) => fearless_simd::Simd::vectorize($simd, #[inline(always)] || $do),
            #[cfg(all(target_arch = "x86_64", not(target_feature = "sse4.2")))]
            fearless_simd::Level::Avx2($simd) => fearless_simd::Simd::vectorize($simd, #[inline(always)] || $do),
            #[cfg(all(target_arch = "x86_64", not(target_feature = "sse4.2")))]
            fearless_simd::Level::Avx512($simd) => fearless_simd::Simd::vectorize($simd, #[inline(always)] || $do),
            #[cfg(all(target_arch = "x86_64", not(target_feature = "sse4.2")))]
            _ => unreachable!("no tier has another level"),
            #[cfg(not(all(target_arch = "x86_64", not(target_feature = "sse4.2"))))]
            level => fearless_simd::dispatch!(level, $simd => $do),
        }
    };
}
#[doc(hidden)]
pub use by_level;

/// Whether this CPU has the tier, but not its level. A CPU that lacks the tier says nothing about those that have it: costs are the same
/// there.
pub fn lacks(tier: Tier) -> bool {
    tier.is_on_this_cpu() && level(tier).is_none()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// The bits of a vector of the level that is dispatched to.
    fn width(tier: Tier) -> Option<usize> {
        use fearless_simd::{Simd, SimdBase as _};
        fn of<S: Simd>(_: S) -> usize {
            8 * S::u8s::LEN
        }
        Some(by_level!(level(tier)?, simd => of(simd)))
    }

    /// Even on a CPU that has more.
    #[test]
    fn no_tier_enters_a_level_above_it() {
        let of_build = width(Tier::Portable).expect("plain Rust runs everywhere");
        if cfg!(not(target_feature = "avx2")) {
            assert_eq!(of_build, 128);
        }
        for (tier, bits) in [(Tier::Avx2, 256), (Tier::Avx512, 512)] {
            assert!(width(tier).is_none_or(|width| width == bits.max(of_build)), "{tier:?}");
            assert!(tier.is_on_this_cpu() || width(tier).is_none(), "{tier:?} is not on this CPU");
        }
    }
}
