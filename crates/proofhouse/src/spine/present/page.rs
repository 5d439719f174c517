//! The frame of `report.html`: head, policy, sections in their order, and the script at the end.

use std::io::{self, Write};

use proofhouse_ledger::Digest;

use super::html::{Html, base64};
use super::sections::{self, Facts, Section};
use super::words;

const STYLE: &str = include_str!("assets/report.css");
/// One file per kind of suite, a table of them, and what all kinds share.
const SCRIPT: &str = concat!(
    "'use strict';\n",
    include_str!("assets/code.js"),
    "const KINDS = { code: CODE };\n",
    include_str!("assets/report.js")
);

/// Nothing may be loaded, and nothing may run but the one script and the one style sheet with these digests; strings
/// can never be turned into markup or code (`trusted-types`).
fn policy() -> String {
    let hash = |text: &str| base64(&Digest::of(text.as_bytes()).0);
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// Everything before the data blocks.
pub(crate) fn write_top(out: &mut dyn Write, facts: &Facts<'_>, own: &'static [Section]) -> io::Result<()> {
    let mut html = Html::new();
    html.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", &[]);
    // The policy's quotes are its own, not an attribute's end, so it is written between double quotes as it is.
    out.write_all(html.as_str().as_bytes())?;
    writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", policy())?;
    let mut html = Html::new();
    html.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n", &[]);
    html.put("<meta name=\"color-scheme\" content=\"light dark\">\n", &[]);
    html.put("<meta name=\"referrer\" content=\"no-referrer\">\n", &[]);
    html.put("<title>{} · {} · Proofhouse</title>\n", &[&facts.manifest.suite_id, &facts.manifest.run_id]);
    out.write_all(html.as_str().as_bytes())?;
    write!(out, "<style>{STYLE}</style>\n</head>\n<body>\n")?;
    out.write_all(body(facts, own).as_str().as_bytes())
}

fn body(facts: &Facts<'_>, own: &'static [Section]) -> Html {
    let (manifest, summary) = (facts.manifest, facts.summary);
    let parts: Vec<_> =
        sections::all(own).filter_map(|section| Some((section, (section.body)(facts)?))).collect();
    let mut html = Html::new();
    html.put("<a class=\"skip\" href=\"#records\">Skip to the records</a>\n<header class=\"top\">\n", &[]);
    html.put("<p class=\"brand\">Proofhouse <span>report</span></p>", &[]);
    html.put(
        "<button type=\"button\" id=\"theme\" hidden>Theme</button>\n<h1><bdi>{}</bdi></h1>\n",
        &[&manifest.suite_id],
    );
    html.put(
        "<p class=\"lede\">{} suite, run <code>{}</code>: ",
        &[&manifest.kind.as_str(), &manifest.run_id],
    );
    html.put(
        "{}, {} assessed",
        &[&words::plural(summary.trials, "trial", "trials"), &words::count(summary.assessed)],
    );
    let spared = words::spared(summary.kind, &summary.counts);
    if spared > 0 {
        html.put(", {} not needed", &[&words::count(spared)]);
    }
    // In a code run, lines that count for nothing are no trials that anybody misses.
    let left_out: u64 = summary.code.iter().flat_map(|code| &code.slots).map(|slot| slot.invalid).sum();
    if left_out > 0 {
        html.put(", {} left out", &[&words::count(left_out)]);
    }
    let unassessed = (summary.trials - spared).saturating_sub(summary.assessed + left_out);
    if unassessed > 0 {
        html.put(", <strong>{} not assessed</strong>", &[&words::count(unassessed)]);
    }
    html.put(
        "; {}.</p>\n<nav class=\"contents\" aria-label=\"Contents\">",
        &[&words::plural(summary.slots.len() as u64, "target", "targets")],
    );
    for (section, _) in &parts {
        html.put("<a href=\"#{}\">{}</a> ", &[&section.id, &section.title]);
    }
    html.put("</nav>\n</header>\n<main>\n", &[]);
    for (section, part) in &parts {
        html.put("<section id=\"{}\" aria-labelledby=\"h-{}\">\n", &[&section.id, &section.id]);
        html.put("<h2 id=\"h-{}\">{}</h2>\n", &[&section.id, &section.title]);
        html.append(part).put("\n</section>\n", &[]);
    }
    html.put(
        "</main>\n<footer><p>Made by Proofhouse from the files of run <code>{}</code> alone; ",
        &[&manifest.run_id],
    );
    html.put("the same files give the same page. It loads nothing and sends nothing.</p></footer>\n", &[]);
    html
}

/// Everything behind the data blocks.
pub(crate) fn write_end(out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    out.flush()
}
