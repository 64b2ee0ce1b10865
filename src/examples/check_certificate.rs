//! Checks a period that `nimlanes grundy --code CODE --format certificate` has proved, and uses nothing of the library:
//! `cargo run --release --example check_certificate FILE`, in half the time with `RUSTFLAGS=-Ctarget-cpu=native`. The theorem and its
//! lemmas: `profiles/papers/windows.md`.

/// A heap, and the values of those before it.
type Window = (usize, Vec<u8>);

/// The values of the first heaps, from the rules: digit 1 takes all of a heap, 2 leaves one heap, 4 leaves two.
fn first_values(digits: &[u32], heaps: usize) -> Result<Vec<u8>, String> {
    let mut g: Vec<u8> = Vec::with_capacity(heaps);
    for n in 0..heaps {
        let mut reached = [false; 256];
        for (t, digit) in digits.iter().enumerate().take(n + 1) {
            let left = n - t;
            for a in usize::from(t == 0)..=left / 2 {
                let heaps = if a > 0 { 4 } else { 1 + u32::from(left > 0) };
                reached[usize::from(g[a] ^ g[left - a])] |= digit & heaps > 0;
            }
        }
        let value = reached.iter().position(|reached| !reached).filter(|value| *value < 128);
        g.push(value.ok_or("a value is above 127")? as u8);
    }
    Ok(g)
}

/// Windows that are followed side by side: the compiler makes vectors of the loops over lanes.
const LANES: usize = 32;

/// A set of values below 32 W for each lane.
type Sets<const W: usize> = [[u32; LANES]; W];

/// Calls `each` with the words of the sets, and `value ^ values[lane]` as a bit.
fn with_bits<const W: usize>(sets: &mut Sets<W>, value: u8, values: [u8; LANES], each: impl Fn(&mut u32, u32)) {
    for (words, w) in sets.iter_mut().zip(0..) {
        for (word, other) in words.iter_mut().zip(values) {
            let value = u32::from(value ^ other);
            each(word, u32::from(W == 1 || value / 32 == w) << (value % 32));
        }
    }
}

/// A game whose values have two types. A move that leaves a heap of a known value reads the value so many heaps back.
struct Game {
    /// Common values of even and of odd heaps, as bits.
    common: [u128; 2],
    /// Moves that leave a rare heap, or one common heap: how far back they read, and the known value.
    moves: Vec<(usize, u8)>,
    /// Moves that leave a common heap, or turn the type, and read at most `width` heaps back.
    witnesses: Vec<(usize, u8)>,
    width: usize,
}

impl Game {
    /// Computes the values from each window to the next and `width` heaps past it. The first `width` heaps are not verified: that is
    /// done on the way to the window that they follow. All values must be below 32 W.
    fn lead<const W: usize>(&self, pairs: &[[&Window; 2]]) -> Result<(), String> {
        let lanes: [_; LANES] = std::array::from_fn(|lane| pairs[lane.min(pairs.len() - 1)]);
        let (ways, mut witnesses) = (lanes.map(|[from, to]| to.0 - from.0), self.witnesses.clone());
        let common = |i, w| lanes.map(|[from, _]| (self.common[(from.0 + i) % 2] >> (32 * w)) as u32);
        let common: [Sets<W>; 2] = [0, 1].map(|i| std::array::from_fn(|w| common(i, w)));
        let keep = pairs.as_flattened().iter().map(|window| window.1.len()).fold(self.width, usize::max);
        let value = |[from, _]: [&Window; 2], back| from.1.iter().rev().nth(back).copied().unwrap_or(0);
        let mut g: Vec<_> = (0..keep).rev().map(|back| lanes.map(|lane| value(lane, back))).collect();
        for i in 0..ways.into_iter().fold(0, usize::max) + self.width {
            let end = g.len();
            for (lane, [from, to]) in lanes.iter().enumerate().filter(|(lane, _)| ways[*lane] == i) {
                if !g[end - to.1.len()..].iter().map(|values| &values[lane]).eq(&to.1) {
                    return Err(format!("the window at heap {} does not lead to that at {}", from.0, to.0));
                }
            }
            let mut reached: Sets<W> = [[0; LANES]; W];
            for (back, value) in &self.moves {
                with_bits(&mut reached, *value, g[end - back], |word, bit| *word |= bit);
            }
            // The value is the number of those below the first common one that is not reached.
            let (mut values, mut open, mut is_open) = ([0; LANES], [[0; LANES]; W], [!0; LANES]);
            let is_verified = ways.map(|way| if (self.width..way + self.width).contains(&i) { !0 } else { 0 });
            for (w, common) in common[i % 2].iter().enumerate() {
                for lane in 0..LANES {
                    let free = common[lane] & !reached[w][lane];
                    let below = !free & free.wrapping_sub(1) & is_open[lane];
                    values[lane] += below.count_ones() as u8;
                    open[w][lane] = below & !common[lane] & is_verified[lane];
                    is_open[lane] &= if free > 0 { 0 } else { !0u32 };
                }
            }
            if is_open.contains(&!0) {
                return Err("a value is too large".to_owned());
            }
            let left = |open: &Sets<W>| open.as_flattened().iter().fold(0, |left, word| left | word);
            let mut next = 0;
            while let before @ 1.. = left(&open) {
                let (back, value) = *witnesses.get(next).ok_or("a heap may be rare")?;
                with_bits(&mut open, value, g[end - back], |word, bit| *word &= !bit);
                if next > LANES && left(&open) < before {
                    witnesses.swap(next, next / 2); // those in use move to the front
                }
                next += 1;
            }
            g.push(values);
            if g.len() > 4 * keep {
                g.drain(..3 * keep);
            }
        }
        Ok(())
    }
}

