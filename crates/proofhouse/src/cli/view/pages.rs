//! The pages: a list that can be filtered, a run in progress, and a suite that is watched.

use std::sync::Arc;

use maud::{Markup, html};
use proofhouse_ledger::glance::SlotGlance;

use super::scan::{Run, State};
use super::watch::Now;
use crate::text::doc::html::{Shown, fragment, frame};
use crate::text::numbers::{count, dollars, interval, of, percent};

/// Runs that a page of the list shows.
const MAX_ROWS: usize = 500;
/// Targets whose rates a row shows; the report has all.
const MAX_RATES: usize = 4;

/// What a list is filtered by.
#[derive(Debug, Default)]
pub(super) struct Filter {
    pub(super) words: String,
    pub(super) suite: String,
    pub(super) kind: String,
    pub(super) state: String,
    /// How many runs were on the pages before.
    pub(super) from: usize,
}

impl Filter {
    fn fits(&self, run: &Run) -> bool {
        let words = self.words.to_lowercase();
        let text = || format!("{} {} {} {}", run.name, run.suite_id, run.kind, run.run_id).to_lowercase();
        (self.suite.is_empty() || run.suite_id == self.suite)
            && (self.kind.is_empty() || run.kind == self.kind)
            && (self.state.is_empty() || run.state.word() == self.state)
            && (words.is_empty() || text().contains(&words))
    }

    /// The address of the same list from another row on.
    fn at(&self, base: &str, from: usize) -> String {
        let [words, suite, kind, state] =
            [&self.words, &self.suite, &self.kind, &self.state].map(|value| fragment(value));
        format!("{base}/?q={words}&suite={suite}&kind={kind}&state={state}&from={from}")
    }
}

/// A page of ours with its script, if it has one.
pub(super) fn page(title: &str, base: &str, script: &str, body: &Markup) -> String {
    let page = html! {
        (frame::top(&format!("{title} · Proofhouse"), script, frame::Loads::Site))
        header.top {
            p.brand { a href={ (base) "/" } { "Proofhouse" } " " span { "view" } }
            h1 { bdi { (Shown(title)) } }
        }
        main { (body) }
        @if !script.is_empty() { script { (maud::PreEscaped(script)) } }
    };
    page.into_string() + "\n</body>\n</html>\n"
}

/// The address of a run's report.
pub(super) fn address(base: &str, name: &str) -> String {
    let name: Vec<String> = name.split('/').map(fragment).collect();
    format!("{base}/run/{}/report.html", name.join("/"))
}

/// A choice of the filter; the first takes everything.
fn choice(title: &str, name: &str, chosen: &str, values: &[&str]) -> Markup {
    html! {
        label { (title) " " select name=(name) {
            option value="" { "all" }
            @for value in values { option value=(Shown(value)) selected[*value == chosen] { (Shown(value)) } }
        } }
    }
}

fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The list of runs.
pub(super) fn list(base: &str, runs: &[Arc<Run>], filter: &Filter) -> String {
    let found: Vec<&Run> = runs.iter().map(|run| &**run).filter(|run| filter.fits(run)).collect();
    let suites = distinct(runs.iter().map(|run| run.suite_id.as_str()));
    let kinds = distinct(runs.iter().map(|run| run.kind.as_str()));
    let from = filter.from.min(found.len());
    let until = (from + MAX_ROWS).min(found.len());
    let (shown, priced) = (&found[from..until], runs.iter().any(|run| run.cost().is_some()));
    let body = html! {
        form.controls method="get" action={ (base) "/" } role="search" {
            label { "Search " input type="search" name="q" value=(Shown(&filter.words)); }
            (choice("Suite", "suite", &filter.suite, &suites))
            (choice("Kind", "kind", &filter.kind, &kinds))
            (choice("State", "state", &filter.state, &State::ALL.map(State::word)))
            button type="submit" { "Filter" }
            @if !filter.suite.is_empty() { a href={ (base) "/trend?suite=" (fragment(&filter.suite)) } { "Trend of this suite" } }
        }
        p.count role="status" {
            (count(found.len() as u64)) " of " (count(runs.len() as u64)) " runs"
            @if found.len() > MAX_ROWS { "; shown here: " (count(from as u64 + 1)) "–" (count(until as u64)) }
        }
        @if runs.is_empty() { p.note { "There are no runs here yet: " code { "proofhouse run SUITE" } " makes one." } }
        @else {
            form method="get" action={ (base) "/compare" } {
                p { button type="submit" { "Compare the chosen runs" } }
                div.scroll tabindex="0" role="region" aria-label="Runs" {
                    table.plain.runs {
                        caption.quiet { "Runs" }
                        thead { tr {
                            th scope="col" { span.quiet { "Chosen" } }
                            @for title in ["Run", "Suite", "Kind", "Began", "State", "Passed"] { th scope="col" { (title) } }
                            th.num scope="col" { "Trials" }
                            @if priced { th.num scope="col" { "Cost" } }
                        } }
                        tbody { @for run in shown { (row(base, run, priced)) } }
                    }
                }
            }
            nav.controls aria-label="Pages" {
                @if from > 0 { a href=(filter.at(base, from.saturating_sub(MAX_ROWS))) { "Newer runs" } }
                @if until < found.len() { a href=(filter.at(base, until)) { "Older runs" } }
            }
        }
    };
    page("Runs", base, "", &body)
}

