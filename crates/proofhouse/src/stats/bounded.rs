//! The interval of a mean of values within 0..=1 whose distribution nobody knows, such as estimates of pass@k by task.

use statrs::function::beta::beta_reg;

use super::interval::Interval;
use super::quantile::Confidence;

/// Values within 0..=1, each with the number of times that it was seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoundedSample {
    /// Ascending; no value is there twice.
    values: Vec<(f64, u64)>,
}

impl BoundedSample {
    /// Adds a value so many times.
    ///
    /// # Panics
    /// When the value is not within 0..=1.
    pub fn push(&mut self, value: f64, times: u64) {
        assert!((0.0..=1.0).contains(&value), "{value} is within 0..=1");
        if times == 0 {
            return;
        }
        match self.values.binary_search_by(|(known, _)| known.total_cmp(&value)) {
            Ok(at) => self.values[at].1 += times,
            Err(at) => self.values.insert(at, (value, times)),
        }
    }

    /// The interval of Gaffke (2005); none without values.
    ///
    /// The upper end is the quantile of Σ DᵢXᵢ + Dₙ₊₁ · 1 where (D₁, …, Dₙ₊₁) is uniform over all weights that add up to 1: a
    /// Bayesian bootstrap to which one value at the very end of the scale was added. The lower end has one at 0. For
    /// values of 0 and 1 that is Clopper and Pearson's interval; for others it narrows as their spread does, and it keeps
    /// room for what a small sample cannot have shown. That it covers at least what it says is proved for 0 and 1 and
    /// conjectured in general: Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis on the mean
    /// of a nonnegative variable"; Learned-Miller and Thomas (2019), "A new confidence interval for the mean of a bounded
    /// random variable". `docs/statistics.md` has what was realised in simulation.
    pub fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let mean = self.mean()?;
        let tail = confidence.tail();
        // Beyond the outermost value only the added one is left.
        let high = crossing(mean, 1.0, |t| self.above(t, 1.0) - tail);
        let low = crossing(mean, 0.0, |t| 1.0 - self.above(t, 0.0) - tail);
        Some(Interval { low: low.clamp(0.0, mean), high: high.clamp(mean, 1.0) })
    }

    fn mean(&self) -> Option<f64> {
        let count: u64 = self.values.iter().map(|(_, times)| times).sum();
        let sum: f64 = self.values.iter().map(|(value, times)| value * *times as f64).sum();
        (count > 0).then(|| (sum / count as f64).clamp(0.0, 1.0))
    }

    /// The chance that the mean is above `t` when every value, and one more at `added`, is weighted at random.
    fn above(&self, t: f64, added: f64) -> f64 {
        let mut with = self.clone();
        with.push(added, 1);
        match with.values[..] {
            [.., (high, _)] if t >= high => 0.0,
            [(low, _), ..] if t <= low => 1.0,
            // One share decides, and it has a beta distribution.
            [(low, a), (high, b)] => beta_reg(a as f64, b as f64, 1.0 - (t - low) / (high - low)),
            _ => positive(&with.values, t),
        }
    }
}

/// The chance that Σ Gⱼ(xⱼ − t) is positive, Gⱼ being independent gamma variables whose shapes are the counts: weights that
/// are uniform over the simplex are such variables, divided by their sum.
///
/// By inversion of the characteristic function as Imhof (1961) does for quadratic forms, with a double exponential
/// substitution (Takahasi and Mori 1974), after which the trapezoidal rule is exact to rounding.
fn positive(values: &[(f64, u64)], t: f64) -> f64 {
    const STEP: f64 = 1.0 / 16.0;
    let spread = values.iter().map(|(x, count)| *count as f64 * (x - t).powi(2)).sum::<f64>().sqrt();
    let mut sum = 0.0;
    // Below −4 the substitution is smaller than any double that matters.
    for at in -64..640_i32 {
        let v = f64::from(at) * STEP;
        let u = (v - (-v).exp()).exp() / spread;
        let (mut angle, mut log_size) = (0.0, 0.0);
        for (x, count) in values {
            let (product, count) = (u * (x - t), *count as f64);
            angle += count * product.atan();
            log_size += 0.5 * count * (product * product).ln_1p();
        }
        sum += angle.sin() * (-log_size).exp() * (1.0 + (-v).exp());
        if log_size > 40.0 {
            break;
        }
    }
    (0.5 + sum * STEP / std::f64::consts::PI).clamp(0.0, 1.0)
}

