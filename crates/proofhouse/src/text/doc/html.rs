//! A document as HTML: markup from our source, values from anywhere, each of them shown so that it cannot become markup,
//! hide, or reorder its neighbours.

pub mod frame;
mod svg;

use maud::{Markup, PreEscaped, Render, html};

use super::figure::Scale;
use super::table::{Cell, Column, Holds, Row, Table};
use super::{Block, Card, Content, Grid, Line, Pairing, Part, Records, Span, Style, Tone, Weight};
use crate::text::visible;

/// Text of anybody: the only way in which values reach a page.
pub struct Shown<'a>(pub &'a str);

impl Render for Shown<'_> {
    fn render_to(&self, out: &mut String) {
        for c in self.0.chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\'' => out.push_str("&#39;"),
                c => visible::push(out, c),
            }
        }
    }
}

/// A section of a page, with its heading.
pub fn section(part: &Part) -> Markup {
    let heading = format!("h-{}", part.id);
    html! {
        section id=(part.id) aria-labelledby=(heading) {
            "\n"
            h2 id=(heading) { (part.title) }
            "\n"
            (blocks(&part.doc.blocks))
            "\n"
        }
        "\n"
    }
}

/// A line of a page.
pub fn line(line: &Line) -> Markup {
    html! { @for span in &line.0 { (self::span(span)) } }
}

fn blocks(blocks: &[Block]) -> Markup {
    html! { @for block in blocks { (content(&block.content)) } }
}

fn content(content: &Content) -> Markup {
    match content {
        Content::Headline { tone, title, text } => {
            let (class_of, mark) = match tone {
                Tone::Good => ("held", "✓"),
                Tone::Bad => ("failed", "✗"),
                Tone::Open => ("open", "○"),
                Tone::Neutral => ("none", "–"),
            };
            html! {
                p class=[class(&["headline", class_of])] {
                    span.mark aria-hidden="true" { (mark) }
                    span { strong { (title) } " " span.why { (line(text)) } }
                }
            }
        }
        Content::Heading(text) => html! { h3 { (line(text)) } },
        Content::Sentence(tone, Weight::Finding, text) => {
            html! { p class=[class(&["finding", tone_class(*tone)])] { (line(text)) } }
        }
        Content::Sentence(_, Weight::Plain, text) => html! { p { (line(text)) } },
        Content::Sentence(_, Weight::Note, text) => html! { p.note { (line(text)) } },
        Content::List { ordered: true, items } => html! {
            ol.calls { @for item in items { li class=[class(&[tone_class(item.tone)])] { (line(&item.line)) } } }
        },
        Content::List { items, .. } => html! {
            ul.account { @for item in items { li class=[class(&[tone_class(item.tone)])] { (line(&item.line)) } } }
        },
        Content::Cards(cards) => html! {
            div.cards id="cards" { @for card in cards { (self::card(card)) } }
            p id="cards-more" {}
        },
        Content::Chips(chips) => html! {
            p.outcome-chips {
                @for (tone, chip) in chips { span class=[class(&["outcome", tone_class(*tone)])] { (line(chip)) } " " }
            }
        },
        Content::Pairs(Pairing::Facts, pairs) => html! {
            dl.facts { @for pair in pairs { div { dt { (line(&pair.name)) } dd { (line(&pair.value)) } } } }
        },
        Content::Pairs(Pairing::Answers, pairs) => html! {
            dl.answers { @for pair in pairs { dt { (line(&pair.name)) } dd { (line(&pair.value)) } } }
        },
        Content::Table(table) => self::table(table),
        Content::Figure(figure, spoken) => svg::figure(figure, Some(spoken)),
        Content::Grid(grid) => self::grid(grid),
        Content::Said(turns) => html! {
            dl.transcript {
                @for (who, said) in turns { dt { (Shown(who)) } dd { pre { (line(said)) } } }
            }
        },
        Content::Verbatim(text) => html! { pre.command { (line(text)) } },
        Content::More { summary, open, class, blocks } => html! {
            details class=[self::class(&[class])] open[*open] {
                // What opens cannot hold a link: nobody could tell which of them a key means.
                summary { @for span in &summary.0 { (self::span(&Span { records: None, ..span.clone() })) } }
                @for span in summary.0.iter().filter(|span| span.records.is_some()) {
                    p.note { "The records of " (self::span(span)) "." }
                }
                (self::blocks(blocks))
            }
        },
        Content::Markup(markup) => PreEscaped((*markup).to_owned()),
    }
}

fn card(card: &Card) -> Markup {
    html! {
        article.card.v0 {
            h3 { (line(&card.title)) }
            dl {
                @for text in &card.texts { dt { (text.title) } dd { (Shown(&text.text)) } }
                @if let Some(why) = &card.why { dt { "Why" } dd.why { (line(&Line::ticked(why))) } }
            }
        }
    }
}

/// The classes that are not empty.
fn class(classes: &[&str]) -> Option<String> {
    let named: Vec<&str> = classes.iter().copied().filter(|class| !class.is_empty()).collect();
    (!named.is_empty()).then(|| named.join(" "))
}

fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Neutral => "",
        tone => tone.as_str(),
    }
}

fn span(span: &Span) -> Markup {
    let text = Shown(&span.text);
    let styled = match span.style {
        Style::Plain => html! { (text) },
        Style::Name => html! { bdi { (text) } },
        Style::Code => html! { code { (text) } },
        Style::Strong => html! { strong { (text) } },
        Style::Soft => html! { span.soft { (text) } },
        Style::Injected => html! { mark.injected { (text) } },
    };
    match &span.records {
        Some(records) => html! { a href=(Shown(&address(records))) { (styled) } },
        None => styled,
    }
}

