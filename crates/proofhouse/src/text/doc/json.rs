//! A document as JSON: the same sentences and tables for a program, with the numbers behind its figures.

use serde_json::{Value, json};

use super::{Block, Content, Figure, Line, Reach, Records, Report};

/// The whole document, readable and in a stable order.
pub fn render(report: &Report) -> String {
    let parts: Vec<Value> = report
        .parts
        .iter()
        .filter(|part| part.doc.reaches(Reach::Documents))
        .map(|part| json!({"id": part.id, "title": part.title, "blocks": blocks(&part.doc.blocks)}))
        .collect();
    let whole = json!({
        "format": "proofhouse-report",
        "version": 1,
        "title": report.title,
        "lede": report.lede.plain(),
        "sections": parts,
        "source": report.source.plain(),
    });
    let mut text = format!("{whole:#}");
    text.push('\n');
    text
}

fn blocks(blocks: &[Block]) -> Vec<Value> {
    let shown = blocks.iter().filter(|block| block.reach <= Reach::Documents);
    shown
        .filter_map(|block| {
            let mut value = content(&block.content)?;
            value["reach"] = block.reach.as_str().into();
            Some(value)
        })
        .collect()
}

fn content(content: &Content) -> Option<Value> {
    Some(match content {
        Content::Headline { tone, title, text } => {
            json!({"type": "headline", "tone": tone.as_str(), "title": title, "text": text.plain()})
        }
        Content::Heading(line) => json!({"type": "heading", "text": line.plain()}),
        Content::Sentence(tone, weight, line) => {
            let weight = format!("{weight:?}").to_lowercase();
            with_records(
                json!({"type": "sentence", "tone": tone.as_str(), "weight": weight, "text": line.plain()}),
                line,
            )
        }
        Content::List { ordered, items } => {
            let items: Vec<Value> = items
                .iter()
                .map(|item| {
                    with_records(json!({"tone": item.tone.as_str(), "text": item.line.plain()}), &item.line)
                })
                .collect();
            json!({"type": "list", "ordered": ordered, "items": items})
        }
        Content::Cards(cards) => {
            let shown = cards.iter().filter(|card| card.reach <= Reach::Documents);
            json!({"type": "cards", "cards": shown.map(card).collect::<Vec<Value>>()})
        }
        Content::Pairs(_, pairs) => {
            let pairs: Vec<Value> = pairs
                .iter()
                .filter(|pair| pair.reach <= Reach::Documents)
                .map(|pair| json!({"name": pair.name.plain(), "value": pair.value.plain(), "reach": pair.reach.as_str()}))
                .collect();
            json!({"type": "pairs", "pairs": pairs})
        }
        Content::Table(table) => {
            let shown: Vec<usize> =
                (0..table.columns.len()).filter(|at| table.columns[*at].reach <= Reach::Documents).collect();
            let columns: Vec<&str> = shown.iter().map(|at| table.columns[*at].title.as_str()).collect();
            let rows: Vec<Vec<Value>> =
                table.rows.iter().map(|row| shown.iter().map(|at| cell(&row.cells[*at])).collect()).collect();
            json!({"type": "table", "caption": table.caption, "columns": columns, "rows": rows})
        }
        Content::Figure(shape, spoken) => json!({"type": "figure", "text": spoken, "figure": figure(shape)}),
        Content::Said(turns) => {
            let turns: Vec<Value> =
                turns.iter().map(|(who, said)| json!({"who": who, "text": said.plain()})).collect();
            json!({"type": "said", "turns": turns})
        }
        Content::Verbatim(line) => json!({"type": "verbatim", "text": line.plain()}),
        Content::More { summary, blocks: inside, .. } => {
            json!({"type": "more", "summary": summary.plain(), "blocks": blocks(inside)})
        }
        Content::Grid(_) | Content::Chips(_) | Content::Markup(_) => return None,
    })
}

fn card(card: &super::Card) -> Value {
    let texts: serde_json::Map<String, Value> =
        card.texts.iter().map(|text| (text.title.to_lowercase(), text.text.as_str().into())).collect();
    let value = json!({
        "reach": card.reach.as_str(), "title": card.title.plain(), "text": card.sentence().plain(), "texts": texts, "why": card.why,
    });
    with_records(value, &card.title)
}

fn cell(cell: &super::Cell) -> Value {
    let mut value = with_records(json!({"text": cell.line.plain()}), &cell.line);
    if !cell.small.is_empty() {
        value["small"] = cell.small.plain().into();
    }
    if let Some(shape) = &cell.figure {
        value["figure"] = figure(shape);
    }
    if cell.tone != super::Tone::Neutral {
        value["tone"] = cell.tone.as_str().into();
    }
    value
}

/// Adds which records are behind a line, where it says so.
fn with_records(mut value: Value, line: &Line) -> Value {
    let records = |records: &Records| -> Value {
        records
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Value::from(value.as_str())))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let all: Vec<Value> = line.0.iter().filter_map(|span| span.records.as_ref()).map(records).collect();
    if !all.is_empty() {
        value["records"] = all.into();
    }
    value
}

fn figure(figure: &Figure) -> Value {
    match figure {
        Figure::Interval { estimate, clustered, line } => {
            json!({"figure": "interval", "low_value_high": estimate, "clustered": clustered, "line": line})
        }
        Figure::Difference { interval, value } => {
            json!({"figure": "difference", "interval": interval, "value": value})
        }
        Figure::Stacked(parts) => {
            let parts: serde_json::Map<String, Value> =
                parts.iter().map(|part| (part.title.to_owned(), part.count.into())).collect();
            json!({"figure": "stacked", "parts": parts})
        }
        Figure::Bar(share) => json!({"figure": "bar", "share": share}),
        Figure::Curve(points) => json!({"figure": "curve", "points": points}),
    }
}
