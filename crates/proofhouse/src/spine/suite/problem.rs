//! What is wrong with what the user wrote: every problem has a place, an excerpt with a caret, the key path and a hint.
//!
//! Rendering needs neither colour nor a terminal, and nothing of a file reaches it unescaped, so a hostile dataset cannot
//! drive the terminal of whoever reads the message.

use std::fmt;

use unicode_width::UnicodeWidthChar;

use crate::text::visible::stand_in;

use crate::family::target::Keys;

/// How many problems of one kind of source are reported before the rest is only counted.
pub(crate) const MAX_REPORTED: usize = 20;

/// How many columns of a source line an excerpt shows.
const EXCERPT_COLUMNS: usize = 100;

/// The class of a problem, stable across wordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// A file cannot be read.
    Unreadable,
    /// The text is not YAML, JSON or CSV.
    Syntax,
    /// A key that is not known at this place.
    UnknownKey,
    /// A key twice in one map.
    DuplicateKey,
    /// A key that has to be there.
    MissingKey,
    /// A value of the wrong type.
    WrongType,
    /// A number outside its range.
    OutOfRange,
    /// A value of the right type that cannot work.
    BadValue,
    /// More than the documented limits allow.
    TooLarge,
    /// A path that leaves the suite's directory.
    PathEscape,
    /// A dataset that is not there.
    MissingDataset,
    /// A dataset without a row, a suite without a case.
    Empty,
    /// A dataset whose bytes are not the ones that the suite names.
    HashMismatch,
    /// A dataset that changed between two passes.
    Changed,
    /// Two cases of the same id.
    DuplicateCase,
    /// A template that cannot be filled.
    Template,
    /// A judge that the suite does not have.
    UnknownJudge,
    /// A value without a canonical JSON form.
    NotCanonical,
    /// Something that this version does not do.
    Unsupported,
}

/// Where something stands in a file, and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as the user would name it.
    pub file: String,
    /// Counted from 1; 0 when the problem is the whole file.
    pub line: u64,
    /// Counted in characters from 1.
    pub column: u64,
    /// How many characters the caret underlines.
    pub width: u64,
    /// The source line, if it could be read; of a long line the part around the column.
    pub text: Option<String>,
    /// The column at which `text` begins, 1 for a whole line.
    pub text_column: u64,
}

/// How much of a line is kept on each side of a column, in bytes.
const KEPT_BYTES: usize = 400;

impl Place {
    /// The file as a whole.
    pub(crate) fn whole(file: impl Into<String>) -> Self {
        Place { file: file.into(), line: 0, column: 0, width: 0, text: None, text_column: 1 }
    }

    /// `width` bytes from byte `at` of a line, whose bytes need not be UTF-8.
    pub(crate) fn in_line(file: impl Into<String>, line: u64, bytes: &[u8], at: usize, width: usize) -> Self {
        let at = at.min(bytes.len());
        let is_boundary = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let from = (at.saturating_sub(KEPT_BYTES)..=at).find(is_boundary).unwrap_or(at);
        let to = at.saturating_add(KEPT_BYTES).min(bytes.len());
        let end = at.saturating_add(width).min(to);
        let characters = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().count() as u64;
        let text_column = characters(&bytes[..from]) + 1;
        Place {
            file: file.into(),
            line,
            column: text_column + characters(&bytes[from..at]),
            width: characters(&bytes[at..end]).max(1),
            text: Some(String::from_utf8_lossy(&bytes[from..to]).into_owned()),
            text_column,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Safe(&self.file))?;
        if self.line > 0 { write!(f, ":{}:{}", self.line, self.column) } else { Ok(()) }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its class.
    pub code: Code,
    /// Where it is.
    pub place: Box<Place>,
    /// What is wrong: a lowercase fragment, the subject in backticks.
    pub what: String,
    /// The path of keys that leads to it, empty for the file as a whole.
    pub path: String,
    /// How to fix it.
    pub hint: Option<String>,
    /// Facts to compare, one per line.
    pub notes: Vec<String>,
    /// Another place that belongs to it, and why.
    pub also: Option<Box<(String, Place)>>,
}

impl Problem {
    pub(crate) fn new(code: Code, place: Place, what: impl Into<String>) -> Self {
        Problem {
            code,
            place: Box::new(place),
            what: what.into(),
            path: String::new(),
            hint: None,
            notes: Vec::new(),
            also: None,
        }
    }

    pub(crate) fn at_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn also(mut self, why: impl Into<String>, place: Place) -> Self {
        self.also = Some(Box::new((why.into(), place)));
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, Safe(&self.what))?;
        if !self.path.is_empty() && self.place.text.is_none() {
            write!(f, " in `{}`", Safe(&self.path))?;
        }
        let gutter = self.place.line.max(self.also.as_ref().map_or(0, |also| also.1.line)).to_string().len();
        excerpt(f, &self.place, gutter, &self.path)?;
        if let Some((why, place)) = self.also.as_deref() {
            if place.file != self.place.file {
                write!(f, "\n{:gutter$}::: {place}", "")?;
            }
            excerpt(f, place, gutter, why)?;
        }
        for note in &self.notes {
            write!(f, "\n{:gutter$} = {}", "", Safe(note))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n\nhint: {}", Safe(hint))?;
        }
        Ok(())
    }
}

/// A source line in which every character of what looks like a key is a dot.
fn without_keys(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c| !is_part(c)) {
        let word = piece.trim_end_matches(|c| !is_part(c));
        match crate::family::target::looks_like_key(word) {
            true => out.extend(word.chars().map(|_| '•').chain(piece[word.len()..].chars())),
            false => out.push_str(piece),
        }
    }
    out
}

