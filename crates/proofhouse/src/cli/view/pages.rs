//! The pages: a list that can be filtered, a trend, a comparison, and a run in progress.

use maud::{Markup, html};

use super::scan::{Run, State};
use crate::text::doc::html::{Shown, frame};
use crate::text::numbers::{count, interval, percent, points};

/// Runs that a list shows; filters find the rest.
const MAX_ROWS: usize = 500;
/// Runs that a trend shows.
const MAX_POINTS: usize = 60;

/// What a list is filtered by.
#[derive(Debug, Default)]
pub(super) struct Filter {
    pub(super) words: String,
    pub(super) suite: String,
    pub(super) state: String,
}

impl Filter {
    fn fits(&self, run: &Run) -> bool {
        let words = self.words.to_lowercase();
        let text = || format!("{} {} {} {}", run.name, run.suite_id, run.kind, run.run_id).to_lowercase();
        (self.suite.is_empty() || run.suite_id == self.suite)
            && (self.state.is_empty() || run.state.word() == self.state)
            && (words.is_empty() || text().contains(&words))
    }
}

fn page(title: &str, base: &str, script: &str, body: &Markup) -> String {
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

/// A value in a query.
fn query(value: &str) -> String {
    crate::text::doc::html::fragment(value)
}

/// The list of runs.
pub(super) fn list(base: &str, runs: &[Run], filter: &Filter) -> String {
    let mut suites: Vec<&str> =
        runs.iter().map(|run| run.suite_id.as_str()).filter(|id| !id.is_empty()).collect();
    suites.sort_unstable();
    suites.dedup();
    let found: Vec<&Run> = runs.iter().filter(|run| filter.fits(run)).collect();
    let states = [State::Passed, State::Missed, State::Incomplete, State::Damaged];
    let body = html! {
        form.controls method="get" action={ (base) "/" } role="search" {
            label { "Search " input type="search" name="q" value=(Shown(&filter.words)); }
            label { "Suite " select name="suite" {
                option value="" { "all" }
                @for suite in &suites { option value=(Shown(suite)) selected[*suite == filter.suite] { (Shown(suite)) } }
            } }
            label { "State " select name="state" {
                option value="" { "all" }
                @for state in states { option value=(state.word()) selected[state.word() == filter.state] { (state.word()) } }
            } }
            button type="submit" { "Filter" }
            @if !filter.suite.is_empty() { a href={ (base) "/trend?suite=" (query(&filter.suite)) } { "Trend of this suite" } }
        }
        p.count { (count(found.len() as u64)) " of " (count(runs.len() as u64)) " runs" @if found.len() > MAX_ROWS { "; the first " (MAX_ROWS) } }
        form method="get" action={ (base) "/compare" } {
            p { button type="submit" { "Compare the chosen runs" } }
            div.scroll {
                table.plain.runs {
                    caption.quiet { "Runs" }
                    thead { tr { @for title in ["", "Run", "Suite", "Kind", "Began", "State", "Passed", "Trials"] { th scope="col" { (title) } } } }
                    tbody { @for run in found.iter().take(MAX_ROWS) { (row(base, run)) } }
                }
            }
        }
    };
    page("Runs", base, "", &body)
}

fn row(base: &str, run: &Run) -> Markup {
    let place = match run.state {
        State::Incomplete => format!("{base}/live?run={}", query(&run.name)),
        _ => {
            format!("{base}/run/{}/report.html", run.name.split('/').map(query).collect::<Vec<_>>().join("/"))
        }
    };
    let tone = match run.state {
        State::Passed => "verdict-good",
        State::Missed | State::Damaged => "verdict-bad",
        State::Incomplete => "verdict-open",
    };
    html! {
        tr {
            td { input type="checkbox" name="run" value=(Shown(&run.name)) aria-label={ "Compare " (Shown(&run.name)) }; }
            th scope="row" { a href=(Shown(&place)) { bdi { (Shown(&run.name)) } } }
            td { bdi { (Shown(&run.suite_id)) } }
            td { (run.kind) }
            td { (Shown(run.started.get(..19).unwrap_or(&run.started))) }
            td class=(tone) { (run.state.word()) }
            td {
                @for rate in run.rates.iter().take(4) {
                    div { bdi { (Shown(&rate.slot)) } " " @match rate.estimate {
                        Some([low, value, high]) => { (percent(value)) " " small { (interval(Some(low), Some(high)).unwrap_or_default()) } }
                        None => { "not assessed" }
                    } }
                }
            }
            td.num { (count(run.trials)) }
        }
    }
}

/// The pass rates of a suite over its runs, oldest first, with their bands.
pub(super) fn trend(base: &str, suite: &str, runs: &[Run]) -> String {
    let mut own: Vec<&Run> =
        runs.iter().filter(|run| run.suite_id == suite && !run.rates.is_empty()).take(MAX_POINTS).collect();
    own.reverse();
    let mut slots: Vec<&str> = own.iter().flat_map(|run| &run.rates).map(|rate| rate.slot.as_str()).collect();
    slots.sort_unstable();
    slots.dedup();
    let body = html! {
        @if own.is_empty() { p { "There are no whole runs of this suite." } }
        @for slot in slots {
            @let line: Vec<(&Run, [f64; 3])> = own.iter().filter_map(|run| Some((*run, run.rates.iter().find(|rate| rate.slot == slot)?.estimate?))).collect();
            section {
                h2 { bdi { (Shown(slot)) } }
                (chart(&line))
                table.plain {
                    caption.quiet { "Pass rates" }
                    thead { tr { @for title in ["Run", "Began", "Passed", "95 % interval", "Points since"] { th scope="col" { (title) } } } }
                    tbody {
                        @for (at, (run, [low, value, high])) in line.iter().enumerate() {
                            tr {
                                th scope="row" { bdi { (Shown(&run.name)) } }
                                td { (Shown(run.started.get(..19).unwrap_or(&run.started))) }
                                td.num { (percent(*value)) }
                                td.num { (interval(Some(*low), Some(*high)).unwrap_or_default()) }
                                td.num { @if at > 0 { (points(value - line[at - 1].1[1])) } @else { "–" } }
                            }
                        }
                    }
                }
            }
        }
    };
    page(&format!("Trend of {suite}"), base, "", &body)
}

/// A line through the values, with the band of their intervals.
fn chart(line: &[(&Run, [f64; 3])]) -> Markup {
    let x = |at: usize| if line.len() < 2 { 50.0 } else { 2.0 + 96.0 * at as f64 / (line.len() - 1) as f64 };
    let y = |share: f64| 4.0 + (1.0 - share.clamp(0.0, 1.0)) * 92.0;
    let point = |at: usize, share: f64| format!("{:.2},{:.2}", x(at), y(share));
    let low = line.iter().enumerate().map(|(at, (_, ends))| point(at, ends[0]));
    let high = line.iter().enumerate().rev().map(|(at, (_, ends))| point(at, ends[2]));
    let band: Vec<String> = low.chain(high).collect();
    let values: Vec<String> = line.iter().enumerate().map(|(at, (_, ends))| point(at, ends[1])).collect();
    html! {
        svg.band viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="Pass rate over runs with its 95 % interval; the numbers are in the table" {
            @for share in [0.0, 0.5, 1.0] { line.grid x1="0" x2="100" y1=(y(share)) y2=(y(share)) {} }
            polygon points=(band.join(" ")) {}
            polyline points=(values.join(" ")) {}
        }
    }
}

/// Follows the events of a run; the address of them is in the page.
const LIVE: &str = "'use strict';\nconst at = document.getElementById('live');\nconst events = new EventSource(at.dataset.events);\nevents.addEventListener('progress', (event) => {\n  const now = JSON.parse(event.data);\n  at.textContent = now.done + ' of ' + now.total + ' trials, ' + now.passed + ' passed, ' + now.failed + ' failed';\n});\nevents.addEventListener('done', (event) => { events.close(); location.assign(event.data); });\n";

/// A run in progress.
pub(super) fn live(base: &str, run: &Run) -> String {
    let events = format!("{base}/events?run={}", query(&run.name));
    let body = html! { p.finding id="live" data-events=(Shown(&events)) role="status" aria-live="polite" { "Waiting for the run…" } };
    page(&run.name, base, LIVE, &body)
}

/// Loads the page anew when there is something new.
pub(super) const FOLLOW: &str = "'use strict';\nconst at = document.getElementById('watch');\nconst events = new EventSource(at.dataset.events);\nevents.addEventListener('run', (event) => { if (event.data !== at.dataset.run) location.reload(); });\n";

/// Before there is anything to see, and above what there is.
pub(super) fn watch(base: &str, number: u64, inside: &Markup) -> String {
    let body = html! {
        p.note id="watch" data-events={ (base) "/events?watch=1" } data-run=(number) role="status" {
            @if number == 0 { "Waiting for the first run of the suite…" } @else { "Run " (number) "; this page follows the suite as it is saved." }
        }
        (inside)
    };
    page("Watching", base, FOLLOW, &body)
}

/// Something that is not there.
pub(super) fn missing(base: &str, what: &str) -> String {
    page("Not here", base, "", &html! { p { (Shown(what)) } })
}
