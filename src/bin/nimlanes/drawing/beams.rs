//! Statistics of the beams that the P-positions of two heaps form, by bins of the smaller heap on a logarithmic scale.
//!
//! Positions come in order and none is kept, so any number of them fits in memory.

use std::fmt::Write;

/// What is summed over the positions of one beam in a bin. Ratios are counted from a reference, so that nearly equal numbers
/// are not subtracted.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    /// Of `m/n - reference`, and of its square.
    ratios: f64,
    squares: f64,
    /// Of `n`, and of `m - reference n`.
    heaps: f64,
    strays: f64,
    /// The largest `n`.
    last: u64,
}

/// A bin of smaller heaps `from..to`.
#[derive(Clone, Debug)]
struct Bin {
    from: u64,
    to: u64,
    beams: [Sums; 2],
}

/// The positions of a game in bins.
#[derive(Clone, Debug)]
pub struct Bins {
    per_decade: u32,
    limit: u64,
    split: f64,
    references: [f64; 2],
    asymptotes: Option<[f64; 2]>,
    bins: Vec<Bin>,
}

/// The statistics of a beam in a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// `lower` or `upper`.
    pub beam: &'static str,
    /// The smaller heaps `from..to`. In the last bin `to` is where the limit cuts the beam off.
    pub from: u64,
    /// See `from`.
    pub to: u64,
    /// Positions.
    pub count: u64,
    /// The mean of `m/n`.
    pub mean: f64,
    /// The standard deviation of `m/n`.
    pub spread: f64,
    /// `mean` less the asymptote: the known limit of `m/n`, or else its mean in the last whole bin.
    pub gap: f64,
    /// The mean of `m` less the asymptote times `n`, in heaps.
    pub stray: f64,
    /// Positions per smaller heap.
    pub density: f64,
}

const BEAMS: [&str; 2] = ["lower", "upper"];

/// A row needs this many positions for its standard deviation.
const FEWEST: u64 = 2;

impl Bins {
    /// Empty bins, `per_decade` for each factor of ten, for positions with a sum of at most `limit`. A position belongs to the
    /// upper beam if `m/n` is above `split`. `asymptotes` are the limits of `m/n` in each beam, if they are known.
    pub fn new(per_decade: u32, limit: u64, split: f64, asymptotes: Option<[f64; 2]>) -> Self {
        let references = asymptotes.unwrap_or([split; 2]);
        Bins { per_decade, limit, split, references, asymptotes, bins: Vec::new() }
    }

    /// Adds positions, which follow those before in order of their smaller heap.
    pub fn add(&mut self, positions: &[[u64; 2]]) {
        for [n, m] in positions.iter().filter(|[n, _]| *n > 0) {
            while self.bins.last().is_none_or(|bin| *n >= bin.to) {
                self.open();
            }
            let Some(bin) = self.bins.last_mut() else { continue };
            let [heap, larger] = [*n as f64, *m as f64];
            let beam = usize::from(larger > self.split * heap);
            let sums = &mut bin.beams[beam];
            let stray = larger - self.references[beam] * heap;
            let ratio = stray / heap;
            sums.count += 1;
            sums.ratios += ratio;
            sums.squares += ratio * ratio;
            sums.heaps += heap;
            sums.strays += stray;
            sums.last = *n;
        }
    }

    /// Opens the next bin.
    fn open(&mut self) {
        let edge = |number: u32| 10f64.powf(f64::from(number) / f64::from(self.per_decade)).ceil() as u64;
        let from = self.bins.last().map_or(1, |bin| bin.to);
        let to = (1..).map(edge).find(|to| *to > from).unwrap_or(u64::MAX);
        self.bins.push(Bin { from, to, beams: [Sums::default(); 2] });
    }

