//! `diff --fail-on-changes` is silent for the same content and loud for anything else.

use crate::lab::Lab;

/// Two identical runs of the small suite.
fn two(lab: &Lab) {
    lab.small_suite();
    for run in ["a", "b"] {
        lab.run(&format!("run small.yaml --run-dir {run} --quiet")).exits(0);
    }
}

/// Changes the second run's records and expects the gate to say so.
#[track_caller]
fn changed(change: impl FnOnce(&mut Vec<String>), words: &str) {
    let lab = Lab::new();
    two(&lab);
    lab.run("diff a b --fail-on-changes").exits(0);
    let mut lines: Vec<String> = lab.read("b/records.jsonl").lines().map(str::to_owned).collect();
    let before = lines.clone();
    change(&mut lines);
    assert_ne!(lines, before);
    lab.write("b/records.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    lab.run("diff a b --fail-on-changes").exits(5).says(words);
    lab.run("diff b a --fail-on-changes").exits(5);
}

/// Replaces text in one line.
fn edit(at: usize, from: &'static str, to: &'static str) -> impl FnOnce(&mut Vec<String>) {
    move |lines| {
        assert!(lines[at].contains(from), "{}", lines[at]);
        lines[at] = lines[at].replacen(from, to, 1);
    }
}

#[test]
fn each_kind_of_change_is_found() {
    changed(edit(4, "\"output\":\"beta\"", "\"output\":\"bet\""), "/output");
    changed(edit(12, "\"error\":\"boom\"", "\"error\":\"bang\""), "/error");
    changed(edit(0, "\"near\":1", "\"near\":0.5"), "/scores/near");
    changed(edit(8, "\"list\":[1,2]", "\"list\":[1,3]"), "/output/list/1");
    changed(|lines| lines.insert(3, lines[2].clone()), "duplicate");
    changed(|lines| lines.swap(3, 6), "reordered");
    changed(|lines| drop(lines.remove(5)), "removed");
    changed(
        |lines| {
            lines.push(
                lines[0]
                    .replace("\"case_id\":\"a\"", "\"case_id\":\"z\"")
                    .replace("\"record_id\":\"", "\"record_id\":\"00")
                    .replacen("\"index\":0", "\"index\":16", 1),
            )
        },
        "",
    );
    changed(edit(0, "\"output_sha256\":\"", "\"output_sha256\":\"0"), "");
    changed(
        |lines| {
            let at = lines[0].find("\"output_sha256\":\"").unwrap() + 17;
            let other = if &lines[0][at..=at] == "0" { "1" } else { "0" };
            lines[0].replace_range(at..=at, other);
        },
        "output_sha256",
    );
}

#[test]
fn one_edited_row_is_one_changed_case_and_all_others_are_common() {
    let lab = Lab::new();
    two(&lab);
    lab.write(
        "small.yaml",
        lab.read("small.yaml")
            .replace("repetitions: 2", "repetitions: 1")
            .replace("  two: {scripted: *model}\n", ""),
    );
    lab.run("run small.yaml --run-dir one --quiet").exits(0);
    lab.write("small.jsonl", lab.read("small.jsonl").replace("\"input\":\"beta\"", "\"input\":\"betta\""));
    lab.run("run small.yaml --run-dir edited --quiet").exits(0);
    let text = lab.run("diff one edited --fail-on-changes").exits(5).says("different runs").stdout;
    assert!(text.contains("4 common, 3 unchanged"), "{text}");
}

#[test]
fn two_targets_of_the_same_model_are_never_confused() {
    let lab = Lab::new();
    two(&lab);
    lab.write(
        "small.yaml",
        lab.read("small.yaml").replace("  two: {scripted: *model}", "  zwei: {scripted: *model}"),
    );
    lab.run("run small.yaml --run-dir renamed --quiet").exits(0);
    let text = lab.run("diff a renamed --fail-on-regressions").exits(6).stdout;
    assert!(text.contains("8 removed") && text.contains("8 added"), "{text}");
}

#[test]
fn formats_are_what_they_say() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir a --quiet").exits(0);
    lab.write("small.yaml", lab.read("small.yaml").replace("reply: boom", "reply: <b>@everyone</b>"));
    lab.run("run small.yaml --run-dir b --quiet").exits(0);
    let json = lab.run("diff a b --format json").exits(0).stdout;
    assert!(serde_json::from_str::<serde_json::Value>(&json).unwrap().is_object());
    lab.run("diff a b").exits(0).says("the settings of target one differ at /scripted/rules/0/reply");
    lab.run("diff a b --format markdown").exits(0).says("###");
    lab.run("diff a b --format github").exits(0).says("::");
    lab.run("diff a b --ignore /error --fail-on-changes").exits(5);
    lab.run("diff a b --ignore /error --fail-on-changes --allow target").exits(0);
    lab.run("diff a b --allow weather --fail-on-changes").exits(2).says("toolchain, judge, dataset");
    lab.run("diff a nowhere").exits(2);
}

#[test]
fn a_changed_configuration_is_noticed_under_the_same_manifest() {
    let lab = Lab::new();
    two(&lab);
    lab.write(
        "b/config.resolved.yaml",
        lab.read("b/config.resolved.yaml").replace("timeout_ms: ", "timeout_ms: 9"),
    );
    lab.run("diff a b --fail-on-changes").exits(5).says("the settings differ at /timeout_ms");
    lab.run("diff a b --fail-on-regressions").exits(8).says("not the one that its manifest names");
}
