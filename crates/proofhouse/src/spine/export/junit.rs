//! `junit.xml`: every trial a test case, for the pages that CI systems make of such files. For runs of every kind.

use std::borrow::Cow;
use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::record::{HEAD, Kind, Line, Status};
use proofhouse_ledger::summary::Summary;

use super::{ExportError, Format, Sink, Source};
use crate::spine::present::FailureDetails;
use crate::text::visible::visible;

pub(super) const FORMAT: Format = Format {
    name: "junit",
    about: "`junit.xml` with a test case for every trial: failed, not assessed (an error), or skipped; for CI systems",
    kinds: &Kind::ALL,
    folder: Some("junit"),
    beside: false,
    write,
};

/// What became of a trial, as readers of such files count it.
#[derive(Clone, Copy)]
enum End {
    Passed,
    Failed,
    /// It could not be assessed, which is nobody's failure.
    Error,
    Skipped,
}

impl End {
    /// `left_out` are the cases that count for nobody.
    fn of(line: &Line<'_>, left_out: &BTreeSet<&str>) -> Result<Self, ExportError> {
        let damaged =
            |damage| ExportError::Damaged { line: line.index().map_or(0, |index| index + 1), damage };
        if left_out.contains(&*line.get(HEAD.case_id).map_err(damaged)?) {
            return Ok(End::Skipped);
        }
        Ok(match (line.get(HEAD.passed).map_err(damaged)?, line.status().map_err(damaged)?) {
            (Some(true), _) => End::Passed,
            (Some(false), _) => End::Failed,
            // Nobody misses the verdict of what only tries the means.
            (None, _) if line.is_aside() => End::Skipped,
            (None, Status::Skipped | Status::NotRun) => End::Skipped,
            (None, _) => End::Error,
        })
    }
}

fn write(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let summary = source.summary()?;
    let left_out = summary.as_ref().map(Summary::left_out).unwrap_or_default();
    let mut counts = [0u64; 4];
    source.each(|line| {
        counts[End::of(line, &left_out)? as usize] += 1;
        Ok(())
    })?;
    let mut sink = Sink::create(out.join("junit.xml"))?;
    let suite = escaped(&source.manifest.suite_id);
    let head = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{suite}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        counts.iter().sum::<u64>(),
        counts[End::Failed as usize],
        counts[End::Error as usize],
        counts[End::Skipped as usize],
    );
    sink.put(head.as_bytes())?;
    source.each(|line| {
        let end = End::of(line, &left_out)?;
        let told = if let End::Failed = end { source.told(line)? } else { FailureDetails::default() };
        Ok(sink.put(case(&suite, line, end, &told).as_bytes())?)
    })?;
    sink.put(b"</testsuite>\n</testsuites>\n")?;
    Ok(vec![sink.finish()?])
}

fn case(suite: &str, line: &Line<'_>, end: End, told_of: &FailureDetails) -> String {
    let word = |text: Result<Cow<'_, str>, _>| escaped(&text.unwrap_or_default());
    let (name, slot) = (word(line.get(HEAD.case_id)), word(line.get(HEAD.slot)));
    let variant = line.get(HEAD.variant_id).ok().flatten().map(|id| format!(", {}", escaped(&id)));
    let repetition = line.get(HEAD.repetition).unwrap_or_default();
    let name = format!("{name}{} #{repetition}", variant.unwrap_or_default());
    let told = |field: Option<Cow<'_, str>>| field.map(|text| escaped(&text)).unwrap_or_default();
    let kind = told(line.get(HEAD.error_type).ok().flatten());
    let message = told(line.get(HEAD.error).ok().flatten());
    let inner = match end {
        End::Passed => String::new(),
        End::Failed => failure(told_of),
        End::Error => format!("<error type=\"{kind}\" message=\"{message}\"/>"),
        End::Skipped => "<skipped/>".to_owned(),
    };
    format!("<testcase classname=\"{suite}.{slot}\" name=\"{name}\">{inner}</testcase>\n")
}

/// Why it failed as the message, and question, expected and answer below it.
fn failure(told: &FailureDetails) -> String {
    let why = told.why.as_deref().unwrap_or("judged as wrong");
    let asked = told.asked.as_ref().map(|(title, text)| (*title, text));
    let texts = [
        asked,
        told.expected.as_ref().map(|text| ("Expected", text)),
        told.answer.as_ref().map(|text| ("Answer", text)),
    ];
    let body: String =
        texts.into_iter().flatten().map(|(title, text)| format!("{title}: {}\n", beginning(text))).collect();
    format!("<failure type=\"failed\" message=\"{}\">{}</failure>", escaped(beginning(why)), escaped(&body))
}

/// Readers of such files show a page of text and not a book.
fn beginning(text: &str) -> &str {
    text.char_indices().nth(4_000).map_or(text, |(at, _)| &text[..at])
}

/// Text of anybody within an attribute: XML has no place for most control characters, not even escaped.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            // Not characters of XML either.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_anybody_stays_within_its_attribute() {
        assert_eq!(escaped("a\"><b>&\n\u{1b}[31m\u{0}"), "a&quot;&gt;&lt;b&gt;&amp;&#10;␛[31m␀");
        assert_eq!(escaped("\u{ffff}"), "\u{fffd}");
    }
}
