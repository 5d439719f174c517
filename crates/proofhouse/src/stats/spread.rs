//! How much outcomes vary between cases, between wordings of a case, and between runs of a wording.

use super::interval::Interval;
use super::quantile::Confidence;

/// How often two runs disagree, between wordings and within them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disagreement {
    /// Of two different wordings, on average over pairs of wordings.
    pub between: f64,
    /// Of one wording, on average over wordings.
    pub within: f64,
    /// The 95 % interval of between − within.
    pub interval: Interval,
}

impl Disagreement {
    /// What wording alone adds: 0 where all wordings have the same noise.
    pub fn sensitivity(&self) -> f64 {
        self.between - self.within
    }
}

/// From the runs of each wording; none below two wordings, or where no wording has two runs.
///
/// Both are Gini's mean difference for kinds of outcome, estimated without bias from pairs of different runs (Hoeffding 1948, Annals of
/// Mathematical Statistics 19, 293–325); the interval is the jackknife's over wordings (Arvesen 1969, same journal 40, 2076–2100). A rule may end
/// series by what they show, so of all wordings only as many first runs are taken as each of them has. Where one run each is all there
/// is, the noise within is that of the wordings with more.
pub fn disagreement<T: PartialEq>(wordings: &[&[T]]) -> Option<Disagreement> {
    let known: Vec<&[T]> = wordings.iter().copied().filter(|runs| !runs.is_empty()).collect();
    let all: Vec<usize> = (0..known.len()).collect();
    let table = Table::of(&known);
    let (between, within) = table.of_wordings(&all)?;
    let parts: Vec<f64> = all
        .iter()
        .filter_map(|left_out| {
            let rest: Vec<usize> = all.iter().copied().filter(|at| at != left_out).collect();
            table.of_wordings(&rest).map(|(between, within)| between - within)
        })
        .collect();
    let value = between - within;
    let runs: usize = known.iter().map(|runs| runs.len()).sum();
    let floor = unseen(runs as u64);
    let interval = match between == 0.0 && within == 0.0 {
        true => Interval { low: 0.0, high: floor },
        false => {
            let reach = jackknife_reach(&parts).max(floor);
            Interval { low: (value - reach).max(-1.0), high: (value + reach).min(1.0) }
        }
    };
    Some(Disagreement { between, within, interval })
}

/// What so many alike runs cannot exclude: a share of others of up to 1 − 0.05^(1/n) makes this much disagreement.
fn unseen(runs: u64) -> f64 {
    let other = 1.0 - 0.05f64.powf(1.0 / runs as f64);
    2.0 * other * (1.0 - other)
}

/// Half the width of the 95 % interval.
fn jackknife_reach(parts: &[f64]) -> f64 {
    let count = parts.len() as f64;
    if parts.len() < 2 {
        return 1.0;
    }
    let mean = parts.iter().sum::<f64>() / count;
    let squares: f64 = parts.iter().map(|part| (part - mean).powi(2)).sum();
    Confidence::P95.t(parts.len() as u64 - 1) * (squares * (count - 1.0) / count).sqrt()
}

/// Pairwise disagreement, computed once.
struct Table {
    between: Vec<Vec<f64>>,
    within: Vec<Option<f64>>,
}

impl Table {
    fn of<T: PartialEq>(wordings: &[&[T]]) -> Self {
        let first = wordings.iter().map(|runs| runs.len()).min().unwrap_or(0);
        let taken: Vec<&[T]> = wordings.iter().map(|runs| &runs[..first]).collect();
        let differ = |a: &[T], b: &[T]| -> f64 {
            let pairs = a.iter().map(|one| b.iter().filter(|other| *other != one).count()).sum::<usize>();
            pairs as f64
        };
        let own = |runs: &[T]| {
            let n = runs.len() as f64;
            (n >= 2.0).then(|| differ(runs, runs) / (n * (n - 1.0)))
        };
        let between = taken
            .iter()
            .map(|a| taken.iter().map(|b| differ(a, b) / (first * first).max(1) as f64).collect())
            .collect();
        let within = match first {
            0 | 1 => wordings.iter().map(|runs| own(runs)).collect(),
            _ => taken.iter().map(|runs| own(runs)).collect(),
        };
        Self { between, within }
    }

    fn of_wordings(&self, which: &[usize]) -> Option<(f64, f64)> {
        let own: Vec<f64> = which.iter().filter_map(|at| self.within[*at]).collect();
        if which.len() < 2 || own.is_empty() {
            return None;
        }
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (nth, a) in which.iter().enumerate() {
            for b in &which[nth + 1..] {
                sum += self.between[*a][*b];
                pairs += 1.0;
            }
        }
        Some((sum / pairs, own.iter().sum::<f64>() / own.len() as f64))
    }
}

/// The parts that the variance of a run's success has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Components {
    /// Between cases; none below two cases.
    pub case: Option<f64>,
    /// Between wordings of a case.
    pub wording: f64,
    /// Between runs of a wording.
    pub repetition: f64,
    /// How many cases there are.
    pub cases: u64,
    /// Wordings per case: the harmonic mean.
    pub wordings: f64,
    /// Runs per wording that were used.
    pub repetitions: u64,
}

