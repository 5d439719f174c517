//! What two `robustness` runs are compared by: their verdicts, their generators' drops and their boundaries.

use proofhouse_ledger::record::Observed;
use proofhouse_ledger::summary::robustness::{Baseline, BaselineVerdict, Generator, Level, Robustness};

use super::sections::{outcome, words};
use crate::kinds::NamedSummary;
use crate::spine::compare::OwnChange;
use crate::stats::decisions::{self, Boundary, Finding, Said, moved, moved_sentence};
use crate::stats::{Interval, SIGNIFICANT_DIGITS, round_sig};

/// How the second run differs from the first, the closing sentence first.
pub(super) fn changes((a, of_a): NamedSummary<'_>, (b, of_b): NamedSummary<'_>) -> Vec<OwnChange> {
    let (Some(first), Some(second)) = (&of_a.robustness, &of_b.robustness) else { return Vec::new() };
    let several = of_a.slots.len() > 1;
    let all = moved((a, b), &findings(first, second, several));
    let told = |each: &decisions::Moved| OwnChange {
        about: each.about.clone(),
        adjusted_p: each.adjusted_p.map(|p| round_sig(p, SIGNIFICANT_DIGITS)),
        more_than_noise: each.more_than_noise,
        // Boundaries are always said: that one cannot be told to have moved is an answer.
        told: each.more_than_noise || each.reworded || each.p.is_none(),
        sentence: each.sentence.clone(),
    };
    let closing = OwnChange {
        about: String::new(),
        adjusted_p: None,
        more_than_noise: all.iter().any(|each| each.more_than_noise),
        told: true,
        sentence: moved_sentence((a, b), &all),
    };
    std::iter::once(closing).chain(all.iter().map(told)).collect()
}

/// What both runs say something about: instructions, levels, generators, ladders.
fn findings(a: &Robustness, b: &Robustness, several: bool) -> Vec<Finding> {
    let about = |slot: &str, name: String| if several { format!("{slot}, {name}") } else { name };
    let mut all = Vec::new();
    for old in &a.baselines {
        let same = |new: &&Baseline| (&new.slot, &new.case_id) == (&old.slot, &old.case_id);
        let Some(new) = b.baselines.iter().find(same) else { continue };
        all.push(Finding {
            about: about(&old.slot, old.case_id.clone()),
            said: (of_baseline(old), of_baseline(new)),
        });
    }
    for old in &a.levels {
        let same =
            |new: &&Level| (&new.slot, &new.case_id, new.level) == (&old.slot, &old.case_id, old.level);
        let Some(new) = b.levels.iter().find(same) else { continue };
        let name = format!("{}, level {}", old.case_id, old.level);
        all.push(Finding { about: about(&old.slot, name), said: (of_level(old), of_level(new)) });
    }
    for old in &a.generators {
        let same = |new: &&Generator| (&new.slot, &new.generator) == (&old.slot, &old.generator);
        let new = b.generators.iter().find(same);
        if let Some(said) = drop_of(old).zip(new.and_then(drop_of)) {
            all.push(Finding { about: about(&old.slot, old.generator.clone()), said });
        }
    }
    for old in &a.cases {
        let new = b.cases.iter().find(|new| (&new.slot, &new.case_id) == (&old.slot, &old.case_id));
        let place = |of: Option<&proofhouse_ledger::summary::robustness::Boundary>| {
            of.map(|of| Said::Boundary(Boundary { above: of.above, below: of.below, levels: 0 }))
        };
        let new = new.and_then(|new| new.boundary.as_ref());
        if let Some(said) = place(old.boundary.as_ref()).zip(place(new)) {
            all.push(Finding { about: about(&old.slot, old.case_id.clone()), said });
        }
    }
    all
}

fn of_baseline(baseline: &Baseline) -> Said {
    // Only where it is stable is it certain what usually happens.
    let usual: Option<&Observed> =
        baseline.modal.as_ref().filter(|_| baseline.verdict == BaselineVerdict::Stable);
    Said::Word {
        word: words::baseline(baseline.verdict),
        successes: (baseline.success.numerator, baseline.runs),
        usual: usual.map(outcome),
    }
}

fn of_level(level: &Level) -> Said {
    Said::Word {
        word: words::level(level.verdict),
        successes: (level.success.numerator, level.runs),
        usual: None,
    }
}

fn drop_of(generator: &Generator) -> Option<Said> {
    let of = Interval { low: generator.difference_low?, high: generator.difference_high? };
    Some(Said::Drop(generator.difference?, of))
}
