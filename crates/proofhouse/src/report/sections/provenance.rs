//! Where it all comes from, and the commands by which anybody can check it.

use proofhouse_ledger::Json;

use super::{Facts, Section};
use crate::report::html::Html;
use crate::report::words;

pub(super) const SECTION: Section = Section { id: "provenance", title: "Provenance", body };

/// A target's settings are shown up to this many characters.
const MAX_CONFIG_CHARS: usize = 4_000;

fn body(facts: &Facts<'_>) -> Option<Html> {
    let manifest = facts.manifest;
    let mut html = Html::new();
    html.put(r#"<p>Check that these are the files this page was made from. Inside the run directory:</p><pre class="command">"#, &[]);
    html.put("sha256sum -c &lt;&lt;'END'\n{}  records.jsonl\n{}  summary.json\n{}  config.resolved.yaml\nEND</pre>", &[
        &manifest.records_sha256,
        &manifest.summary_sha256,
        &manifest.config_sha256,
    ]);
    html.put(r#"<p><code>proofhouse verify</code> checks this, every single record, the plan and this page itself.</p><dl class="facts">"#, &[]);
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
    if manifest.sandbox != Json::Null {
        fact(&mut html, "Sandbox", manifest.sandbox.to_string());
    }
    html.put("</dl>", &[]);
    time(&mut html, facts);
    datasets(&mut html, facts);
    targets(&mut html, facts);
    Some(html)
}

fn fact(html: &mut Html, name: &str, value: String) {
    html.put("<div><dt>{}</dt><dd>{}</dd></div>", &[&name, &value]);
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
            " Timestamps ({} to {}) are the <em>time spine</em>: derived from the run id and each trial’s place in the plan, \
             the same on every machine. They order the trials and measure nothing; measured times are in the telemetry \
             file beside the run directory.",
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
    html.put(r#"<h3>Datasets</h3><div class="scroll"><table class="plain"><thead><tr><th scope="col">File</th><th scope="col">Format</th>"#, &[]);
    html.put(r#"<th scope="col" class="num">Rows</th><th scope="col">Hash</th></tr></thead><tbody>"#, &[]);
    for dataset in &facts.manifest.datasets {
        html.put(r#"<tr><td><bdi>{}</bdi></td><td>{}</td>"#, &[&dataset.path, &dataset.format]);
        html.put(
            r#"<td class="num">{}</td><td><code>{}</code></td></tr>"#,
            &[&words::count(dataset.rows), &dataset.dataset_hash],
        );
    }
    html.put("</tbody></table></div>", &[]);
}

fn targets(html: &mut Html, facts: &Facts<'_>) {
    if facts.manifest.targets.is_empty() {
        return;
    }
    html.put("<h3>Targets</h3>", &[]);
    for target in &facts.manifest.targets {
        let config =
            serde_json::to_string_pretty(&target.config).unwrap_or_else(|_| target.config.to_string());
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
