//! pass@k in words: the figures of a slot as sentences and rates.

use proofhouse_ledger::summary::{CodeSlot, OmittedK, Rate, Robust};

use crate::text::numbers::{count, interval, percent, plural};

/// pass@k of one slot, with intervals and what is left out.
pub(super) fn pass_at_k(slot: &CodeSlot) -> String {
    let said = slot.pass_at_k.iter().map(|point| {
        let interval = interval(Some(point.low), Some(point.high)).unwrap_or_default();
        let tasks = plural(point.tasks, "task", "tasks");
        format!("pass@{} {} ({interval}) over {tasks}", point.k, percent(point.value))
    });
    said.chain(left_out(&slot.omitted_k)).collect::<Vec<_>>().join("; ")
}

/// The headline of a slot, the smallest k that there is, as a rate.
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

fn left_out<'a>(omitted: impl IntoIterator<Item = &'a OmittedK>) -> Option<String> {
    let omitted: Vec<&OmittedK> = omitted.into_iter().collect();
    let reason = &omitted.first()?.reason;
    let ks: Vec<String> = omitted.iter().map(|omitted| omitted.k.to_string()).collect();
    Some(format!("pass@{} left out: {reason}", ks.join(",")))
}

/// What cannot be said of robust pass@k, where pass@k itself can.
pub(super) fn robust_left_out(slot: &CodeSlot, row: &Robust) -> Option<String> {
    let said = |k: u64| slot.pass_at_k.iter().any(|point| point.k == k);
    let text = left_out(row.omitted_k.iter().filter(|omitted| said(omitted.k)))?;
    Some(format!("robust {text}"))
}

/// Robust pass@k of one slot, a line for each row.
pub(super) fn robust(slot: &CodeSlot) -> impl Iterator<Item = String> {
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
pub(super) fn wordings(row: &Robust) -> String {
    match &row.generator {
        Some(name) => format!("{} of {name}", plural(row.wordings, "wording", "wordings")),
        None => format!("all {}", plural(row.wordings, "wording", "wordings")),
    }
}

/// How much of pass@k is lost, or gained.
fn loss(drop: f64) -> String {
    if drop < 0.0 { format!("{} gained", percent(-drop)) } else { format!("{} lost", percent(drop)) }
}

/// The tasks of a row of robust pass@k, and why others are left out.
pub(super) fn tasks(row: &Robust) -> String {
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
