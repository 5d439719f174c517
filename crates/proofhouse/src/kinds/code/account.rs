//! What stands behind a headline of pass@k, in sentences: who is counted, who is left out, and why nothing passed.
//!
//! Terminal, Markdown, HTML and exports print these very sentences.

use proofhouse_ledger::record::NO_TASK;
use proofhouse_ledger::summary::{CodeSlot, NothingPassed, PassAtK};

use crate::text::numbers::{count, percent, plural};

/// Names that are listed; the rest is in `summary.json`.
const MAX_NAMES: usize = 5;

/// Every sentence about a slot, the most important first.
pub(crate) fn account(slot: &CodeSlot) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(slot.nothing_passed.as_ref().map(nothing_passed));
    said.extend(unanswered(slot));
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
fn unsupported(slot: &CodeSlot) -> Option<String> {
    (slot.unsupported > 0).then(|| {
        let one = slot.unsupported == 1;
        let answers = plural(slot.unsupported, "answer", "answers");
        let (pass, count) = if one { ("passes", "counts") } else { ("pass", "count") };
        let scored = points(&slot.scored_pass_at_k);
        let rest = match scored.is_empty() {
            true => String::new(),
            false => format!("; over what was scored, {scored}"),
        };
        format!(
            "{answers} {pass} only where an answer shares a process with its tests, in a way that cannot be believed there \
             (`unsupported`), and {count} as not passed{rest}; `unsafe: allow` in the suite judges those with `unsafe`"
        )
    })
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
        format!(
            "{answers} cannot be read (no text, too long, cut off, with a NUL or not UTF-8) and {as_failures}"
        )
    })
}

fn unknown(slot: &CodeSlot) -> Vec<String> {
    let counts = |lines: u64| if lines == 1 { "counts" } else { "count" };
    let nameless = slot.unknown_tasks.get(NO_TASK).copied().unwrap_or(0);
    let mut said = Vec::new();
    if nameless > 0 {
        let lines = plural(nameless, "line names", "lines name");
        said.push(format!("{lines} no task that can be read and {} for nothing", counts(nameless)));
    }
    let named = slot.unknown.saturating_sub(nameless);
    if named > 0 {
        let lines = plural(named, "line answers", "lines answer");
        let named_tasks: Vec<_> = slot.unknown_tasks.iter().filter(|(name, _)| *name != NO_TASK).collect();
        let each = named_tasks.into_iter().map(|(name, count)| format!("`{name}` ({count})"));
        let counts = counts(named);
        said.push(format!("{lines} no task of the problem file and {counts} for nothing: {}", names(each)));
    }
    said
}

fn nothing_passed(nothing: &NothingPassed) -> String {
    let each = nothing.failures.iter().map(|failure| {
        let example = match failure.task_id.as_str() {
            NO_TASK => "a line that names no task".to_owned(),
            task => format!("`{task}` #{}", failure.completion_id),
        };
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
