//! One figure over the runs of a suite, oldest first, with its band.

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};

use super::pages::{self, address, when};
use super::scan::Run;
use crate::spine::present;
use crate::text::doc::html::{Shown, fragment};
use crate::text::numbers::{dollars, milliseconds, percent, points};

/// Runs that a trend shows: the newest.
const MAX_POINTS: usize = 60;

/// What a trend is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metric {
    Passed,
    Latency,
    Tokens,
    Cost,
}

impl Metric {
    const ALL: [Metric; 4] = [Metric::Passed, Metric::Latency, Metric::Tokens, Metric::Cost];

    /// By its word in an address; the pass rate for any other.
    pub(super) fn named(word: &str) -> Self {
        Self::ALL.into_iter().find(|metric| metric.word() == word).unwrap_or(Metric::Passed)
    }

    fn word(self) -> &'static str {
        match self {
            Metric::Passed => "passed",
            Metric::Latency => "latency",
            Metric::Tokens => "tokens",
            Metric::Cost => "cost",
        }
    }

    /// What it is, and what its band is.
    fn titles(self) -> (&'static str, &'static str) {
        match self {
            Metric::Passed => ("Pass rate", "95 % interval"),
            Metric::Latency => ("Median latency", "To the 95th percentile"),
            Metric::Tokens => ("Tokens a trial", ""),
            Metric::Cost => ("Cost of 1,000 trials", ""),
        }
    }

    fn shown(self, value: f64) -> String {
        match self {
            Metric::Passed => percent(value),
            Metric::Latency => milliseconds(value),
            Metric::Tokens => format!("{value:.1}"),
            Metric::Cost => dollars(value),
        }
    }

    fn change(self, difference: f64) -> String {
        match self {
            Metric::Passed => format!("{} points", points(difference)),
            _ if difference < 0.0 => format!("−{}", self.shown(-difference)),
            _ => format!("+{}", self.shown(difference)),
        }
    }

    /// Lower end, value and upper end for each target of a run.
    fn of(self, run: &Run) -> BTreeMap<String, [f64; 3]> {
        let measured = if self == Metric::Latency { present::latencies(&run.paths) } else { BTreeMap::new() };
        let each = |slot: &proofhouse_ledger::glance::SlotGlance| -> Option<[f64; 3]> {
            let usage = slot.usage.as_ref();
            let trials = usage.map(|usage| usage.trials as f64).filter(|trials| *trials > 0.0);
            match self {
                Metric::Passed => slot.estimate(),
                Metric::Latency => {
                    let known = slot.latency_ms.as_ref();
                    let recorded = known.and_then(|known| known.p50[0].zip(known.p95[0]));
                    let (half, most) = recorded.or_else(|| measured.get(&slot.slot).copied())?;
                    Some([half, half, most])
                }
                Metric::Tokens => {
                    let all = usage.map(|usage| (usage.input_tokens + usage.output_tokens) as f64)?;
                    Some([all / trials?; 3])
                }
                Metric::Cost => Some([usage?.cost_usd? / trials? * 1_000.0; 3]),
            }
        };
        run.slots.iter().filter_map(|slot| Some((slot.slot.clone(), each(slot)?))).collect()
    }
}

type Point<'a> = (&'a Run, [f64; 3]);

/// The line of each target.
fn lines_of<'a>(runs: &'a [Arc<Run>], suite: &str, metric: Metric) -> BTreeMap<String, Vec<Point<'a>>> {
    let own = runs.iter().filter(|run| run.suite_id == suite && run.state.is_whole());
    let mut own: Vec<&Run> = own.take(MAX_POINTS).map(|run| &**run).collect();
    own.reverse();
    let mut lines: BTreeMap<String, Vec<Point<'a>>> = BTreeMap::new();
    for run in own {
        for (slot, value) in metric.of(run) {
            lines.entry(slot).or_default().push((run, value));
        }
    }
    lines
}

