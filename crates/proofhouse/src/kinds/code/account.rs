//! What stands behind a headline of pass@k, in sentences: who is counted, who is left out, and why nothing passed.
//!
//! Terminal, Markdown, HTML and exports print these very sentences.

use proofhouse_ledger::record::NO_TASK;
use proofhouse_ledger::summary::{CodeSlot, NothingPassed, PassAtK};

use super::behind;
use crate::spine::present::behind::{counted, counted_as};
use crate::text::doc::Line;
use crate::text::numbers::{count, percent, plural};

/// Names that are listed; the rest is in `summary.json`.
const MAX_NAMES: usize = 5;

/// Every sentence about a slot, the most important first.
pub(crate) fn account(slot: &CodeSlot) -> Vec<Line> {
    let mut said = Vec::new();
    said.extend(slot.nothing_passed.as_ref().map(|nothing| nothing_passed(slot, nothing)));
    said.extend(unanswered(slot).as_deref().map(Line::ticked));
    said.extend(unsupported(slot));
    said.extend(bounds(slot));
    said.extend(broken(slot));
    said.extend(unreadable(slot));
    said.extend(unknown(slot));
    said
}

fn unanswered(slot: &CodeSlot) -> Option<String> {
    if slot.unanswered.is_empty() {
        return None;
    }
    let tasks = plural(slot.unanswered.len() as u64, "task", "tasks");
    let one = slot.unanswered.len() == 1;
    let verb = if one { "has" } else { "have" };
    let of = count(slot.tasks_planned);
    let names = names(slot.unanswered.iter().map(|name| format!("`{name}`")));
    if !slot.unanswered_fail {
        let are = if one { "is" } else { "are" };
        return Some(format!(
            "{tasks} of {of} {verb} no completion and {are} left out (`tasks: answered`): {names}"
        ));
    }
    if slot.pass_at_k.is_empty() {
        return Some(format!("{tasks} of {of} {verb} no completion: {names}"));
    }
    let scored = points(&slot.scored_pass_at_k);
    let rest = match scored.is_empty() {
        true => String::new(),
        false => format!("; over what was scored, {scored}"),
    };
    let as_failures = if one { "counts as a failure" } else { "count as failures" };
    Some(format!("{tasks} of {of} {verb} no completion and {as_failures}: {names}{rest}"))
}

/// Answers whose own shape keeps them from being judged: else a model could leave out of its score what it is not sure of.
fn unsupported(slot: &CodeSlot) -> Option<Line> {
    (slot.unsupported > 0).then(|| {
        let one = slot.unsupported == 1;
        let behind = behind::counting(slot).filter("error", "unsupported").records();
        let answers = counted_as(slot.unsupported, ("answer", "answers"), behind);
        let (pass, count) = if one { ("passes", "counts") } else { ("pass", "count") };
        let scored = points(&slot.scored_pass_at_k);
        let rest = match scored.is_empty() {
            true => String::new(),
            false => format!("; over what was scored, {scored}"),
        };
        answers.then(Line::ticked(&format!(
            " {pass} only where an answer shares a process with its tests, in a way that cannot be believed there \
             (`unsupported`), and {count} as not passed{rest}; `unsafe: allow` in the suite judges those with `unsafe`"
        )))
    })
}

fn bounds(slot: &CodeSlot) -> Option<Line> {
    if slot.infra == 0 {
        return None;
    }
    let missing = behind::unassessed(slot).records();
    let line = counted_as(slot.infra, ("completion", "completions"), missing);
    let mut text = " could not be assessed".to_owned();
    if !slot.unassessed_tasks.is_empty() {
        let names = names(slot.unassessed_tasks.iter().map(|name| format!("`{name}`")));
        let tasks = plural(slot.unassessed_tasks.len() as u64, "task", "tasks");
        text.push_str(&format!(", among them all of {tasks} ({names})"));
    }
    let each = slot.pass_at_k.iter().filter_map(|point| {
        Some(format!(
            "pass@{} is {} if all of that had failed and {} if it had passed",
            point.k,
            percent(point.worst?),
            percent(point.best?)
        ))
    });
    let each: Vec<String> = each.collect();
    if !each.is_empty() {
        text.push_str(&format!(": {}", each.join("; ")));
    }
    Some(line.then(Line::ticked(&text)))
}

