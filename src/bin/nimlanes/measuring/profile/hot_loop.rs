//! The loop that holds the most samples, as text.

/// A loop, instruction by instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct HotLoop {
    /// Its instructions, in their order.
    pub steps: Vec<Step>,
    /// What llvm-mca says of it, or why it says nothing.
    pub model: Result<Model, String>,
}

/// An instruction of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Samples at it.
    pub samples: u64,
    /// The instruction.
    pub instruction: String,
    /// The line of source that it is for; empty if not known.
    pub line: String,
}

/// What llvm-mca says of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its version and the CPU that it takes this one for.
    pub name: String,
    /// Cycles for an iteration of the loop.
    pub cycles: f64,
    /// All that it says.
    pub text: String,
}

impl HotLoop {
    /// Samples in it.
    pub fn samples(&self) -> u64 {
        self.steps.iter().map(|step| step.samples).sum()
    }

    /// A sentence on the loop, given the number of all samples, and one on its model.
    pub fn summary(&self, samples: u64) -> String {
        let share = percent(self.samples(), samples);
        let model = match &self.model {
            Ok(Model { name, cycles, .. }) => {
                format!("{name}: {cycles:.1} cycles a turn, if loads hit L1 and no branch leaves it")
            }
            Err(reason) => reason.clone(),
        };
        format!("hottest loop: {} instructions, {share} of the samples\n{model}\n", self.steps.len())
    }

    /// The loop, a line for each instruction, given the number of all samples.
    pub fn listing(&self, samples: u64) -> String {
        let width = self.steps.iter().map(|step| step.instruction.len()).max().unwrap_or(0);
        let line = |Step { samples: own, instruction, line }: &Step| {
            let share = if *own == 0 { String::new() } else { percent(*own, samples) };
            format!("{share:>7}  {instruction:<width$}  {line}").trim_end().to_owned() + "\n"
        };
        self.steps.iter().map(line).collect()
    }
}

/// A share, such as `12.3 %`.
pub fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all as f64)
}
