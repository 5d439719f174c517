//! A document on a terminal: sentences and tables within its width, never broken within a word, coloured by meaning.

use unicode_width::UnicodeWidthStr;

use super::table::{Column, Row, Table};
use super::{Block, Content, Doc, Pairing, Reach, Report, Tone};
use crate::text::numbers::{NBSP, kept_together};
use crate::text::visible;

/// The width of a terminal that does not tell it.
pub const WIDTH: usize = 80;

/// What the terminal is like.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Whether colours are wanted.
    pub colour: bool,
}

impl Look {
    /// Text that means good or bad.
    fn toned(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Open => "33",
            Tone::Neutral => "",
        };
        if self.colour && !code.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The whole document, as far as it reaches a terminal.
pub fn render(report: &Report, look: Look) -> String {
    let mut out = paragraph(&format!("{}: {}", report.title, report.lede.plain()), "", look);
    for part in &report.parts {
        let text = blocks(&part.doc, look);
        if !text.is_empty() {
            out.push('\n');
            out.push_str(&text);
        }
    }
    out
}

/// What a section says on a terminal.
pub fn blocks(doc: &Doc, look: Look) -> String {
    let mut out = String::new();
    let mut before = None;
    for block in doc.blocks.iter().filter(|block| block.reach <= Reach::Everywhere) {
        let text = block_text(block, look);
        let table = matches!(block.content, Content::Table(_));
        // A table stands by itself; sentences follow each other.
        if !text.is_empty() && before.is_some_and(|before| before || table) {
            out.push('\n');
        }
        if !text.is_empty() {
            before = Some(table);
        }
        out.push_str(&text);
    }
    out
}

fn block_text(block: &Block, look: Look) -> String {
    let bullet = |tone: Tone, text: &str| {
        let text = paragraph(text, "  ", Look { width: look.width.saturating_sub(2), ..look });
        format!("{} {}", look.toned(tone, "-"), text.trim_start())
    };
    match &block.content {
        Content::Headline { tone, title, text } => {
            let text = text.plain();
            // What begins small goes on with the title's sentence.
            let joint = if text.starts_with(char::is_lowercase) { ":" } else { "." };
            let text = paragraph(&format!("{title}{joint} {text}"), "", look);
            match text.strip_prefix(title) {
                Some(rest) => format!("{}{rest}", look.toned(*tone, title)),
                None => text,
            }
        }
        Content::Heading(line) => paragraph(&line.plain(), "", look),
        Content::Sentence(tone, _, line) => bullet(*tone, &line.plain()),
        // What a list says is about the sentence before it.
        Content::List { items, .. } => {
            let narrow = Look { width: look.width.saturating_sub(4), ..look };
            let item = |item: &super::Item| {
                let text = paragraph(&item.line.plain(), "    ", narrow);
                format!("  {} {}", look.toned(item.tone, "-"), text.trim_start())
            };
            items.iter().map(item).collect()
        }
        Content::Cards(cards) => {
            let narrow = Look { width: look.width.saturating_sub(4), ..look };
            let card = |card: &super::Card| {
                let text = paragraph(&card.sentence().plain(), "    ", narrow);
                format!("  {} {}", look.toned(Tone::Bad, "-"), text.trim_start())
            };
            cards.iter().filter(|card| card.reach <= Reach::Everywhere).map(card).collect()
        }
        Content::Pairs(pairing, pairs) => pairs
            .iter()
            .filter(|pair| pair.reach <= Reach::Everywhere)
            .map(|pair| {
                let colon = if *pairing == Pairing::Facts { ":" } else { "" };
                bullet(Tone::Neutral, &format!("{}{colon} {}", pair.name.plain(), pair.value.plain()))
            })
            .collect(),
        Content::Table(table) => table_text(table, look),
        Content::Figure(_, spoken) => bullet(Tone::Neutral, spoken),
        Content::Verbatim(line) => format!("{}\n", visible::visible(&line.plain())),
        Content::Said(turns) => turns
            .iter()
            .map(|(who, line)| bullet(Tone::Neutral, &format!("{who}: {}", line.plain())))
            .collect(),
        Content::More { .. } | Content::Grid(_) | Content::Chips(_) | Content::Markup(_) => String::new(),
    }
}

/// The width of text in columns.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Text of anybody on lines of at most this width; `indent` stands before each but the first. A word is never broken, and
/// a number stays with its unit.
fn paragraph(text: &str, indent: &str, look: Look) -> String {
    let mut out = String::new();
    for (at, line) in wrap(&visible::one_line(text), look.width).into_iter().enumerate() {
        if at > 0 {
            out.push_str(indent);
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Lines of at most `columns`, unless a word is longer.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let text = kept_together(text);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let line = lines.last_mut().expect("there is a line from the start");
        if line.is_empty() {
            line.push_str(word);
        } else if width(line) + 1 + width(word) <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.into_iter().map(|line| line.replace(NBSP, " ")).collect()
}

/// Lines that are too wide, each folded at its spaces; what follows stands two columns further in than its beginning.
pub fn folded(text: &str, columns: usize) -> String {
    folded_below(text, columns, 0)
}

/// The same for names with values: what follows stands below the value, at this column, where that leaves room for words.
pub fn folded_below(text: &str, columns: usize, value_at: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let own = line.len() - line.trim_start_matches(' ').len();
        let below = if value_at * 2 <= columns { value_at } else { 0 };
        let (wide, narrow) = (own + 2, below.max(own + 2));
        let (mut rest, mut room) = (line, columns);
        while width(rest) > room {
            // The last space that fits, or the first one behind a word that is longer than a line.
            let may_break = |at: &usize| !rest[..*at].trim().is_empty() && !rest[*at..].starts_with(" %");
            let spaces = || rest.match_indices(' ').map(|(at, _)| at).filter(may_break);
            let fits = spaces().take_while(|at| width(&rest[..*at]) <= room).last();
            let Some(at) = fits.or_else(|| spaces().next()) else { break };
            out.push_str(rest[..at].trim_end());
            out.push('\n');
            rest = rest[at..].trim_start();
            // A word that is too long for the place below the value stands further left.
            let word = width(rest.split(' ').next().unwrap_or_default());
            let indent = if narrow + word <= columns { narrow } else { wide };
            out.push_str(&" ".repeat(indent));
            room = columns.saturating_sub(indent).max(1);
        }
        out.push_str(rest);
        out.push_str(end);
    }
    out
}

/// Names and values, the values below each other.
pub fn pairs(rows: &[[String; 2]]) -> String {
    let widest = rows.iter().map(|[name, _]| width(name)).max().unwrap_or(0);
    rows.iter().map(|[name, value]| format!("{}  {value}\n", padded(name, widest))).collect()
}

/// Text with spaces up to a width in columns.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Between two columns.
const GAP: usize = 2;

/// A table within the terminal's width: columns that hold words give way first, heads wrap at their words.
pub fn table_text(table: &Table, look: Look) -> String {
    let columns: Vec<(usize, &Column)> = table.shown(Reach::Everywhere).collect();
    let heads: Vec<String> = columns.iter().map(|(_, column)| visible::one_line(&column.title)).collect();
    let cell = |row: &Row, at: usize| (visible::one_line(&row.cells[at].line.plain()), row.cells[at].tone);
    let cells = |row: &Row| columns.iter().map(|(at, _)| cell(row, *at)).unzip();
    let rows: Vec<Cells> = table.rows.iter().map(cells).collect();
    let widths = widths(&columns, &heads, &rows, look.width);
    let mut out = lines(&columns, &heads, &vec![Tone::Neutral; columns.len()], &widths, look);
    let mut group = None;
    for (mut cells, tones) in rows {
        let first = cells.first().cloned();
        // What belongs together is named once.
        if table.grouped && group.is_some() && first == group {
            cells[0].clear();
        }
        out.push_str(&lines(&columns, &cells, &tones, &widths, look));
        group = first;
    }
    out
}

/// The texts of a row, and what each means.
type Cells = (Vec<String>, Vec<Tone>);

fn widths(columns: &[(usize, &Column)], heads: &[String], rows: &[Cells], room: usize) -> Vec<usize> {
    let longest_word = |text: &str| text.split(' ').map(width).max().unwrap_or(0);
    let mut widths = Vec::new();
    let mut least = Vec::new();
    for (at, (_, column)) in columns.iter().enumerate() {
        let cells = || rows.iter().map(|(cells, _)| cells[at].as_str());
        let widest = cells().map(width).max().unwrap_or(0);
        let unbroken = if column.is_right() { widest } else { cells().map(longest_word).max().unwrap_or(0) };
        widths.push(widest.max(width(&heads[at])));
        least.push(unbroken.max(longest_word(&heads[at])));
    }
    let used = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    while used(&widths) > room {
        let widest = (0..widths.len()).filter(|at| widths[*at] > least[*at]).max_by_key(|at| widths[*at]);
        let Some(widest) = widest else { break };
        widths[widest] -= 1;
    }
    widths
}

fn lines(
    columns: &[(usize, &Column)],
    cells: &[String],
    tones: &[Tone],
    widths: &[usize],
    look: Look,
) -> String {
    let wrapped: Vec<Vec<String>> =
        cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    for line in 0..height {
        let mut text = String::new();
        for (at, (_, column)) in columns.iter().enumerate() {
            let cell = wrapped[at].get(line).map_or("", String::as_str);
            let pad = " ".repeat(widths[at].saturating_sub(width(cell)));
            let cell = if cell.is_empty() { String::new() } else { look.toned(tones[at], cell) };
            if at > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            text.push_str(&if column.is_right() { format!("{pad}{cell}") } else { format!("{cell}{pad}") });
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Line;
    use super::*;

    const LOOK: Look = Look { width: 40, colour: false };

    #[test]
    fn lines_are_folded_between_words_and_keep_their_indent() {
        for (text, columns, expected) in [
            ("short\n", 10, "short\n"),
            ("one two three four", 9, "one two\n  three\n  four"),
            ("  a  bb ccc dddd\n", 11, "  a  bb ccc\n    dddd\n"),
            ("averyveryverylongword and more", 8, "averyveryverylongword\n  and\n  more"),
            ("nospaceatallhere", 4, "nospaceatallhere"),
            ("\n\n", 4, "\n\n"),
        ] {
            assert_eq!(folded(text, columns), expected);
        }
    }

    #[test]
    fn values_are_folded_below_themselves_where_there_is_room() {
        assert_eq!(folded_below("name:  one two three\n", 14, 7), "name:  one two\n       three\n");
        assert_eq!(
            folded_below("name:  one digest10ab two\n", 14, 7),
            "name:  one\n  digest10ab\n       two\n"
        );
        assert_eq!(folded_below("a long name:  one two\n", 18, 14), "a long name:  one\n  two\n");
    }

    #[test]
    fn sentences_wrap_between_words_and_keep_numbers_with_their_units() {
        let mut doc = Doc::new();
        doc.everywhere(Content::plain(
            Line::from("a share of about").text(" 99.9\u{a0}% of all that was seen \u{1b}[31m"),
        ));
        doc.documents(Content::plain("not here"));
        insta::assert_snapshot!(blocks(&doc, LOOK), @r"
        - a share of about 99.9 % of all that
          was seen ␛[31m
        ");
        assert_eq!(wrap("it is 12.5 % of it", 10), ["it is", "12.5 % of", "it"]);
        assert_eq!(folded("it is 12.5 % of it\n", 10), "it is\n  12.5 %\n  of it\n");
    }

    #[test]
    fn columns_stand_below_each_other_whatever_script_they_are_in() {
        let mut table = Table::new(
            "",
            "",
            vec![Column::text("target"), Column::number("passed"), Column::text("why it ended").documents()],
        );
        table.row(vec!["東京".into(), "3/4".into(), "x".into()]);
        table.row(vec!["a".into(), "10/12".into(), "x".into()]);
        insta::assert_snapshot!(table_text(&table, LOOK), @r"
        target  passed
        東京       3/4
        a        10/12
        ");
    }

    #[test]
    fn a_group_is_named_once() {
        let mut table = Table::new("", "", vec![Column::text("tag"), Column::text("target")]).grouped();
        for (tag, target) in [("x", "a"), ("x", "b"), ("y", "a")] {
            table.row(vec![tag.into(), target.into()]);
        }
        insta::assert_snapshot!(table_text(&table, LOOK), @r"
        tag  target
        x    a
             b
        y    a
        ");
    }

    #[test]
    fn a_table_that_is_too_wide_wraps_its_words() {
        let mut table = Table::new(
            "",
            "",
            vec![Column::text("case"), Column::number("share of all trials"), Column::text("reason")],
        );
        table.row(vec![
            "one".into(),
            "50.0\u{a0}%".into(),
            "because the answer was not what was asked".into(),
        ]);
        let text = table_text(&table, LOOK);
        assert!(text.lines().all(|line| width(line) <= 40), "{text}");
        insta::assert_snapshot!(text, @r"
        case      share of all  reason
                        trials
        one             50.0 %  because the
                                answer was not
                                what was asked
        ");
    }
}
