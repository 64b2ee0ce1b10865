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
    /// Its figures, what bounds the loop, and the chain of instructions that does.
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

    /// The loop, a line for each instruction, given the number of all samples. Of a loop of more than [`SHORT`] instructions, those
    /// with samples and the [`AROUND`] before and after each.
    pub fn listing(&self, samples: u64) -> String {
        let width = self.steps.iter().map(|step| step.instruction.len()).max().unwrap_or(0);
        let line = |Step { samples: own, instruction, line }: &Step| {
            let share = if *own == 0 { String::new() } else { percent(*own, samples) };
            format!("{share:>7}  {instruction:<width$}  {line}").trim_end().to_owned() + "\n"
        };
        let is_shown = |i: usize| {
            let around = &self.steps[i.saturating_sub(AROUND)..self.steps.len().min(i + AROUND + 1)];
            self.steps.len() <= SHORT || around.iter().any(|step| step.samples > 0)
        };
        let shown: Vec<usize> = (0..self.steps.len()).filter(|i| is_shown(*i)).collect();
        let ends = shown.iter().copied().skip(1).chain([self.steps.len()]);
        let left_out = |count: usize| match count {
            0 => String::new(),
            count => format!("{:>7}  ({count} instructions without samples)\n", "..."),
        };
        let lines = shown.iter().zip(ends).map(|(i, end)| line(&self.steps[*i]) + &left_out(end - i - 1));
        left_out(shown.first().copied().unwrap_or(self.steps.len())) + &lines.collect::<String>()
    }
}

/// A loop of up to this many instructions is listed whole.
const SHORT: usize = 200;
/// Instructions shown before and after one with samples.
const AROUND: usize = 3;

/// A share, such as `12.3 %`.
pub fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_loop_is_listed_where_it_has_samples() {
        let step = |i| Step { samples: u64::from(i == 100), instruction: format!("add {i}"), line: String::new() };
        let listing = |steps| HotLoop { steps: (0..steps).map(step).collect(), model: Err(String::new()) }.listing(2);
        assert_eq!(listing(SHORT).lines().count(), SHORT);
        let long = listing(SHORT + 1);
        let lines: Vec<&str> = long.lines().collect();
        assert_eq!(lines[0], "    ...  (97 instructions without samples)");
        assert_eq!([lines[1].trim(), lines[4]], ["add 97", " 50.0 %  add 100"]);
        assert_eq!(lines[8..], ["    ...  (97 instructions without samples)"]);
    }
}
