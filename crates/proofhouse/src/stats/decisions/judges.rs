//! Judges err too: how often, by answers whose right verdict is known, and what rates are without their errors.

use super::{cases, grouped, names, percent};
use crate::stats::{Alpha, ClusterMoments, Confidence, Corrected, Hits, Ratings, rogan_gladen, wilson};

/// What a judge made of answers whose right verdict is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calibrated {
    /// Right answers that it called right.
    pub sensitivity: Hits,
    /// Wrong answers that it called wrong.
    pub specificity: Hits,
    /// Answers of which it could not say.
    pub unjudged: u64,
}

impl Calibrated {
    /// Takes an answer: whether it is right, and what the judge said.
    pub fn push(&mut self, right: bool, said: Option<bool>) {
        let Some(said) = said else {
            self.unjudged += 1;
            return;
        };
        let hits = if right { &mut self.sensitivity } else { &mut self.specificity };
        hits.of += 1;
        hits.right += u64::from(said == right);
    }

    /// All of it in one sentence about `judge`, without a full stop.
    pub fn sentence(&self, judge: &str) -> String {
        let mut text = format!(
            "on answers like the labelled ones, {judge} {} and {}",
            part(self.sensitivity, "right", "sensitivity"),
            part(self.specificity, "wrong", "specificity")
        );
        if self.unjudged > 0 {
            text.push_str(&format!("; of {} more it could not say", grouped(self.unjudged)));
        }
        text
    }

    /// A rate of passed trials without the judge's errors, which are taken to be those on the labelled answers.
    pub fn correct(&self, passed: &ClusterMoments) -> Correction {
        let Some(seen) = passed.mean() else { return Correction::NothingSeen };
        let hits = (self.sensitivity, self.specificity);
        let (Some(right), Some(wrong)) = (hits.0.share(), hits.1.share()) else {
            return Correction::OneKindOnly { seen };
        };
        let trials = passed.effective_trials(Confidence::P95);
        match rogan_gladen(seen, trials, hits, Confidence::P95) {
            Some(corrected) => Correction::Made { seen, corrected },
            None => Correction::NoBetterThanChance { seen, sum: right + wrong },
        }
    }
}

/// `calls 18 of 20 right answers right (sensitivity 90.0 %, 95 % interval 69.9 % to 97.2 %)`
fn part(hits: Hits, kind: &str, name: &str) -> String {
    match hits.share().zip(wilson(hits.right, hits.of, Confidence::P95)) {
        Some((share, interval)) => format!(
            "calls {} of {} {kind} answers {kind} ({name} {}, 95 % interval {} to {})",
            grouped(hits.right),
            grouped(hits.of),
            percent(share),
            percent(interval.low),
            percent(interval.high)
        ),
        None => format!("has judged no {kind} answer, so that its {name} is not known"),
    }
}

/// What becomes of a rate without the errors of its judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Correction {
    /// There is none.
    NothingSeen,
    /// Its judge is known on right or on wrong answers only.
    OneKindOnly {
        /// The rate as judged.
        seen: f64,
    },
    /// Its judge says right of wrong answers as often as of right ones.
    NoBetterThanChance {
        /// The rate as judged.
        seen: f64,
        /// Sensitivity and specificity together.
        sum: f64,
    },
    /// There is one.
    Made {
        /// The rate as judged.
        seen: f64,
        /// Without the judge's errors.
        corrected: Corrected,
    },
}

impl Correction {
    /// The corrected rate, where there is one.
    pub fn made(&self) -> Option<Corrected> {
        match self {
            Correction::Made { corrected, .. } => Some(*corrected),
            _ => None,
        }
    }

