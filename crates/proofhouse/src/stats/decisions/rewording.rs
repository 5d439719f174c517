//! What other wordings do: a generator over all its cases, how sensitive a case is, and where the next runs are spent best.

use super::{LEVEL, cases, percent, points};
use crate::stats::interval::Interval;
use crate::stats::{
    Components, Confidence, Disagreement, Stratum, benjamini_hochberg, cochran_mantel_haenszel,
    detectable_unpaired, stratified_difference,
};

/// Shares that differ by less than this are called equivalent.
pub const EQUIVALENT: f64 = 0.10;

/// What a generator's wordings do to a tool, as one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Outcomes are others than without rewording.
    Changes,
    /// Success stays within ten points.
    Equivalent,
    /// Neither can be said.
    NotEnough,
}

impl Effect {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Changes => "changes_outcomes",
            Effect::Equivalent => "equivalent",
            Effect::NotEnough => "not_enough_runs",
        }
    }
}

/// The pooled counts of one generator: by case, as it stands and reworded.
#[derive(Debug, Clone, Default)]
pub struct Pooled {
    /// Runs with the outcome that is most frequent in the case, over both groups.
    pub usual: Vec<Stratum>,
    /// Runs that succeeded.
    pub success: Vec<Stratum>,
}

/// What a generator's wordings do, pooled over cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Reworded {
    /// The word.
    pub effect: Effect,
    /// Of the pooled test that outcomes are as without rewording; none without runs on both sides.
    pub p: Option<f64>,
    /// The same, adjusted over all generators of the target.
    pub adjusted_p: Option<f64>,
    /// Success with rewording minus success without, and its 90 % interval: that of two one-sided tests at 5 %.
    pub difference: Option<(f64, Interval)>,
    /// Cases with runs on both sides.
    pub cases: u64,
}

/// Decides about all generators of a target at once.
///
/// The pooled test is that of Cochran, Mantel and Haenszel over cases, adjusted by Benjamini and Hochberg over generators. Equivalence
/// is shown by two one-sided tests (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657–680).
pub fn reworded(generators: &[Pooled]) -> Vec<Reworded> {
    let p_values: Vec<Option<f64>> =
        generators.iter().map(|pooled| cochran_mantel_haenszel(&pooled.usual)).collect();
    let known: Vec<f64> = p_values.iter().flatten().copied().collect();
    let mut adjusted = benjamini_hochberg(&known).into_iter();
    let ninety = Confidence::new(1.0 - 2.0 * LEVEL).unwrap_or(Confidence::P95);
    let one = |(pooled, p): (&Pooled, Option<f64>)| {
        let adjusted_p = p.and_then(|_| adjusted.next());
        let difference = stratified_difference(&pooled.success, ninety);
        let within = |interval: Interval| interval.low > -EQUIVALENT && interval.high < EQUIVALENT;
        let effect = match difference {
            _ if adjusted_p.is_some_and(|p| p <= LEVEL) => Effect::Changes,
            Some((_, interval)) if within(interval) => Effect::Equivalent,
            _ => Effect::NotEnough,
        };
        let both = |stratum: &&Stratum| stratum.first.1 > 0 && stratum.second.1 > 0;
        Reworded { effect, p, adjusted_p, difference, cases: pooled.usual.iter().filter(both).count() as u64 }
    };
    generators.iter().zip(p_values).map(one).collect()
}

impl Reworded {
    /// Whether success stays within ten points, whatever else changes.
    pub fn keeps_success(&self) -> bool {
        self.difference.is_some_and(|(_, of)| of.low > -EQUIVALENT && of.high < EQUIVALENT)
    }

    /// All of it in one sentence about the generator of this name, without a full stop.
    pub fn sentence(&self, name: &str) -> String {
        let Some(((difference, of), p)) = self.difference.zip(self.adjusted_p) else {
            return format!("{name}: nothing could be compared");
        };
        let test = format!("Cochran–Mantel–Haenszel over {}, {}", cases(self.cases), super::p_value(p));
        let interval = format!("90 % interval {} to {}", points(of.low), points(of.high));
        match self.effect {
            Effect::Changes if self.keeps_success() => format!(
                "{name} changes how the tool gets there ({test}), while success stays within 10 points (TOST, {interval})"
            ),
            Effect::Changes => format!(
                "{name} changes what the tool does ({test}): success by {} points ({interval})",
                points(difference)
            ),
            Effect::Equivalent => {
                format!("{name}: success within 10 points of the wording as it stands (TOST, {interval})")
            }
            Effect::NotEnough => format!(
                "{name}: not enough runs to tell: success by {} points ({interval}; {test})",
                points(difference)
            ),
        }
    }
}

/// What a generator's runs can show at all, said before they are paid for.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreseen {
    /// The smallest drop of a success rate of 90 % that is seen with 80 % power; none where none is.
    pub drop: Option<f64>,
    /// How far success could still differ if every run succeeded.
    pub reach: f64,
}

