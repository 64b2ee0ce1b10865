//! The Grundy values of Mem0 that recur for ever, OEIS A351630: `cargo run --release --example mem0 LIMIT` finds those that the heaps up
//! to `LIMIT` prove.
//!
//! In Mem0 a move takes any number from a heap, but not the number that the move before took from this heap. So a position is a heap
//! `n` with its last move `k`, and its value `G(n, k)` is the mex of all `G(n - j, j)` with `j != k`; a heap without a last move has
//! `G(n)`, the mex of all. `profiles/papers/mem0.md` has the proofs:
//! * *Exceptions.* `G(n, k)` differs from `G(n)` only if taking `k` is the one option of `n` with its value, and this is below
//!   `G(n)`; then it is this value. So a heap has about twenty exceptions, each of which changes one option of one larger heap,
//!   `n + k <= 2 n`.
//! * *The criterion.* A value `v` occurs at infinitely many heaps exactly if `G(m) = v` for one heap `m` alone. If `m` is the only one
//!   among the heaps up to `2 m`, it is the only one of all.
//!
//! Counts of values last from heap to heap. A heap adds its own value. Its exceptions are found among the values that one heap alone
//! has and those that exceptions change here.
//!
//! Cost: 16 exceptions for each of a million heaps, one more each time the heaps double. Memory: 25 bytes a heap.
//! Bound: loads at scattered places, as soon as the tables exceed the caches.

/// The largest limit: a heap is a number of 32 bits.
const MAX_LIMIT: usize = u32::MAX as usize - 1;

/// The values that recur for ever, and numbers to compare programs by.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The values, each with its heap, that the heaps prove to recur: those that one heap `m` alone has among the heaps up to `2 m`,
    /// which is at most the limit. In the order of these heaps.
    pub recurring: Vec<[u32; 2]>,
    /// The values that one heap alone has, but among fewer heaps: each recurs or not.
    pub open: Vec<[u32; 2]>,
    /// The number of exceptions: pairs of a heap and a last move that change the value of the heap.
    pub exceptions: u64,
    /// A hash of the values of all heaps in order, a step of FxHash for each.
    pub fingerprint: u64,
}

