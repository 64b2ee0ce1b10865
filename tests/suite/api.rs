//! Properties of the library that callers rely on, beyond single items: values that can be sent to other threads, and those that are
//! an error.

use std::error::Error;
use std::hash::Hash;

use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::cores::mex::family::FamilyError;
use nimlanes::cores::mex::{octal, period, records, split, subtraction, zeros};
use nimlanes::cores::named::NameError;
use nimlanes::cores::xor_count::{partitions, triples};
use nimlanes::cores::{UnknownOperation, occupancy, table_scan};
use nimlanes::games::{FoundPositions, Game, Positions, Question, Solution, SolveError, Solver, ValueError};
use nimlanes::kernel::candidate::{Candidate, Obstacle};
use nimlanes::kernel::case::{Case, NotACase};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::session::{AnyOperation, Session};
use nimlanes::kernel::workload::{InputError, ValuesError};
use nimlanes::kernel::{Claim, Core, Kernel, Run, RunError, Yields};
use nimlanes::lab::{duel::DuelError, verify::VerifyError};
use nimlanes::machine::isa::{Tier, TierError};
use nimlanes::machine::{Machine, WrongCap};
use nimlanes::moves::{Code, CodeError, Diagonals, DiagonalsError, MoveSet, MoveSetError, Rules, RulesError};
use nimlanes::numbers::NumberError;

fn goes_to_threads<T: Send + Sync + ?Sized>() {}

fn is_an_error<E: Error + Send + Sync + 'static>() {
    goes_to_threads::<E>();
}

fn is_a_key<T: Clone + Eq + Hash + Send + Sync + 'static>() {}

/// Calls a function for each of these types.
macro_rules! all {
    ($function:ident: $($of:ty),+) => { $($function::<$of>();)+ };
}

/// This compiles.
#[test]
fn errors_can_be_boxed_solutions_shared_and_names_be_keys() {
    all! { is_an_error:
        CheckpointError, CodeError, DiagonalsError, DuelError, FamilyError, InputError, MoveSetError, NameError,
        NotACase, NumberError, Obstacle, RulesError, RunError, SelectError, SolveError, TierError, UnknownOperation,
        ValueError, ValuesError, VerifyError, WrongCap
    }
    all! { goes_to_threads:
        AnyOperation, dyn Session, Candidate, FoundPositions, Game, Kernel<octal::MexOctal>, Machine, Positions,
        Question, Run, Selection, Solution, Solver
    }
    // Inputs and progress.
    all! { goes_to_threads:
        octal::Octal, octal::Start, occupancy::ProportionateNim, partitions::Partitions, period::Progress,
        period::Start, records::Progress, records::Records, records::Start, split::Split, subtraction::Subtraction,
        table_scan::StoneGame, triples::Values, zeros::Progress, zeros::Start, zeros::Zeros
    }
    all! { is_a_key:
        Case, Claim, Code, Core, Diagonals, MoveSet, octal::Mask, period::Theorem, Rules, table_scan::Rule, Tier,
        Yields
    }
}

#[test]
fn a_workload_has_one_canonical_name() {
    let name = |operation: &str, workload: &str| {
        let operation = nimlanes::cores::operation(operation).expect("listed");
        operation.name_of(workload).expect("an input")
    };
    for operation in nimlanes::cores::OPERATIONS {
        for workload in operation.workloads() {
            assert_eq!(name(operation.name(), workload.name), workload.name);
        }
    }
    assert_eq!([name("occupancy", "1:1"), name("occupancy", "1:2,1:1")], ["wythoff", "proportionate"]);
    assert_eq!(["1,2,3", "1..3"].map(|moves| name("mex_zeros", moves)), ["1..3", "1..3"]);
    assert_eq!([name("mex_octal", ".60"), name("mex_period", "0.7[7]")], ["0.6", "0.[7]"]);
}
