//! Tiers of instruction sets, and the entries that kernels are called through.

use crate::names::hint;

macro_rules! isa_table {
    ($d:tt $($(#[$doc:meta])* $tier:ident $text:literal $arch:meta, [$($f:tt)*])*) => {
        /// A class of instruction sets, ordered: a CPU that runs one tier runs all before it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Tier { $($(#[$doc])* $tier),* }

        impl Tier {
            /// All tiers, weakest first.
            pub const ALL: &[Tier] = &[$(Tier::$tier),*];

            /// The tier's name, as `NIMLANES_ISA_MAX` spells it.
            pub const fn name(self) -> &'static str {
                match self { $(Tier::$tier => $text),* }
            }

            /// The CPU features that kernels of this tier are compiled with.
            pub const fn cpu_features(self) -> &'static [&'static str] {
                match self { $(Tier::$tier => &[$($f),*]),* }
            }

            /// The architecture whose CPUs offer the tier; every architecture offers the portable one.
            pub const fn architecture(self) -> &'static str {
                match self {
                    Tier::Portable => std::env::consts::ARCH,
                    _ => "x86_64",
                }
            }

            /// Whether CPUs of the architecture that this was compiled for may offer the tier.
            pub fn is_of_this_architecture(self) -> bool {
                self.architecture() == std::env::consts::ARCH
            }

            /// Whether this CPU (and its operating system) offers the tier.
            pub fn on_this_cpu(self) -> bool {
                match self { $(Tier::$tier => {
                    #[cfg($arch)]
                    { true $(&& std::arch::is_x86_feature_detected!($f))* }
                    #[cfg(not($arch))]
                    { false }
                }),* }
            }
        }

        /// The entry of one kernel at one tier: a function that carries the tier's CPU features and the kernel's name
        /// (never inlined, so that profiles show it). `None` where the architecture lacks the tier.
        macro_rules! entry {
            $((
                $tier, [$d op:ty, [$d($d generic:ident : $d bound:path)?], [$d($d start:ident)?]],
                $d name:ident, $d body:ident $d(, $d needs:ident)?
            ) => {{
                #[cfg($arch)]
                {
                    #[inline(never)]
                    $(#[target_feature(enable = $f)])*
                    fn $d name $d(<$d generic: $d bound>)? (
                        input: &<$d op as $crate::kernel::Operation>::Input,
                        run: &$crate::kernel::Run,
                        _start: <$d op as $crate::kernel::Operation>::Start,
                    ) -> Result<<$d op as $crate::kernel::Operation>::Output, $crate::kernel::Stop> {
                        $d(let $d start = _start;)?
                        self::$d body::run(input, run $d(, $d start)?)
                    }
                    Some($crate::kernel::Body {
                        run: $d name $d(::<$d generic>)? as unsafe fn(&_, &_, _) -> _,
                        cost: self::$d body::cost,
                        // The first of what may be one or two.
                        needs: [$d(Some(self::$d body::$d needs as fn(&_) -> _),)? None][0],
                    })
                }
                #[cfg(not($arch))]
                { None }
            }};)*
        }
        pub(crate) use entry;
    };
}

isa_table! { $
    /// Plain Rust, compiled for the build's target.
    Portable "portable" all(), []
    /// 256-bit vectors and the bit-manipulation instructions (Haswell, Zen and later).
    Avx2 "avx2" target_arch = "x86_64", ["avx2" "bmi1" "bmi2" "lzcnt" "popcnt"]
    /// 512-bit vectors with byte permutes, bit counts and GFNI (Ice Lake, Zen 4 and later).
    Avx512 "avx512" target_arch = "x86_64", [
        "avx2" "bmi1" "bmi2" "lzcnt" "popcnt" "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi" "avx512vbmi2"
        "avx512vpopcntdq" "avx512bitalg" "gfni"
    ]
}

/// A tier that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tier `{0}`{hint}", hint = hint(.0, Tier::ALL.iter().map(|tier| tier.name())))]
pub struct UnknownTier(pub String);

impl std::str::FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(text: &str) -> Result<Self, UnknownTier> {
        Tier::ALL.iter().copied().find(|tier| tier.name() == text).ok_or_else(|| UnknownTier(text.to_owned()))
    }
}
