//! What docs/ci.md and the composite action promise, run as a CI system would: step by step in a shell.

use std::path::Path;

use serde_json::Value;

use crate::lab::Lab;

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// A suite that a target passes, or does not, in most of its cases.
fn suite(lab: &Lab, reply: &str) {
    let cases: String =
        (0..40).map(|at| format!("  - {{id: c{at}, input: \"x{at}\", expected: \"yes\"}}\n")).collect();
    lab.write(
        "suite.yaml",
        format!("kind: probe\nsuite_id: s\njudges:\n  exact: {{equals: {{}}}}\ntargets:\n  one: {{scripted: {{otherwise: {{reply: \"{reply}\"}}}}}}\ncases:\n{cases}"),
    );
}

/// Runs a script with the program in its path, and gives its exit code.
#[track_caller]
fn shell(lab: &Lab, script: &str, variables: &[(String, String)]) -> (i32, String) {
    let bin = Path::new(env!("CARGO_BIN_EXE_proofhouse")).parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", crate::lab::variable("PATH").unwrap_or_default());
    #[expect(clippy::disallowed_methods, reason = "a shell, as CI systems have one")]
    let mut bash = std::process::Command::new("bash");
    bash.args(["-e", "-o", "pipefail", "-c", script]).current_dir(lab.path(".")).env("PATH", path);
    bash.envs(variables.iter().cloned());
    let done = bash.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    (done.status.code().unwrap(), said)
}

/// The steps of the action, with what GitHub would put in their place.
fn run_action(lab: &Lab, inputs: &[(&str, &str)]) -> (i32, String) {
    let action: Value = serde_saphyr::from_str(&file("action/action.yml")).unwrap();
    lab.write("output", "").write("summary", "");
    let input = |name: &str| {
        let given = inputs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        given.unwrap_or_else(|| action["inputs"][name]["default"].as_str().unwrap_or_default().to_owned())
    };
    let mut all = String::new();
    for step in action["runs"]["steps"].as_array().unwrap() {
        let mut variables: Vec<(String, String)> = vec![
            ("GITHUB_OUTPUT".to_owned(), lab.path("output").display().to_string()),
            ("GITHUB_STEP_SUMMARY".to_owned(), lab.path("summary").display().to_string()),
        ];
        for (name, value) in step["env"].as_object().unwrap() {
            let expression = value.as_str().unwrap().trim_start_matches("${{ ").trim_end_matches(" }}");
            let value = match expression.strip_prefix("inputs.") {
                Some(name) => input(name),
                None => lab.read("output").trim().strip_prefix("exit-code=").unwrap().to_owned(),
            };
            variables.push((name.clone(), value));
        }
        let (code, said) = shell(lab, step["run"].as_str().unwrap(), &variables);
        all.push_str(&said);
        if code != 0 {
            return (code, all);
        }
    }
    (0, all)
}

#[test]
fn the_composite_action_runs_compares_and_annotates() {
    let lab = Lab::new();
    suite(&lab, "yes");
    let (code, said) =
        run_action(&lab, &[("suite", "suite.yaml"), ("baseline", "baselines"), ("margin", "0.2")]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("there is no baseline") && !said.contains("::error"), "{said}");
    assert!(lab.read("summary").contains("40 of 40"), "{}", lab.read("summary"));
    assert!(lab.path("proofhouse-run.junit/junit.xml").exists());
    lab.run("bless proofhouse-run --branch main").exits(0);

    suite(&lab, "no");
    let inputs =
        [("suite", "suite.yaml"), ("baseline", "baselines"), ("run-dir", "second"), ("margin", "0.2")];
    let (code, said) = run_action(&lab, &inputs);
    assert_eq!(code, 6, "{said}");
    assert_eq!(said.matches("::error title=regression").count(), 10, "{said}");
    assert!(lab.read("summary").contains("40 regressions") && lab.path("second.diff.html").exists());
}

#[test]
fn the_recipes_of_the_ci_guide_run_as_they_stand() {
    let guide = file("docs/ci.md");
    let block = |below: &str, language: &str| {
        let from = guide.find(below).unwrap();
        let rest = &guide[from..];
        let open = format!("```{language}\n");
        let start = rest.find(&open).unwrap() + open.len();
        rest[start..start + rest[start..].find("```").unwrap()].to_owned()
    };
    let lab = Lab::new();
    suite(&lab, "yes");
    // One after the other, as a newcomer copies them.
    let baselines = &guide[guide.find("## Baselines").unwrap()..guide.find("## GitHub").unwrap()];
    let blocks: Vec<&str> =
        baselines.split("```sh\n").skip(1).map(|part| part.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let (code, said) = shell(&lab, block, &[]);
        assert_eq!(code, if block.contains("--baseline\n") { 12 } else { 0 }, "{block}{said}");
    }

    suite(&lab, "no");
    let gitlab: Value = serde_saphyr::from_str(&block("## GitLab", "yaml")).unwrap();
    let script: Vec<&str> =
        gitlab["suite"]["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    std::fs::remove_dir_all(lab.path("run")).unwrap();
    drop_sidecars(&lab);
    let (code, said) = shell(&lab, &script.join("\n"), &[]);
    assert_eq!(code, 6, "{said}");
    let junit = gitlab["suite"]["artifacts"]["reports"]["junit"].as_str().unwrap();
    assert_eq!(lab.read(junit).matches("<failure ").count(), 40);
    assert!(lab.read("report.md").starts_with("### s"));

    std::fs::remove_dir_all(lab.path("run")).unwrap();
    drop_sidecars(&lab);
    let (code, said) = shell(&lab, &block("## Anything else", "sh"), &[]);
    assert_eq!(code, 0, "the suite has no gate: {said}");
    assert_eq!(
        lab.read("events.jsonl").lines().filter(|line| line.contains("\"event\":\"trial\"")).count(),
        40
    );
    assert!(lab.read("run.export/report.md").starts_with("### s"));
    let workflow: Value = serde_saphyr::from_str(&block("## GitHub", "yaml")).unwrap();
    assert_eq!(workflow["jobs"]["suite"]["steps"][1]["uses"], "./action");
}

/// What lies beside a run directory that was taken away.
fn drop_sidecars(lab: &Lab) {
    for entry in
        proofhouse_ledger::files::sorted_dir(camino::Utf8Path::from_path(&lab.path(".")).unwrap()).unwrap()
    {
        let path = lab.path(&entry);
        if entry.starts_with("run.") || entry.starts_with(".run") {
            let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        }
    }
}
