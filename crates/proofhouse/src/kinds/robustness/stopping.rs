//! What a robustness suite's policy can and cannot see, for `plan`: in the words of the report.

use std::collections::BTreeMap;

use proofhouse_ledger::record::Mode;

use super::RobustnessBody;
use crate::kinds::robustness::{
    Policy, PolicyName, ToolCase, at_shares, calm_variant_runs, sensitivity, told_apart,
};
use crate::stats::decisions::{Alike, Bound, Rung, alike_runs_for, foreseen};
use crate::text::doc::terminal::{Look, WIDTH, table_text};
use crate::text::doc::{Column, Table};
use crate::text::numbers::percent;

/// Chances of success for which the ways of ending are shown.
const SHARES: [f64; 6] = [0.0, 0.2, 0.5, 0.8, 0.95, 1.0];

/// The policy, its operating characteristics and what it cannot see.
pub(super) fn describe(body: &RobustnessBody) -> String {
    let bound = if body.open { Bound::AnyTime } else { Bound::Planned };
    let mut text = format!(
        "policy:      {}, stable from a share of {} on; {}\n",
        body.policy.as_str(),
        percent(body.agreement),
        bound.words()
    );
    if !body.wanted.is_empty() {
        text.push_str(&format!(
            "variants:    {} more are written by the rewriter before the first trial\n",
            body.wanted.len()
        ));
    }
    text.push_str(&expected(body));
    let modes =
        |mode: Mode| body.cases.iter().any(|case| case.variants.iter().any(|variant| variant.mode == mode));
    let fewest = body.cases.iter().filter(|case| case.base_runs.is_some()).min_by_key(|case| case.base_runs);
    if let Some(case) = fewest {
        baseline(&mut text, &body.policy(case, Mode::Baseline));
    }
    if modes(Mode::Adversarial) {
        adversarial(&mut text, body);
    }
    if modes(Mode::Stress)
        && let Some(case) = body.cases.first()
    {
        stress(&mut text, &body.policy(case, Mode::Stress));
    }
    between_runs(&mut text, body);
    for case in body.cases.iter() {
        for asked in case.asked.iter().filter(|asked| asked.shortfall.is_some()) {
            text.push_str(&format!(
                "shortfall:   {} {}: {} of {} ({})\n",
                case.id,
                asked.config.name(),
                asked.produced,
                asked.count,
                asked.shortfall.as_deref().unwrap_or_default()
            ));
        }
    }
    text
}

/// How many runs it will be: if the tool always does the same, if it is a coin, and at most.
fn expected(body: &RobustnessBody) -> String {
    let mut series: BTreeMap<(Mode, u32, bool), (Policy, u64)> = BTreeMap::new();
    let (mut calm, mut most) = (0.0, 0u64);
    for case in body.cases.iter() {
        let mut count = |mode: Mode| {
            let policy = body.policy(case, mode);
            most += u64::from(policy.cap(mode));
            if mode == Mode::Adversarial {
                calm += f64::from(calm_variant_runs(&policy));
                return;
            }
            series.entry((mode, policy.cap(mode), policy.compares)).or_insert((policy, 0)).1 += 1;
        };
        if case.base_runs.is_some() {
            count(Mode::Baseline);
        }
        case.variants.iter().filter(|variant| variant.can_run()).for_each(|variant| count(variant.mode));
    }
    let coin_of_variants =
        most - series.iter().map(|((_, cap, _), (_, of))| u64::from(*cap) * of).sum::<u64>();
    let mut coin = coin_of_variants as f64;
    for ((mode, ..), (policy, of)) in &series {
        let found = at_shares(policy, *mode, &[1.0, 0.5]);
        calm += found[0].mean_runs * *of as f64;
        coin += found[1].mean_runs * *of as f64;
    }
    format!(
        "runs:        for each target about {calm:.0} if it always succeeds alike, about {coin:.0} if every run is a coin, at most {most}\n"
    )
}

