//! The macro that makes the list of an operation's kernels, with the entries through which they are called.

/// The list of an operation: `kernels! { Operation; name = module, Tier, ["feature"], "summary"; ... }`.
///
/// A kernel is compiled if all its features are on and the architecture has its tier; its `mod` line carries the same
/// condition. The line stays in the list either way. Options of a line:
///
/// - `name = module with path::parts, ..`: a driver and the parts of a tier. `path::parts::parts()` is the last argument of `run`,
///   made where the features of the tier are on.
/// - `name = module with path::parts on all, ..`: the driver is given the number of threads before the parts; `on one` if the line
///   is that of a kernel on one thread.
/// - `name = module like other, ..`: the summary refers to the kernel `other`.
/// - `"summary", needs;`: the kernel states its [`Needs`](super::Needs) in a function of this name, given the input.
/// - `"summary" observed tally`: the kernel's answers are observed, not proved, and it finds only a tally.
/// - `name = module in file, ..`: several kernels share a file, and this one is the module in it.
/// - `name = module(Tier), ..`: the tier of the line is the last argument of `run`, in place of parts.
/// - `["feature"] if condition`: a condition on the target, as in `cfg`.
///
/// The last argument of `cost` is the *rates* of the kernel, the constants of its predicted time, which stand in the table of the
/// crate ([`rates`](super::rates)).
///
/// If the operation has a [`Start`](super::Operation::Start), `kernels! { Operation, start; ..` makes it the third argument of
/// `run`.
#[doc(hidden)]
#[macro_export]
macro_rules! kernels {
    ($op:ty $(, $start:ident)?; $($rows:tt)*) => {
        $crate::kernel_rows!([$op, [$($start)?]] $($rows)*)
    };
}
#[doc(hidden)]
pub use kernels;

/// The rows of [`kernels!`], after what all entries have in common.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_rows {
    ($common:tt
     $($name:ident = $body:ident $(in $($file:ident)::+)? $(($told:ident))? $(with $($part:ident)::+)? $(on $share:ident)?
       $(like $like:ident)?, $tier:ident, [$($f:literal),*] $(if $condition:meta)?,
       $text:literal $($claim:ident $yields:ident)? $(, $needs:ident)?;)*) => { &[$({
        let body = {
            #[cfg(all($(feature = $f,)* $($condition)?))]
            {
                $crate::entry!(
                    $tier, $common, $name, $body $(in $($file)::+)? $(($told))? $(with $($part)::+)? $(on $share)?
                    $(, $needs)?
                )
            }
            #[cfg(not(all($(feature = $f,)* $($condition)?)))]
            { None }
        };
        let meta = $crate::kernel::KernelMeta {
            name: stringify!($name),
            tier: $crate::machine::isa::Tier::$tier,
            features: &[$($f),*],
            // The optional entry if there is one, else `None`.
            lacks: [$(if cfg!($condition) { None } else { Some(stringify!($condition)) },)? None][0],
            summary: $text,
            // As for `lacks`.
            like: [$(Some(stringify!($like)),)? None][0],
            list: module_path!(),
            // As for `lacks`.
            module: [
                $(concat!(module_path!() $(, "::", stringify!($file))+),)?
                concat!(module_path!(), "::", stringify!($body))
            ][0],
            body: stringify!($body),
            // As for `lacks`.
            parts: [$(Some(stringify!($($part)::+)),)? None][0],
            claim: [$($crate::claim!($claim),)? $crate::kernel::Claim::Exact][0],
            yields: [$($crate::yields!($yields),)? $crate::kernel::Yields::Everything][0],
            compiled: body.is_some(),
        };
        #[allow(unsafe_code, clippy::let_and_return, reason = "what the dispatch relies on is stated here, where it is made")]
        // SAFETY: `entry!` gave the function the CPU features of the line's tier and no more.
        let def = unsafe { $crate::kernel::KernelDef::listed(meta, body) };
        def
    }),*] };
}

/// The entry of one kernel at one tier: a function with the tier's CPU features and the kernel's name (never inlined, so that
/// profiles show it). `None` if the target lacks the tier.
#[doc(hidden)]
#[macro_export]
macro_rules! entry {
    (Portable, $($row:tt)*) => { $crate::entry_if!(all(), Portable, $($row)*) };
    (Avx2, $($row:tt)*) => { $crate::entry_if!(target_arch = "x86_64", Avx2, $($row)*) };
    (Avx512, $($row:tt)*) => { $crate::entry_if!(target_arch = "x86_64", Avx512, $($row)*) };
    (Neon, $($row:tt)*) => { $crate::entry_if!(target_arch = "aarch64", Neon, $($row)*) };
    (Simd128, $($row:tt)*) => { $crate::entry_if!(all(target_arch = "wasm32", target_feature = "simd128"), Simd128, $($row)*) };
}

/// The entry of a kernel where the target meets a condition.
#[doc(hidden)]
#[macro_export]
macro_rules! entry_if {
    ($condition:meta, $tier:ident, [$op:ty, [$($start:ident)?]],
     $name:ident, $body:ident $(in $($file:ident)::+)? $(($told:ident))? $(with $($part:ident)::+)? $(on $share:ident)?
     $(, $needs:ident)?) => {{
        #[cfg($condition)]
        {
            use self::$($($file::)+)? $body as kernel;

            #[inline(never)]
            #[$crate::machine::isa::tier($tier)]
            fn $name(
                input: &<$op as $crate::kernel::Operation>::Input,
                run: &$crate::kernel::Run,
                _start: <$op as $crate::kernel::Operation>::Start,
            ) -> Result<<$op as $crate::kernel::Operation>::Output, $crate::kernel::RunError> {
                $(let $start = _start;)?
                kernel::run(
                    input, run $(, $start)? $(, $crate::machine::isa::$told::$tier)? $(, $crate::threads!($share, run))?
                    $(, self::$($part)::+::parts())?
                )
            }
            // Not a closure: each crate that names the list would compile one.
            fn cost(
                input: &<$op as $crate::kernel::Operation>::Input,
                context: $crate::kernel::CostContext,
                rates: &[f64],
            ) -> $crate::kernel::Cost {
                kernel::cost(input, context, $crate::kernel::rates::given(rates))
            }
            Some($crate::kernel::Body {
                run: $name as unsafe fn(&_, &_, _) -> _,
                cost,
                rates: const {
                    &$crate::kernel::rates::listed(
                        kernel::cost,
                        <$op as $crate::kernel::Operation>::RATES,
                        <$op as $crate::kernel::Operation>::NAME,
                        stringify!($name),
                    )
                },
                // The optional entry if there is one, else `None`.
                needs: [$(Some(kernel::$needs as fn(&_) -> _),)? None][0],
            })
        }
        #[cfg(not($condition))]
        { None }
    }};
}

/// The number of threads that a word in the list stands for.
#[doc(hidden)]
#[macro_export]
macro_rules! threads {
    (one, $run:ident) => {
        1
    };
    (all, $run:ident) => {
        $run.threads()
    };
}

/// The claim that a word in the list stands for.
#[doc(hidden)]
#[macro_export]
macro_rules! claim {
    (observed) => {
        $crate::kernel::Claim::Observed
    };
}

/// The part of an output that a word in the list stands for.
#[doc(hidden)]
#[macro_export]
macro_rules! yields {
    (tally) => {
        $crate::kernel::Yields::Tally
    };
}
