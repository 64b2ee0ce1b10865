//! The instructions of one run of a kernel, counted one by one: exact, without counters of the CPU, and the same each time.
//!
//! The run is in a child process of this program, which this one traces. Up to the next branch that has a choice, it runs to a
//! breakpoint; the branch is a single step. So a run takes two stops for each of these branches: some microseconds, and ten times that
//! on some virtual machines.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::env;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use std::ptr::without_provenance_mut;
use std::thread;
use std::time::Duration;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess};
use nimlanes::cores::named::KERNEL;
use nimlanes::kernel::Run;
use nimlanes::kernel::session::Session;
use nimlanes::machine::ISA_MAX;
use nix::errno::Errno;
use nix::libc::user_regs_struct;
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace::{self, AddressType, Options};
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

use super::{BRANCHES, CountError, CountedKernel, Counts, Executed, INSTRUCTIONS, LOADS, Loop, STORES, per_unit};
use crate::measuring::loops::{hottest, names_target, text};
use crate::measuring::programs::{Process, program, this_program};
use crate::terminal::monitor::Monitor;

/// The signal by which the child marks where a run begins and ends. Nothing else sends it, and by itself it does nothing.
const MARK: Signal = Signal::SIGURG;

/// Runs before the one that is counted: so the allocator and what is resolved at the first call are as in later runs.
const WARM: u64 = 2;

/// A run with more branches is given up.
const MOST_BRANCHES: u64 = 1 << 20;

/// A run that is predicted to take more nanoseconds has more branches than that, as a rule, and is not begun.
const LONG: f64 = 1e7;

/// The name of the command that [`perform`]s.
const COMMAND: &str = "traced";

/// Runs a kernel in this process, for the parent that counts its instructions: first without a run, then with one, each between
/// two marks. Instructions of both are not the kernel's.
///
/// # Errors
/// This process may not be traced, or the kernel failed.
pub fn perform(session: &dyn Session, kernel: usize, run: &Run) -> Result<(), CountError> {
    session.spin(kernel, run, WARM)?;
    ptrace::traceme().map_err(CountError::because)?;
    for times in [0, 1] {
        raise(MARK).map_err(CountError::because)?;
        session.spin(kernel, run, times)?;
        raise(MARK).map_err(CountError::because)?;
    }
    Ok(())
}

/// Counts the instructions of one run of a kernel, on one thread.
///
/// # Errors
/// Single steps are not possible here, there are too many, or the run was cancelled.
pub(super) fn row(session: &dyn Session, kernel: usize, run: &Run) -> Result<CountedKernel, CountError> {
    let name = session.kernels()[kernel].name;
    let (_bar, mut watch) = Monitor::of_share(format!("single steps of {name}, at most"));
    if session.cost(kernel, 1).ns > LONG {
        return Err(CountError::TooLong);
    }
    let work = session.work(session.run(kernel, run)?.as_ref()).max(1);
    let Steps { blocks, taken } = trace(session, kernel, run, &mut watch)?;
    let mut executed = BTreeMap::new();
    for Block { instructions, times: [without, with] } in blocks.values() {
        for instruction in instructions {
            executed.entry(instruction.ip()).or_insert((*instruction, 0)).1 += with - without;
        }
    }
    let counts = sums(executed.values());
    // A few are executed only where there is nothing to run: they are negative.
    let executed = executed.into_values().filter(|(_, times)| *times > 0);
    let executed: Vec<(Instruction, u64)> = executed.map(|(it, times)| (it, times as u64)).collect();
    let code_bytes = Some(executed.iter().map(|(it, _)| it.len() as u64).sum());
    let hot_loop = hot_loop(&executed, &taken, counts[INSTRUCTIONS], work);
    Ok(CountedKernel { kernel: name, runs: 1, counts: per_unit(&counts, work as f64), code_bytes, hot_loop })
}

/// Traces a run of a kernel.
fn trace(
    session: &dyn Session,
    kernel: usize,
    run: &Run,
    watch: &mut (dyn FnMut(f64) + Send),
) -> Result<Steps, CountError> {
    // The thread that starts a process traces it, and its personality is that of the process: where memory is does not change from
    // one run to the next. Where a container forbids that, alignments differ, and so do some instructions. Both stay on one CPU, if
    // they may: only one of them runs at a time, and to wake another CPU takes longer than a step.
    let traced = || {
        let mut here = CpuSet::new();
        here.set(sched_getcpu());
        let _ = sched_setaffinity(None, &here);
        let _ = personality::get().and_then(|own| personality::set(own | Persona::ADDR_NO_RANDOMIZE));
        Tracee::start(session, kernel, run)?.count(run, watch)
    };
    thread::scope(|scope| scope.spawn(traced).join().expect("no panic"))
}

