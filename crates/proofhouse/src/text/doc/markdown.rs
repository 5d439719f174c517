//! A document as Markdown, for step summaries and pull-request comments.

use super::table::Table;
use super::{Block, Content, Doc, Line, Reach, Report, Style, Tone};
use crate::text::visible;

/// The whole document.
pub fn render(report: &Report) -> String {
    let mut out = format!("### {}", escape(&report.title));
    let headline =
        report.parts.iter().flat_map(|part| &part.doc.blocks).find_map(|block| match &block.content {
            Content::Headline { tone, title, .. } => Some((tone, title)),
            _ => None,
        });
    if let Some((tone, title)) = headline {
        out.push_str(&format!(": {} {}", mark(*tone), escape(title)));
    }
    out.push_str(&format!("\n\n{}\n\n", line(&report.lede)));
    for part in report.parts.iter().filter(|part| part.doc.reaches(Reach::Documents)) {
        // The headline is the title already.
        if !matches!(part.doc.blocks.first(), Some(Block { content: Content::Headline { .. }, .. })) {
            out.push_str(&format!("#### {}\n\n", escape(part.title)));
        }
        out.push_str(&blocks(&part.doc));
    }
    out.push_str(&format!("<sub>{}</sub>\n", line(&report.source)));
    out
}

fn mark(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "✅",
        Tone::Bad => "❌",
        Tone::Open => "⚠️",
        Tone::Neutral => "➖",
    }
}

fn blocks(doc: &Doc) -> String {
    doc.blocks.iter().filter(|block| block.reach <= Reach::Documents).map(block_text).collect()
}

fn block_text(block: &Block) -> String {
    match &block.content {
        Content::Headline { text, .. } => format!("{}\n\n", line(text)),
        Content::Heading(heading) => format!("##### {}\n\n", line(heading)),
        Content::Sentence(tone, _, sentence) => match tone {
            Tone::Bad | Tone::Open => format!("{} {}\n\n", mark(*tone), line(sentence)),
            Tone::Good | Tone::Neutral => format!("{}\n\n", line(sentence)),
        },
        Content::List { ordered, items } => {
            let bullet = if *ordered { "1." } else { "-" };
            let items: String = items.iter().map(|item| format!("{bullet} {}\n", line(&item.line))).collect();
            format!("{items}\n")
        }
        Content::Cards(cards) => {
            let shown = cards.iter().filter(|card| card.reach <= Reach::Documents);
            let cards: String = shown.map(|card| format!("- {}\n", line(&card.sentence()))).collect();
            format!("{cards}\n")
        }
        Content::Pairs(_, pairs) => {
            let shown = pairs.iter().filter(|pair| pair.reach <= Reach::Documents);
            let pairs: String =
                shown.map(|pair| format!("- **{}** {}\n", line(&pair.name), line(&pair.value))).collect();
            format!("{pairs}\n")
        }
        Content::Table(table) => table_text(table),
        Content::Figure(..) | Content::Grid(_) | Content::Chips(_) | Content::Markup(_) => String::new(),
        Content::Said(turns) => {
            let turns: String =
                turns.iter().map(|(who, said)| format!("{}: {}\n", entities(who), marked(said))).collect();
            format!("<pre>{turns}</pre>\n\n")
        }
        Content::Verbatim(text) => format!("<pre>{}</pre>\n\n", entities(&text.plain())),
        Content::More { summary, blocks, .. } => {
            let inside: String =
                blocks.iter().filter(|block| block.reach <= Reach::Documents).map(block_text).collect();
            format!("<details><summary>{}</summary>\n\n{inside}</details>\n\n", marked(summary))
        }
    }
}

fn table_text(table: &Table) -> String {
    let columns = table.shown(Reach::Documents);
    let mut out = String::from("|");
    for (_, column) in columns.clone() {
        out.push_str(&format!(" {} |", escape(&column.title)));
    }
    out.push_str("\n|");
    for (_, column) in columns.clone() {
        out.push_str(if column.is_right() { "--:|" } else { "---|" });
    }
    out.push('\n');
    for row in &table.rows {
        out.push('|');
        for (at, _) in columns.clone() {
            let cell = &row.cells[at];
            let small =
                if cell.small.is_empty() { String::new() } else { format!("<br>{}", line(&cell.small)) };
            out.push_str(&format!(" {}{small} |", line(&cell.line)));
        }
        out.push('\n');
    }
    out.push('\n');
    out
}

fn line(line: &Line) -> String {
    let piece = |span: &super::Span| match span.style {
        Style::Plain | Style::Name | Style::Soft => escape(&span.text),
        Style::Code => format!("<code>{}</code>", entities(&span.text)),
        Style::Strong => {
            format!("**{}**", escape(span.text.trim())) + if span.text.ends_with(' ') { " " } else { "" }
        }
        Style::Injected => format!("<b>{}</b>", entities(&span.text)),
    };
    line.0.iter().map(piece).collect()
}

/// The same where HTML stands, and Markdown does not.
fn marked(line: &Line) -> String {
    let piece = |span: &super::Span| match span.style {
        Style::Injected | Style::Strong => format!("<b>{}</b>", entities(&span.text)),
        Style::Plain | Style::Name | Style::Soft | Style::Code => entities(&span.text),
    };
    line.0.iter().map(piece).collect()
}

/// Names are data: nothing in them may become Markdown or HTML, or end a table's cell.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '@' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\t' => out.push(' '),
            c => visible::push(&mut out, c),
        }
    }
    out
}

/// Text between tags: nothing in it may become markup, nor end the block by an empty line.
fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '*' | '_' | '`' | '[' | ']' | '@' | '#' | '\\' | '~' | '!' | '|' => {
                out.push_str(&format!("&#{};", u32::from(c)));
            }
            c => visible::push(&mut out, c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        assert_eq!(escape("a|b\n<img>`x` [l](u) @all"), "a\\|b &lt;img&gt;\\`x\\` \\[l\\](u) \\@all");
        assert_eq!(escape("\u{1b}[31m\u{202e}"), "␛\\[31m[U+202E]");
    }

    #[test]
    fn an_attackers_words_stay_words() {
        assert_eq!(entities("</pre>\n\n**x** @all"), "&lt;/pre&gt;&#10;&#10;&#42;&#42;x&#42;&#42; &#64;all");
    }
}
