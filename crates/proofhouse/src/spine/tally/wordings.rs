//! What other wordings of the same cases did to a target, for suites with `vary`.

use std::collections::BTreeMap;

use proofhouse_ledger::summary::Wording;

use super::heads::{rate, round};

/// Verdicts by generator, case by case; nothing is kept of a suite without variants.
#[derive(Default)]
pub(super) struct Wordings {
    generators: BTreeMap<String, Counts>,
    /// This case as it stands: passed and assessed.
    base: (u64, u64),
    /// This case's variants by generator: passed and assessed.
    variants: BTreeMap<String, (u64, u64)>,
}

#[derive(Default)]
struct Counts {
    passed: u64,
    assessed: u64,
    base_passed: u64,
    base_assessed: u64,
    /// Cases that always passed in every wording, over cases assessed as they stand and in another wording.
    robust: u64,
    cases: u64,
}

impl Wordings {
    /// Takes a verdict; `variant` is the raw text of `variant_id`.
    pub(super) fn push(&mut self, variant: &[u8], passed: bool) {
        let place = match generator(variant) {
            None => &mut self.base,
            Some(name) if self.variants.contains_key(name) => self.variants.get_mut(name).expect("just seen"),
            Some(name) => self.variants.entry(name.to_owned()).or_default(),
        };
        place.0 += u64::from(passed);
        place.1 += 1;
    }

    /// All trials of the case have passed by.
    pub(super) fn close_case(&mut self) {
        let (base_passed, base_assessed) = std::mem::take(&mut self.base);
        for (name, (passed, assessed)) in std::mem::take(&mut self.variants) {
            let counts = self.generators.entry(name).or_default();
            counts.passed += passed;
            counts.assessed += assessed;
            counts.base_passed += base_passed;
            counts.base_assessed += base_assessed;
            if base_assessed > 0 {
                counts.cases += 1;
                counts.robust += u64::from(passed == assessed && base_passed == base_assessed);
            }
        }
    }

    /// One row per generator.
    pub(super) fn finish(&self, slot: &str) -> Vec<Wording> {
        let row = |(name, counts): (&String, &Counts)| {
            let of = |what: &str| format!("{what} where slot = {slot:?} and variant_id begins with {name:?}");
            let pass_rate = rate(counts.passed, counts.assessed, of("passed = true of passed is not null"));
            let base_pass_rate = rate(
                counts.base_passed,
                counts.base_assessed,
                format!(
                    "passed = true of passed is not null where slot = {slot:?} and variant_id is null, same cases"
                ),
            );
            let relative_drop = match (base_pass_rate.value, pass_rate.value) {
                (Some(base), Some(value)) if base > 0.0 => Some(round((base - value) / base)),
                _ => None,
            };
            Wording {
                slot: slot.to_owned(),
                generator: name.clone(),
                robust_cases: rate(
                    counts.robust,
                    counts.cases,
                    of("case_id without passed = false of case_id"),
                ),
                pass_rate,
                base_pass_rate,
                relative_drop,
            }
        };
        self.generators.iter().map(row).collect()
    }
}

/// `whitespace_noise` of `"whitespace_noise_0007"`; none of null.
pub(crate) fn generator(variant: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(variant).ok()?.strip_prefix('"')?;
    text.rsplit_once('_').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordings_are_compared_with_their_own_cases() {
        let mut wordings = Wordings::default();
        for (base, variants) in [(true, [true, true]), (true, [false, true]), (false, [false, false])] {
            wordings.push(b"null", base);
            for (nth, passed) in variants.into_iter().enumerate() {
                wordings.push(format!("\"whitespace_noise_{nth:04}\"").as_bytes(), passed);
            }
            wordings.close_case();
        }
        let rows = wordings.finish("slot");
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].pass_rate.numerator, rows[0].pass_rate.denominator), (3, 6));
        assert_eq!((rows[0].base_pass_rate.numerator, rows[0].base_pass_rate.denominator), (2, 3));
        assert_eq!((rows[0].robust_cases.numerator, rows[0].robust_cases.denominator), (1, 3));
        assert_eq!(rows[0].relative_drop, Some(0.25));
    }

    /// The first case passes as it stands and in one wording of two; the second fails twice and is reworded once; the third
    /// was assessed only in another wording.
    #[test]
    fn each_generator_is_compared_over_the_cases_that_it_has() {
        let mut wordings = Wordings::default();
        for (base, of_typo, of_case) in [
            (&[true][..], &[true, false][..], &[true, true][..]),
            (&[false, false], &[false], &[]),
            (&[], &[true], &[]),
        ] {
            base.iter().for_each(|passed| wordings.push(b"null", *passed));
            of_typo.iter().for_each(|passed| wordings.push(b"\"typo_0000\"", *passed));
            of_case.iter().for_each(|passed| wordings.push(b"\"upper_case_0001\"", *passed));
            wordings.close_case();
        }
        let rows = wordings.finish("slot");
        let parts = |rate: &proofhouse_ledger::summary::Rate| (rate.numerator, rate.denominator);
        let [typo, case] = &rows[..] else { panic!("two generators: {rows:?}") };
        assert_eq!((typo.generator.as_str(), typo.slot.as_str()), ("typo", "slot"));
        assert_eq!((parts(&typo.pass_rate), parts(&typo.base_pass_rate)), ((2, 4), (1, 3)));
        assert_eq!(parts(&typo.robust_cases), (0, 2), "the third has nothing to be held against");
        let drop = typo.relative_drop.expect("there is something to fall from");
        assert!((drop + 0.5).abs() < 1e-9, "(1/3 - 1/2) / (1/3), from rounded rates: {drop}");
        assert_eq!(
            typo.pass_rate.records,
            "passed = true of passed is not null where slot = \"slot\" and variant_id begins with \"typo\""
        );
        assert_eq!(case.generator, "upper_case");
        assert_eq!((parts(&case.robust_cases), case.relative_drop), ((1, 1), Some(0.0)));
    }

    #[test]
    fn nothing_falls_from_nothing() {
        let mut wordings = Wordings::default();
        wordings.push(b"null", false);
        wordings.push(b"\"typo_0000\"", true);
        wordings.close_case();
        assert_eq!(wordings.finish("slot")[0].relative_drop, None);
    }

    #[test]
    fn a_variant_is_named_after_its_generator() {
        for (variant, expected) in [
            (&b"\"typo_0007\""[..], Some("typo")),
            (b"\"upper_case_0000\"", Some("upper_case")),
            (b"\"plain\"", None),
            (b"null", None),
            (b"", None),
            (b"\"\xff_0\"", None),
        ] {
            assert_eq!(generator(variant), expected);
        }
    }
}
