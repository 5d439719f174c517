//! What a robustness suite's policy can and cannot see, for `plan`.

use proofhouse_ledger::record::Mode;

use super::RobustnessBody;
use crate::kinds::robustness::{Policy, PolicyName, at_share, called_stable, rule, sensitivity};
use crate::text::doc::terminal::{Look, WIDTH, table_text};
use crate::text::doc::{Column, Table};
use crate::text::numbers::percent;

/// Chances of success for which the ways of ending are shown.
const SHARES: [f64; 5] = [0.2, 0.5, 0.8, 0.95, 1.0];

/// The policy, its operating characteristics and what it cannot see.
pub(super) fn describe(body: &RobustnessBody) -> String {
    let mut text = format!("policy:      {}\n", body.policy.as_str());
    if !body.wanted.is_empty() {
        text.push_str(&format!(
            "variants:    {} more are written by the rewriter before the first trial\n",
            body.wanted.len()
        ));
    }
    let modes =
        |mode: Mode| body.cases.iter().any(|case| case.variants.iter().any(|variant| variant.mode == mode));
    let alone = body.cases.iter().find(|case| {
        case.base_runs.is_some() && !case.variants.iter().any(|variant| variant.mode == Mode::Adversarial)
    });
    if let Some(case) = alone {
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

fn baseline(text: &mut String, policy: &Policy) {
    let runs = policy.base_runs;
    text.push_str(&format!("\nbaseline, at most {runs} runs, if one of two outcomes has this share:\n"));
    let columns = vec![Column::text("share"), Column::number("called stable"), Column::number("mean runs")];
    let mut table = Table::new("", "", columns);
    for share in SHARES.into_iter().filter(|share| *share >= 0.5) {
        let mean_runs = at_share(policy, Mode::Baseline, share).mean_runs;
        table.row(vec![
            share.to_string().into(),
            percent(called_stable(policy, share)).into(),
            format!("{mean_runs:.1}").into(),
        ]);
    }
    text.push_str(&indented(&table));
    if called_stable(policy, 1.0) == 0.0 {
        text.push_str(
            "  warning: so few runs cannot call anything stable, not even a tool that never changes\n  \
             hint: raise `runs`, or lower `agreement`\n",
        );
    }
}

fn stress(text: &mut String, policy: &Policy) {
    text.push_str(&format!(
        "\nstress level, at most {} runs, if a run succeeds with this chance:\n",
        policy.variant_runs
    ));
    let titles = ["clear success", "systematic failure", "undetermined", "mean runs"].map(Column::number);
    let columns = std::iter::once(Column::text("chance")).chain(titles).collect();
    let mut table = Table::new("", "", columns);
    for share in SHARES {
        let found = at_share(policy, Mode::Stress, share);
        let success = found.of(rule::SPRT_SUCCESS) + found.of(rule::SUCCESS_RATE);
        let failure = found.of(rule::SPRT_FAILURE) + found.of(rule::FAILURE_RATE);
        let undetermined = (1.0 - success - failure).max(0.0);
        table.row(vec![
            share.to_string().into(),
            percent(success).into(),
            percent(failure).into(),
            percent(undetermined).into(),
            format!("{:.1}", found.mean_runs).into(),
        ]);
    }
    text.push_str(&indented(&table));
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
        text.push_str(
            "\nvariants: one run each, three if it differs from the baseline's modal outcome\n  \
             warning: the rule has no error control: a tool whose modal outcome has a share of 0.5 makes every second\n  \
             variant look different without any effect of the wording\n",
        );
        return;
    }
    let seen = sensitivity(&policy, variants);
    text.push_str(&format!(
        "\nvariants: {variants}, {} runs each at most, against {} baseline runs (exact test, false discovery rate 0.05)\n",
        seen.variant_runs, seen.base_runs
    ));
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
