//! Numbers as people read them, without rounding anything into a claim: 99.99 % is never printed as 100 %.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{Kind, Status};
use proofhouse_ledger::summary::containment::VariantTally;
use proofhouse_ledger::summary::{CodeSlot, Comparison, OmittedK, Rate, Robust, Summary};

/// Between a number and its unit.
const NBSP: char = '\u{a0}';

/// A share as a percentage with one decimal.
pub(crate) fn percent(share: f64) -> String {
    let digits = match rounded(share).as_str() {
        "100" if share < 1.0 => ">99.9".to_owned(),
        "0" if share > 0.0 => "<0.1".to_owned(),
        digits => digits.to_owned(),
    };
    format!("{digits}{NBSP}%")
}

fn rounded(share: f64) -> String {
    let digits = format!("{:.1}", share * 100.0);
    match digits.as_str() {
        "100.0" => "100".to_owned(),
        "0.0" | "-0.0" => "0".to_owned(),
        _ => digits,
    }
}

/// `84.4–95.7 %`, or nothing where there is no interval. Its ends are no claims, so they are simply rounded.
pub(crate) fn interval(low: Option<f64>, high: Option<f64>) -> Option<String> {
    Some(format!("{}–{}{NBSP}%", rounded(low?), rounded(high?)))
}

/// A rate in words: its value, or that there is none.
pub(crate) fn rate(rate: &Rate) -> String {
    rate.value.map_or_else(|| "not assessed".to_owned(), percent)
}

/// Trials that a stopping rule made unnecessary: nobody misses their verdict.
pub(crate) fn spared(kind: Kind, counts: &BTreeMap<String, u64>) -> u64 {
    match kind {
        Kind::Robustness => counts.get(Status::NotRun.as_str()).copied().unwrap_or(0),
        Kind::Probe | Kind::Code | Kind::Containment => 0,
    }
}

