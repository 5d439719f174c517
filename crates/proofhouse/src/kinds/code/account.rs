//! What stands behind a headline of pass@k, in sentences: who is counted, who is left out, and why nothing passed.
//!
//! Terminal, Markdown, HTML and exports print these very sentences.

use proofhouse_ledger::summary::{CodeSlot, NothingPassed, PassAtK};

use crate::spine::present::words::{count, percent, plural};

/// Names that are listed; the rest is in `summary.json`.
const MAX_NAMES: usize = 5;

/// Every sentence about a slot, the most important first.
pub(crate) fn account(slot: &CodeSlot) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(slot.nothing_passed.as_ref().map(nothing_passed));
    said.extend(unanswered(slot));
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
    let scored = points(&slot.scored_pass_at_k);
    let rest = match scored.is_empty() {
        true => String::new(),
        false => format!("; over what was scored, {scored}"),
    };
    let as_failures = if one { "counts as a failure" } else { "count as failures" };
    Some(format!("{tasks} of {of} {verb} no completion and {as_failures}: {names}{rest}"))
}

fn bounds(slot: &CodeSlot) -> Option<String> {
    if slot.infra == 0 {
        return None;
    }
    let mut text = format!("{} could not be assessed", plural(slot.infra, "completion", "completions"));
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
    Some(if each.is_empty() { text } else { format!("{text}: {}", each.join("; ")) })
}

fn broken(slot: &CodeSlot) -> Option<String> {
    if slot.broken.is_empty() {
        return None;
    }
    let tasks = plural(slot.broken.len() as u64, "task is broken and left", "tasks are broken and left");
    let each = slot.broken.iter().map(|task| match task.why.is_empty() {
        true => format!("`{}`", task.task_id),
        false => format!("`{}` ({})", task.task_id, task.why),
    });
    let completions = plural(slot.excluded, "completion", "completions");
    Some(format!("{tasks} out, with {completions}: {}", names(each)))
}

fn unreadable(slot: &CodeSlot) -> Option<String> {
    (slot.unreadable > 0).then(|| {
        let as_failures = if slot.unreadable == 1 { "counts as a failure" } else { "count as failures" };
        let answers = plural(slot.unreadable, "answer", "answers");
        format!("{answers} cannot be read (null, too long, with a NUL or not UTF-8) and {as_failures}")
    })
}

fn unknown(slot: &CodeSlot) -> Option<String> {
    if slot.unknown == 0 {
        return None;
    }
    let lines = plural(slot.unknown, "line answers", "lines answer");
    let counts = if slot.unknown == 1 { "counts" } else { "count" };
    let each = slot.unknown_tasks.iter().map(|(name, count)| format!("`{name}` ({count})"));
    Some(format!("{lines} no task of the problem file and {counts} for nothing: {}", names(each)))
}

fn nothing_passed(nothing: &NothingPassed) -> String {
    let each = nothing.failures.iter().map(|failure| {
        let example = format!("`{}` #{}", failure.task_id, failure.completion_id);
        let message =
            if failure.message.is_empty() { String::new() } else { format!(": {}", failure.message) };
        format!("{} {}, for example {example}{message}", count(failure.count), failure.error_type)
    });
    let each: Vec<String> = each.chain(nothing.signs.iter().cloned()).collect();
    match each.is_empty() {
        true => "not one completion passed".to_owned(),
        false => format!("not one completion passed: {}", each.join("; ")),
    }
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
