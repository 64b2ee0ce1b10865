//! Samples by instruction: each is resolved into inlined functions and a line of source.

mod events;
#[cfg(target_arch = "x86_64")]
mod hot_loop;
mod modules;
mod resolve;

use std::collections::HashMap;
use std::rc::Rc;

use self::events::{Events, Samples};
use self::modules::Module;
use self::resolve::{Code, Resolver};
use super::names::{below_the_harness, is_own, shown};
use super::{Sampled, picture::Stacks};
use crate::measuring::counters::hardware::why_not;

pub use self::events::FREQUENCY;

/// The frame of time in the operating system, below the line that it worked for.
const SYSTEM: &str = "operating system";

/// Longer frames of lines of source are cut off.
const FRAME: usize = 100;

/// The frame of a line of source, given its place and its text: a `;` would end it.
fn frame(line: &str) -> String {
    line.trim_end_matches([';', ' ']).replace(';', ",").chars().take(FRAME).collect()
}

/// A running sampler of the thread that started it and of those it starts.
pub struct Lines {
    modules: Vec<Module>,
    /// The index of the program in them.
    own: usize,
    events: Events,
}

impl Lines {
    /// Starts sampling.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn start() -> Result<Self, String> {
        let (modules, program) = modules::of_this_process().map_err(|error| format!("no /proc to read: {error}"))?;
        let own = modules.iter().position(|module| module.name == program);
        let own = own.ok_or_else(|| format!("the program's file cannot be read: {}", program.display()))?;
        let events = Events::start(&modules).map_err(|error| why_not(&error))?;
        Ok(Lines { modules, own, events })
    }

    /// Stops sampling, and resolves the samples in kernels.
    ///
    /// # Errors
    /// None: samples that were lost are a remark.
    pub fn finish(self) -> Result<Sampled, String> {
        let Lines { modules, own, events } = self;
        let not_allowed =
            (!events.with_system).then(|| "time in the operating system is not sampled: not allowed".to_owned());
        let Samples { stacks: samples, lost } = events.finish();
        let lost = (lost > 0).then(|| format!("{lost} samples were lost, since they came too fast"));

        let own = &modules[own];
        let mut resolver = Resolver::new(&modules);
        let (were_taken, mut has_name) = (!samples.is_empty(), false);
        let mut stacks = Stacks::new();
        // Samples at addresses of the program's file.
        let mut addresses = HashMap::new();
        for (stack, count) in samples {
            let codes: Vec<Rc<Code>> = stack.addresses.iter().rev().map(|&it| resolver.code(it)).collect();
            let frames: Vec<&Code> = codes.iter().map(|code| &**code).collect();
            has_name |= frames.iter().flat_map(|code| &code.functions).any(|name| is_own(name));
            let mut names = shown(below_the_harness(&frames).iter().flat_map(|code| &code.functions));
            let (false, Some(code), Some(address)) = (names.is_empty(), frames.last(), stack.addresses.first()) else {
                continue;
            };
            names.extend(code.line.as_ref().map(|line| frame(line)));
            names.extend(stack.in_system.then(|| SYSTEM.to_owned()));
            *stacks.entry(names.join(";")).or_default() += count;
            if own.range.contains(address) {
                *addresses.entry(own.in_file(*address)).or_default() += count;
            }
        }
        #[cfg(target_arch = "x86_64")]
        let hot_loop = hot_loop::find(own, &addresses).unwrap_or_else(|why| why);
        #[cfg(not(target_arch = "x86_64"))]
        let hot_loop = "no loop: instructions are read on x86-64 alone".to_owned();
        let remarks = not_allowed.into_iter().chain(lost).collect();
        Ok(Sampled { stacks, is_nameless: were_taken && !has_name, hot_loop, remarks })
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::Duration;

    use super::*;
    use nimlanes::lab::clock::Clock;

    /// A harness, by its name.
    mod session {
        pub trait Session {
            fn spin(&self) -> [std::time::Duration; 2] {
                Default::default()
            }
        }
    }

    struct Phases;

    impl session::Session for Phases {
        #[inline(never)]
        fn spin(&self) -> [Duration; 2] {
            black_box(two_phases()) // no tail call, which would leave no frame
        }
    }

    /// The CPU time of each of two inlined phases, in a ratio of about one to two.
    #[inline(never)]
    fn two_phases() -> [Duration; 2] {
        let begin = Clock::Thread.now();
        while Clock::Thread.now() - begin < Duration::from_millis(300) {
            black_box(multiply());
        }
        let middle = Clock::Thread.now();
        while Clock::Thread.now() - middle < Duration::from_millis(600) {
            black_box(divide());
        }
        [middle - begin, Clock::Thread.now() - middle]
    }

    // Operators alone: in builds for tests, methods are not inlined.
    #[inline(always)]
    fn multiply() -> u64 {
        let (mut i, mut all) = (0u64, 0);
        while i < 100_000 {
            i += 1;
            all ^= i * i; // a product
        }
        all
    }

    #[inline(always)]
    fn divide() -> u64 {
        let (mut i, mut all) = (0u64, 0);
        while i < 100_000 {
            i += 1;
            all ^= u64::MAX / i; // a quotient
        }
        all
    }

    #[test]
    #[ignore = "needs perf events: .ci/run"]
    fn shares_of_inlined_functions_are_those_of_cpu_time() {
        let sampling = Lines::start().expect("perf events are allowed");
        let times = session::Session::spin(&Phases).map(|time| time.as_secs_f64());
        let sampled = sampling.finish().expect("samples");
        let stacks = &sampled.stacks;
        let all: u64 = stacks.values().sum();
        let share = |of: &str| {
            let own = stacks.iter().filter(|(stack, _)| stack.split(';').any(|frame| frame.contains(of)));
            own.map(|(_, count)| count).sum::<u64>() as f64 / all as f64
        };
        assert!(stacks.keys().all(|stack| stack.starts_with("tests::two_phases")), "{stacks:?}");
        for (phase, time) in ["multiply", "divide"].into_iter().zip(times) {
            let expected = time / times.iter().sum::<f64>();
            let found = share(&format!("tests::{phase}"));
            assert!((found - expected).abs() < 0.05, "{phase}: {found}, not {expected}: {stacks:?}");
        }
        assert!(share("lines/mod.rs:") > 0.9, "{stacks:?}");
        assert!(sampled.hot_loop.starts_with("hottest loop: "), "{}", sampled.hot_loop);
    }
}