impl Components {
    /// What the variance of the mean over everything is made of: by cases, wordings and repetitions.
    pub fn of_the_mean(&self) -> [f64; 3] {
        let cases = self.cases as f64;
        let wordings = cases * self.wordings;
        [
            self.case.unwrap_or(0.0) / cases,
            self.wording / wordings,
            self.repetition / (wordings * self.repetitions as f64),
        ]
    }
}

/// Case by case the runs of each wording, as successes; none where no case has two wordings with two runs each.
///
/// The nested analysis of variance with unweighted means (Searle, Casella and McCulloch 1992, *Variance Components*, chapters 3
/// and 5), from as many first runs as every wording has, since later ones may have been decided by earlier ones. Estimates below 0 are 0.
pub fn variance_components(cases: &[Vec<Vec<bool>>]) -> Option<Components> {
    let used: Vec<Vec<&Vec<bool>>> = cases
        .iter()
        .map(|wordings| wordings.iter().filter(|runs| runs.len() >= 2).collect::<Vec<_>>())
        .filter(|wordings| wordings.len() >= 2)
        .collect();
    let runs = used.iter().flatten().map(|runs| runs.len()).min()?;
    let m = runs as f64;
    let (mut noise, mut wordings, mut between, mut degrees) = (0.0, 0.0, 0.0, 0.0);
    let (mut means, mut inverse) = (Vec::new(), 0.0);
    for case in &used {
        let rates: Vec<f64> =
            case.iter().map(|of| of[..runs].iter().filter(|passed| **passed).count() as f64 / m).collect();
        let count = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / count;
        noise += rates.iter().map(|rate| rate * (1.0 - rate) * m / (m - 1.0)).sum::<f64>();
        between += rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
        degrees += count - 1.0;
        wordings += count;
        inverse += 1.0 / count;
        means.push(mean);
    }
    let count = used.len() as f64;
    let repetition = noise / wordings;
    let of_wordings = between / degrees;
    let case = (used.len() >= 2).then(|| {
        let mean = means.iter().sum::<f64>() / count;
        let spread = means.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (spread - of_wordings * inverse / count).max(0.0)
    });
    Some(Components {
        case,
        wording: (of_wordings - repetition / m).max(0.0),
        repetition,
        cases: used.len() as u64,
        wordings: count / inverse,
        repetitions: runs as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordings_that_differ_and_noise_that_does_not() {
        let apart = disagreement(&[&[1u8; 4][..], &[1; 4], &[2; 4]]).unwrap();
        assert!((apart.between - 2.0 / 3.0).abs() < 1e-12 && apart.within == 0.0, "{apart:?}");
        // A coin in every wording: both are 1/2 in expectation, here exactly by design.
        let coin = disagreement(&[&[1u8, 2, 1, 2][..], &[1, 2, 1, 2], &[1, 2, 1, 2]]).unwrap();
        assert!((coin.between - 0.5).abs() < 1e-12 && (coin.within - 2.0 / 3.0).abs() < 1e-12, "{coin:?}");
        let alike = disagreement(&[&[1u8; 5][..], &[1; 5]]).unwrap();
        assert!(
            alike.sensitivity() == 0.0 && alike.interval.high > 0.1,
            "ten runs do not exclude everything: {alike:?}"
        );
        assert_eq!(disagreement(&[&[1u8; 5][..]]), None);
        assert_eq!(disagreement(&[&[1u8][..], &[2]]), None, "one run each says nothing of noise");
        assert!(disagreement(&[&[1u8, 1, 1][..], &[2], &[1]]).is_some(), "the noise is that of the baseline");
    }

    #[test]
    fn components_worked_out_by_hand() {
        let (all, none, half) = (vec![true; 4], vec![false; 4], vec![true, true, false, false]);
        // Only the case matters.
        let found =
            variance_components(&[vec![all.clone(), all.clone()], vec![none.clone(), none.clone()]]).unwrap();
        assert_eq!((found.case, found.wording, found.repetition), (Some(0.5), 0.0, 0.0));
        // Only the wording matters: variance of {0, 1} is 1/2 in each case, and the means of cases are alike.
        let found = variance_components(&[vec![all.clone(), none.clone()], vec![none, all.clone()]]).unwrap();
        assert_eq!((found.case, found.wording, found.repetition), (Some(0.0), 0.5, 0.0));
        // Only noise: 4/3 × 1/4, and wordings do not differ.
        let found =
            variance_components(&[vec![half.clone(), half.clone()], vec![half.clone(), half]]).unwrap();
        assert_eq!((found.case, found.wording), (Some(0.0), 0.0));
        assert!((found.repetition - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(variance_components(&[vec![all]]), None);
    }

    /// Runs 1 1, 1 2 and 2 2: of two wordings differ 2, 4 and 2 pairs of 4; within them 0, 1 and 0 of 1.
    #[test]
    fn disagreement_worked_out_by_hand() {
        let found = disagreement(&[&[1u8, 1][..], &[1, 2], &[2, 2]]).unwrap();
        assert!((found.between - 2.0 / 3.0).abs() < 1e-12 && (found.within - 1.0 / 3.0).abs() < 1e-12);
        assert!((found.sensitivity() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(found.interval, Interval { low: -1.0, high: 1.0 }, "three wordings say little");
        let with_empty = disagreement(&[&[][..], &[1u8, 1], &[1, 2], &[], &[2, 2]]);
        assert_eq!(with_empty, Some(found), "one without runs is none");
        // Of all wordings two runs count, as the second has no more.
        let first_two = disagreement(&[&[1u8, 1, 2][..], &[1, 1]]).unwrap();
        assert_eq!((first_two.between, first_two.within), (0.0, 0.0));
        // One run each: between them 1, 0 and 1; the noise is that of the wording with three, 4 ordered pairs of 6.
        let alone = disagreement(&[&[1u8, 1, 2][..], &[2], &[1]]).unwrap();
        assert!(
            (alone.between - 2.0 / 3.0).abs() < 1e-12 && (alone.within - 2.0 / 3.0).abs() < 1e-12,
            "{alone:?}"
        );
    }

    /// Three wordings of which each looks like a coin: no wording makes a difference, so the interval is as wide as what six runs leave
    /// open: 0.05^(1/6) = 0.606962, and 2 × 0.393038 × 0.606962 = 0.477119.
    #[test]
    fn an_interval_is_never_narrower_than_what_was_not_seen() {
        for (runs, expected) in [(1, 0.095), (2, 0.347214), (6, 0.477119)] {
            assert!((unseen(runs) - expected).abs() < 1e-6, "{runs}: {}", unseen(runs));
        }
        let found = disagreement(&[&[1u8, 2][..], &[1, 2], &[1, 2]]).unwrap();
        assert_eq!((found.between, found.within), (0.5, 1.0));
        let (low, high) = (-0.5 - 0.477119, -0.5 + 0.477119);
        assert!(
            (found.interval.low - low).abs() < 1e-6 && (found.interval.high - high).abs() < 1e-6,
            "{found:?}"
        );
        let alike = disagreement(&[&[1u8, 1][..], &[1, 1]]).unwrap();
        assert_eq!(alike.interval.low, 0.0);
        assert!((alike.interval.high - unseen(4)).abs() < 1e-12);
    }

    /// t of two degrees is 4.302653; the squares around 1/3 add up to 2/3.
    #[test]
    fn a_jackknife_reaches_as_far_as_its_parts_differ() {
        assert!(
            (jackknife_reach(&[0.0, 1.0, 0.0]) - 4.302653 * (2.0f64 / 3.0 * 2.0 / 3.0).sqrt()).abs() < 1e-5
        );
        // t of one degree is 12.706205; the squares around 0.45 add up to 0.005.
        assert!((jackknife_reach(&[0.4, 0.5]) - 12.706205 * (0.005f64 / 2.0).sqrt()).abs() < 1e-5);
        assert_eq!((jackknife_reach(&[0.3]), jackknife_reach(&[])), (1.0, 1.0));
    }

    /// Two wordings that always and never pass, and three that always do: 1/2 of squares over 3 degrees is 1/6 between wordings; means 1/2 and 1
    /// have the variance 1/8, of which 1/6 × (1/2 + 1/3) / 2 is that of wordings.
    #[test]
    fn components_of_cases_with_different_numbers_of_wordings() {
        let (all, none, half) = (vec![true, true], vec![false, false], vec![true, false]);
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        let found = variance_components(&[vec![all.clone(), none], vec![all.clone(); 3]]).unwrap();
        assert!(close(found.case.unwrap(), 1.0 / 18.0) && close(found.wording, 1.0 / 6.0), "{found:?}");
        assert!(close(found.wordings, 2.4) && found.repetition == 0.0);
        assert_eq!((found.cases, found.repetitions), (2, 2));
        let [case, wording, repetition] = found.of_the_mean();
        assert!(close(case, 1.0 / 36.0) && close(wording, 1.0 / 6.0 / 4.8) && repetition == 0.0);
        // Coins in the second case: 3 × 1/4 × 2 of squares over 5 wordings is 0.3 of a run, over 2 × 2.4 × 2 runs.
        let noisy = variance_components(&[vec![all.clone(); 2], vec![half.clone(); 3]]).unwrap();
        assert!(close(noisy.repetition, 0.3) && noisy.wording == 0.0 && close(noisy.case.unwrap(), 0.125));
        assert!(close(noisy.of_the_mean()[2], 0.3 / 9.6));
        // Only first runs count that every wording has, of wordings and cases that have two.
        let longer = vec![vec![true, true, false], all.clone(), vec![true]];
        let alone = variance_components(&[longer, vec![half], vec![]]).unwrap();
        assert_eq!((alone.case, alone.wording, alone.repetition, alone.repetitions), (None, 0.0, 0.0, 2));
        assert_eq!((alone.cases, alone.of_the_mean()[0]), (1, 0.0));
    }
}
