//! Which frames of a stack are shown, and by which names.

/// The harness functions that call the measured code: for an operation, for a game, for anything else in a bench.
const HARNESS: [&str; 3] =
    ["session::Session>::spin", "games::Question::solve", "criterion::bencher::Bencher<M>::iter"];

/// The function that checks the input before a kernel is entered.
const CHECK: &str = "::Kernel<O>::admit";

/// The frames below the harness. On a thread started by a kernel, those from the first one of this crate. Empty for samples
/// outside of kernels. `frames` begins with the outermost; each is a function that the compiler did not inline, then those inlined
/// into it.
pub fn below_the_harness<T: AsRef<[String]>>(frames: &[T]) -> &[T] {
    let has = |frame: &T, is: &dyn Fn(&str) -> bool| frame.as_ref().iter().any(|name| is(name));
    let harness = |name: &str| HARNESS.iter().any(|end| name.ends_with(end));
    let start = match frames.iter().rposition(|frame| has(frame, &harness)) {
        _ if frames.iter().any(|frame| has(frame, &|name| name.ends_with(CHECK))) => frames.len(),
        Some(harness) => harness + 1,
        None if frames.iter().any(|frame| has(frame, &|name| name == "main")) => frames.len(),
        None => {
            let of_core = |name: &str| own_paths(name).any(|path| path.starts_with("cores::"));
            frames.iter().position(|frame| has(frame, &of_core)).unwrap_or(frames.len())
        }
    };
    &frames[start..]
}

/// Whether a function is of the library or a crate of its own, below which all harnesses lie.
pub fn is_own(function: &str) -> bool {
    own_paths(function).next().is_some()
}

/// The paths in the name of a function that begin with the library or a crate of its own, such as `nimlanes_octal`, without that.
fn own_paths(function: &str) -> impl Iterator<Item = &str> {
    function.split("nimlanes").skip(1).filter_map(|rest| match rest.split_once("::")? {
        ("_lab", _) => None,
        ("", path) => Some(path),
        (name, path) => name.strip_prefix('_')?.chars().all(|c| c.is_ascii_lowercase() || c == '_').then_some(path),
    })
}

/// The names of functions, outermost first. Without shims for calls through function references, which belong to the caller;
/// a closure belongs to its function.
pub fn shown<'a>(frames: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let own = frames.into_iter().filter(|name| !name.contains("core::ops::function::"));
    let mut names: Vec<String> = own.map(|name| short(name).replace(';', ",")).collect(); // a `;` ends a frame
    names.dedup();
    names
}

/// Shortens `nimlanes_mex::cores::mex::subtraction::stamp::run<u16>` to `stamp::run`: the last two path segments, without
/// generics. The entry of a kernel becomes the kernel's name; a method of a trait is shown with its type.
fn short(function: &str) -> String {
    // `<Type as Trait>::method`
    let with_type = || {
        let (own, of_trait) = function.strip_prefix('<')?.split_once(" as ")?;
        Some(format!("{own}::{}", of_trait.split_once(">::")?.1))
    };
    let mut depth = 0;
    let plain: String = with_type()
        .unwrap_or_else(|| function.to_owned())
        .chars()
        .filter(|c| {
            depth += i32::from(*c == '<');
            let keep = depth == 0;
            depth -= i32::from(*c == '>');
            keep
        })
        .collect();
    let names: Vec<&str> = plain.split("::").filter(|name| !name.is_empty() && !name.starts_with('{')).collect();
    match names[..] {
        [.., "KERNELS", kernel] => kernel.to_owned(),
        [.., module, name] => format!("{module}::{name}"),
        [name] => name.to_owned(),
        [] => function.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names shown for a stack, where `/` separates frames and `;` functions within a frame.
    fn cut(stack: &str) -> Vec<String> {
        let frames: Vec<Vec<String>> =
            stack.split('/').map(|frame| frame.split(';').map(str::to_owned).collect()).collect();
        shown(below_the_harness(&frames).iter().flatten())
    }

    #[test]
    fn the_harness_is_cut_off_and_names_are_short() {
        let spin = "<nimlanes_foundation::kernel::session::OpenSession<O> as nimlanes_foundation::kernel::session::Session>::spin";
        let entry = "nimlanes_mex::cores::mex::subtraction::<impl nimlanes_foundation::kernel::definition::Operation for X>::KERNELS::stamp";
        let inner = "nimlanes_mex::cores::mex::subtraction::stamp::first_gap<u16>";
        let want = ["stamp", "stamp::first_gap"];
        assert_eq!(cut(&format!("main/criterion::routine::warm_up/{spin}/{entry}/{inner}")), want);
        assert_eq!(cut(&format!("main/{spin};harness::inlined/{entry};{inner};{inner}::{{{{closure}}}}")), want);
        assert_eq!(
            cut(&format!(
                "main/criterion::analysis::common/nimlanes_foundation::kernel::session::Session::run/{entry}"
            )),
            [""; 0]
        );
        assert_eq!(cut(&format!("clone3/start_thread/std::thread::start/{inner}")), ["stamp::first_gap"]);
        assert_eq!(cut("clone3/start_thread/rayon::join"), [""; 0]);
        let check = "nimlanes_foundation::kernel::definition::Kernel<O>::admit";
        assert_eq!(cut(&format!("main/{spin}/{check}/nimlanes_mex::cores::mex::split::Split::cells")), [""; 0]);
        let shim = "core::ops::function::impls::<impl core::ops::function::Fn<A> for &F>::call";
        assert_eq!(cut(&format!("main/{spin}/{entry}/{shim}")), ["stamp"]);
        assert_eq!(cut("clone3/start_thread/nimlanes_foundation::kernel::threads::share"), [""; 0]);
        assert_eq!(
            ["nimlanes_lab::main", "nimlanes::lab::verify", "nimlanes_mex_records::cores"].map(is_own),
            [false, true, true]
        );
        let method = "<nimlanes_table_scan::cores::table_scan::rows::Rows<W> as nimlanes_table_scan::layers::Marks<u16>>::mark::{{closure}}";
        assert_eq!(short(method), "Rows::mark");
    }
}
