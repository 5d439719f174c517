//! The page itself: the sentences of the statistics, a table by target and tag, and the cases, regressions first.

use maud::{Markup, html};
use proofhouse_ledger::RunPaths;
use similar::{ChangeTag, TextDiff};

use super::{Case, Class, Trials, Versus, versus};
use crate::spine::compare::{Compared, Report as Comparison, TargetReport};
use crate::spine::present::{OfKind, ReportError};
use crate::text::doc::html::{Shown, frame};
use crate::text::numbers::{count, p_number, points};

/// Characters of a text that a side shows.
const MAX_CHARS: usize = 4_000;
/// Longer texts are not compared word by word.
const MAX_COMPARED: usize = 20_000;

/// What the page is about.
pub struct Heading<'a> {
    /// What it is called.
    pub title: &'a str,
    /// Sentences that everybody reads first, in the words of the terminal.
    pub sentences: Vec<String>,
    /// What has to be known of the runs.
    pub remarks: Vec<String>,
    /// The same by target and tag, where runs can be compared.
    pub comparison: Option<&'a Comparison>,
}

/// Runs held against each other, as one page that needs no network and no script.
pub fn compared(
    runs: &[(String, RunPaths)],
    heading: &Heading<'_>,
    kinds: OfKind,
) -> Result<String, ReportError> {
    let found = versus(runs, kinds)?;
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let page = html! {
        (frame::top(&format!("{} · Proofhouse", heading.title), "", frame::Loads::Nothing))
        header.top {
            p.brand { "Proofhouse " span { "comparison" } }
            h1 { bdi { (Shown(heading.title)) } }
            p.lede { @for (at, name) in names.iter().enumerate() { @if at > 0 { " → " } code { (Shown(name)) } } }
        }
        main {
            section id="verdict" aria-labelledby="h-verdict" {
                h2 id="h-verdict" { "What can be said" }
                @for sentence in &heading.sentences { p.finding { (Shown(&written(sentence))) } }
                @for remark in &heading.remarks { p.note { (Shown(remark)) } }
                (chips(&found))
            }
            (groups(&found, &names))
            @if let Some(comparison) = heading.comparison { (by_target(comparison)) }
        }
        footer { p { "Made by Proofhouse from the files of these runs alone. It loads nothing and sends nothing." } }
    };
    Ok(page.into_string() + "\n</body>\n</html>\n")
}

/// What changed between runs, as a piece of a page that somebody else frames.
pub fn changed(
    runs: &[(String, RunPaths)],
    comparison: Option<&Comparison>,
    kinds: OfKind,
) -> Result<String, ReportError> {
    let found = versus(runs, kinds)?;
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let page = html! {
        @if runs.len() > 1 { (chips(&found)) }
        @if let Some(comparison) = comparison { (by_target(comparison)) }
        (groups(&found, &names))
    };
    Ok(page.into_string())
}

/// A sentence as it stands by itself: terminals tell it behind the name of a target and without a full stop.
fn written(sentence: &str) -> String {
    let mut letters = sentence.chars();
    // `one: …` and `r1 and r2 fare alike` begin with names, which stay as they are.
    let begins = ["on ", "no ", "there ", "compared ", "it "].iter().any(|word| sentence.starts_with(word));
    let first = letters.next().filter(|_| begins).map(|first| first.to_uppercase().to_string());
    let rest = if first.is_some() { letters.as_str() } else { sentence };
    let end = if sentence.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{}{rest}{end}", first.unwrap_or_default())
}

/// Class, anchor, heading and tone.
const CLASSES: [(Class, &str, &str, &str); 3] = [
    (Class::Worse, "worse", "Got worse", "bad"),
    (Class::Better, "better", "Got better", "good"),
    (Class::Other, "other", "Other answers, same verdicts", ""),
];

fn chips(found: &Versus) -> Markup {
    let number = |class: Class| found.counts.get(&class).copied().unwrap_or(0) as u64;
    html! {
        p.outcome-chips {
            @for (class, id, title, tone) in CLASSES {
                @if number(class) > 0 {
                    span class={ "outcome " (tone) } { a href={ "#" (id) } { (count(number(class))) " " (title.to_lowercase()) } } " "
                }
            }
            span.outcome.good { a href="#verdict" { (count(number(Class::Same))) " the same" } }
        }
    }
}

fn groups(found: &Versus, names: &[&str]) -> Markup {
    html! {
        @for (class, id, title, tone) in CLASSES {
            @let all = found.counts.get(&class).copied().unwrap_or(0);
            @if all > 0 {
                @let shown: Vec<&Case> = found.shown.iter().filter(|case| case.class == class).collect();
                section id=(id) aria-labelledby={ "h-" (id) } {
                    h2 id={ "h-" (id) } { (title) ": " (count(all as u64)) }
                    @for case in &shown { (self::case(case, names, tone)) }
                    @if shown.len() < all { p.note { "The first " (shown.len()) " of " (count(all as u64)) "." } }
                }
            }
        }
    }
}