    /// The statistics of both beams, in the order of the bins.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = [0, 1].into_iter().flat_map(|beam| self.beam(beam)).collect();
        rows.sort_by_key(|row| row.from);
        rows
    }

    fn beam(&self, beam: usize) -> Vec<Row> {
        let reference = self.references[beam];
        let with_enough = || self.bins.iter().filter(|bin| bin.beams[beam].count >= FEWEST);
        let mean = |bin: &Bin| reference + bin.beams[beam].ratios / bin.beams[beam].count as f64;
        // The limit cuts a beam off before its last bin ends.
        let is_cut = |bin: &Bin| bin.to as f64 * (1.0 + mean(bin)) > self.limit as f64;
        let last = with_enough().rfind(|bin| !is_cut(bin)).or(with_enough().next_back());
        let Some(last) = last else { return Vec::new() };
        let asymptote = self.asymptotes.map_or_else(|| mean(last), |asymptotes| asymptotes[beam]);
        let row = |bin: &Bin| {
            let Sums { count, ratios, squares, heaps, strays, last } = bin.beams[beam];
            let to = if is_cut(bin) { last + 1 } else { bin.to };
            let number = count as f64;
            let variance = (squares - ratios * ratios / number) / (number - 1.0);
            Row {
                beam: BEAMS[beam],
                from: bin.from,
                to,
                count,
                mean: mean(bin),
                spread: variance.max(0.0).sqrt(),
                gap: mean(bin) - asymptote,
                stray: (strays + (reference - asymptote) * heaps) / number,
                density: number / (to - bin.from) as f64,
            }
        };
        with_enough().map(row).collect()
    }
}

/// The rows as comma-separated values.
pub fn csv(rows: &[Row]) -> String {
    let mut text = "beam,from,to,count,mean,spread,gap,stray,density\n".to_owned();
    for Row { beam, from, to, count, mean, spread, gap, stray, density } in rows {
        let numbers = format!("{mean:.12},{spread:.6e},{gap:.6e},{stray:.3},{density:.9}");
        writeln!(text, "{beam},{from},{to},{count},{numbers}").expect("writing to a string succeeds");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(limit: u64) -> Vec<[u64; 2]> {
        (0..)
            .map(|n: u64| [n, if n.is_multiple_of(3) { 3 * n + 1 } else { 3 * n / 2 }])
            .take_while(|[n, _]| *n < limit)
            .collect()
    }

    #[test]
    fn the_bins_hold_every_position_once() {
        let all = positions(5000);
        let mut bins = Bins::new(10, u64::MAX, 2.0, Some([1.5, 3.0]));
        all.chunks(77).for_each(|batch| bins.add(batch));
        let rows = bins.rows();
        let of = |beam| rows.iter().filter(move |row| row.beam == beam);
        for (beam, wanted) in [("lower", 1.5), ("upper", 3.0)] {
            let is_upper = beam == "upper";
            let all = || all.iter().filter(|[n, m]| *n > 0 && (m > &(2 * n)) == is_upper);
            for row in of(beam) {
                let inside: Vec<_> = all().filter(|[n, _]| (row.from..row.to).contains(n)).collect();
                let ratios = || inside.iter().map(|[n, m]| *m as f64 / *n as f64);
                let count = inside.len() as f64;
                let mean = ratios().sum::<f64>() / count;
                let spread = (ratios().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
                let stray = inside.iter().map(|[n, m]| *m as f64 - wanted * *n as f64).sum::<f64>() / count;
                assert_eq!(row.count, inside.len() as u64);
                let pairs = [
                    (row.mean, mean),
                    (row.spread, spread),
                    (row.gap, mean - wanted),
                    (row.stray, stray),
                    (row.density, count / (row.to - row.from) as f64),
                ];
                for (got, want) in pairs {
                    assert!((got - want).abs() < 1e-9, "{row:?}: {got} {want}");
                }
            }
            // The first bins hold too few for a row.
            let in_rows: u64 = of(beam).filter(|row| row.from >= 100).map(|row| row.count).sum();
            assert_eq!(in_rows, all().filter(|[n, _]| *n >= 100).count() as u64, "{rows:?}");
        }
    }

    /// Without known asymptotes the gap of the last whole bin is zero, and a bin that the limit cuts off ends there.
    #[test]
    fn the_last_bin_ends_with_the_beam() {
        let limit = 6000;
        let mut bins = Bins::new(4, limit, 2.0, None);
        bins.add(&positions(2000).into_iter().filter(|[n, m]| n + m <= limit).collect::<Vec<_>>());
        for beam in BEAMS {
            let rows: Vec<Row> = bins.rows().into_iter().filter(|row| row.beam == beam).collect();
            let [.., whole, cut] = rows[..] else { panic!("{rows:?}") };
            assert_eq!((whole.gap, whole.to), (0.0, cut.from));
            assert!((cut.density - whole.density).abs() < 0.01, "{rows:?}");
        }
    }

    #[test]
    fn no_positions_have_no_rows() {
        assert_eq!(csv(&Bins::new(10, 100, 2.0, None).rows()).lines().count(), 1);
    }
}