fn baseline(text: &mut String, policy: &Policy) {
    let runs = policy.base_runs;
    let all = if policy.compares && policy.name == PolicyName::Evidence { "all" } else { "at most" };
    text.push_str(&format!("\nbaseline, {all} {runs} runs, if one of two outcomes has this share:\n"));
    let titles = Alike::ALL.map(|alike| alike.word()).into_iter().chain(["mean runs"]).map(Column::number);
    let mut table = Table::new("", "", std::iter::once(Column::text("share")).chain(titles).collect());
    let shares: Vec<f64> = SHARES.into_iter().filter(|share| *share >= 0.5).collect();
    let found = at_shares(policy, Mode::Baseline, &shares);
    for at in &found {
        let mut row = vec![at.share.to_string().into()];
        row.extend(Alike::ALL.iter().map(|alike| percent(at.of(alike.word()).min(1.0)).into()));
        row.push(format!("{:.1}", at.mean_runs).into());
        table.row(row);
    }
    text.push_str(&indented(&table));
    if found.last().is_none_or(|always| always.of(Alike::Stable.word()) == 0.0) {
        let enough = alike_runs_for(policy.level).map_or(String::new(), |runs| format!(" to {runs} or more"));
        let how = match policy.name {
            PolicyName::Seed => "use `policy: evidence`".to_owned(),
            PolicyName::Evidence | PolicyName::Fixed => format!("raise `runs`{enough}, or lower `agreement`"),
        };
        text.push_str(&format!(
            "  warning: so few runs cannot call anything stable, not even a tool that never changes\n  hint: {how}\n"
        ));
    }
}

fn stress(text: &mut String, policy: &Policy) {
    text.push_str(&format!(
        "\nstress level, at most {} runs, if a run succeeds with this chance:\n",
        policy.variant_runs
    ));
    let titles = Rung::ALL.map(|rung| rung.word()).into_iter().chain(["mean runs"]).map(Column::number);
    let mut table = Table::new("", "", std::iter::once(Column::text("chance")).chain(titles).collect());
    let found = at_shares(policy, Mode::Stress, &SHARES);
    for at in &found {
        let mut row = vec![at.share.to_string().into()];
        row.extend(Rung::ALL.iter().map(|rung| percent(at.of(rung.word()).min(1.0)).into()));
        row.push(format!("{:.1}", at.mean_runs).into());
        table.row(row);
    }
    text.push_str(&indented(&table));
    if found.last().is_none_or(|always| always.of(Rung::Clear.word()) == 0.0) {
        let how = match policy.name {
            PolicyName::Seed => "use `policy: evidence`",
            PolicyName::Evidence => "raise `max_runs` to 5 or more",
            PolicyName::Fixed => "raise `runs_per_variant` to 5 or more",
        };
        text.push_str(&format!(
            "  warning: so few runs cannot call a level clear, not even one that always succeeds\n  hint: {how}\n"
        ));
    }
}

/// What `diff` and `compare` can see between two runs of the suite.
fn between_runs(text: &mut String, body: &RobustnessBody) {
    let of_mode = |case: &ToolCase, mode: Mode| {
        case.variants.iter().filter(|variant| variant.mode == mode && variant.can_run()).count() as u64
    };
    let bases = body.cases.iter().filter(|case| case.base_runs.is_some()).count() as u64;
    let levels: u64 = body.cases.iter().map(|case| of_mode(case, Mode::Stress)).sum();
    let mut generators: Vec<&str> = body
        .cases
        .iter()
        .flat_map(|case| &case.variants)
        .filter(|variant| variant.mode == Mode::Adversarial && variant.can_run())
        .map(|variant| variant.generator)
        .collect();
    generators.sort_unstable();
    generators.dedup();
    let findings = bases + levels + generators.len() as u64;
    let fewest = body.cases.iter().filter(|case| case.base_runs.is_some()).min_by_key(|case| case.base_runs);
    let first = body.cases.iter().find(|case| of_mode(case, Mode::Stress) > 0);
    let series = [
        fewest.map(|case| ("an instruction", "", Mode::Baseline, case)),
        first.map(|case| {
            ("a level", "; its ladder's boundary may still be reported as moved", Mode::Stress, case)
        }),
    ];
    for (what, still, mode, case) in series.into_iter().flatten() {
        let policy = body.policy(case, mode);
        let adjusted = match findings {
            1 => "Fisher's exact test over the runs that the policy makes".to_owned(),
            _ => format!(
                "Fisher's exact test over the runs that the policy makes, adjusted for {findings} findings of a target"
            ),
        };
        text.push_str(&match told_apart(&policy, mode, findings) {
            Some(chance) => format!(
                "\ndiff: {what} that always succeeded is reported as changed, with 80 % power, if it succeeds in {} of runs or \
                 fewer\n  ({adjusted})\n",
                percent(chance)
            ),
            None => format!(
                "\ndiff:\n  warning: so few runs cannot tell {what} that always succeeded from one that always fails ({adjusted}){still}\n"
            ),
        });
    }
}