    /// All of it in one sentence about `target`, without a full stop.
    pub fn sentence(&self, target: &str) -> String {
        match self {
            Correction::NothingSeen => {
                format!("{target}: nothing was assessed, so there is no rate to correct")
            }
            Correction::OneKindOnly { seen } => format!(
                "{target}: {} as judged; it cannot be corrected without labelled answers that are right and others that are wrong",
                percent(*seen)
            ),
            Correction::NoBetterThanChance { seen, sum } => format!(
                "{target}: {} as judged; it cannot be corrected, as the judge is no better than chance (sensitivity and specificity \
                 add up to {}, and have to exceed 100 %)",
                percent(*seen),
                percent(*sum)
            ),
            Correction::Made { seen, corrected } => format!(
                "{target}: {} as judged; without the judge's errors {} (95 % interval {} to {}, on cases like these)",
                percent(*seen),
                percent(corrected.rate),
                percent(corrected.interval.low),
                percent(corrected.interval.high)
            ),
        }
    }
}

/// What so many labelled answers can tell of a judge who is right about nine of ten, in one sentence without a full stop.
pub fn foreseen_calibration(right: u64, wrong: u64) -> String {
    let width = |of: u64| {
        let hits = (of as f64 * 0.9).round() as u64;
        let interval = wilson(hits, of, Confidence::P95)?;
        Some(format!("{} to {}", percent(interval.low), percent(interval.high)))
    };
    let told = |name: &str, of: u64| match width(of) {
        Some(range) => format!("{name} of 90 % would be known as {range}"),
        None => format!("{name} cannot be known"),
    };
    format!(
        "{} right and {} wrong labelled answers: a {}, a {}",
        grouped(right),
        grouped(wrong),
        told("sensitivity", right),
        told("specificity", wrong)
    )
}