/// A child that is traced.
struct Tracee {
    process: Process,
    pid: Pid,
    memory: File,
    steps: Steps,
}

/// The executed instructions.
#[derive(Default)]
struct Steps {
    blocks: HashMap<u64, Block>,
    /// The branches that went where they name.
    taken: HashSet<u64>,
}

/// Instructions of which all are executed if the first is, in that order.
struct Block {
    instructions: Vec<Instruction>,
    /// How often, without a run of the kernel and with one.
    times: [i64; 2],
}

/// The place of the instruction pointer among a thread's registers.
const POINTER: AddressType = without_provenance_mut(offset_of!(user_regs_struct, rip));

impl Tracee {
    /// Starts the child, and waits until it is ready.
    fn start(session: &dyn Session, kernel: usize, run: &Run) -> Result<Self, CountError> {
        let this = this_program().map_err(CountError::because)?;
        let mut command = program(this);
        command.args([COMMAND, session.operation(), "--kernel", session.kernels()[kernel].name]);
        command.args([format!("--workload={}", session.workload()), format!("--size={}", session.case().size)]);
        // The environment moves the stack, and how an address is aligned decides how libc copies.
        command.env_clear().envs([ISA_MAX, KERNEL].into_iter().filter_map(|name| Some((name, env::var_os(name)?))));
        command.stdout(Stdio::null());
        let process = Process::start(&mut command).map_err(CountError::because)?;
        let pid = Pid::from_raw(process.child.id() as i32);
        let memory = File::open(format!("/proc/{pid}/mem")).map_err(CountError::because)?;
        let mut tracee = Tracee { process, pid, memory, steps: Steps::default() };
        tracee.until_mark(run)?;
        ptrace::setoptions(pid, Options::PTRACE_O_EXITKILL)?;
        Ok(tracee)
    }

    /// Counts what is executed between the first two marks, and between the two after them.
    fn count(mut self, run: &Run, watch: &mut dyn FnMut(f64)) -> Result<Steps, CountError> {
        self.blocks(0, run, watch)?;
        ptrace::cont(self.pid, None)?;
        self.until_mark(run)?;
        self.blocks(1, run, watch)?;
        Ok(self.steps)
    }

    /// Counts blocks up to the next mark.
    fn blocks(&mut self, which: usize, run: &Run, watch: &mut dyn FnMut(f64)) -> Result<(), CountError> {
        let mut start = self.pointer()?;
        for branches in 0..MOST_BRANCHES {
            run.advance(0)?;
            if branches % 1024 == 0 {
                watch(branches as f64 / MOST_BRANCHES as f64);
            }
            let last = self.block(start, which)?;
            if last.ip() != start && self.run_to(last.ip())? {
                return Ok(());
            }
            if self.resume(ptrace::step)? {
                return Ok(());
            }
            start = self.pointer()?;
            if last.near_branch_target() == start {
                self.steps.taken.insert(last.ip());
            }
        }
        Err(CountError::TooLong)
    }

    fn pointer(&self) -> Result<u64, CountError> {
        Ok(ptrace::read_user(self.pid, POINTER)? as u64)
    }

    /// Counts the block at an address, and returns its last instruction.
    fn block(&mut self, start: u64, which: usize) -> Result<Instruction, CountError> {
        if !self.steps.blocks.contains_key(&start) {
            let instructions = self.decode(start)?;
            self.steps.blocks.insert(start, Block { instructions, times: [0; 2] });
        }
        let block = self.steps.blocks.get_mut(&start).expect("inserted");
        block.times[which] += 1;
        Ok(*block.instructions.last().expect("not empty"))
    }

    /// The instructions from an address to the next branch that has a choice, through jumps and calls that have none.
    fn decode(&self, start: u64) -> Result<Vec<Instruction>, CountError> {
        const MOST: usize = 1 << 12;
        let (mut instructions, mut next) = (Vec::new(), Some(start));
        while let Some(address) = next.take().filter(|_| instructions.len() < MOST) {
            let mut code = [0; MOST];
            let bytes = self.memory.read_at(&mut code, address).map_err(CountError::because)?;
            for instruction in &mut Decoder::with_ip(64, &code[..bytes], address, DecoderOptions::NONE) {
                if instruction.is_invalid() {
                    break;
                }
                instructions.push(instruction);
                if instruction.flow_control() != FlowControl::Next {
                    let is_fixed =
                        matches!(instruction.flow_control(), FlowControl::UnconditionalBranch | FlowControl::Call);
                    next = (is_fixed && names_target(&instruction)).then(|| instruction.near_branch_target());
                    break;
                }
            }
        }
        let unknown = || CountError::because(format!("there is an unknown instruction at {start:#x}"));
        if instructions.is_empty() { Err(unknown()) } else { Ok(instructions) }
    }

