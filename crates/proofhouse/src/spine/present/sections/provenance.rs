//! Where it all comes from, and the commands by which anybody can check it.

use proofhouse_ledger::Json;
use proofhouse_ledger::manifest::SANDBOX_GAPS;

use super::{Facts, Section};
use crate::text::doc::{Column, Content, Doc, Line, Table};
use crate::text::numbers::count;

pub(super) const SECTION: Section = Section { id: "provenance", title: "Provenance", body };

/// A target's settings are shown up to this many characters.
const MAX_CONFIG_CHARS: usize = 4_000;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let manifest = facts.manifest;
    let mut doc = Doc::new();
    doc.page(Content::plain(
        "Check that these are the files this page was made from. Inside the run directory:",
    ));
    let files = [
        (manifest.records_sha256, "records.jsonl"),
        (manifest.summary_sha256, "summary.json"),
        (manifest.config_sha256, "config.resolved.yaml"),
    ];
    let lines: String = files.iter().map(|(digest, file)| format!("\n{digest}  {file}")).collect();
    doc.page(Content::Verbatim(format!("sha256sum -c <<'END'{lines}\nEND").into()));
    doc.page(Content::plain(
        Line::default()
            .code("proofhouse verify")
            .text(" checks this, every single record, the plan and this page itself."),
    ));
    doc.page(Content::facts(
        pairs(facts).into_iter().map(|(name, value)| (Line::from(name), Line::from(value))),
    ));
    doc.page(Content::note(time(facts)));
    datasets(&mut doc, facts);
    targets(&mut doc, facts);
    Some(doc)
}

fn pairs(facts: &Facts<'_>) -> Vec<(String, String)> {
    let manifest = facts.manifest;
    let unknown = || "not recorded (deterministic)".to_owned();
    let mut pairs: Vec<(String, String)> = [
        ("Run", manifest.run_id.to_string()),
        ("Suite", manifest.suite_id.clone()),
        ("Kind", manifest.kind.as_str().to_owned()),
        ("Seed", manifest.seed.to_string()),
        ("Suite file, SHA-256", manifest.suite_sha256.to_string()),
        ("Suite content, SHA-256", manifest.suite_content_sha256.to_string()),
        ("Plan, SHA-256", manifest.plan_sha256.to_string()),
        ("Records", count(manifest.record_count)),
        ("Records, SHA-256", manifest.records_sha256.to_string()),
        ("Records, Merkle root", manifest.records_merkle_root.to_string()),
        ("Proofhouse", manifest.proofhouse_version.clone()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    pairs.extend(manifest.toolchains.iter().map(|(tool, version)| (tool.clone(), version.clone())));
    pairs.push(("Platform".to_owned(), manifest.platform.clone().unwrap_or_else(unknown)));
    let command = manifest.command.as_ref().map(|words| words.join(" "));
    pairs.push(("Command".to_owned(), command.unwrap_or_else(unknown)));
    pairs.extend(sandbox(&manifest.sandbox).into_iter().map(|(name, value)| (name.to_owned(), value)));
    pairs
}

/// Policy and limits, and in the doctor's own words what they did not hold on that host.
fn sandbox(policy: &Json) -> Vec<(&'static str, String)> {
    let Json::Object(policy) = policy else { return Vec::new() };
    let mut held = policy.clone();
    let gaps = held.remove(SANDBOX_GAPS);
    let mut pairs = Vec::new();
    if !held.is_empty() {
        pairs.push(("Sandbox", Json::Object(held).to_string()));
    }
    if let Some(Json::Array(gaps)) = gaps {
        let said = gaps.iter().map(|gap| gap.as_str().unwrap_or_default().to_owned());
        pairs.extend(said.map(|gap| ("The sandbox does not hold", gap)));
    }
    pairs
}

fn time(facts: &Facts<'_>) -> String {
    let manifest = facts.manifest;
    let mode = manifest.determinism;
    let on = |on: bool| if on { "on" } else { "off" };
    let mut text = format!(
        "Strict serialization is {}, deterministic artefacts are {}. Timestamps ({} to {}) ",
        on(mode.strict_serialization),
        on(mode.deterministic_artifacts),
        manifest.started_at,
        manifest.completed_at
    );
    text.push_str(match mode.deterministic_artifacts {
        true => {
            "are the time spine: derived from the run id and each trial’s place in the plan, the same on every \
             machine. They order the trials and measure nothing; measured times are in the telemetry file beside the \
             run directory."
        }
        false => "were measured.",
    });
    text
}

fn datasets(doc: &mut Doc, facts: &Facts<'_>) {
    if facts.manifest.datasets.is_empty() {
        return;
    }
    doc.page(Content::Heading("Datasets".into()));
    let columns =
        vec![Column::text("File"), Column::text("Format"), Column::number("Rows"), Column::text("Hash")];
    let mut table = Table::new("plain", "Datasets", columns);
    for dataset in &facts.manifest.datasets {
        table.row(vec![
            Line::default().name(dataset.path.as_str()).into(),
            dataset.format.as_str().into(),
            count(dataset.rows).into(),
            Line::default().code(dataset.dataset_hash.to_string()).into(),
        ]);
    }
    doc.page(table);
}

fn targets(doc: &mut Doc, facts: &Facts<'_>) {
    if facts.manifest.targets.is_empty() {
        return;
    }
    doc.page(Content::Heading("Targets".into()));
    for target in &facts.manifest.targets {
        let mut config = String::new();
        pretty(&mut config, &target.config, 0);
        let mut shown: String = config.chars().take(MAX_CONFIG_CHARS).collect();
        if shown.len() < config.len() {
            shown.push_str("\n… cut here; the whole is in manifest.json");
        }
        let mut settings = Doc::new();
        settings.page(Content::Verbatim(shown.into()));
        let summary = Line::default().name(target.slot.as_str()).soft(format!(" {}", target.kind));
        doc.page(Content::More { summary, open: false, class: "", blocks: settings.blocks });
    }
}

/// Canonical values, one to a line.
fn pretty(out: &mut String, value: &Json, depth: usize) {
    let indent = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    match value {
        Json::Array(list) if !list.is_empty() => {
            out.push('[');
            for (at, item) in list.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                indent(out, depth + 1);
                pretty(out, item, depth + 1);
            }
            indent(out, depth);
            out.push(']');
        }
        Json::Object(object) if !object.is_empty() => {
            out.push('{');
            for (at, (key, item)) in object.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                indent(out, depth + 1);
                out.push_str(&format!("{}: ", Json::from(key)));
                pretty(out, item, depth + 1);
            }
            indent(out, depth);
            out.push('}');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_well_and_keep_their_numbers() {
        let value = serde_json::from_str(r#"{"b":[1,{}],"a":0.0}"#).unwrap();
        let mut out = String::new();
        pretty(&mut out, &value, 0);
        assert_eq!(out, "{\n  \"a\": 0,\n  \"b\": [\n    1,\n    {}\n  ]\n}");
    }
}