/// `12,345`
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 trial`, `2 trials`
pub(crate) fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{}{NBSP}{}", count(number), if number == 1 { one } else { many })
}

/// A difference of two shares in percentage points, with its sign.
pub(crate) fn points(difference: f64) -> String {
    let digits = format!("{:.1}", (difference * 100.0).abs());
    match digits.as_str() {
        "0.0" => "0".to_owned(),
        _ if difference < 0.0 => format!("−{digits}"),
        _ => format!("+{digits}"),
    }
}

/// `p = 0.035`; very small values are bounded, not rounded to 0.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { format!("p{NBSP}<{NBSP}0.001") } else { format!("p{NBSP}={NBSP}{p:.3}") }
}

/// How often chance alone would do this.
fn chance(p: f64) -> String {
    if p >= 0.995 {
        "practically always".to_owned()
    } else if p >= 0.1 {
        format!("in about {:.0} of 100 such runs", p * 100.0)
    } else if p >= 0.000_001 {
        format!("in about 1 of {} such runs", count((1.0 / p).round() as u64))
    } else {
        "in fewer than 1 of 1,000,000 such runs".to_owned()
    }
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

/// Who a gate asks: controls without a gate of their own are there to leak.
pub(crate) fn asked(summary: &Summary) -> &'static str {
    if summary.containment.is_some() { "gated variant" } else { "target" }
}

/// What has to be said of a variant's competence before anything else: that there is none, or that it was not asked.
pub(crate) fn competence(variant: &VariantTally) -> Option<String> {
    let found = variant.competence.as_ref()?;
    let called = match found.canaries {
        true => format!("{} of {} canaries", found.called.numerator, found.called.denominator),
        false => format!("{} of {} benign trials", found.called.numerator, found.called.denominator),
    };
    let leaked = variant.outcomes.get("leaked").copied().unwrap_or(0);
    let off = if found.canaries { "" } else { " (canaries are off)" };
    match found.shown {
        Some(false) => Some(format!(
            "NOT COMPETENT: the model made the call that was asked for in {called}{off}, so its attack success is null; \
             {} nevertheless",
            plural(leaked, "attack leaked", "attacks leaked")
        )),
        _ if !found.canaries => Some(format!(
            "canaries are off: nothing but {called} with a call shows that the model can call tools"
        )),
        _ => None,
    }
}

/// Why a gate could not be judged.
pub(crate) fn undecided(summary: &Summary) -> &'static str {
    if summary.containment.as_ref().is_some_and(|found| found.is_pointless()) {
        "no attack does anything without a gate either"
    } else if summary.containment.as_ref().is_some_and(|found| found.incompetent().next().is_some()) {
        "a model has not shown that it can call tools"
    } else if summary.code.is_some() && summary.slots.iter().all(|slot| slot.pass_rate.value.is_some()) {
        "what could not be assessed would decide it"
    } else {
        "a target has no assessed trial"
    }
}

/// pass@k of one slot, with intervals and what is left out.
pub(crate) fn pass_at_k(slot: &CodeSlot) -> String {
    let said = slot.pass_at_k.iter().map(|point| {
        let interval = interval(Some(point.low), Some(point.high)).unwrap_or_default();
        let tasks = plural(point.tasks, "task", "tasks");
        format!("pass@{} {} ({interval}) over {tasks}", point.k, percent(point.value))
    });
    said.chain(left_out(&slot.omitted_k)).collect::<Vec<_>>().join("; ")
}

/// The headline of a code run's slot, the smallest k that there is, as a rate.
pub(super) fn headline_rate(slot: &CodeSlot) -> Rate {
    let point = slot.pass_at_k.first();
    Rate {
        numerator: slot.tasks_solved.numerator,
        denominator: point.map_or(0, |point| point.tasks),
        value: point.map(|point| point.value),
        low: point.map(|point| point.low),
        high: point.map(|point| point.high),
        records: String::new(),
    }
}

/// `2 of 3`: tasks that at least one completion solved, of those that count.
pub(crate) fn tasks_solved(slot: &CodeSlot) -> String {
    let all = slot.pass_at_k.first().map_or(slot.tasks, |point| point.tasks);
    format!("{} of {}", count(slot.tasks_solved.numerator), count(all))
}

/// The headline row of a code run's slot: target, pass@k, interval, tasks solved, completions passed, not assessed.
pub(crate) fn headline_row(slot: &CodeSlot) -> [String; 6] {
    let rate = headline_rate(slot);
    let value = slot.pass_at_k.first().map_or_else(
        || "not assessed".to_owned(),
        |point| format!("pass@{} {}", point.k, percent(point.value)),
    );
    let none = || "–".to_owned();
    [
        slot.slot.clone(),
        value,
        interval(rate.low, rate.high).unwrap_or_else(none),
        tasks_solved(slot),
        format!("{} of {}", count(slot.worst.numerator), count(slot.scored)),
        count(slot.infra),
    ]
}

/// What the columns of [`headline_row`] are.
pub(crate) const HEADLINE_COLUMNS: [&str; 6] =
    ["target", "pass@k", "95 % interval", "tasks solved", "completions passed", "not assessed"];

fn left_out<'a>(omitted: impl IntoIterator<Item = &'a OmittedK>) -> Option<String> {
    let omitted: Vec<&OmittedK> = omitted.into_iter().collect();
    let reason = &omitted.first()?.reason;
    let ks: Vec<String> = omitted.iter().map(|omitted| omitted.k.to_string()).collect();
    Some(format!("pass@{} left out: {reason}", ks.join(",")))
}

/// What cannot be said of robust pass@k, where pass@k itself can.
pub(crate) fn robust_left_out(slot: &CodeSlot, row: &Robust) -> Option<String> {
    let said = |k: u64| slot.pass_at_k.iter().any(|point| point.k == k);
    let text = left_out(row.omitted_k.iter().filter(|omitted| said(omitted.k)))?;
    Some(format!("robust {text}"))
}

/// Robust pass@k of one slot, a line for each row.
pub(crate) fn robust(slot: &CodeSlot) -> impl Iterator<Item = String> {
    slot.robust.iter().map(|row| {
        let said = row.at_k.iter().map(|at| {
            let interval = interval(Some(at.low), Some(at.high)).unwrap_or_default();
            let lost = at.drop.map_or(String::new(), |drop| format!(", {}", loss(drop)));
            format!("robust pass@{} {} ({interval}{lost})", at.k, percent(at.value))
        });
        let said: Vec<String> = said.chain(robust_left_out(slot, row)).collect();
        format!("{}, {}: {}; {}", slot.slot, wordings(row), said.join("; "), tasks(row))
    })
}

/// Which wordings a row of robust pass@k is of.
pub(crate) fn wordings(row: &Robust) -> String {
    match &row.generator {
        Some(name) => format!("{} of {name}", plural(row.wordings, "wording", "wordings")),
        None => format!("all {}", plural(row.wordings, "wording", "wordings")),
    }
}

/// How much of pass@k is lost, or gained.
pub(crate) fn loss(drop: f64) -> String {
    if drop < 0.0 { format!("{} gained", percent(-drop)) } else { format!("{} lost", percent(drop)) }
}

/// The tasks of a row of robust pass@k, and why others are left out.
pub(crate) fn tasks(row: &Robust) -> String {
    let mut text = format!("over {}", plural(row.tasks, "task", "tasks"));
    for (count, why) in
        [(row.tasks_without_wording, "without a wording"), (row.tasks_without_verdict, "without a verdict")]
    {
        if count > 0 {
            text.push_str(&format!(", {} {why} left out", self::count(count)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_rounded_into_certainty() {
        let table =
            [(1.0, "100"), (0.9999, ">99.9"), (0.0, "0"), (0.0001, "<0.1"), (0.9167, "91.7"), (0.5, "50.0")];
        for (share, expected) in table {
            assert_eq!(percent(share), format!("{expected}\u{a0}%"));
        }
        assert_eq!(interval(Some(0.844), Some(0.99999)).unwrap(), "84.4–100\u{a0}%");
        assert_eq!(interval(None, Some(1.0)), None);
        assert_eq!(p_value(0.0), "p\u{a0}<\u{a0}0.001");
    }

    #[test]
    fn counts_are_grouped() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), expected);
        }
        assert_eq!(points(-0.125), "−12.5");
        assert_eq!(points(0.0001), "0");
    }

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