/// The hash with the value of the next heap.
pub fn hashed(hash: u64, value: u32) -> u64 {
    (hash.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The options of a heap that have a value, as counts and a sum in one word. Adding and removing one is an addition, and if there is
/// only one, it is the sum. The low bits are the counts; the sum, above them, may wrap.
#[derive(Clone, Copy, Default)]
struct Holders(u64);

/// Bits of the number of heaps whose own value it is.
const COUNT: u32 = 12;
/// One more heap that has it as an exception.
const EXCEPTION: u64 = 1 << COUNT;
/// Set while the value is in a list of values to look at.
const LISTED: u64 = 1 << 23;
const SUM: u32 = 24;
/// The largest number of holders of one kind that fits.
const MOST_HOLDERS: usize = (1 << (COUNT - 1)) - 1;

impl Holders {
    /// A heap whose own value it is.
    fn own(heap: u32) -> Self {
        Holders(u64::from(heap) << SUM | 1)
    }

    /// A heap that has the value as an exception.
    fn exceptional(heap: u32) -> Self {
        Holders(u64::from(heap) << SUM | EXCEPTION)
    }

    fn add(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    fn remove(&mut self, other: Self) {
        self.0 = self.0.wrapping_sub(other.0);
    }

    fn counts(self) -> u64 {
        self.0 & (LISTED - 1)
    }

    /// Whether there is one holder alone, which is then [`Holders::only`].
    fn is_single(self) -> bool {
        self.counts() == 1 || self.counts() == EXCEPTION
    }

    fn only(self) -> u32 {
        (self.0 >> SUM) as u32
    }
}

/// An exception: option `heap` of the heap where it is listed has `value`.
#[derive(Clone, Copy)]
struct Exception {
    heap: u32,
    value: u32,
    /// The next one of the same list.
    next: u32,
}

/// No exception.
const NONE: u32 = u32::MAX;

/// Exceptions by the heap that they change, in lists that share one table.
struct Waiting {
    first: Vec<u32>,
    exceptions: Vec<Exception>,
    free: u32,
}

impl Waiting {
    fn new(heaps: usize) -> Self {
        Waiting { first: vec![NONE; heaps], exceptions: Vec::new(), free: NONE }
    }

    /// Adds an exception that changes a heap, unless that is past the limit.
    fn add(&mut self, lands: usize, heap: u32, value: u32) -> Result<(), &'static str> {
        let Some(head) = self.first.get_mut(lands) else { return Ok(()) };
        let new = Exception { heap, value, next: *head };
        if self.free != NONE {
            *head = self.free;
            self.free = std::mem::replace(&mut self.exceptions[*head as usize], new).next;
        } else if self.exceptions.len() < NONE as usize {
            *head = self.exceptions.len() as u32;
            self.exceptions.push(new);
        } else {
            return Err("too many exceptions wait");
        }
        Ok(())
    }

    /// Hands on the exceptions that change a heap, as option and value.
    fn take(&mut self, heap: usize, mut found: impl FnMut(u32, u32)) {
        let mut place = self.first[heap];
        while place != NONE {
            let exception = &mut self.exceptions[place as usize];
            found(exception.heap, exception.value);
            let next = std::mem::replace(&mut exception.next, self.free);
            (self.free, place) = (place, next);
        }
    }
}

/// The results that the heaps `0..=limit` prove.
///
/// # Errors
/// The limit, or a count, is larger than fits.
pub fn recurring(limit: usize) -> Result<Found, &'static str> {
    if limit > MAX_LIMIT {
        return Err("the limit is at most 4294967294");
    }
    let mut own: Vec<u32> = Vec::with_capacity(limit + 1);
    let mut waiting = Waiting::new(limit + 1);
    let mut holders = vec![Holders::default()];
    let mut single: Vec<[u32; 2]> = Vec::new();
    let (mut landed, mut emitted) = (Vec::new(), Vec::new());
    let (mut exceptions, mut fingerprint) = (0, 0);
    // All smaller values have holders.
    let mut least = 0;
    for n in 0..=limit {
        landed.clear();
        waiting.take(n, |heap, value| landed.push((heap, own[heap as usize], value)));
        if landed.len() > MOST_HOLDERS {
            return Err("too many exceptions of a heap");
        }
        for (heap, from, to) in &landed {
            holders[*from as usize].remove(Holders::own(*heap));
            holders[*to as usize].add(Holders::exceptional(*heap));
        }
        let is_free = |v: &usize| holders[*v].counts() == 0;
        let freed = landed.iter().map(|(_, from, _)| *from as usize).filter(is_free);
        let g = (least..).find(is_free).into_iter().chain(freed).min().expect("the last value has no holder");
        emitted.clear();
        let changed = landed.iter().flat_map(|(_, from, to)| [*from, *to]);
        for value in changed.chain(single.iter().map(|[value, _]| *value)).filter(|value| (*value as usize) < g) {
            let holders = &mut holders[value as usize];
            if holders.is_single() && holders.0 & LISTED == 0 {
                emitted.push((value, holders.only()));
                holders.0 |= LISTED;
            }
        }
        for (heap, from, to) in &landed {
            holders[*from as usize].add(Holders::own(*heap));
            holders[*to as usize].remove(Holders::exceptional(*heap));
        }
        exceptions += emitted.len() as u64;
        for (value, m) in &emitted {
            holders[*value as usize].0 &= !LISTED;
            waiting.add(2 * n - *m as usize, n as u32, *value)?;
        }
        if g + 1 == holders.len() {
            holders.push(Holders::default());
        }
        holders[g].add(Holders::own(n as u32));
        match holders[g].counts() as usize {
            1 => single.push([g as u32, n as u32]),
            2 => single.retain(|[value, _]| *value != g as u32),
            count if count > MOST_HOLDERS => return Err("too many heaps of a value"),
            _ => {}
        }
        while holders[least].counts() != 0 {
            least += 1;
        }
        own.push(g as u32);
        fingerprint = hashed(fingerprint, g as u32);
    }
    single.sort_unstable_by_key(|[_, heap]| *heap);
    let (recurring, open) = single.into_iter().partition(|[_, heap]| 2 * *heap as usize <= limit);
    Ok(Found { recurring, open, exceptions, fingerprint })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limit = std::env::args().nth(1).ok_or("usage: mem0 LIMIT")?.parse()?;
    let Found { recurring, open, exceptions, fingerprint } = recurring(limit)?;
    for [value, heap] in recurring {
        println!("{value} recurs, by heap {heap}");
    }
    if let Some([value, heap]) = open.first() {
        println!("no other value recurs below {value}, or at a heap below {heap}");
    }
    println!("{exceptions} exceptions, fingerprint {fingerprint}");
    Ok(())
}
