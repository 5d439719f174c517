//! The end of a run on a terminal: a short table, the most important facts, the report, the next command.

use std::fmt::Write as _;

use camino::Utf8Path;
use proofhouse_ledger::RunPaths;
use proofhouse_ledger::record::Kind;
use proofhouse_ledger::summary::containment::Lane1;
use proofhouse_ledger::summary::{CodeSlot, Comparison, ContainmentSummary, Rate, Summary};

use super::{lanes, plural, visible};

use crate::kinds::code::account::account;
use crate::kinds::robustness::sections::findings;
use crate::spine::present::words;
use crate::spine::run::Executed;

/// Everything that `run` says when it is done.
pub(super) fn closing(
    summary: &Summary,
    suite: &Utf8Path,
    paths: &RunPaths,
    skip_report: bool,
    executed: &Executed,
) -> String {
    let trials = plural(summary.trials, "trial", "trials");
    let mut text = format!("{} run {}: {trials}", summary.suite_id, summary.run_id);
    if executed.reused > 0 {
        let _ = write!(text, " ({} executed now, {} kept)", executed.executed, executed.reused);
    }
    text.push_str("\n\n");
    text.push_str(&slots(summary));
    if let Some(containment) = &summary.containment {
        text.push('\n');
        text.push_str(&variants(containment));
        if let Some(lane) = &containment.lane1 {
            text.push('\n');
            text.push_str(&lane1(lane));
        }
    }
    for slot in summary.code.iter().flat_map(|code| &code.slots) {
        let _ = writeln!(text, "{}: {}", slot.slot, words::pass_at_k(slot));
        for sentence in account(slot) {
            let _ = writeln!(text, "  {}", visible(&sentence));
        }
        for row in words::robust(slot) {
            let _ = writeln!(text, "{row}");
        }
    }
    let facts = facts(summary);
    if !facts.is_empty() {
        text.push('\n');
        for fact in facts {
            let _ = writeln!(text, "- {fact}");
        }
    }
    text.push('\n');
    if let Some(tier) = executed.provenance.sandbox_tier.as_deref() {
        let open = if tier == "none" { ": what was run could do whatever you can" } else { "" };
        let _ = writeln!(text, "sandbox: {tier}{open}");
    }
    if skip_report {
        let _ = writeln!(text, "run:    {}", paths.dir);
        let _ = write!(text, "next:   proofhouse report {}", paths.dir);
    } else {
        let _ = writeln!(text, "report: {}", paths.report());
        let _ = write!(text, "next:   proofhouse verify {}", paths.dir);
    }
    if let Some(remedy) = remedy(summary, suite) {
        let _ = write!(text, "\n\nhint: {remedy}");
    }
    text
}

fn slots(summary: &Summary) -> String {
    if let Some(code) = &summary.code {
        let head = words::HEADLINE_COLUMNS.map(str::to_owned);
        let rows = code.slots.iter().map(words::headline_row);
        return align(&std::iter::once(head).chain(rows).collect::<Vec<_>>());
    }
    let mut rows =
        vec![["target", "passed", "", "95 % interval", "not assessed", "flaky cases"].map(str::to_owned)];
    for slot in &summary.slots {
        let rate = &slot.pass_rate;
        rows.push([
            slot.slot.clone(),
            format!("{}/{}", rate.numerator, rate.denominator),
            percent(rate.value),
            interval(rate),
            (slot.trials - words::spared(summary.kind, &slot.counts) - rate.denominator).to_string(),
            match slot.flaky_cases.denominator {
                0 => "-".to_owned(),
                cases => format!("{}/{cases}", slot.flaky_cases.numerator),
            },
        ]);
    }
    align(&rows)
}

/// Name and value, the values below each other.
pub(super) fn left(rows: &[[String; 2]]) -> String {
    let width = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    rows.iter().map(|[name, value]| format!("{name:width$}  {value}\n")).collect()
}

/// Columns as wide as their widest cell; numbers to the right, the first column to the left.
fn align<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = widths[column] - cell.chars().count();
            let pad = " ".repeat(gap);
            if column > 0 {
                line.push_str("  ");
                line.push_str(&pad);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&pad);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A share as people read it; nothing when there is nothing to divide by.