/// The source line with a caret below it, cropped around the caret.
fn excerpt(f: &mut fmt::Formatter<'_>, place: &Place, gutter: usize, label: &str) -> fmt::Result {
    let Some(text) = &place.text else { return Ok(()) };
    let text = without_keys(text.trim_end_matches(['\n', '\r']));
    let caret_from = usize::try_from(place.column.saturating_sub(place.text_column)).unwrap_or(usize::MAX);
    let crop_from = if caret_from > EXCERPT_COLUMNS * 3 / 4 { caret_from - EXCERPT_COLUMNS / 2 } else { 0 };
    let (mut shown, mut before, mut under) = (String::new(), 0, 0);
    if crop_from > 0 || place.text_column > 1 {
        shown.push('…');
        before = 1;
    }
    let caret_to = caret_from.saturating_add(usize::try_from(place.width).unwrap_or(usize::MAX));
    let (mut cropped, mut underlined) = (false, String::new());
    for (at, c) in text.chars().enumerate().skip(crop_from) {
        if at - crop_from >= EXCERPT_COLUMNS {
            shown.push('…');
            cropped = true;
            break;
        }
        let c = visible(c);
        let columns = c.width().unwrap_or(0);
        if at < caret_from {
            before += columns;
        } else if at < caret_to {
            under += columns;
            underlined.push(c);
        }
        shown.push(c);
    }
    let carets = "^".repeat(if cropped { under.max(1) } else { under.clamp(1, EXCERPT_COLUMNS) });
    let label = if label == underlined { "" } else { label };
    let label = if label.is_empty() { String::new() } else { format!(" {}", Safe(label)) };
    write!(f, "\n{:gutter$} |\n{:gutter$} | {}", "", place.line, shown.trim_end())?;
    write!(f, "\n{:gutter$} | {:before$}{carets}{label}", "", "")
}

/// One character for one, so that carets stand where they should.
fn visible(c: char) -> char {
    match c {
        '\t' => '→',
        '\n' => '␊',
        c => stand_in(c),
    }
}

/// Text of unknown origin, shown so that it stays on its line.
struct Safe<'a>(&'a str);

impl fmt::Display for Safe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| fmt::Write::write_char(f, visible(c)))
    }
}

/// A value inside a message: in backticks, cut to a length that leaves the message readable.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// Names in backticks, separated by commas.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 24;
    let names: Vec<&str> = names.into_iter().collect();
    let mut list = names.iter().take(MOST).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        list.push_str(&format!(" and {} more", names.len() - MOST));
    }
    list
}

/// The known name that a misspelt one most likely means.
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = wrong.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .filter_map(|name| {
            let target = name.to_lowercase().replace('-', "_");
            let distance = strsim::damerau_levenshtein(&folded, &target);
            let (shorter, longer) =
                if folded.len() < target.len() { (&folded, &target) } else { (&target, &folded) };
            let allowed = (longer.chars().count() / 3).max(1);
            let begins = shorter.len() >= 3 && longer.starts_with(shorter.as_str());
            (distance <= allowed || begins).then_some((distance, name))
        })
        .min()
        .map(|(_, name)| name)
}

/// The hint for a name that is not known: the nearest one, or all there are.
pub(crate) fn did_you_mean(wrong: &str, known: &[&str], what: &str) -> String {
    match nearest(wrong, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => format!("there are no {what} here"),
        None => format!("the {what} here are {}", listed(known.iter().copied())),
    }
}

/// Everything that is wrong, in the order of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    /// Problems found but not kept.
    uncounted: bool,
}

/// A line that one problem does not show, because it holds a key, is shown by no other.
fn hide_lines(list: &mut [Problem]) {
    let line = |place: &Place| (place.file.clone(), place.line);
    let is_hidden = |problem: &&Problem| problem.place.line > 0 && problem.place.text.is_none();
    let hidden: Vec<(String, u64)> =
        list.iter().filter(is_hidden).map(|problem| line(&problem.place)).collect();
    if hidden.is_empty() {
        return;
    }
    for problem in list {
        let also = problem.also.as_mut().map(|also| &mut also.1);
        for place in also.into_iter().chain([&mut *problem.place]) {
            place.text = place.text.take().filter(|_| !hidden.contains(&line(place)));
        }
    }
}

impl Problems {
    /// Collects problems, at least one.
    pub(crate) fn new(mut list: Vec<Problem>) -> Self {
        assert!(!list.is_empty(), "an error without a problem");
        hide_lines(&mut list);
        let uncounted = list.len() > MAX_REPORTED;
        list.truncate(MAX_REPORTED);
        Problems { list, uncounted }
    }

    /// The same without any character of a key.
    pub(crate) fn without(self, keys: &Keys) -> Self {
        Problems { list: self.list.into_iter().map(|problem| problem.without(keys)).collect(), ..self }
    }

    /// The same without lines and carets of a text that its user never saw.
    pub(crate) fn without_place_in(mut self, file: &str) -> Self {
        for problem in self.list.iter_mut().filter(|problem| problem.place.file == file) {
            *problem.place = Place::whole("command line");
            problem.path.clear();
        }
        self
    }

    /// The class of the first problem.
    pub fn first_code(&self) -> Code {
        self.list[0].code
    }

    /// The problems, the first found first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Problem> {
        self.list.iter()
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Problems::new(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.list.iter().enumerate() {
            if at > 0 {
                write!(f, "\n\n")?;
            }
            write!(f, "{problem}")?;
        }
        match (self.list.len(), self.uncounted) {
            (1, false) => Ok(()),
            (count, false) => write!(f, "\n\n{count} problems"),
            (count, true) => write!(f, "\n\nmore than {count} problems; the first {count} are shown"),
        }
    }
}

impl std::error::Error for Problems {}
