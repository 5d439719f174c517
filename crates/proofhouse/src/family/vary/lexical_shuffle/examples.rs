//! Examples in a docstring: calls with what they give. Each stands for itself, so two of them may change places.

use std::ops::Range;

use super::super::code;

/// Runs of at least two examples of the same call, each a range of the text.
pub(super) fn examples(text: &str) -> Vec<Vec<Range<usize>>> {
    let mut runs: Vec<Vec<Range<usize>>> = Vec::new();
    for prose in code::docstrings(text) {
        let lines = lines(text, prose);
        runs.extend(sessions(text, &lines));
        runs.extend(calls(text, &lines));
    }
    runs.retain(|run| run.len() >= 2 && distinct(text, run));
    runs.sort_by_key(|run| run[0].start);
    runs
}

/// The lines without the white space around them.
fn lines(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let mut start = within.start;
    text[within]
        .split('\n')
        .map(|line| {
            let indent = line.len() - line.trim_start().len();
            let range = start + indent..start + indent + line.trim().len();
            start += line.len() + 1;
            if range.start > range.end { range.end..range.end } else { range }
        })
        .collect()
}

/// Sessions: a prompt with a call, and below it what the call gave.
fn sessions(text: &str, lines: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut runs = Vec::new();
    let mut run: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(name) = text[lines[at].clone()].strip_prefix(">>> ").and_then(called) else {
            if !text[lines[at].clone()].is_empty() {
                runs.push(std::mem::take(&mut run));
            }
            at += 1;
            continue;
        };
        let shown = |line: &Range<usize>| {
            let line = &text[line.clone()];
            !line.is_empty() && !line.starts_with(">>>") && !line.starts_with("...")
        };
        let more = lines[at + 1..].iter().take_while(|line| shown(line)).count();
        let same = run.last().is_none_or(|last| called(&text[last.start + 4..]) == Some(name));
        if !same {
            runs.push(std::mem::take(&mut run));
        }
        // One line below the prompt is what it gave; more may hold prose.
        match more {
            1 => run.push(lines[at].start..lines[at + 1].end),
            _ => runs.push(std::mem::take(&mut run)),
        }
        at += 1 + more;
    }
    runs.push(run);
    runs
}

/// Neighbouring lines such as `f(1) == 2`.
fn calls(text: &str, lines: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut runs = vec![Vec::new()];
    for line in lines {
        let content = &text[line.clone()];
        let name = called(content).filter(|_| {
            ["==", "==>", "=>", "->", "➞", "➔", "→"].iter().any(|sign| content.contains(&format!(" {sign} ")))
        });
        let run: &mut Vec<Range<usize>> = runs.last_mut().expect("there is a run");
        let same = run.last().is_none_or(|last| called(&text[last.clone()]) == name);
        match name {
            Some(_) if same => run.push(line.clone()),
            Some(_) => runs.push(vec![line.clone()]),
            None if run.is_empty() => {}
            None => runs.push(Vec::new()),
        }
    }
    runs
}

/// The function that a line calls first and as a whole: its arguments are closed.
fn called(line: &str) -> Option<&str> {
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')?;
    let name = &line[..end];
    let line = line.lines().next().unwrap_or_default();
    let count = |signs: [char; 3]| line.chars().filter(|c| signs.contains(c)).count();
    let closed = count(['(', '[', '{']) == count([')', ']', '}']);
    (line[end..].starts_with('(') && !name.is_empty() && closed && is_literal(&line[end..])).then_some(name)
}

/// Whether nothing in the call is a name, which would have to be given before it: `fib(n)` is a rule and no example.
fn is_literal(line: &str) -> bool {
    let mut quote = None;
    let mut bare = String::new();
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => bare.push(c),
        }
    }
    let words = bare.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut names = words.filter(|word| word.starts_with(char::is_alphabetic));
    quote.is_none() && names.all(|word| matches!(word, "True" | "False" | "None" | "true" | "false" | "null"))
}

fn distinct(text: &str, run: &[Range<usize>]) -> bool {
    run.iter()
        .enumerate()
        .all(|(nth, one)| run[..nth].iter().all(|other| text[one.clone()] != text[other.clone()]))
}