fn row(base: &str, run: &Run, priced: bool) -> Markup {
    let place = match run.state {
        State::Incomplete | State::Running => format!("{base}/live?run={}", fragment(&run.name)),
        _ => address(base, &run.name),
    };
    let tone = match run.state {
        State::Passed => "verdict-good",
        State::Missed | State::Damaged => "verdict-bad",
        State::Incomplete | State::Running => "verdict-open",
    };
    let suite = format!("{base}/trend?suite={}", fragment(&run.suite_id));
    html! {
        tr {
            td { @if run.state.is_whole() { input type="checkbox" name="run" value=(Shown(&run.name)) aria-label={ "Compare " (Shown(&run.name)) }; } }
            th scope="row" { a href=(place) { bdi { (Shown(&run.name)) } } }
            td { @if !run.suite_id.is_empty() { a href=(suite) { bdi { (Shown(&run.suite_id)) } } } }
            td { (run.kind) }
            td.when { (Shown(&when(&run.started))) }
            td class=(tone) { (run.state.word()) }
            td {
                @for slot in run.slots.iter().take(MAX_RATES) {
                    div { bdi { (Shown(&slot.slot)) } " " @match slot.estimate() {
                        Some([low, value, high]) => { strong { (percent(value)) } " " small { (interval(Some(low), Some(high)).unwrap_or_default()) } }
                        None => { "not assessed" }
                    } }
                }
                @if run.slots.len() > MAX_RATES { div { small { "and " (run.slots.len() - MAX_RATES) " more" } } }
            }
            td.num { (count(run.trials)) }
            @if priced { td.num { (run.cost().map_or_else(|| "–".to_owned(), dollars)) } }
        }
    }
}

/// `2026-11-18T09:28:03.123Z` as people read it.
pub(super) fn when(stamp: &str) -> String {
    stamp.get(..16).unwrap_or(stamp).replacen('T', " ", 1)
}

/// Follows the events of a run; the address of them is in the page.
const LIVE: &str = include_str!("live.js");

/// A run in progress.
pub(super) fn live(base: &str, run: &Run) -> String {
    let events = format!("{base}/events?run={}", fragment(&run.name));
    let body = html! {
        p.finding id="live" data-events=(events) role="status" aria-live="polite" { "Waiting for the run…" }
        progress id="bar" aria-label="Trials that are recorded" max="1" value="0" {}
        p.note {
            @match run.state {
                State::Running => { "The page turns to the report when the run is done." }
                _ => { "Nothing works on this run now. " code { "proofhouse run SUITE --run-dir DIR --resume" } " completes it, and this page follows." }
            }
        }
    };
    page(&run.name, base, LIVE, &body)
}

/// Loads the page anew when there is something new.
const FOLLOW: &str = include_str!("watch.js");

/// Before there is anything to see, and above what there is.
pub(super) fn watch(base: &str, now: &Now, inside: &Markup) -> String {
    let body = html! {
        p.note id="watch" data-events={ (base) "/events?watch=1" } data-version=(now.version) role="status" {
            @match (now.run, now.before) {
                (0, _) => { "Waiting for the first run of the suite…" }
                (run, 0) => { "Run " (run) "; this page follows the suite and its files as they are saved." }
                (run, before) => { "Run " (run) ", held against run " (before) "; this page follows the suite and its files as they are saved." }
            }
        }
        @if let Some(problem) = &now.problem {
            section aria-labelledby="h-problem" {
                h2 id="h-problem" { "The suite as it stands cannot be run" }
                pre tabindex="0" { (Shown(problem)) }
            }
        }
        (inside)
    };
    page("Watching", base, FOLLOW, &body)
}

/// The pass rate of each target.
pub(super) fn rates(slots: &[SlotGlance]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Pass rates" {
            table.plain {
                caption.quiet { "Pass rate of each target" }
                thead { tr { th scope="col" { "Target" } @for title in ["Passed", "95 % interval", "Passed of assessed"] { th.num scope="col" { (title) } } } }
                tbody { @for slot in slots {
                    tr {
                        th scope="row" { bdi { (Shown(&slot.slot)) } }
                        @match slot.estimate() {
                            Some([low, value, high]) => {
                                td.num { (percent(value)) }
                                td.num { (interval(Some(low), Some(high)).unwrap_or_default()) }
                            }
                            None => { td.num { "not assessed" } td.num { "–" } }
                        }
                        td.num { (of(slot.pass_rate.numerator, slot.pass_rate.denominator)) }
                    }
                } }
            }
        }
    }
}

/// Something that is not there.
pub(super) fn missing(base: &str, what: &str) -> String {
    page("Not here", base, "", &html! { p { (Shown(what)) } })
}
