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