/// For runs as they stand and reworded ones in each case, beside so many other generators.
pub fn foreseen(cases: &[(u64, u64)], generators: u64) -> Option<Foreseen> {
    let strata: Vec<Stratum> = cases
        .iter()
        .map(|(base, reworded)| Stratum { first: (*base, *base), second: (*reworded, *reworded) })
        .collect();
    let ninety = Confidence::new(1.0 - 2.0 * LEVEL)?;
    let (_, of) = stratified_difference(&strata, ninety)?;
    let (base, new) = cases.iter().fold((0, 0), |(base, new), case| (base + case.0, new + case.1));
    // Groups of different size are worth as much as two of their harmonic mean.
    let each = (2.0 / (1.0 / base as f64 + 1.0 / new as f64)).floor() as u64;
    let confidence = Confidence::new(1.0 - LEVEL / generators.max(1) as f64)?;
    let drop = detectable_unpaired(each, 0.9, confidence, 0.8).and_then(|seen| seen.drop);
    Some(Foreseen { drop, reach: of.high.max(-of.low) })
}

impl Foreseen {
    /// Whether "within 10 points" can be shown at all.
    pub fn can_be_equivalent(&self) -> bool {
        self.reach < EQUIVALENT
    }

    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let drop = match self.drop {
            Some(drop) => format!(
                "a drop of success from 90 % by {} points is seen with 80 % power",
                points(drop).trim_start_matches('+')
            ),
            None => "no drop of success from 90 % is seen with 80 % power".to_owned(),
        };
        let reach = points(self.reach);
        let reach = reach.trim_start_matches('+');
        match self.can_be_equivalent() {
            true => format!("{drop}; if every run succeeds, success is shown to stay within {reach} points"),
            false => format!(
                "{drop}; even if every run succeeds, success may differ by {reach} points, so \"within 10 points\" cannot be shown"
            ),
        }
    }
}

/// How sensitive a case is to its wording, in one sentence without a full stop.
pub fn sensitivity_sentence(found: &Disagreement) -> String {
    let Interval { low, high } = found.interval;
    format!(
        "wording adds {} points of disagreement (95 % interval {} to {}): two runs disagree in {} across wordings and in {} within one",
        points(found.sensitivity()).trim_start_matches('+'),
        points(low),
        points(high),
        percent(found.between),
        percent(found.within)
    )
}

/// What to buy next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purchase {
    /// More cases.
    Cases,
    /// More wordings of each case.
    Wordings,
    /// More runs of each wording.
    Repetitions,
}

impl Purchase {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Purchase::Cases => "cases",
            Purchase::Wordings => "wordings",
            Purchase::Repetitions => "repetitions",
        }
    }
}

/// Where the uncertainty of the mean comes from most; cases where there is only one, or where nothing varies.
pub fn purchase(found: &Components) -> Purchase {
    let [case, wording, repetition] = found.of_the_mean();
    match found.case {
        None => Purchase::Cases,
        Some(_) if case >= wording && case >= repetition => Purchase::Cases,
        Some(_) if wording >= repetition => Purchase::Wordings,
        Some(_) => Purchase::Repetitions,
    }
}

