//! The macro that makes the list of an operation's kernels.

/// The list of an operation: `kernels! { Operation, [Generic: Bound]; name = module, Tier, ["feature"], "summary"; ... }`.
///
/// A kernel is compiled where all its features are on and the architecture has its tier; its `mod` line carries the same
/// condition. The line stays in the list either way. `name = module like other, ..` says that the summary refers to the kernel
/// `other`; a kernel that states its [`Needs`](super::Needs) in a function `needs(&Input)` has that name at the end of its line:
/// `"summary", needs;`. A kernel whose answers are observed, not proved, and that finds a tally alone has `observed tally`
/// behind its summary; one that is proved and finds positions in another order than theirs, `exact unordered`. Where the operation has
/// a [`Start`](super::Operation::Start), `[Generic: Bound], start;` makes it the third argument of `run`. `name = module(Tier), ..` makes
/// the tier of the line the last. `["feature"] if condition` is a condition on the target, as of `cfg`.
macro_rules! kernels {
    ($op:ty, $generics:tt $(, $start:ident)?; $($rows:tt)*) => {
        $crate::kernel::list::kernel_rows!([$op, $generics, [$($start)?]] $($rows)*)
    };
}
pub(crate) use kernels;

/// The rows of [`kernels!`]; what all entries need comes first.
macro_rules! kernel_rows {
    ($common:tt
     $($name:ident = $body:ident $(($told:ident))? $(like $like:ident)?, $tier:ident, [$($f:literal),*] $(if $condition:meta)?,
       $text:literal $($claim:ident $yields:ident)? $(, $needs:ident)?;)*) => { &[$({
        let body = {
            #[cfg(all($(feature = $f,)* $($condition)?))]
            { $crate::machine::isa::entry!($tier, $common, $name, $body $(($told))? $(, $needs)?) }
            #[cfg(not(all($(feature = $f,)* $($condition)?)))]
            { None }
        };
        let meta = $crate::kernel::KernelMeta {
            name: stringify!($name),
            tier: $crate::machine::isa::Tier::$tier,
            features: &[$($f),*],
            // The first of what may be one or two.
            lacks: [$(if cfg!($condition) { None } else { Some(stringify!($condition)) },)? None][0],
            summary: $text,
            // The first of what may be one or two.
            like: [$(Some(stringify!($like)),)? None][0],
            module: concat!(module_path!(), "::", stringify!($body)),
            claim: [$($crate::kernel::list::claim!($claim),)? $crate::kernel::Claim::Exact][0],
            yields: [$($crate::kernel::list::yields!($yields),)? $crate::kernel::Yields::Everything][0],
            compiled: body.is_some(),
        };
        $crate::kernel::KernelDef { meta, body }
    }),*] };
}
pub(crate) use kernel_rows;

/// The claim that a word in the list stands for.
macro_rules! claim {
    (observed) => {
        $crate::kernel::Claim::Observed
    };
    (exact) => {
        $crate::kernel::Claim::Exact
    };
}
pub(crate) use claim;

/// The part of an output that a word in the list stands for.
macro_rules! yields {
    (tally) => {
        $crate::kernel::Yields::Tally
    };
    (unordered) => {
        $crate::kernel::Yields::Unordered
    };
}
pub(crate) use yields;