/// Where a function that is not negative at `inner` falls below 0 on the way to `outer`; `outer` where it does not.
fn crossing(inner: f64, outer: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut inside, mut outside) = ((inner, f(inner)), (outer, f(outer)));
    if inside.1 <= 0.0 {
        return inner;
    }
    if outside.1 >= 0.0 {
        return outer;
    }
    // The false position of Illinois (Dowell and Jarratt 1971).
    for _ in 0..100 {
        let x = (inside.0 * outside.1 - outside.0 * inside.1) / (outside.1 - inside.1);
        if (inside.0 - outside.0).abs() < 1e-15 || x == inside.0 || x == outside.0 {
            break;
        }
        let y = f(x);
        if y >= 0.0 {
            inside = (x, y);
            outside.1 *= 0.5;
        } else {
            outside = (x, y);
            inside.1 *= 0.5;
        }
    }
    inside.0
}

#[cfg(test)]
mod tests {
    use super::super::interval::clopper_pearson;
    use super::super::pass_at_k;
    use super::*;

    const P95: Confidence = Confidence::P95;

    fn sample(values: &[(f64, u64)]) -> BoundedSample {
        let mut sample = BoundedSample::default();
        values.iter().for_each(|(value, times)| sample.push(*value, *times));
        sample
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    /// At the values themselves and beyond them nothing is left to chance.
    #[test]
    fn a_mean_is_never_above_the_highest_value_nor_below_the_lowest() {
        let sample = |values: &[f64]| {
            let mut sample = BoundedSample::default();
            values.iter().for_each(|value| sample.push(*value, 1));
            sample
        };
        for (values, added) in [(&[0.5, 0.5][..], 0.5), (&[0.2, 0.5], 0.2), (&[0.2, 0.3, 0.5], 0.2)] {
            let sample = sample(values);
            assert_eq!((sample.above(0.5, added), sample.above(0.6, added)), (0.0, 0.0), "{values:?}");
            assert_eq!(sample.above(0.1, added), 1.0, "{values:?}");
        }
        assert_eq!(sample(&[0.2, 0.5]).above(0.2, 0.2), 1.0);
    }

    /// Three values of 0.2 and one of 1: the mean is above 0.6 where the last has more than half of the weight, 1/2³.
    #[test]
    fn two_values_share_the_scale_between_them() {
        near(sample(&[(0.2, 3)]).above(0.6, 1.0), 0.125);
    }

    #[test]
    fn zeros_and_ones_have_the_exact_interval() {
        for (successes, trials) in [(0, 1), (1, 1), (0, 50), (1, 50), (37, 50), (50, 50), (3, 500)] {
            let ours = sample(&[(1.0, successes), (0.0, trials - successes)]).interval(P95).unwrap();
            let exact = clopper_pearson(successes, trials, P95).unwrap();
            near(ours.low, exact.low);
            near(ours.high, exact.high);
        }
        assert_eq!(BoundedSample::default().interval(P95), None);
    }

    /// Three weights are uniform over a triangle: the chance is an area.
    #[test]
    fn the_inversion_gives_areas_of_triangles() {
        for t in [0.71, 0.8, 0.95, 0.999] {
            let area = (1.0 - t) * (1.0 - t) / ((1.0 - 0.3) * (1.0 - 0.7));
            near(positive(&[(0.3, 1), (0.7, 1), (1.0, 1)], t), area);
        }
        // And the beta distribution, whose two groups it could do as well.
        near(positive(&[(0.0, 18), (1.0, 3)], 0.31), beta_reg(18.0, 3.0, 0.69));
    }

    #[test]
    fn values_that_hardly_differ_have_a_narrow_interval_and_mirror() {
        let values = [(0.5, 40), (0.6, 80), (0.7, 40)];
        let ours = sample(&values).interval(P95).unwrap();
        let as_one = clopper_pearson(96, 160, P95).unwrap();
        assert!(ours.contains(0.6) && ours.high - ours.low < (as_one.high - as_one.low) / 3.0, "{ours:?}");
        let mirrored =
            sample(&values.map(|(value, times)| (1.0 - value, times))).interval(P95).unwrap().mirrored();
        near(ours.low, mirrored.low);
        near(ours.high, mirrored.high);
    }

    /// Draws that are the same everywhere: splitmix64.
    struct Draws(u64);

    impl Draws {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// The chance to solve a task, from a number between 0 and 1 that is drawn evenly.
    type Difficulty = fn(f64) -> f64;

    /// In how many of so many runs the interval of pass@k holds the mean over all tasks like these.
    fn held(runs: u64, tasks: u64, (n, k): (u64, u64), difficulty: Difficulty) -> u64 {
        let mut draws = Draws(tasks << 32 | n << 16 | k);
        let chance = |p: f64| 1.0 - (1.0 - p).powi(k as i32);
        let grid = (0..20_000).map(|at| (f64::from(at) + 0.5) / 20_000.0);
        let truth = grid.map(|u| chance(difficulty(u))).sum::<f64>() / 20_000.0;
        let mut held = 0;
        for run in 0..runs {
            let mut sample = BoundedSample::default();
            for _ in 0..tasks {
                let p = difficulty(draws.unit());
                let passed = (0..n).filter(|_| draws.unit() < p).count() as u64;
                sample.push(pass_at_k(n, passed, k).unwrap(), 1);
            }
            // Whether the truth is within needs no search for the ends.
            let tail = P95.tail();
            let within = sample.above(truth, 1.0) >= tail && 1.0 - sample.above(truth, 0.0) >= tail;
            if run % 50 == 0 {
                assert_eq!(sample.interval(P95).unwrap().contains(truth), within, "{sample:?}");
            }
            held += u64::from(within);
        }
        held
    }

    /// By simulation, with `PROOFHOUSE_COVERAGE_RUNS` as large as one has time for: 95 % intervals of pass@k hold the truth
    /// in at least 94 % of runs, whatever the tasks are like. The figures of 2,000 runs are in `docs/statistics.md`.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "only the tests ask how long they may take")]
    fn intervals_of_pass_at_k_cover_what_they_say() {
        let runs = std::env::var("PROOFHOUSE_COVERAGE_RUNS").map_or(50, |runs| runs.parse().unwrap());
        let difficulties: [(&str, Difficulty); 5] = [
            ("all alike", |_| 0.5),
            ("bimodal", |u| if u < 0.4 { 0.02 } else { 0.97 }),
            ("nearly unsolved", |u| if u < 0.95 { 0.002 } else { 0.5 }),
            ("nearly solved", |u| if u < 0.05 { 0.5 } else { 0.998 }),
            ("any", |u| u),
        ];
        // What chance takes off a share of 94 % in so many runs, once in a thousand cells.
        let noise = 3.1 * (0.94 * 0.06 / runs as f64).sqrt();
        let (mut all, mut cells) = (0, 0);
        for (name, difficulty) in difficulties {
            for tasks in [20, 50, 164, 500] {
                for sampled in [(1, 1), (5, 1), (5, 5), (20, 1), (20, 5), (20, 10)] {
                    let held = held(runs, tasks, sampled, difficulty);
                    let share = held as f64 / runs as f64;
                    println!("{name}, {tasks} tasks, n and k {sampled:?}: {share:.4}");
                    assert!(share >= 0.94 - noise, "{name}, {tasks} tasks, n and k {sampled:?}: {share}");
                    (all, cells) = (all + held, cells + 1);
                }
            }
        }
        assert!(all as f64 / (cells * runs) as f64 >= 0.94, "{all} of {cells} × {runs}");
    }
}