/// What varies and what to buy next, in one sentence without a full stop.
pub fn purchase_sentence(found: &Components) -> String {
    let [case, wording, repetition] = found.of_the_mean();
    let total = case + wording + repetition;
    let parts = found.case.unwrap_or(0.0) + found.wording + found.repetition;
    let Some(of_case) = found.case else {
        return "there is one case with several wordings, so nothing is known of others: buy cases next"
            .to_owned();
    };
    if total == 0.0 {
        return "success does not vary between cases, wordings or runs: only other cases could show anything new, so buy cases next".to_owned();
    }
    let bought = purchase(found);
    let term = match bought {
        Purchase::Cases => case,
        Purchase::Wordings => wording,
        Purchase::Repetitions => repetition,
    };
    let halved = (total - term / 2.0).sqrt();
    format!(
        "of the variance of success, {} lies between cases, {} between wordings of a case, {} between runs of a wording; buy {} next: \
         twice as many narrow the standard error of the mean from {:.1} to {:.1} points",
        percent(of_case / parts),
        percent(found.wording / parts),
        percent(found.repetition / parts),
        bought.word(),
        100.0 * total.sqrt(),
        // Twice the cases halve everything, as they bring their own wordings and runs.
        100.0 * if bought == Purchase::Cases { (total / 2.0).sqrt() } else { halved }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{disagreement, variance_components};

    fn pooled(cases: &[(u64, u64, u64, u64)]) -> Pooled {
        let strata: Vec<Stratum> =
            cases.iter().map(|(a, n, b, m)| Stratum { first: (*a, *n), second: (*b, *m) }).collect();
        Pooled { usual: strata.clone(), success: strata }
    }

    #[test]
    fn three_answers_and_none_of_them_is_no_effect() {
        let breaks = pooled(&[(22, 22, 20, 20), (22, 22, 0, 20)]);
        let same = pooled(&[(22, 22, 20, 20), (22, 22, 20, 20), (22, 22, 20, 20)]);
        let few = pooled(&[(10, 10, 3, 3)]);
        let detour = Pooled { usual: breaks.usual.clone(), success: same.success.clone() };
        let found = reworded(&[breaks, same, few, detour, Pooled::default()]);
        let say = |at: usize, name: &str| found[at].sentence(name);
        insta::assert_snapshot!(say(0, "whitespace_noise"), @"whitespace_noise changes what the tool does (Cochran–Mantel–Haenszel over 2 cases, p < 0.0001): success by −50.0 points (90 % interval −56.0 to −40.2)");
        insta::assert_snapshot!(say(1, "synonym_substitution"), @"synonym_substitution: success within 10 points of the wording as it stands (TOST, 90 % interval −6.9 to +6.3)");
        insta::assert_snapshot!(say(2, "punctuation_noise"), @"punctuation_noise: not enough runs to tell: success by 0 points (90 % interval −47.4 to +21.3; Cochran–Mantel–Haenszel over 1 case, p = 1)");
        insta::assert_snapshot!(say(3, "lexical_shuffle"), @"lexical_shuffle changes how the tool gets there (Cochran–Mantel–Haenszel over 2 cases, p < 0.0001), while success stays within 10 points (TOST, 90 % interval −6.9 to +6.3)");
        insta::assert_snapshot!(say(4, "ai_rewrite"), @"ai_rewrite: nothing could be compared");
        assert_eq!(found[4].effect, Effect::NotEnough);
    }

    #[test]
    fn what_can_be_shown_is_foreseen() {
        insta::assert_snapshot!(foreseen(&[(22, 20)], 4).unwrap().sentence(), @"a drop of success from 90 % by 48.3 points is seen with 80 % power; even if every run succeeds, success may differ by 11.9 points, so \"within 10 points\" cannot be shown");
        insta::assert_snapshot!(foreseen(&[(22, 25); 8], 4).unwrap().sentence(), @"a drop of success from 90 % by 12.7 points is seen with 80 % power; if every run succeeds, success is shown to stay within 3.9 points");
        insta::assert_snapshot!(foreseen(&[(3, 1)], 4).unwrap().sentence(), @"no drop of success from 90 % is seen with 80 % power; even if every run succeeds, success may differ by 73.0 points, so \"within 10 points\" cannot be shown");
        assert_eq!(foreseen(&[], 1), None);
    }

    #[test]
    fn sensitivity_and_what_to_buy_are_said() {
        let found = disagreement(&[&[1u8; 5][..], &[1; 5], &[2; 5], &[1; 5], &[1; 5]]).unwrap();
        insta::assert_snapshot!(sensitivity_sentence(&found), @"wording adds 40.0 points of disagreement (95 % interval −71.1 to +100.0): two runs disagree in 40.0 % across wordings and in 0 % within one");
        let (all, none, half) = (vec![true; 4], vec![false; 4], vec![true, false, true, false]);
        let say = |cases: &[Vec<Vec<bool>>]| purchase_sentence(&variance_components(cases).unwrap());
        let by_case = [vec![all.clone(), all.clone()], vec![none.clone(), half.clone()]];
        insta::assert_snapshot!(say(&by_case), @"of the variance of success, 66.7 % lies between cases, 11.1 % between wordings of a case, 22.2 % between runs of a wording; buy cases next: twice as many narrow the standard error of the mean from 37.5 to 26.5 points");
        insta::assert_snapshot!(say(&[vec![all.clone(), none.clone()], vec![none, all.clone()]]), @"of the variance of success, 0 % lies between cases, 100 % between wordings of a case, 0 % between runs of a wording; buy wordings next: twice as many narrow the standard error of the mean from 35.4 to 25.0 points");
        insta::assert_snapshot!(say(&[vec![half.clone(), half.clone()], vec![half.clone(), half]]), @"of the variance of success, 0 % lies between cases, 0 % between wordings of a case, 100 % between runs of a wording; buy repetitions next: twice as many narrow the standard error of the mean from 14.4 to 10.2 points");
        let never = [vec![all.clone(), all.clone()], vec![all.clone(), all.clone()]];
        insta::assert_snapshot!(say(&never), @"success does not vary between cases, wordings or runs: only other cases could show anything new, so buy cases next");
        insta::assert_snapshot!(say(&[vec![all.clone(), all]]), @"there is one case with several wordings, so nothing is known of others: buy cases next");
    }
}