fn indented(table: &Table) -> String {
    let text = table_text(table, Look { width: WIDTH - 2, colour: false });
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn adversarial(text: &mut String, body: &RobustnessBody) {
    let of_mode = |mode: Mode| {
        body.cases.iter().flat_map(|case| &case.variants).filter(move |variant| variant.mode == mode)
    };
    let variants = of_mode(Mode::Adversarial).count() as u32;
    let fewest = body.cases.iter().filter(|case| !case.variants.is_empty()).min_by_key(|case| case.base_runs);
    let Some(case) = fewest else { return };
    let policy = body.policy(case, Mode::Adversarial);
    if policy.name == PolicyName::Seed {
        text.push_str("\nvariants: one run each, three if it differs from the baseline's modal outcome\n");
        text.push_str(&generators(body));
        return;
    }
    let seen = sensitivity(&policy, variants);
    text.push_str(&format!(
        "\nvariants: {variants}, {} runs each at most, against {} baseline runs (pooled test per generator, then exact tests; false \
         discovery rate 0.05)\n",
        seen.variant_runs, seen.base_runs
    ));
    text.push_str(&generators(body));
    match (seen.needed, seen.detectable) {
        (Some(needed), Some(rate)) => text.push_str(&format!(
            "  beside a baseline that never changes, one variant alone is called structural from {needed} of {} deviating\n  \
             runs on; a variant that deviates in {:.0} % of its runs is found with a chance of 80 %\n",
            seen.variant_runs,
            100.0 * rate
        )),
        _ => text.push_str(
            "  warning: no variant by itself can be called structural with so few runs\n  \
             hint: raise `runs_per_variant` or `runs`, or ask for fewer variants\n",
        ),
    }
}

/// What each generator's runs can show, pooled over its cases; futility may end some of them earlier.
fn generators(body: &RobustnessBody) -> String {
    let mut names: Vec<&str> = Vec::new();
    let variants = body.cases.iter().flat_map(|case| &case.variants);
    for variant in variants.filter(|variant| variant.mode == Mode::Adversarial && variant.can_run()) {
        if !names.contains(&variant.generator) {
            names.push(variant.generator);
        }
    }
    let runs = |case: &ToolCase, name: &str| -> Option<(u64, u64)> {
        let own = case.variants.iter().filter(|variant| {
            variant.mode == Mode::Adversarial && variant.generator == name && variant.can_run()
        });
        let count = own.count() as u64;
        let policy = body.policy(case, Mode::Adversarial);
        (count > 0).then(|| (u64::from(policy.base_runs), count * u64::from(policy.variant_runs)))
    };
    let mut text = String::new();
    for name in &names {
        let cases: Vec<(u64, u64)> = body.cases.iter().filter_map(|case| runs(case, name)).collect();
        let Some(seen) = foreseen(&cases, names.len() as u64) else { continue };
        let warning = if seen.drop.is_none() || !seen.can_be_equivalent() { "warning: " } else { "" };
        text.push_str(&format!("  {warning}{name}: {}\n", seen.sentence()));
    }
    text
}
