//! Samples by instruction, from perf events.
//!
//! The event is the software clock of the CPU, which every machine has, even a virtual one without hardware counters. A
//! sample holds the registers that unwinding needs and the top of the stack; a separate thread unwinds it at once.

use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use framehop::{CacheNative, ExplicitModuleSectionInfo, MayAllocateDuringUnwind, UnwindRegsNative, Unwinder};
use framehop::{FrameAddress, UnwinderNative};
use object::{Object, ObjectSection};
use perf_event::data::Record;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag, Sampler};

use super::modules::Module;

/// Samples per second of CPU time: not a divisor of the usual timer frequencies.
pub const FREQUENCY: u32 = 997;

/// Bytes of the stack in a sample. Frames further out are lost, which matters only if they include the kernel's entry.
const STACK: u32 = 32 << 10;

/// Bytes for samples that wait to be read, on each CPU. The first is tried first; the second is what the system allows an
/// ordinary user.
const WAITING: [usize; 2] = [4 << 20, 1 << 19];

/// The bits of a record that hold where the CPU was, and their value for the operating system.
const MODE: u16 = 7;
const SYSTEM: u16 = 1;

/// How often samples are read.
const TURN: Duration = Duration::from_millis(4);

/// The registers that unwinding needs, by their number for perf, and in the order of these numbers.
#[cfg(target_arch = "x86_64")]
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
#[cfg(target_arch = "aarch64")]
const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// The address of the instruction, the registers, and the stack pointer.
#[cfg(target_arch = "x86_64")]
fn registers(values: &[u64]) -> Option<(u64, UnwindRegsNative, u64)> {
    let &[frame, stack, address] = values else { return None };
    Some((address, UnwindRegsNative::new(address, stack, frame), stack))
}
#[cfg(target_arch = "aarch64")]
fn registers(values: &[u64]) -> Option<(u64, UnwindRegsNative, u64)> {
    let &[frame, link, stack, address] = values else { return None };
    Some((address, UnwindRegsNative::new(link, stack, frame), stack))
}

/// Where a thread was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// The instruction, then one within the call of each caller, innermost first.
    pub addresses: Vec<u64>,
    /// Whether the operating system worked for this instruction.
    pub in_system: bool,
}

/// The samples.
#[derive(Debug, Default)]
pub struct Samples {
    /// How often each stack was seen.
    pub stacks: HashMap<Stack, u64>,
    /// Samples that came faster than they were read.
    pub lost: u64,
}

/// A running sampler of the thread that started it and of those it starts.
pub struct Events {
    /// Ends the reader when it is dropped.
    to_reader: Sender<Vec<Sampler>>,
    reader: JoinHandle<Samples>,
    /// Whether time in the operating system is sampled.
    pub with_system: bool,
}

impl Events {
    /// Starts sampling.
    ///
    /// # Errors
    /// The system has no perf events, or does not allow them to this user.
    pub fn start(modules: &[Module]) -> io::Result<Self> {
        // The reader starts before the events, so as not to be sampled.
        let mut unwinding = Unwinding::new(modules);
        let (to_reader, samplers) = channel();
        let reader = thread::Builder::new().spawn(move || read(&samplers, &mut unwinding))?;
        // Only some users may look at the operating system.
        let (mut samplers, with_system) = match open(true) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => (open(false)?, false),
            opened => (opened?, true),
        };
        samplers.iter_mut().try_for_each(|sampler| sampler.as_counter_mut().enable())?;
        to_reader.send(samplers).map_err(|_| io::Error::other("the reader ended"))?;
        Ok(Events { to_reader, reader, with_system })
    }

    /// Stops sampling.
    pub fn finish(self) -> Samples {
        drop(self.to_reader);
        self.reader.join().unwrap_or_default()
    }
}

