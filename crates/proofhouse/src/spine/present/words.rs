//! Rates and comparisons in words.

use proofhouse_ledger::summary::{Comparison, Mean, Rate};

use crate::text::doc::{Cell, Figure, Line};
use crate::text::numbers::{chance, count, interval, of, p_value, percent, plural};

/// A rate in words: its value, or that there is none.
pub(crate) fn rate(rate: &Rate) -> String {
    rate.value.map_or_else(|| "not assessed".to_owned(), percent)
}

/// `3 of 4`
pub(crate) fn parts(rate: &Rate) -> String {
    of(rate.numerator, rate.denominator)
}

/// Its interval, or a dash.
pub(crate) fn range(rate: &Rate) -> Cell {
    interval(rate.low, rate.high).map_or_else(Cell::dash, Cell::from)
}

/// A share with the counts behind it, or a dash.
pub(crate) fn share(rate: &Rate) -> Cell {
    match rate.denominator {
        0 => Cell::dash().class("missing"),
        all => Line::from(format!("{} ", self::rate(rate)))
            .soft(format!("({}/{})", count(rate.numerator), count(all)))
            .into(),
    }
}

/// A rate as a figure.
pub(crate) fn figure(rate: &Rate) -> Figure {
    Figure::interval(rate.low, rate.value, rate.high)
}

/// The same with the interval over cases and the line that a gate draws.
pub(crate) fn gated_figure(rate: &Rate, clustered: Option<&Mean>, gate: Option<f64>) -> Figure {
    let estimate = rate.low.zip(rate.value).zip(rate.high).map(|((low, value), high)| [low, value, high]);
    let clustered = clustered.and_then(|mean| Some([mean.low?, mean.high?]));
    Figure::Interval { estimate, clustered, line: gate }
}

/// What a comparison of two targets says, in sentences.
pub(crate) fn comparison(pair: &Comparison) -> String {
    let (Some(difference), Some(p)) = (pair.difference, pair.p_value) else {
        return format!(
            "{} and {} share no trial on which both were assessed: nothing can be compared.",
            pair.a, pair.b
        );
    };
    let trials = plural(pair.pairs, "trial", "trials");
    let split = pair.only_a + pair.only_b;
    if split == 0 {
        return format!(
            "{} and {} agreed on every one of {trials} on which both were assessed: no difference was seen.",
            pair.a, pair.b
        );
    }
    let (more, less, only_more, only_less, cases) = if difference < 0.0 {
        (&pair.a, &pair.b, pair.only_a, pair.only_b, (pair.cases_a, pair.cases_b))
    } else {
        (&pair.b, &pair.a, pair.only_b, pair.only_a, (pair.cases_b, pair.cases_a))
    };
    let by_case = if pair.cases == pair.pairs {
        String::new()
    } else {
        let (better, worse, all) = (count(cases.0), count(cases.1), plural(pair.cases, "case", "cases"));
        format!("; of {all}, {more} did better on {better} and {less} on {worse}")
    };
    let lead = if only_more == only_less {
        format!("{more} and {less} passed equally often on the same {trials}")
    } else {
        format!("{more} passed more often than {less} on the same {trials}")
    };
    let strength = match p {
        p if p < 0.01 => "That is strong evidence of a difference",
        p if p < 0.05 => "That is some evidence of a difference",
        _ => "That is no sufficient evidence of a difference, nor evidence that there is none",
    };
    format!(
        "{lead}: {} passed by {more} alone, {} by {less} alone{by_case}. {strength}: if both were equally good, \
         a split at least this uneven would happen {} ({}).",
        count(only_more),
        count(only_less),
        chance(p),
        p_value(p)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(only_a: u64, only_b: u64, p_value: Option<f64>) -> Comparison {
        let pairs = 10 + only_a + only_b;
        Comparison {
            a: "old".to_owned(),
            b: "new".to_owned(),
            pairs,
            both_passed: 10,
            only_a,
            only_b,
            neither: 0,
            cases: pairs,
            cases_a: only_a,
            cases_b: only_b,
            difference: p_value.map(|_| (only_b as f64 - only_a as f64) / pairs as f64),
            low: None,
            high: None,
            p_value,
        }
    }

    #[test]
    fn a_comparison_says_who_and_how_sure() {
        let text = comparison(&pair(8, 1, Some(0.0390625)));
        assert!(
            text.starts_with(
                "old passed more often than new on the same 19\u{a0}trials: 8 passed by old alone, 1"
            ),
            "{text}"
        );
        assert!(text.contains("some evidence"), "{text}");
        assert!(text.contains("in about 1 of 26 such runs"), "{text}");
        let text = comparison(&pair(0, 5, Some(0.0625)));
        assert!(
            text.contains("no sufficient evidence of a difference, nor evidence that there is none"),
            "{text}"
        );
        assert!(comparison(&pair(2, 2, Some(1.0))).contains("passed equally often"));
        assert!(comparison(&pair(0, 0, Some(1.0))).contains("agreed on every one"));
        assert!(comparison(&pair(0, 0, None)).contains("nothing can be compared"));
    }
}