    /// Runs to an instruction that will be reached. Returns whether there was a mark before it.
    fn run_to(&mut self, address: u64) -> Result<bool, CountError> {
        const BREAKPOINT: i64 = 0xcc;
        let (word, shift) = (without_provenance_mut((address & !7) as usize), 8 * (address & 7));
        let code = ptrace::read(self.pid, word)?;
        ptrace::write(self.pid, word, code & !(0xff << shift) | BREAKPOINT << shift)?;
        let is_mark = self.resume(ptrace::cont)?;
        ptrace::write(self.pid, word, code)?;
        if !is_mark {
            ptrace::write_user(self.pid, POINTER, address as i64)?;
        }
        Ok(is_mark)
    }

    /// Goes on to the next stop. Returns whether that is a mark. Other signals are handed on.
    fn resume(&mut self, go_on: impl Fn(Pid, Option<Signal>) -> nix::Result<()>) -> Result<bool, CountError> {
        let mut signal = None;
        loop {
            go_on(self.pid, signal)?;
            match self.stop(WaitPidFlag::empty())? {
                Some(Signal::SIGTRAP) => return Ok(false),
                Some(MARK) => return Ok(true),
                other => signal = other,
            }
        }
    }

    /// Waits for a mark. The child is going on.
    fn until_mark(&mut self, run: &Run) -> Result<(), CountError> {
        loop {
            match self.stop(WaitPidFlag::WNOHANG)? {
                Some(MARK) => return Ok(()),
                None => thread::sleep(Duration::from_millis(1)),
                other => ptrace::cont(self.pid, other)?,
            }
            run.advance(0)?;
        }
    }

    /// Waits for a stop, and returns the signal that is its reason; `None` if there is none yet. How the child ended is left for
    /// [`Process`] to ask.
    fn stop(&mut self, how: WaitPidFlag) -> Result<Option<Signal>, CountError> {
        let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.pid), flags | how)? {
            WaitStatus::Stopped(_, signal) | WaitStatus::PtraceEvent(_, signal, _) => Ok(Some(signal)),
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                let words = self.process.last_words();
                Err(CountError::because(words.unwrap_or_else(|| "the traced process ended".to_owned())))
            }
            _ => Ok(None),
        }
    }
}

impl From<Errno> for CountError {
    fn from(error: Errno) -> Self {
        CountError::because(io::Error::from(error))
    }
}

/// Numbers of instructions: all, those that may go elsewhere than to the next, and those that read memory or write to it.
fn sums<'i>(executed: impl IntoIterator<Item = &'i (Instruction, i64)>) -> Counts {
    let (mut counts, mut info) = (Counts::new(), InstructionInfoFactory::new());
    for (instruction, times) in executed {
        let mut add = |name| *counts.entry(name).or_default() += *times as f64;
        add(INSTRUCTIONS);
        if instruction.flow_control() != FlowControl::Next {
            add(BRANCHES);
        }
        let memory = info.info(instruction).used_memory();
        let accesses = |of: [OpAccess; 4]| memory.iter().any(|operand| of.contains(&operand.access()));
        if accesses([OpAccess::Read, OpAccess::CondRead, OpAccess::ReadWrite, OpAccess::ReadCondWrite]) {
            add(LOADS);
        }
        if accesses([OpAccess::Write, OpAccess::CondWrite, OpAccess::ReadWrite, OpAccess::ReadCondWrite]) {
            add(STORES);
        }
    }
    counts
}

/// The loop with the most of the instructions outside of smaller ones, given the branches that were taken.
fn hot_loop(executed: &[(Instruction, u64)], taken: &HashSet<u64>, all: f64, work: u64) -> Option<Loop> {
    let hottest = hottest(executed)?;
    let body = &executed[hottest.body];
    let addresses = body[0].0.ip()..=body[body.len() - 1].0.ip();
    let never_leaves = |(it, _): &&(Instruction, u64)| {
        let is_conditional = it.flow_control() == FlowControl::ConditionalBranch;
        is_conditional && !addresses.contains(&it.near_branch_target()) && !taken.contains(&it.ip())
    };
    let checks = body.iter().filter(never_leaves).count();
    let mut text = text();
    let line = |(it, times): &(Instruction, u64)| Executed { times: *times as f64 / work as f64, text: text(it) };
    Some(Loop { share: hottest.count as f64 / all, checks, instructions: body.iter().map(line).collect() })
}