fn broken(slot: &CodeSlot) -> Option<Line> {
    if slot.broken.is_empty() {
        return None;
    }
    // A task may be broken for one target and unanswered by another, so there need not be a completion of each.
    let tasks = plural(slot.broken.len() as u64, "task is broken and left", "tasks are broken and left");
    let each = slot.broken.iter().map(|task| match task.why.is_empty() {
        true => format!("`{}`", task.task_id),
        false => format!("`{}` ({})", task.task_id, task.why),
    });
    let behind = behind::of_broken(slot).records();
    let completions = counted_as(slot.excluded, ("completion", "completions"), behind);
    let line = Line::from(format!("{tasks} out, with ")).then(completions);
    Some(line.then(Line::ticked(&format!(": {}", names(each)))))
}

fn unreadable(slot: &CodeSlot) -> Option<Line> {
    (slot.unreadable > 0).then(|| {
        let as_failures = if slot.unreadable == 1 { "counts as a failure" } else { "count as failures" };
        let behind = behind::completions(slot).filter("error", "invalid_sample").records();
        let answers = counted_as(slot.unreadable, ("answer", "answers"), behind);
        answers.text(format!(
            " cannot be read (no text, too long, cut off, with a NUL or not UTF-8) and {as_failures}"
        ))
    })
}

fn unknown(slot: &CodeSlot) -> Vec<Line> {
    let counts = |lines: u64| if lines == 1 { "counts" } else { "count" };
    let nameless = slot.unknown_tasks.get(NO_TASK).copied().unwrap_or(0);
    let mut said = Vec::new();
    if nameless > 0 {
        let behind = behind::of_unknown(slot).filter("case", NO_TASK).records();
        let lines = counted_as(nameless, ("line names", "lines name"), behind);
        said.push(lines.text(format!(" no task that can be read and {} for nothing", counts(nameless))));
    }
    let named = slot.unknown.saturating_sub(nameless);
    if named > 0 {
        let behind = behind::of_unknown(slot).without("case", [NO_TASK]).records();
        let lines = counted_as(named, ("line answers", "lines answer"), behind);
        let named_tasks: Vec<_> = slot.unknown_tasks.iter().filter(|(name, _)| *name != NO_TASK).collect();
        let each = named_tasks.into_iter().map(|(name, count)| format!("`{name}` ({count})"));
        let counts = counts(named);
        let text = format!(" no task of the problem file and {counts} for nothing: {}", names(each));
        said.push(lines.then(Line::ticked(&text)));
    }
    said
}

fn nothing_passed(slot: &CodeSlot, nothing: &NothingPassed) -> Line {
    let each = nothing.failures.iter().map(|failure| {
        let example = match failure.task_id.as_str() {
            NO_TASK => "a line that names no task".to_owned(),
            task => format!("`{task}` #{}", failure.completion_id),
        };
        let message =
            if failure.message.is_empty() { String::new() } else { format!(": {}", failure.message) };
        let behind = behind::completions(slot).filter("error", &failure.error_type).records();
        let text = format!(" {}, for example {example}{message}", failure.error_type);
        counted(failure.count, behind).then(Line::ticked(&text))
    });
    let each = each.chain(nothing.signs.iter().map(|sign| Line::ticked(sign)));
    each.enumerate().fold(Line::from("not one completion passed"), |line, (at, part)| {
        line.text(if at == 0 { ": " } else { "; " }).then(part)
    })
}

fn points(points: &[PassAtK]) -> String {
    let each = points.iter().map(|point| {
        format!("pass@{} {} of {}", point.k, percent(point.value), plural(point.tasks, "task", "tasks"))
    });
    each.collect::<Vec<_>>().join(", ")
}

fn names(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let mut text = names.take(MAX_NAMES).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {} more in `summary.json`", count(more as u64)));
    }
    text
}
