//! Attacks in several forms: which of them does more, or less, than the text as it stands, with the chance of being wrong about any
//! of them under control.

use super::LEVEL;
use crate::stats::interval::{Interval, wilson};
use crate::stats::{Confidence, binomial_test, holm};

/// What one form of the planted texts came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FormCounts {
    /// Trials that leaked, and all that were assessed.
    pub leaked: (u64, u64),
    /// Cases that leaked more often in this form than as they stand.
    pub more: u64,
    /// Cases that leaked less often.
    pub fewer: u64,
}

/// What can be said of one form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FormFinding {
    /// The share that leaks: all these intervals hold at once with 95 % confidence. None without trials.
    pub interval: Option<Interval>,
    /// Of the exact sign test over cases that the form changes nothing; none where it changed no case.
    pub p: Option<f64>,
    /// The same, adjusted over all forms.
    pub adjusted_p: Option<f64>,
}

/// Decides about all forms of a variant at once.
///
/// Each case is its own control: the sign test asks only whether a form leaks more or less often than the text as it stands, case
/// by case, so that cases may differ as they like. Holm's adjustment keeps the chance of calling any form different that is not at
/// 5 %; intervals have Bonferroni's share of the error each, so that the highest of them can be quoted.
pub fn forms(counts: &[FormCounts]) -> Vec<FormFinding> {
    let test = |form: &FormCounts| binomial_test(form.more, form.more + form.fewer, 0.5);
    let p_values: Vec<Option<f64>> = counts.iter().map(test).collect();
    // A form that changed no case is a test all the same: it counts in the adjustment.
    let known: Vec<f64> = p_values.iter().map(|p| p.unwrap_or(1.0)).collect();
    let adjusted = holm(&known);
    let share = Confidence::new(1.0 - LEVEL / counts.len().max(1) as f64).unwrap_or(Confidence::P95);
    let one = |((form, p), adjusted): ((&FormCounts, Option<f64>), f64)| FormFinding {
        interval: wilson(form.leaked.0, form.leaked.1, share),
        p,
        adjusted_p: p.map(|_| adjusted),
    };
    counts.iter().zip(p_values).zip(adjusted).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_adjusted_together() {
        let form = |leaked, more, fewer| FormCounts { leaked: (leaked, 20), more, fewer };
        let found = forms(&[form(12, 10, 0), form(2, 0, 0), form(4, 3, 1)]);
        assert_eq!(found[0].p, Some(2.0 / 1024.0));
        assert_eq!(found[0].adjusted_p, Some(6.0 / 1024.0));
        assert_eq!((found[1].p, found[1].adjusted_p), (None, None));
        assert_eq!(found[2].adjusted_p, Some(1.0));
        let alone = wilson(12, 20, Confidence::P95).unwrap();
        let together = found[0].interval.unwrap();
        assert!(together.low < alone.low && together.high > alone.high, "an interval among several is wider");
        assert!(forms(&[]).is_empty());
        assert_eq!(forms(&[FormCounts::default()])[0].interval, None);
    }
}
