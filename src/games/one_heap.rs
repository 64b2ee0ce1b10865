//! Questions about a game on one heap. [`simple`](crate::simple) answers some of them with all that this machine has.

use super::{SolveError, Solver};
#[cfg(feature = "octal")]
use crate::cores::mex::octal::{self, MexOctal, Octal};
#[cfg(feature = "octal")]
use crate::cores::mex::period::{MexPeriod, Proved, tallies};
#[cfg(feature = "mex")]
use crate::cores::mex::{
    records::{MexRecords, Records},
    subtraction::{self, MexSubtraction, Subtraction},
    zeros::{MexZeros, Zeros},
};
use crate::kernel::RunError;
use crate::kernel::selection::SelectError;
use crate::kernel::workload::InputError;
use crate::moves::{Code, MoveSet, Rules};

impl Solver<'_> {
    /// The Grundy values of the heaps `0..=limit`.
    ///
    /// # Errors
    /// The limit is too large for this machine, the run would take longer than the selection allows, or it was stopped.
    #[cfg(all(feature = "mex", feature = "octal"))]
    pub fn grundy_values(&self, rules: &Rules, limit: u64) -> Result<Vec<u16>, SolveError> {
        match rules {
            Rules::Moves(set) => self.values_of_set(set, limit),
            Rules::Code(code) => self.values_of_code(code, limit),
        }
    }

    #[cfg(feature = "mex")]
    pub(crate) fn values_of_set(&self, set: &MoveSet, limit: u64) -> Result<Vec<u16>, SolveError> {
        Ok(self.apply::<MexSubtraction>(limit, |limit| Subtraction::new(set, limit, self.machine()))?.0)
    }

    #[cfg(feature = "octal")]
    pub(crate) fn values_of_code(&self, code: &Code, limit: u64) -> Result<Vec<u16>, SolveError> {
        Ok(self.apply::<MexOctal>(limit, |limit| Octal::new(code, limit))?.0)
    }

    /// The heaps up to `limit` that are P-positions (Grundy value 0), by a sieve that computes no other values.
    ///
    /// # Errors
    /// See [`Solver::grundy_values`].
    #[cfg(feature = "mex")]
    pub fn zeros(&self, set: &MoveSet, limit: u64) -> Result<Vec<u64>, SolveError> {
        Ok(self.apply::<MexZeros>(limit, |limit| Zeros::new(set, limit, self.machine()))?.0)
    }

    /// The first heap of each Grundy value from 0 up to the largest that the heaps `0..=limit` have. The values themselves are kept
    /// only if there are too many moves for [`Records`].
    ///
    /// ```
    /// # use nimlanes::{games::Solver, kernel::selection::Selection, machine::Machine};
    /// let selection = Selection::new(Machine::detect());
    /// let run = selection.run();
    /// let solver = Solver::new(&selection, &run);
    /// assert_eq!(solver.first_heaps(&"factorials".parse()?, 10_000)?, [0, 1, 2, 6, 5050, 5056, 5064]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`Solver::grundy_values`].
    #[cfg(all(feature = "mex", feature = "octal"))]
    pub fn first_heaps(&self, set: &MoveSet, limit: u64) -> Result<Vec<u64>, SolveError> {
        match self.apply::<MexRecords>(limit, |limit| Records::new(set, limit)) {
            Err(SolveError::Input(InputError::TooManyMoves { .. })) => {
                let values = self.grundy_values(&Rules::Moves(set.clone()), limit)?;
                Ok(tallies(&values).iter().map(|tally| tally.first).collect())
            }
            found => Ok(found?.0.first),
        }
    }

    /// The period of the Grundy values, if those of the heaps `0..=limit` prove one.
    ///
    /// The values are kept unless few heaps of the code are rare: see [`mex_period`](crate::cores::mex::period). No theorem that is
    /// used here applies to infinite sets and to codes whose digits do not end, and the result is `None`.
    ///
    /// ```
    /// # use nimlanes::{games::Solver, kernel::selection::Selection, machine::Machine};
    /// let selection = Selection::new(Machine::detect());
    /// let run = selection.run();
    /// let kayles = Solver::new(&selection, &run).period(&"kayles".parse()?, 1000)?.expect("a short period");
    /// assert_eq!((kayles.period, kayles.preperiod), (12, 71));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`Solver::grundy_values`].
    #[cfg(all(feature = "mex", feature = "octal"))]
    pub fn period(&self, rules: &Rules, limit: u64) -> Result<Option<Proved>, SolveError> {
        match rules {
            Rules::Moves(set) => {
                let Some(farthest) = set.largest() else { return Ok(None) };
                let values = self.grundy_values(rules, limit)?;
                let farthest = usize::try_from(farthest).unwrap_or(usize::MAX);
                let found = subtraction::period(&values, farthest, self.run)?;
                Ok(found.map(|found| Proved::by_last_values(found.period, found.preperiod, farthest)))
            }
            Rules::Code(code) if code.last_place().is_none() => Ok(None),
            Rules::Code(code) => match self.apply::<MexPeriod>(limit, |limit| Octal::new(code, limit)) {
                Err(SolveError::Select(SelectError::NoKernel { .. }) | SolveError::Run(RunError::GaveUp(_))) => {
                    let found = octal::period(code, &self.grundy_values(rules, limit)?, self.run)?;
                    Ok(found.and_then(Proved::classical))
                }
                found => Ok(found?.0.period),
            },
        }
    }
}