/// The samples of each CPU that this thread may use. Events of threads that are started later are sampled too, which the system
/// supports only with a counter for each CPU.
fn open(with_system: bool) -> io::Result<Vec<Sampler>> {
    let allowed = rustix::thread::sched_getaffinity(None)?;
    let cpus = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
    let one = |cpu: usize| {
        let mut builder = Builder::new(Software::CPU_CLOCK);
        builder.observe_self().one_cpu(cpu).inherit(true).exclude_kernel(!with_system);
        builder.sample_frequency(FREQUENCY.into()).sample(SampleFlag::REGS_USER | SampleFlag::STACK_USER);
        builder.sample_regs_user(REGISTERS).sample_stack_user(STACK);
        builder.build()?.sampled(WAITING[0]).or_else(|_| builder.build()?.sampled(WAITING[1]))
    };
    cpus.map(one).collect()
}

/// Reads samples until the channel is closed.
fn read(samplers: &Receiver<Vec<Sampler>>, unwinding: &mut Unwinding) -> Samples {
    let mut samples = Samples::default();
    let Ok(mut running) = samplers.recv() else { return samples };
    loop {
        let is_over = matches!(samplers.recv_timeout(TURN), Err(RecvTimeoutError::Disconnected));
        for sampler in &mut running {
            while let Some(record) = sampler.next_record() {
                match record.parse_record() {
                    Ok(Record::Sample(sample)) => {
                        let in_system = record.misc() & MODE == SYSTEM;
                        let found = sample.regs_user().zip(sample.stack_user());
                        let addresses = found.and_then(|(values, stack)| unwinding.addresses(&values.regs, stack));
                        if let Some(addresses) = addresses {
                            *samples.stacks.entry(Stack { addresses, in_system }).or_default() += 1;
                        }
                    }
                    Ok(Record::Lost(lost)) => samples.lost += lost.lost,
                    _ => {}
                }
            }
        }
        if is_over {
            return samples;
        }
    }
}

/// The unwinder of this process.
struct Unwinding {
    unwinder: UnwinderNative<Vec<u8>, MayAllocateDuringUnwind>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

impl Unwinding {
    fn new(modules: &[Module]) -> Self {
        let mut unwinder = UnwinderNative::new();
        for module in modules {
            unwinder.add_module(unwindable(module));
        }
        Unwinding { unwinder, cache: CacheNative::new() }
    }

    /// The address of the instruction and of the callers, innermost first, as far as `stack` goes, which is the memory above the
    /// stack pointer.
    fn addresses(&mut self, values: &[u64], stack: &[u8]) -> Option<Vec<u64>> {
        let (address, registers, bottom) = registers(values)?;
        let mut word = |at: u64| {
            let offset = usize::try_from(at.checked_sub(bottom).ok_or(())?).map_err(|_| ())?;
            let bytes = stack.get(offset..).and_then(<[u8]>::first_chunk).ok_or(())?;
            Ok(u64::from_le_bytes(*bytes))
        };
        let mut frames = self.unwinder.iter_frames(address, registers, &mut self.cache, &mut word);
        let mut addresses = Vec::new();
        // An error is the end of the memory.
        while let Ok(Some(frame)) = frames.next() {
            addresses.push(FrameAddress::address_for_lookup(frame));
        }
        Some(addresses)
    }
}

/// The parts of a module's file that unwinding needs.
fn unwindable(module: &Module) -> framehop::Module<Vec<u8>> {
    let file = module.file();
    let range = |name: &str| file.section_by_name(name).map(|it| it.address()..it.address() + it.size());
    let bytes = |name: &str| Some(file.section_by_name(name)?.data().ok()?.to_vec());
    let sections = ExplicitModuleSectionInfo {
        text_svma: range(".text"),
        got_svma: range(".got"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: bytes(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: bytes(".eh_frame_hdr"),
        ..Default::default()
    };
    let name = module.name.display().to_string();
    framehop::Module::new(name, module.range.clone(), module.bias, sections)
}
