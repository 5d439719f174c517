//! The frame of `report.html`: head, policy, sections in their order, and the script at the end.

use std::io::{self, Write};

use maud::{Markup, html};
use proofhouse_ledger::record::Kind;

use super::OfKind;
use super::own::OwnPresentation;
use super::sections::{self, Facts};
use crate::text::doc::html::{Shown, frame};
use crate::text::doc::{Report, html as back_end};
use crate::text::visible;

/// The script, part by part, in one scope.
const SCRIPTS: [&str; 8] = [
    include_str!("assets/base.js"),
    include_str!("assets/words.js"),
    include_str!("assets/prose.js"),
    include_str!("assets/cards.js"),
    include_str!("assets/record.js"),
    include_str!("assets/matrix.js"),
    include_str!("assets/parts.js"),
    include_str!("assets/wiring.js"),
];

/// What cannot be seen, from the table that Rust uses; how this kind's records are shown; and what all kinds share.
fn script(own: &OwnPresentation) -> String {
    let unseen = visible::script_class();
    let (kind, shared) = (own.script.trim_end(), SCRIPTS.concat());
    format!("'use strict';\nconst UNSEEN = /{unseen}/gu;\nconst KIND = {kind};\n(() => {{\n{shared}}})();\n")
}

/// The policy that a page says in its head, if it is that of a report of ours: whoever serves a page that was stored sends it along, so
/// that nothing else can run, whatever the file holds.
pub fn policy_of(head: &[u8], kinds: OfKind) -> Option<String> {
    let policies = Kind::ALL.into_iter().flat_map(|kind| {
        let script = script(kinds(kind));
        [frame::Loads::Nothing, frame::Loads::Parts].map(|loads| frame::policy(&script, loads))
    });
    let said =
        |policy: &String| memchr::memmem::find(head, format!("content=\"{policy}\"").as_bytes()).is_some();
    policies.into_iter().find(said)
}

/// Everything before the data blocks.
pub(super) fn write_top(out: &mut dyn Write, facts: &Facts<'_>) -> io::Result<()> {
    let report = sections::report(facts);
    let title = format!("{} · {} · Proofhouse", facts.manifest.suite_id, facts.manifest.run_id);
    let loads = match facts.survey.map_or(0, |survey| survey.parts()) {
        0 => frame::Loads::Nothing,
        _ => frame::Loads::Parts,
    };
    let top = html! { (frame::top(&title, &script(facts.own), loads)) (body(&report, facts)) };
    out.write_all(top.into_string().as_bytes())
}

fn body(report: &Report, facts: &Facts<'_>) -> Markup {
    let run_id = facts.manifest.run_id.to_string();
    html! {
        a.skip href="#records" { "Skip to the records" } "\n"
        header.top {
            "\n"
            p.brand { "Proofhouse " span { "report" } }
            button type="button" id="theme" hidden { "Theme" } "\n"
            h1 { bdi { (Shown(&report.title)) } } "\n"
            p.lede { (back_end::line(&report.lede)) } "\n"
            nav.contents aria-label="Contents" {
                @for part in &report.parts { a href={ "#" (part.id) } { (part.title) } " " }
            }
            "\n"
        }
        "\n"
        main class=[facts.own.verbatim.then_some("verbatim")] { "\n" @for part in &report.parts { (back_end::section(part)) } }
        "\n"
        footer {
            p {
                "Made by Proofhouse from the files of run " code { (run_id) } " alone; \
                 the same files give the same page. It loads nothing and sends nothing."
            }
        }
        "\n"
    }
}

/// Everything behind the data blocks.
pub(super) fn write_end(out: &mut dyn Write, own: &OwnPresentation) -> io::Result<()> {
    write!(out, "<script>{}</script>\n</body>\n</html>\n", script(own))?;
    out.flush()
}