fn case(case: &Case, names: &[&str], tone: &str) -> Markup {
    let told = |at: usize| case.runs[at].as_ref().map(|trials| &trials.told);
    let first = (0..case.runs.len()).find_map(told);
    let answer = |trials: &Trials| trials.told.answer.clone().unwrap_or_default();
    let base = case.runs[0].as_ref().map(answer);
    html! {
        article class={ "card versus " (tone) } {
            h3 {
                bdi { (Shown(&case.case)) }
                @if let Some(variant) = &case.variant { " / " bdi { (Shown(variant)) } }
                @if !case.slot.is_empty() { span.soft { " on " bdi { (Shown(&case.slot)) } } }
            }
            dl {
                @if let Some((title, asked)) = first.and_then(|told| told.asked.as_ref()) { dt { (title) } dd { (Shown(&clipped(asked))) } }
                @if let Some(expected) = first.and_then(|told| told.expected.as_ref()) { dt { "Expected" } dd { (Shown(&clipped(expected))) } }
            }
            div.sides {
                @for (at, run) in case.runs.iter().enumerate() {
                    div.side {
                        p.who { code { (Shown(names[at])) } }
                        @match run {
                            None => { p.note { "not in this run" } }
                            Some(trials) => { (side(trials, base.as_deref().filter(|_| at > 0))) }
                        }
                    }
                }
            }
        }
    }
}

fn side(trials: &Trials, base: Option<&str>) -> Markup {
    let (class, words) = match (trials.passed, trials.assessed) {
        (_, 0) => ("v2", "not assessed".to_owned()),
        (passed, assessed) if passed == assessed => ("v1", format!("passed {passed} of {}", trials.trials)),
        (passed, _) => ("v0", format!("passed {passed} of {}", trials.trials)),
    };
    let answer = trials.told.answer.as_deref().unwrap_or_default();
    html! {
        p { span class={ "badge " (class) } { (words) } }
        pre tabindex="0" { (marked(base, answer)) }
        @if let (Some(why), true) = (&trials.told.why, class != "v1") { p.note.why { (Shown(&clipped(why))) } }
    }
}

/// A text with the words marked that are not in the other one, and those of the other one that are gone.
fn marked(base: Option<&str>, text: &str) -> Markup {
    let Some(base) = base.filter(|base| *base != text && base.len().max(text.len()) <= MAX_COMPARED) else {
        return html! { (Shown(&clipped(text))) };
    };
    let diff = TextDiff::from_words(base, text);
    html! {
        @for change in diff.iter_all_changes() {
            @match change.tag() {
                ChangeTag::Equal => { (Shown(change.value())) }
                ChangeTag::Delete => { del { (Shown(change.value())) } }
                ChangeTag::Insert => { ins { (Shown(change.value())) } }
            }
        }
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn by_target(comparison: &Comparison) -> Markup {
    let rows = || comparison.targets.iter().chain(&comparison.by_tag);
    html! {
        @if rows().next().is_some() {
            section id="targets" aria-labelledby="h-targets" {
                h2 id="h-targets" { "By target and tag" }
                div.scroll {
                    table.plain {
                        caption.quiet { "Each pair of runs by target and tag" }
                        thead { tr { @for title in ["Target", "Tag", "Runs", "Points", "95 % interval", "p", "Cases", "In short", "In words"] { th scope="col" { (title) } } } }
                        tbody { @for report in rows() { @for pair in &report.comparisons { (row(report, pair)) } } }
                    }
                }
            }
        }
    }
}

/// Good, bad, or nothing that one could be sure of.
fn tone(report: &TargetReport, pair: &Compared) -> &'static str {
    let better = pair.difference.map(|difference| (difference > 0.0) != report.is_harm);
    match (pair.more_than_noise, better) {
        (Some(true), Some(true)) => "verdict-good",
        (Some(true), Some(false)) => "verdict-bad",
        _ => "",
    }
}

fn row(report: &TargetReport, pair: &Compared) -> Markup {
    let (target, tag) = (report.target.as_deref().unwrap_or("all"), report.tag.as_deref().unwrap_or("all"));
    let interval = pair.low.zip(pair.high).map(|(low, high)| format!("{} to {}", points(low), points(high)));
    html! {
        tr {
            th scope="row" { bdi { (Shown(target)) } @if let Some(measure) = &report.measure { br; small { (Shown(measure)) } } }
            td { bdi { (Shown(tag)) } }
            td { code { (Shown(&pair.a)) } " → " code { (Shown(&pair.b)) } }
            td.num { (pair.difference.map_or_else(|| "–".to_owned(), points)) }
            td.num { (interval.unwrap_or_else(|| "–".to_owned())) }
            td.num { (pair.adjusted_p.map_or_else(|| "–".to_owned(), p_number)) }
            td.num { (count(pair.cases)) }
            td class=(tone(report, pair)) { (Shown(&pair.in_short)) }
            td { (Shown(&pair.sentence)) }
        }
    }
}