/// How far raters agree, in one sentence without a full stop.
pub fn agreement_sentence(raters: &[String], ratings: &Ratings, alpha: Option<&Alpha>) -> String {
    let who = names(raters);
    let over = format!("{} answers to {}", grouped(ratings.units()), cases(ratings.cases()));
    let Some(alpha) = alpha else {
        return match ratings.units() {
            0 => format!("{who}: no answer was judged by two of them, so that their agreement is not known"),
            _ => format!(
                "{who} say the same of all {over}, all right or all wrong: agreement beyond chance cannot be seen"
            ),
        };
    };
    let number = |value: f64| crate::text::numbers::decimals(value, 2);
    let range = match alpha.interval {
        Some(interval) => format!("95 % interval {} to {}, ", number(interval.low), number(interval.high)),
        None => String::new(),
    };
    format!(
        "{who} agree with Krippendorff's α = {} ({range}over {over}; 1 is full agreement, 0 is chance)",
        number(alpha.value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(right: (u64, u64), wrong: (u64, u64)) -> Calibrated {
        let hits = |(right, of)| Hits { right, of };
        Calibrated { sensitivity: hits(right), specificity: hits(wrong), unjudged: 0 }
    }

    fn moments(passed: u64, of: u64) -> ClusterMoments {
        let mut moments = ClusterMoments::default();
        (0..of).for_each(|at| moments.push(f64::from(u8::from(at < passed)), 1));
        moments
    }

    #[test]
    fn sentences_say_what_is_known() {
        let mut tried = judge((18, 20), (15, 20));
        tried.push(false, Some(false));
        tried.push(true, None);
        insta::assert_snapshot!(tried.sentence("polite"), @"on answers like the labelled ones, polite calls 18 of 20 right answers right (sensitivity 90.0 %, 95 % interval 69.9 % to 97.2 %) and calls 16 of 21 wrong answers wrong (specificity 76.2 %, 95 % interval 54.9 % to 89.4 %); of 1 more it could not say");
        insta::assert_snapshot!(judge((18, 20), (0, 0)).sentence("polite"), @"on answers like the labelled ones, polite calls 18 of 20 right answers right (sensitivity 90.0 %, 95 % interval 69.9 % to 97.2 %) and has judged no wrong answer, so that its specificity is not known");
        let say = |judge: Calibrated, passed: u64, of: u64| judge.correct(&moments(passed, of)).sentence("m");
        insta::assert_snapshot!(say(judge((90, 100), (80, 100)), 62, 100), @"m: 62.0 % as judged; without the judge's errors 60.0 % (95 % interval 44.3 % to 74.9 %, on cases like these)");
        insta::assert_snapshot!(say(judge((5, 10), (4, 10)), 62, 100), @"m: 62.0 % as judged; it cannot be corrected, as the judge is no better than chance (sensitivity and specificity add up to 90.0 %, and have to exceed 100 %)");
        insta::assert_snapshot!(say(judge((5, 10), (0, 0)), 62, 100), @"m: 62.0 % as judged; it cannot be corrected without labelled answers that are right and others that are wrong");
        insta::assert_snapshot!(say(judge((5, 10), (5, 5)), 0, 0), @"m: nothing was assessed, so there is no rate to correct");
    }

    #[test]
    fn agreement_is_said_with_its_doubt() {
        let say = |units: &[&[f64]]| {
            let mut ratings = Ratings::default();
            for unit in units {
                ratings.push(unit);
                ratings.close_case();
            }
            let alpha = ratings.alpha(Confidence::P95);
            agreement_sentence(&["a".to_owned(), "b".to_owned()], &ratings, alpha.as_ref())
        };
        insta::assert_snapshot!(say(&[&[1.0, 1.0], &[0.0, 0.0], &[1.0, 0.0], &[1.0, 1.0], &[0.0, 0.0]]), @"a, b agree with Krippendorff's α = 0.64 (95 % interval −0.40 to 1.00, over 5 answers to 5 cases; 1 is full agreement, 0 is chance)");
        insta::assert_snapshot!(say(&[&[1.0, 0.0], &[0.0, 1.0]]), @"a, b agree with Krippendorff's α = −0.50 (over 2 answers to 2 cases; 1 is full agreement, 0 is chance)");
        insta::assert_snapshot!(say(&[&[1.0, 1.0], &[1.0, 1.0]]), @"a, b say the same of all 2 answers to 2 cases, all right or all wrong: agreement beyond chance cannot be seen");
        insta::assert_snapshot!(say(&[&[1.0]]), @"a, b: no answer was judged by two of them, so that their agreement is not known");
    }

    /// Wilson's interval of 18 of 20 is 69.9 % to 97.2 %, that of 9 of 10 59.6 % to 98.2 %.
    #[test]
    fn what_labelled_answers_will_tell_is_known_before() {
        insta::assert_snapshot!(foreseen_calibration(20, 10), @"20 right and 10 wrong labelled answers: a sensitivity of 90 % would be known as 69.9 % to 97.2 %, a specificity of 90 % would be known as 59.6 % to 98.2 %");
        insta::assert_snapshot!(foreseen_calibration(0, 10), @"0 right and 10 wrong labelled answers: a sensitivity cannot be known, a specificity of 90 % would be known as 59.6 % to 98.2 %");
    }

    /// 0.62 as judged, by a judge who finds 9 of 10 right answers and 8 of 10 wrong ones: (0.62 + 0.8 − 1) / (0.9 + 0.8 − 1) = 0.6.
    #[test]
    fn only_a_correction_that_was_made_has_a_rate() {
        let made =
            judge((90, 100), (80, 100)).correct(&moments(62, 100)).made().expect("it is better than chance");
        assert!((made.rate - 0.6).abs() < 1e-12, "{made:?}");
        for none in [judge((5, 10), (4, 10)), judge((5, 10), (0, 0)), judge((0, 0), (5, 10))] {
            assert_eq!(none.correct(&moments(62, 100)).made(), None);
        }
        assert_eq!(judge((5, 5), (5, 5)).correct(&moments(0, 0)).made(), None);
    }

    #[test]
    fn answers_are_counted_by_what_they_are_and_what_was_said() {
        let mut tried = Calibrated::default();
        for (right, said) in [
            (true, Some(true)),
            (true, Some(true)),
            (true, Some(false)),
            (false, Some(false)),
            (false, Some(true)),
            (false, Some(true)),
            (false, Some(true)),
            (true, None),
            (false, None),
        ] {
            tried.push(right, said);
        }
        let hits = |right, of| Hits { right, of };
        let expected = Calibrated { sensitivity: hits(2, 3), specificity: hits(1, 4), unjudged: 2 };
        assert_eq!(tried, expected);
        assert!(!judge((1, 1), (1, 1)).sentence("j").contains("could not say"));
    }
}