/// The trend of a suite: a section for each target.
pub(super) fn page(base: &str, suite: &str, metric: Metric, runs: &[Arc<Run>]) -> String {
    let lines = lines_of(runs, suite, metric);
    let (title, band) = metric.titles();
    let body = html! {
        nav.controls aria-label="Figures" {
            @for other in Metric::ALL {
                a href={ (base) "/trend?suite=" (fragment(suite)) "&metric=" (other.word()) } aria-current=[(other == metric).then_some("page")] { (other.titles().0) }
            }
            a href={ (base) "/?suite=" (fragment(suite)) } { "The runs of this suite" }
        }
        @if lines.is_empty() { p { "No complete run of this suite has this figure." } }
        @for (slot, line) in &lines {
            section {
                h2 { bdi { (Shown(slot)) } }
                (chart(line, metric))
                div.scroll tabindex="0" role="region" aria-label={ (title) " of " (Shown(slot)) } {
                    table.plain {
                        caption.quiet { (title) " of " (Shown(slot)) " over runs" }
                        thead { tr {
                            @for title in ["Run", "Began"] { th scope="col" { (title) } }
                            th.num scope="col" { (title) }
                            @if !band.is_empty() { th.num scope="col" { (band) } }
                            th.num scope="col" { "Since the run before" }
                        } }
                        tbody { @for at in 0..line.len() { (row(base, line, at, metric)) } }
                    }
                }
            }
        }
    };
    pages::page(&format!("Trend of {suite}"), base, "", &body)
}

fn row(base: &str, line: &[Point<'_>], at: usize, metric: Metric) -> Markup {
    let (run, [low, value, high]) = line[at];
    let change = (at > 0).then(|| metric.change(value - line[at - 1].1[1]));
    html! {
        tr {
            th scope="row" { a href=(address(base, &run.name)) { bdi { (Shown(&run.name)) } } }
            td.when { (Shown(&when(&run.started))) }
            td.num { (metric.shown(value)) }
            @match metric {
                Metric::Passed => { td.num { (metric.shown(low)) " to " (metric.shown(high)) } }
                Metric::Latency => { td.num { (metric.shown(high)) } }
                _ => {}
            }
            td.num { (change.unwrap_or_else(|| "–".to_owned())) }
        }
    }
}

/// A line through the values, with the band of their intervals. A rate has its whole scale, everything else begins at nothing.
fn chart(line: &[Point<'_>], metric: Metric) -> Markup {
    let most = line.iter().map(|(_, ends)| ends[2]).fold(0.0, f64::max);
    let scale = if metric == Metric::Passed || most <= 0.0 { 1.0 } else { most };
    let x = |at: usize| if line.len() < 2 { 50.0 } else { 2.0 + 96.0 * at as f64 / (line.len() - 1) as f64 };
    let y = |value: f64| 4.0 + (1.0 - (value / scale).clamp(0.0, 1.0)) * 92.0;
    let point = |at: usize, value: f64| format!("{:.2},{:.2}", x(at), y(value));
    let low = line.iter().enumerate().map(|(at, (_, ends))| point(at, ends[0]));
    let high = line.iter().enumerate().rev().map(|(at, (_, ends))| point(at, ends[2]));
    let band: Vec<String> = low.chain(high).collect();
    let values: Vec<String> = line.iter().enumerate().map(|(at, (_, ends))| point(at, ends[1])).collect();
    let (title, what) = metric.titles();
    let what = if what.is_empty() { String::new() } else { format!(", {what}") };
    html! {
        figure.over-runs {
            svg.band viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={ (title) " over runs" (what) "; the numbers are in the table" } {
                @for share in [0.0, 0.5, 1.0] { line.grid x1="0" x2="100" y1=(y(share * scale)) y2=(y(share * scale)) {} }
                polygon points=(band.join(" ")) {}
                polyline points=(values.join(" ")) {}
                // A point of a stretched picture is a line without length and with round ends.
                @for at in 0..line.len() { line.point x1=(format!("{:.2}", x(at))) x2=(format!("{:.2}", x(at))) y1=(format!("{:.2}", y(line[at].1[1]))) y2=(format!("{:.2}", y(line[at].1[1]))) {} }
            }
            figcaption.note { (metric.shown(0.0)) " to " (metric.shown(scale)) ", " (line.len()) @if line.len() == 1 { " run" } @else { " runs, the newest at the right" } }
        }
    }
}