/// The period that the certificate proves, or the reason of its refusal.
pub fn check(text: &str) -> Result<String, String> {
    let (body, end) = text.rsplit_once("end ").ok_or("there is no end")?;
    let hash = body.bytes().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    if end != format!("{hash:016x}\n") || !body.starts_with("nimlanes certificate 1\n") {
        return Err("it is damaged, or of another kind".to_owned());
    }
    let lines: Vec<(&str, &str)> = body.lines().filter_map(|line| line.split_once(' ')).collect();
    let line = |word| lines.iter().find(|line| line.0 == word).map(|line| line.1).ok_or(format!("there is no {word}"));
    let number = |word| line(word)?.parse::<usize>().map_err(|_| format!("{word} is no number"));
    let (code, period, from) = (line("code")?, number("period")?, number("from")?);
    let digits: Option<Vec<u32>> = code.replace('.', "").chars().map(|c| c.to_digit(8)).collect();
    let digits = digits.ok_or("the code has other than octal digits")?;
    let last_place = digits.len() - 1;
    let window = |(word, line): &(&str, &str)| -> Option<Window> {
        let (heap, values) = line.split_once(' ').filter(|_| *word == "window")?;
        let value = |i| u8::from_str_radix(values.get(i..i + 2)?, 16).ok();
        Some((heap.parse().ok()?, (0..values.len()).step_by(2).map(value).collect::<Option<_>>()?))
    };
    let windows: Vec<Window> = lines.iter().filter_map(window).collect();
    let Some((last, values)) = windows.last() else {
        // Guy and Smith
        let g = first_values(&digits, 2 * from.max(1) + 2 * period + last_place + 1)?;
        let is_proved = period > 0 && (from..g.len() - period).all(|n| g[n] == g[n + period]);
        return if is_proved { Ok(format!("{code}: period {period} from heap {from}")) } else { Err("no".to_owned()) };
    };
    let (width, last_rare) = (number("width")?, number("rare")?);
    let (mask, kind) = line("mask")?.split_once(' ').ok_or("the mask has no kind")?;
    let (mask, by_position) = (mask.parse::<u8>().map_err(|_| "the mask is no number")?, kind == "position");
    let places = |bit| digits.iter().enumerate().filter(move |(_, digit)| **digit & bit > 0).map(|(t, _)| t);
    let parity = places(4).next().ok_or("nothing is split")? % 2;
    let is_even = !by_position || places(4).all(|t| t % 2 == parity) && period.is_multiple_of(2);
    let turn = |t: usize| usize::from(by_position) * t;
    let is_common = |n: usize, value: u8| ((value & mask).count_ones() as usize + turn(n + parity)) & 1 > 0;
    let common = |n| (0..128).filter(|value| is_common(n, *value)).fold(0, |bits, value| bits | 1 << value);
    // Lemma 3 holds past twice the last rare heap. From there on each window leads to the next.
    let size = windows.iter().map(|window| window.1.len()).fold(width, usize::max);
    let begin = 2 * last_rare + last_place + 1 + size;
    let g = first_values(&digits, begin + width)?;
    let (small, rare): (Vec<usize>, Vec<usize>) = (1..g.len()).partition(|n| is_common(*n, g[*n]));
    let split = |a: &usize| places(4).map(|t| (t + a, g[*a])).collect::<Vec<_>>();
    let (turns, takes): (Vec<_>, Vec<_>) =
        places(2).filter(|t| *t > 0).map(|t| (t, 0)).partition(|m| turn(m.0) % 2 > 0);
    let moves: Vec<_> = takes.into_iter().chain(rare.iter().flat_map(split)).collect();
    let witnesses =
        turns.into_iter().chain(small.iter().take(width).flat_map(split)).filter(|(back, _)| *back <= width).collect();
    let game = Game { common: [common(0), common(1)], moves, witnesses, width };
    let chain = [vec![(begin, g[begin - size..begin].to_vec())], windows.clone()].concat();
    let is_long = windows.iter().all(|window| game.moves.iter().all(|(back, _)| *back <= window.1.len()));
    let at = |heap: usize| windows.iter().find(|window| window.0 == heap).map(|window| &window.1);
    let is_repeated = last.checked_sub(period).is_some_and(|n| n == from + values.len() && at(n) == Some(values));
    let is_chain = rare.last().is_none_or(|last| *last == last_rare) && chain.is_sorted_by(|a, b| a.0 < b.0);
    if period == 0 || !is_repeated || !is_long || !is_chain || !is_even {
        return Err("the windows are no chain that repeats".to_owned());
    }
    let pairs: Vec<_> = chain.windows(2).map(|pair| [&pair[0], &pair[1]]).collect();
    let is_narrow = g.iter().chain(windows.iter().flat_map(|window| &window.1)).all(|value| *value < 32);
    let lead = |pairs| if is_narrow && game.lead::<1>(pairs).is_ok() { Ok(()) } else { game.lead::<4>(pairs) };
    std::thread::scope(|scope| {
        let threads: Vec<_> = pairs.chunks(LANES).map(|pairs| scope.spawn(move || lead(pairs))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    // The period begins there if the values before it differ.
    let before = |heap| at(heap)?.last();
    let is_first = before(from).zip(before(from + period)).is_some_and(|(a, b)| a != b);
    let first = if is_first { "" } else { " at the latest" };
    Ok(format!("{code}: period {period} from heap {from}{first}"))
}

fn main() -> Result<(), String> {
    let file = std::env::args().nth(1).ok_or("usage: check_certificate FILE")?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    println!("{}", check(&text).map_err(|reason| format!("{file} is refused: {reason}"))?);
    Ok(())
}