/// Where the table of records shows these.
fn address(records: &Records) -> String {
    let pairs: Vec<String> =
        records.iter().map(|(key, value)| format!("{key}={}", fragment(value))).collect();
    format!("#{}", pairs.join("&"))
}

/// A value for the part of an address behind `#`.
pub(crate) fn fragment(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn grid(grid: &Grid) -> Markup {
    html! {
        p.legend {
            span {
                "Cells from left to right:"
                @for (at, column) in grid.columns.iter().enumerate() {
                    @if at > 0 { "," }
                    " " bdi { b { (Shown(column)) } }
                }
            }
            @for (class, sign, meaning) in &grid.legend {
                " " span.key { i class=[self::class(&["cell", class])] { (sign) } (meaning) }
            }
        }
        ul.heat {
            @for (name, cells) in &grid.rows {
                li {
                    span.cells {
                        @for cell in cells {
                            a href=(Shown(&address(&cell.records))) class=[class(&["cell", cell.class])] title=(Shown(&cell.spoken)) {
                                (Shown(&cell.shown)) span.quiet { ", " (Shown(&cell.spoken)) }
                            }
                        }
                    }
                    (line(name))
                }
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        div.scroll {
            table class=[class(&[table.class])] {
                caption.quiet { (table.caption) }
                thead { tr { @for column in &table.columns { (head(column)) } } }
                @for group in groups(table) {
                    tbody { @for (at, row) in group.iter().enumerate() { (self::row(table, row, at, group.len())) } }
                }
            }
        }
    }
}

/// Rows that belong together; without groups all do.
fn groups(table: &Table) -> Vec<&[Row]> {
    let first = |row: &Row| row.cells.first().map(|cell| cell.line.plain());
    if table.grouped {
        table.rows.chunk_by(|a, b| first(a) == first(b)).collect()
    } else {
        vec![&table.rows[..]]
    }
}

fn head(column: &Column) -> Markup {
    let title = Shown(&column.title);
    match column.holds {
        Holds::Text | Holds::Names => html! { th scope="col" { (title) } },
        Holds::Numbers => html! { th.num scope="col" { (title) } },
        Holds::Part(class) => {
            html! { th.num scope="col" { span class=[self::class(&["swatch", class])] {} (title) } }
        }
        Holds::Figures(Scale::Title) => html! { th.chart scope="col" { (title) } },
        Holds::Figures(scale) => {
            html! { th.chart scope="col" { span.quiet { (title) } (svg::scale(scale)) } }
        }
    }
}

fn row(table: &Table, row: &Row, at: usize, rows: usize) -> Markup {
    html! {
        tr class=[class(&[row.class])] {
            @for (nth, (column, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
                @if nth > 0 {
                    (self::cell(column, cell))
                } @else if !table.grouped {
                    th scope="row" { (within(cell)) }
                } @else if at == 0 {
                    th scope="rowgroup" rowspan=(rows) { (within(cell)) }
                }
            }
        }
    }
}

fn cell(column: &Column, cell: &Cell) -> Markup {
    let held = match column.holds {
        Holds::Text => "",
        Holds::Names => "slot",
        Holds::Numbers | Holds::Part(_) => "num",
        Holds::Figures(_) => "chart",
    };
    let tone = match cell.tone {
        Tone::Good => "verdict-good",
        Tone::Bad => "verdict-bad",
        Tone::Open => "verdict-open",
        Tone::Neutral => "",
    };
    // A screen that is too narrow for columns shows their titles with the cells.
    let label = match column.holds {
        Holds::Text | Holds::Numbers | Holds::Part(_) if !cell.class.contains("big") => Some(&column.title),
        _ => None,
    };
    html! {
        td class=[class(&[held, cell.class, tone])] data-label=[label.map(|label| Shown(label))] { (within(cell)) }
    }
}

fn within(cell: &Cell) -> Markup {
    html! {
        (line(&cell.line))
        @if !cell.small.is_empty() { br; small { (line(&cell.small)) } }
        @match (&cell.figure, &cell.behind) {
            // For the hand alone: the number beside it leads the keyboard to the same place.
            (Some(figure), Some(records)) => a.drawn href=(Shown(&address(records))) tabindex="-1" aria-label="The records that this is drawn of" { (svg::figure(figure, None)) },
            (Some(figure), None) => (svg::figure(figure, None)),
            (None, _) => {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_never_becomes_markup() {
        let text = Line::default()
            .name("</b><script>\0\u{1b}[31m\u{202e}&")
            .records(vec![("case", "\" x='#".to_owned())]);
        assert_eq!(
            line(&text).into_string(),
            "<a href=\"#case=%22%20x%3D%27%23\"><bdi>&lt;/b&gt;&lt;script&gt;␀␛[31m[U+202E]&amp;</bdi></a>"
        );
        let title = "\" onload='x'";
        assert_eq!(
            html! { b title=(Shown(title)) {} }.into_string(),
            "<b title=\"&quot; onload=&#39;x&#39;\"></b>"
        );
    }

    #[test]
    fn fragments_are_plain() {
        assert_eq!(fragment("a b&c=#ä"), "a%20b%26c%3D%23%C3%A4");
    }
}
