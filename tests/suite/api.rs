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

#[test]
fn errors_can_be_boxed_and_sent() {
    is_an_error::<CheckpointError>();
    is_an_error::<CodeError>();
    is_an_error::<DiagonalsError>();
    is_an_error::<DuelError>();
    is_an_error::<FamilyError>();
    is_an_error::<InputError>();
    is_an_error::<MoveSetError>();
    is_an_error::<NameError>();
    is_an_error::<NotACase>();
    is_an_error::<NumberError>();
    is_an_error::<Obstacle>();
    is_an_error::<RulesError>();
    is_an_error::<RunError>();
    is_an_error::<SelectError>();
    is_an_error::<SolveError>();
    is_an_error::<TierError>();
    is_an_error::<UnknownOperation>();
    is_an_error::<ValueError>();
    is_an_error::<ValuesError>();
    is_an_error::<VerifyError>();
    is_an_error::<WrongCap>();
}

#[test]
fn what_a_solution_is_made_of_can_be_shared_by_threads() {
    goes_to_threads::<AnyOperation>();
    goes_to_threads::<dyn Session>();
    goes_to_threads::<Candidate>();
    goes_to_threads::<FoundPositions>();
    goes_to_threads::<Game>();
    goes_to_threads::<Kernel<octal::MexOctal>>();
    goes_to_threads::<Machine>();
    goes_to_threads::<Positions>();
    goes_to_threads::<Question>();
    goes_to_threads::<Run>();
    goes_to_threads::<Selection>();
    goes_to_threads::<Solution>();
    goes_to_threads::<Solver>();
}

#[test]
fn inputs_and_progress_can_be_shared_by_threads() {
    goes_to_threads::<octal::Octal>();
    goes_to_threads::<octal::Start>();
    goes_to_threads::<occupancy::ProportionateNim>();
    goes_to_threads::<partitions::Partitions>();
    goes_to_threads::<period::Progress>();
    goes_to_threads::<period::Start>();
    goes_to_threads::<records::Progress>();
    goes_to_threads::<records::Records>();
    goes_to_threads::<records::Start>();
    goes_to_threads::<split::Split>();
    goes_to_threads::<subtraction::Subtraction>();
    goes_to_threads::<table_scan::StoneGame>();
    goes_to_threads::<triples::Values>();
    goes_to_threads::<zeros::Progress>();
    goes_to_threads::<zeros::Start>();
    goes_to_threads::<zeros::Zeros>();
}

#[test]
fn what_names_something_can_be_the_key_of_a_map() {
    is_a_key::<Case>();
    is_a_key::<Claim>();
    is_a_key::<Code>();
    is_a_key::<Core>();
    is_a_key::<Diagonals>();
    is_a_key::<MoveSet>();
    is_a_key::<octal::Mask>();
    is_a_key::<period::Theorem>();
    is_a_key::<Rules>();
    is_a_key::<table_scan::Rule>();
    is_a_key::<Tier>();
    is_a_key::<Yields>();
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
