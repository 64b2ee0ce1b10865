//! An operation, one of its workloads and a size: the subject of runs, measurements, comparisons and saved files.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// One input of one operation, identified by names and written `operation/workload/size`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Case {
    /// The operation.
    pub operation: String,
    /// The input's name, in its canonical form: inputs with other names are other inputs.
    pub workload: String,
    /// The input's size.
    pub size: u64,
}

/// A text that is not a [`Case`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not OPERATION/WORKLOAD/SIZE, as in mex_subtraction/squares/100000")]
pub struct NotACase(pub String);

impl Case {
    /// A case with these names.
    pub fn new(operation: &str, workload: &str, size: u64) -> Self {
        Case { operation: operation.to_owned(), workload: workload.to_owned(), size }
    }

    /// `operation-workload-size`: the stem of the file that keeps a measurement.
    pub fn stem(&self) -> String {
        let Case { operation, workload, size } = self;
        format!("{operation}-{workload}-{size}")
    }

    /// `operation/workload`: the folder for profiles of this workload.
    pub fn folder(&self) -> PathBuf {
        [&self.operation, &self.workload].iter().collect()
    }

    /// `operation/workload/kernel/size`: the name of a benchmark.
    pub fn with_kernel(&self, kernel: &str) -> String {
        let Case { operation, workload, size } = self;
        format!("{operation}/{workload}/{kernel}/{size}")
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { operation, workload, size } = self;
        write!(f, "{operation}/{workload}/{size}")
    }
}

impl FromStr for Case {
    type Err = NotACase;

    fn from_str(text: &str) -> Result<Self, NotACase> {
        let parts = || {
            let (operation, rest) = text.split_once('/')?;
            let (workload, size) = rest.rsplit_once('/')?;
            let is_named = !operation.is_empty() && !workload.is_empty();
            is_named.then_some(Case::new(operation, workload, size.parse().ok()?))
        };
        parts().ok_or_else(|| NotACase(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for case in [Case::new("mex_subtraction", "squares", 100_000), Case::new("mex_records", "2,7,19,50", 0)] {
            assert_eq!(case.to_string().parse(), Ok(case));
        }
        for text in ["", "a", "a/b", "a/b/c", "//1", "a//1", "/b/1", "a/b/-1", "a/b/"] {
            assert_eq!(text.parse::<Case>(), Err(NotACase(text.to_owned())));
        }
    }
}