fn percent(value: Option<f64>) -> String {
    value.map_or("not assessed".to_owned(), |value| format!("{:.1} %", value * 100.0))
}

fn interval(rate: &Rate) -> String {
    match (rate.low, rate.high) {
        (Some(low), Some(high)) => format!("{:.1} to {:.1} %", low * 100.0, high * 100.0),
        _ => "-".to_owned(),
    }
}

/// Attack success never without what the same variant is good for, and how much of it could not be read.
fn variants(summary: &ContainmentSummary) -> String {
    let mut rows = vec![
        ["variant", "attack success", "95 % interval", "false positives", "benign utility", "invalid"]
            .map(str::to_owned),
    ];
    for variant in &summary.variants {
        let share = |rate: &Rate| match rate.denominator {
            0 => "-".to_owned(),
            all => format!("{}/{all} {}", rate.numerator, percent(rate.value)),
        };
        let attack = &variant.attack_success_rate;
        rows.push([
            variant.variant.clone(),
            if attack.denominator == 0 { "null".to_owned() } else { share(attack) },
            interval(attack),
            share(&variant.false_positive_rate),
            share(&variant.benign_utility),
            share(&variant.invalid_rate),
        ]);
    }
    align(&rows)
}

/// Each threshold of lane 1 beside its value.
pub(super) fn lane1(lane1: &Lane1) -> String {
    let mut rows = vec![["variant", "lane 1", "threshold", "value", "held"].map(str::to_owned)];
    for check in &lane1.checks {
        rows.push([
            check.variant.clone(),
            check.name.clone(),
            format!("{} {}", lanes::bound(check.bound), check.threshold),
            check.value.map_or("null".to_owned(), |value| value.to_string()),
            if check.held { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    let verdict = if lane1.passed { "lane 1 passed" } else { "LANE 1 FAILED" };
    format!("{}{verdict}\n", align(&rows))
}

/// What a reader must not overlook in a containment run.
fn warnings(summary: &ContainmentSummary) -> Vec<String> {
    let mut warnings = Vec::new();
    let found = &summary.discrimination;
    if summary.is_pointless() {
        let control = found.control.as_deref().unwrap_or("the replay of the attackers' own calls");
        warnings.push(format!(
            "SUITE NOT DISCRIMINATING: none of {} attacks leaks against the ungated control ({control}), so nothing here \
             says that a gate holds",
            found.leaked.denominator
        ));
    }
    for variant in &summary.variants {
        warnings.extend(words::competence(variant).map(|words| format!("{}: {words}", variant.variant)));
        if variant.invalid_rate.numerator == variant.invalid_rate.denominator {
            let outcome = |word: &str| variant.outcomes.get(word).copied().unwrap_or(0);
            warnings.push(format!(
                "{}: nothing could be assessed ({} unassessed, {} unparsed), so its attack success is null",
                variant.variant,
                outcome("unassessed"),
                outcome("unparsed")
            ));
        } else if variant.benign_utility.denominator > 0 && variant.benign_utility.numerator == 0 {
            warnings.push(format!("{}: not one benign case went through", variant.variant));
        }
    }
    warnings
}

/// At most three, and the warnings of the kind before them: the gate, the largest difference, what could not be assessed.
fn facts(summary: &Summary) -> Vec<String> {
    let mut facts = summary.containment.as_ref().map(warnings).unwrap_or_default();
    for slot in summary.code.iter().flat_map(|code| &code.slots) {
        facts.extend(most_frequent(slot));
        facts.extend(slot.missing_crates.iter().map(|(name, count)| {
            let completions = plural(*count, "completion needs", "completions need");
            format!("{}: {completions} crate `{name}`, which the suite does not have", slot.slot)
        }));
    }
    if let Some(gate) = &summary.gate {
        let asked = format!("{:.1} %", gate.pass_rate * 100.0);
        facts.push(match gate.held {
            Some(true) => format!("gate held: every {} passes at least {asked}", words::asked(summary)),
            Some(false) => format!("gate failed: {} below {asked}", gate.failed_slots.join(", ")),
            None => format!("gate of {asked} cannot be judged: {}", words::undecided(summary)),
        });
    }
    let widest = summary.comparisons.iter().max_by(|a, b| {
        let width = |c: &Comparison| c.difference.unwrap_or(0.0).abs();
        width(a).total_cmp(&width(b))
    });
    facts.extend(widest.and_then(difference));
    if let Some(robustness) = &summary.robustness {
        facts.extend(findings(robustness));
    }
    let spared = words::spared(summary.kind, &summary.counts);
    if spared > 0 {
        facts.push(format!(
            "{spared} of {} planned runs were left out: the policy stopped before them",
            summary.trials
        ));
    }
    let unassessed = summary.trials - spared - summary.assessed;
    // A code run tells its own below each headline, with names.
    if unassessed > 0 && summary.code.is_none() {
        let why = reasons(summary, unassessed, spared);
        facts.push(format!("{unassessed} of {} trials could not be assessed: {why}", summary.trials));
    }
    facts
}

/// How answers end that are answers all the same: judges look at them.
const ANSWERS: [&str; 5] = ["empty", "null", "length", "refused", "filtered"];

/// What kept trials from being assessed, by type of error where those say it, most frequent first.
fn reasons(summary: &Summary, unassessed: u64, spared: u64) -> String {
    let broke = |(status, count): &(&String, &u64)| {
        status.as_str() != "success" && **count > 0 && (spared == 0 || status.as_str() != "not_run")
    };
    let statuses: Vec<_> = summary.counts.iter().filter(broke).collect();
    let mut types: Vec<_> =
        summary.error_types.iter().filter(|(name, _)| !ANSWERS.contains(&name.as_str())).collect();
    types.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let explained: u64 = types.iter().map(|(_, count)| **count).sum();
    let fits = summary.code.is_none() && explained <= unassessed;
    let mut why: Vec<String> = match explained > 0 && fits {
        true => types.iter().map(|(name, count)| format!("{count} × {name}")).collect(),
        false => statuses.iter().map(|(status, count)| format!("{count} {status}")).collect(),
    };
    if why.is_empty() {
        return "judges could not judge".to_owned();
    }
    if explained > 0 && fits && explained < unassessed {
        why.push(format!("{} × judges could not judge", unassessed - explained));
    }
    why.join(", ")
}

/// What to do where nothing at all could be assessed; a tape that lacks answers is not the endpoint's fault.
fn remedy(summary: &Summary, suite: &Utf8Path) -> Option<String> {
    let asks = matches!(summary.kind, Kind::Probe | Kind::Containment);
    let by_tape =
        ["replay_miss", "cassette_damaged"].iter().any(|name| summary.error_types.contains_key(*name));
    match (asks && summary.assessed == 0 && !summary.error_types.is_empty(), by_tape) {
        (false, _) => None,
        (true, true) => Some("`--record DIR` asks the endpoints and keeps what they say".to_owned()),
        (true, false) => Some(format!(
            "`proofhouse doctor {suite}` asks each target one short question and says what comes of it"
        )),
    }
}

/// Why completions of a slot did not pass, most frequent first.
fn most_frequent(slot: &CodeSlot) -> Option<String> {
    let mut types: Vec<_> = slot.error_types.iter().collect();
    types.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let (most, others) = types.split_at(types.len().min(4));
    let others: u64 = others.iter().map(|(_, count)| **count).sum();
    let mut types: Vec<String> = most.iter().map(|(name, count)| format!("{count} {name}")).collect();
    types.extend((others > 0).then(|| format!("{others} of other types")));
    (!types.is_empty()).then(|| format!("{}, by error type: {}", slot.slot, types.join(", ")))
}

fn difference(comparison: &Comparison) -> Option<String> {
    let difference = comparison.difference?;
    let (low, high, p) = (comparison.low?, comparison.high?, comparison.p_value?);
    let points = |value: f64| format!("{:+.1}", value * 100.0);
    let verdict = if p < 0.05 { "more than noise" } else { "could be noise" };
    Some(format!(
        "{} against {}: {} points ({} to {}), {verdict} (exact test over {} cases, p {})",
        comparison.b,
        comparison.a,
        points(difference),
        points(low),
        points(high),
        comparison.cases,
        p_value(p),
    ))
}

/// A p-value with its sign, never as zero.
fn p_value(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("= {p:.4}") }
}
