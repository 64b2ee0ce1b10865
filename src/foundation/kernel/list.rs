//! The macro that makes the list of an operation's kernels.

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
/// - `"summary" exact unordered`: the kernel is proved, and finds positions out of order.
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
    (exact) => {
        $crate::kernel::Claim::Exact
    };
}

/// The part of an output that a word in the list stands for.
#[doc(hidden)]
#[macro_export]
macro_rules! yields {
    (tally) => {
        $crate::kernel::Yields::Tally
    };
    (unordered) => {
        $crate::kernel::Yields::Unordered
    };
}
