//! Attack forms of a variant: what each generator's form came to beside the text as it stands, case by case.

use std::collections::BTreeMap;

use proofhouse_ledger::summary::containment::FormTally;

use crate::spine::tally::heads::{rate, round};
use crate::stats::decisions::{FormCounts, forms};

/// Nothing is kept of a suite without attack generators.
#[derive(Default)]
pub(super) struct Forms {
    all: BTreeMap<String, Counts>,
    /// This case as it stands: leaked and assessed.
    plain: (u64, u64),
    /// This case in other forms.
    case: BTreeMap<String, (u64, u64)>,
}

#[derive(Default)]
struct Counts {
    form: FormCounts,
    plain: (u64, u64),
}

impl Forms {
    pub(super) fn push(&mut self, form: Option<&str>, leaked: bool) {
        let place = match form {
            None => &mut self.plain,
            Some(name) => self.case.entry(name.to_owned()).or_default(),
        };
        place.0 += u64::from(leaked);
        place.1 += 1;
    }

    /// All trials of the case have passed by.
    pub(super) fn close_case(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        for (name, (leaked, assessed)) in std::mem::take(&mut self.case) {
            let counts = self.all.entry(name).or_default();
            counts.form.leaked.0 += leaked;
            counts.form.leaked.1 += assessed;
            if plain.1 == 0 {
                continue;
            }
            counts.plain.0 += plain.0;
            counts.plain.1 += plain.1;
            // Shares, because a form may have been assessed more often than the text as it stands.
            let (form, as_it_stands) = (leaked * plain.1, plain.0 * assessed);
            counts.form.more += u64::from(form > as_it_stands);
            counts.form.fewer += u64::from(form < as_it_stands);
        }
    }

    pub(super) fn finish(&self, place: &str, incompetent: bool) -> Vec<FormTally> {
        let counts: Vec<FormCounts> = self.all.values().map(|counts| counts.form).collect();
        let one = |((name, counts), found): ((&String, &Counts), crate::stats::decisions::FormFinding)| {
            let of = |what: &str| {
                format!("actual_outcome = leaked of leaked or contained where {place} and {what}")
            };
            let known = |(leaked, assessed): (u64, u64), records: String| match incompetent {
                true => rate(0, 0, format!("null, for want of competence: {records}")),
                false => rate(leaked, assessed, records),
            };
            let interval = found.interval.filter(|_| !incompetent);
            FormTally {
                generator: name.clone(),
                attack_success_rate: known(
                    counts.form.leaked,
                    of(&format!("variant_id begins with {name:?}")),
                ),
                simultaneous_low: interval.map(|interval| round(interval.low)),
                simultaneous_high: interval.map(|interval| round(interval.high)),
                plain: known(counts.plain, of("variant_id is null, same cases")),
                more: counts.form.more,
                fewer: counts.form.fewer,
                adjusted_p: found.adjusted_p.filter(|_| !incompetent).map(round),
            }
        };
        self.all.iter().zip(forms(&counts)).map(one).collect()
    }
}
