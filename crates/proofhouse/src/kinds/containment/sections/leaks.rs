//! Containment: the transcript of every leak, the attacker's words highlighted.

use proofhouse_ledger::summary::containment::{ContainmentSummary, VariantTally};

use crate::kinds::containment::receipts::{Few, Receipts, Shown};
use crate::spine::present::behind::{Behind, counted_as};
use crate::spine::present::{Facts, Section};
use crate::text::doc::{Block, Content, Doc, Item, Line, Reach, Records, Tone};
use crate::text::numbers::count;

pub(super) const SECTION: Section = Section { id: "leaks", title: "Leaks", body };

/// Leaks whose transcript reaches every document: a comment on a pull request has limits.
const MAX_TRANSCRIPTS: usize = 20;
/// Leaks that are open from the start.
const OPEN: usize = 3;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let containment = facts.summary.containment.as_ref()?;
    let receipts = facts.survey?.own::<Receipts>()?;
    let mut doc = Doc::new();
    let untried = |variant: &VariantTally| variant.attack_success_rate.denominator == 0;
    if receipts.leaks.all == 0 {
        let text = "No attack that could be assessed reached a forbidden tool through a gate.";
        doc.documents(Content::plain(text));
        unknown(&mut doc, containment, "attack", untried);
    } else {
        let leaks = counted_as(receipts.leaks.all, ("leak", "leaks"), leaked(containment, true));
        doc.documents(Content::finding(Tone::Bad, leaks.text(" through a gate.")));
        list(&mut doc, &receipts.leaks, OPEN);
    }
    if receipts.controls.all > 0 {
        doc.documents(Content::Heading("Without a gate".into()));
        let leaks = counted_as(receipts.controls.all, ("leak", "leaks"), leaked(containment, false));
        doc.documents(Content::plain(
            leaks.text(" of variants that have none: what the gate is there to stop."),
        ));
        list(&mut doc, &receipts.controls, 0);
    }
    Some(doc)
}

/// The trials that leaked, of variants with a gate or without one.
fn leaked(containment: &ContainmentSummary, gated: bool) -> Records {
    let variants = containment.variants.iter().filter(|variant| variant.gated == gated);
    let variants = variants.map(|variant| variant.variant.as_str());
    Behind::all().with("slot", variants).with("aside", ["false"]).with("actual_outcome", ["leaked"]).records()
}

/// Names the gates of which nothing is known, because nothing of that kind could be assessed behind them.
pub(super) fn unknown(
    doc: &mut Doc,
    containment: &ContainmentSummary,
    what: &str,
    untried: impl Fn(&VariantTally) -> bool,
) {
    for variant in containment.variants.iter().filter(|variant| variant.gated && untried(variant)) {
        let line = Line::default()
            .strong("Nothing is known of ")
            .name(variant.variant.as_str())
            .text(format!(": not one {what} could be assessed there."));
        doc.documents(Content::finding(Tone::Open, line));
    }
}

fn list(doc: &mut Doc, few: &Few, open: usize) {
    for (at, shown) in few.shown.iter().enumerate() {
        let reach = if at < MAX_TRANSCRIPTS { Reach::Documents } else { Reach::Page };
        doc.blocks.push(Block { reach, content: transcript(shown, at < open) });
    }
    if few.all > few.shown.len() as u64 {
        let line = Line::from(format!("The first {} of {}; all are in ", few.shown.len(), count(few.all)));
        doc.documents(Content::note(line.code("records.jsonl").text(".")));
    }
}

fn transcript(shown: &Shown, open: bool) -> Content {
    let mut summary = Line::default()
        .name(shown.case_id.as_str())
        .records(vec![("case", shown.case_id.clone())])
        .text(" · ")
        .name(shown.variant.as_str())
        .text(" · ")
        .name(shown.category.as_str());
    if let Some(form) = &shown.form {
        summary = summary.text(" · ").name(form.as_str());
    }
    if shown.repetition > 0 {
        summary = summary.text(format!(" · repetition {}", shown.repetition));
    }
    let turns = shown.transcript.iter().filter(|turn| turn.role != "system" && !turn.text.is_empty());
    let said = turns.map(|turn| {
        let pieces = shown.pieces(&turn.text).into_iter();
        let line =
            pieces.fold(
                Line::default(),
                |line, (attacker, piece)| {
                    if attacker { line.injected(piece) } else { line.text(piece) }
                },
            );
        (Shown::speaker(turn), line)
    });
    let calls = shown.calls.iter().map(|call| {
        let line = Line::default()
            .code(format!("{} {}", call.name, call.args))
            .text(" ")
            .strong(Shown::fate(call))
            .text(format!(" ({})", call.reason));
        let from = shown.tainted(call);
        let line = from.iter().enumerate().fold(line, |line, (at, text)| {
            line.text(if at == 0 { "; from planted text: " } else { ", " }).injected(text.as_str())
        });
        Item { tone: if call.forbidden_executed { Tone::Bad } else { Tone::Neutral }, line }
    });
    let decided = shown.evidence.iter().filter(|each| each.about == "attack" && each.met == Some(true));
    let decided = decided.map(|each| Item {
        tone: Tone::Bad,
        line: Line::from("The attacker’s task is done by ").code(each.name.as_str()).text(match &each.why {
            Some(why) => format!(": {why}"),
            None => String::new(),
        }),
    });
    let mut inside = Doc::new();
    inside.documents(Content::Said(said.collect()));
    inside.documents(Content::List { ordered: true, items: calls.collect() });
    let decided: Vec<Item> = decided.collect();
    if !decided.is_empty() {
        inside.documents(Content::List { ordered: false, items: decided });
    }
    Content::More { summary, open, class: "leak", blocks: inside.blocks }
}
