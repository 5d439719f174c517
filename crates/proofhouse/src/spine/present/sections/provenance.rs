//! Where it all comes from, and the commands by which anybody can check it.

use proofhouse_ledger::Json;
use proofhouse_ledger::manifest::SANDBOX_GAPS;

use super::{Facts, Section};
use crate::spine::present::html::Html;
use crate::spine::present::table::{self, Column};
use crate::spine::present::words;

pub(super) const SECTION: Section = Section { id: "provenance", title: "Provenance", body };

/// A target's settings are shown up to this many characters.
const MAX_CONFIG_CHARS: usize = 4_000;

fn body(facts: &Facts<'_>) -> Option<Html> {
    let manifest = facts.manifest;
    let mut html = Html::new();
    html.put("<p>Check that these are the files this page was made from. Inside the run directory:</p>", &[]);
    html.put(r#"<pre class="command">sha256sum -c &lt;&lt;'END'"#, &[]);
    let files = [
        (manifest.records_sha256, "records.jsonl"),
        (manifest.summary_sha256, "summary.json"),
        (manifest.config_sha256, "config.resolved.yaml"),
    ];
    for (digest, file) in files {
        html.put("\n{}  {}", &[&digest, &file]);
    }
    html.put("\nEND</pre><p><code>proofhouse verify</code> checks this, every single record, the plan ", &[]);
    html.put(r#"and this page itself.</p><dl class="facts">"#, &[]);
    fact(&mut html, "Run", manifest.run_id.to_string());
    fact(&mut html, "Suite", manifest.suite_id.clone());
    fact(&mut html, "Kind", manifest.kind.as_str().to_owned());
    fact(&mut html, "Seed", manifest.seed.to_string());
    fact(&mut html, "Suite file, SHA-256", manifest.suite_sha256.to_string());
    fact(&mut html, "Suite content, SHA-256", manifest.suite_content_sha256.to_string());
    fact(&mut html, "Plan, SHA-256", manifest.plan_sha256.to_string());
    fact(&mut html, "Records", words::count(manifest.record_count));
    fact(&mut html, "Records, SHA-256", manifest.records_sha256.to_string());
    fact(&mut html, "Records, Merkle root", manifest.records_merkle_root.to_string());
    fact(&mut html, "Proofhouse", manifest.proofhouse_version.clone());
    for (tool, version) in &manifest.toolchains {
        fact(&mut html, tool, version.clone());
    }
    fact(
        &mut html,
        "Platform",
        manifest.platform.clone().unwrap_or_else(|| "not recorded (deterministic)".to_owned()),
    );
    let command = manifest.command.as_ref().map(|words| words.join(" "));
    fact(&mut html, "Command", command.unwrap_or_else(|| "not recorded (deterministic)".to_owned()));
    sandbox(&mut html, &manifest.sandbox);
    html.put("</dl>", &[]);
    time(&mut html, facts);
    datasets(&mut html, facts);
    targets(&mut html, facts);
    Some(html)
}

fn fact(html: &mut Html, name: &str, value: String) {
    html.put("<div><dt>{}</dt><dd>{}</dd></div>", &[&name, &value]);
}

/// Policy and limits, and in the doctor's own words what they did not hold on that host.
fn sandbox(html: &mut Html, policy: &Json) {
    let Json::Object(policy) = policy else { return };
    let mut held = policy.clone();
    let gaps = held.remove(SANDBOX_GAPS);
    if !held.is_empty() {
        fact(html, "Sandbox", Json::Object(held).to_string());
    }
    let Some(Json::Array(gaps)) = gaps else { return };
    for gap in &gaps {
        fact(html, "The sandbox does not hold", gap.as_str().unwrap_or_default().to_owned());
    }
}

fn time(html: &mut Html, facts: &Facts<'_>) {
    let manifest = facts.manifest;
    let mode = manifest.determinism;
    let on = |on: bool| if on { "on" } else { "off" };
    html.put(
        r#"<p class="note">Strict serialization is {}, deterministic artefacts are {}."#,
        &[&on(mode.strict_serialization), &on(mode.deterministic_artifacts)],
    );
    if mode.deterministic_artifacts {
        html.put(
            " Timestamps ({} to {}) are the <em>time spine</em>: derived from the run id and each trial’s \
             place in the plan, the same on every machine. They order the trials and measure nothing; \
             measured times are in the telemetry file beside the run directory.",
            &[&manifest.started_at, &manifest.completed_at],
        );
    } else {
        html.put(" Timestamps ({} to {}) were measured.", &[&manifest.started_at, &manifest.completed_at]);
    }
    html.put("</p>", &[]);
}

fn datasets(html: &mut Html, facts: &Facts<'_>) {
    if facts.manifest.datasets.is_empty() {
        return;
    }
    html.put("<h3>Datasets</h3>", &[]);
    let columns =
        [Column::Text("File"), Column::Text("Format"), Column::Number("Rows"), Column::Text("Hash")];
    table::open(html, "plain", "Datasets", &columns);
    html.put("<tbody>", &[]);
    for dataset in &facts.manifest.datasets {
        html.put(r#"<tr><td><bdi>{}</bdi></td><td>{}</td>"#, &[&dataset.path, &dataset.format]);
        html.put(
            r#"<td class="num">{}</td><td><code>{}</code></td></tr>"#,
            &[&words::count(dataset.rows), &dataset.dataset_hash],
        );
    }
    html.put("</tbody>", &[]);
    table::close(html);
}

fn targets(html: &mut Html, facts: &Facts<'_>) {
    if facts.manifest.targets.is_empty() {
        return;
    }
    html.put("<h3>Targets</h3>", &[]);
    for target in &facts.manifest.targets {
        let mut config = String::new();
        pretty(&mut config, &target.config, 0);
        let shown: String = config.chars().take(MAX_CONFIG_CHARS).collect();
        html.put(
            r#"<details><summary><bdi>{}</bdi> <small>{}</small></summary><pre>{}"#,
            &[&target.slot, &target.kind, &shown],
        );
        if shown.len() < config.len() {
            html.put("\n… cut here; the whole is in manifest.json", &[]);
        }
        html.put("</pre></details>", &[]);
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
