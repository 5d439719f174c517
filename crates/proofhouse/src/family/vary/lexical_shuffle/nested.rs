//! Two orders of one sentence at once: one of a part of it, inside or beside another.

use std::ops::Range;

use super::sentence::Sentence;
use super::turns::{First, Order, Part, Turning, orders};

/// The orders of the task in `If it is late, write a note to them.`, which leave what comes before it alone.
pub(super) fn of_task(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    let opens = matches!(
        turning.word(0),
        "after" | "before" | "for" | "from" | "given" | "if" | "in" | "once" | "when"
    );
    let comma = (1..turning.end().saturating_sub(4))
        .find(|&at| sentence.words[at].tail == "," && turning.starts_imperative(at + 1));
    let Some(comma) = comma.filter(|_| opens) else { return Vec::new() };
    let start = comma + 1;
    let task = Sentence { text: sentence.text, words: sentence.words[start..].to_vec() };
    let inside = turning.lists.iter().filter(|list| list.start >= start);
    let lists: Vec<Range<usize>> = inside.map(|list| list.start - start..list.end - start).collect();
    let mut found = orders(&task, &lists);
    // What comes first would join the words before the comma: `Given a list, in two columns, print it.`
    let opening = sentence.words[start].core.start;
    let stays =
        |order: &Order| matches!(&order.parts[0], Part::Span(range, _) if range.start == order.range.start);
    found.retain(|order| order.range.start > opening || stays(order));
    found
}

/// Every two orders of which one changes a part that the other keeps whole, or what the other does not touch.
pub(super) fn both(found: &[Order]) -> Vec<Order> {
    let inside = found.iter().flat_map(|outer| found.iter().filter_map(move |inner| within(outer, inner)));
    let beside = found.iter().flat_map(|one| found.iter().filter_map(move |other| after(one, other)));
    inside.chain(beside).collect()
}

/// The part of the outer order that holds all of the inner one is put together as the inner one says.
fn within(outer: &Order, inner: &Order) -> Option<Order> {
    let holds = |range: &Range<usize>| range.start <= inner.range.start && inner.range.end <= range.end;
    let place = outer.parts.iter().position(|part| matches!(part, Part::Span(range, _) if holds(range)))?;
    let Part::Span(range, first) = &outer.parts[place] else { return None };
    // Commas inside of commas are hard to read.
    let commas = |order: &Order| order.parts.iter().any(|part| matches!(part, Part::Glue(", ")));
    if inner.range == outer.range || (commas(outer) && commas(inner)) {
        return None;
    }
    let mut parts = Vec::new();
    if range.start < inner.range.start {
        parts.push(Part::Span(range.start..inner.range.start, *first));
    }
    let case = if range.start == inner.range.start { *first } else { First::Kept };
    parts.extend(inner.parts.iter().enumerate().map(|(nth, part)| match part {
        Part::Span(range, _) if nth == 0 && case != First::Kept => Part::Span(range.clone(), case),
        other => other.clone(),
    }));
    if inner.range.end < range.end {
        parts.push(Part::Span(inner.range.end..range.end, First::Kept));
    }
    let mut all = outer.parts.clone();
    all.splice(place..=place, parts);
    Some(Order { range: outer.range.clone(), parts: all, moves: outer.moves + inner.moves })
}

/// What stands between the two stays there.
fn after(one: &Order, other: &Order) -> Option<Order> {
    let gap = one.range.end..other.range.start;
    if gap.is_empty() {
        return None;
    }
    let mut parts = one.parts.clone();
    parts.push(Part::Span(gap, First::Kept));
    parts.extend(other.parts.iter().cloned());
    Some(Order { range: one.range.start..other.range.end, parts, moves: one.moves + other.moves })
}
