//! Gates, comparisons and "is it worse?" through the real program: what is not assessed never passes, and every output says the
//! same sentence.

use crate::lab::Lab;

/// A suite of so many cases on targets with these rules; `otherwise` is a right answer.
fn suite(lab: &Lab, name: &str, cases: usize, targets: &str, rest: &str) {
    let rows = (0..cases).map(|at| {
        format!(
            "{{\"id\":\"c{at:03}\",\"input\":\"n{at:03}\",\"expected\":\"n{at:03}\",\"tags\":[\"{}\"]}}\n",
            if at % 2 == 0 { "even" } else { "odd" }
        )
    });
    lab.write(&format!("{name}.jsonl"), rows.collect::<String>());
    lab.write(
        &format!("{name}.yaml"),
        format!(
            "kind: probe\nsuite_id: {name}\ndatasets: [{{path: {name}.jsonl}}]\njudges: {{same: {{equals: {{}}}}}}\n\
             targets:\n{targets}{rest}\n"
        ),
    );
}

fn target(name: &str, rules: &str) -> String {
    format!("  {name}: {{scripted: {{rules: [{rules}], otherwise: {{reply: \"{{input}}\"}}}}}}\n")
}

/// What the summary of a run says of its gate and of its comparisons.
fn summary(lab: &Lab, run: &str) -> serde_json::Value {
    serde_json::from_str(&lab.read(&format!("{run}/summary.json"))).unwrap()
}

#[test]
fn ninety_timeouts_and_ten_passes_do_not_hold_a_gate_of_ninety_percent() {
    let lab = Lab::new();
    let slow = target("slow", "{regex: \"n0[1-9]\", fault: timeout}");
    suite(&lab, "g", 100, &slow, "gate: {pass_rate: 0.9}");
    let sentence = "on these cases, at least 90.0 % is asked for, and slow passes between 10.0 % and \
                    100 % of 100 trials, as 90 were not assessed";
    lab.run("run g.yaml --run-dir r").exits(9).says("The gate is undecided: ").says(sentence);
    let gate = &summary(&lab, "r")["gate"];
    let whole = format!("gate cannot be judged: {sentence}");
    assert_eq!((gate["held"].is_null(), gate["sentence"].as_str()), (true, Some(&*whole)));
    assert_eq!(gate["undecided_slots"], serde_json::json!(["slow"]));
    assert!(lab.read("r/report.html").contains(sentence));
    let markdown = lab.run("report r --markdown").exits(0).stdout;
    assert!(markdown.contains(sentence), "{markdown}");
    lab.run("verify r").exits(0);
}

#[test]
fn gates_by_confidence_tag_and_case() {
    let lab = Lab::new();
    let wrong = target("m", "{regex: \"n00[13]\", reply: wrong}");
    let gate = |extra: &str, exit: i32, says: &str| {
        suite(&lab, "g", 100, &wrong, &format!("gate: {{pass_rate: 0.9{extra}}}"));
        lab.run("run g.yaml --run-dir r --overwrite").exits(exit).says(says);
    };
    gate(
        "",
        0,
        "The gate held: on these cases, every target passes at least 90.0 %: m passes 98.0 % of 100 trials",
    );
    gate(", confidence: 0.95", 0, "on cases like these");
    gate(", confidence: 0.9999", 9, "cases would decide");
    gate(
        ", per_tag: {odd: 0.97}",
        4,
        "The gate was missed: on these cases, m, tag odd, passes 96.0 % of 50 trials (at least 97.0 % is asked for)",
    );
    gate(", per_tag: {even: 1}", 0, "The gate held");
    gate(", per_case: 1 of 1", 4, "m passes fewer than 1 of 1 in 2 of 100 cases");
    suite(&lab, "g", 5, &wrong, "gate: {pass_rate: 0.9, confidence: 1}");
    lab.run("check g.yaml").exits(3).says("above 0.5 and below 1");
    suite(&lab, "g", 5, &wrong, "gate: {pass_rate: 0.9, per_case: 3 of 2}");
    lab.run("check g.yaml").exits(3).says("such as `2 of 3`");
}

#[test]
fn gates_on_metrics_have_three_outcomes() {
    let lab = Lab::new();
    let some = target("m", "{regex: \"n00[13]\", reply: wrong}, {regex: \"n009\", fault: timeout}");
    let gate = |metrics: &str, exit: i32, says: &str| {
        suite(&lab, "g", 10, &some, &format!("gate: {{metrics: {{{metrics}}}}}"));
        lab.run("run g.yaml --run-dir r --overwrite").exits(exit).says(says);
    };
    gate(
        "scores: {at_least: 0.7}",
        0,
        "m, judge same, has scores between 0.7 and 0.8 (at least 0.7 is asked for)",
    );
    gate("scores: {at_least: 0.75}", 9, "as 1 was not assessed");
    gate("scores: {at_least: 0.9}", 4, "The gate was missed: on these cases, m, judge same, has scores");
    gate("flaky_cases: {at_most: 0}", 9, "m has no flaky_cases");
    lab.run("verify r").exits(0);
    for (metrics, says) in [
        ("score: {at_least: 1}", "did you mean `scores`?"),
        ("attack_success_rate: {at_most: 0}", "the metrics here are `flaky_cases`, `cost_usd`, `scores`"),
        ("scores: {}", "nothing is asked of `scores`"),
    ] {
        suite(&lab, "g", 5, &some, &format!("gate: {{metrics: {{{metrics}}}}}"));
        lab.run("check g.yaml").exits(3).says(says);
    }
    suite(&lab, "g", 5, &some, "gate: {}");
    lab.run("check g.yaml").exits(3).says("the gate has no `pass_rate`");
}

/// What was not assessed may have gone either way, also where a kind has rates of its own.
#[test]
fn rates_of_a_kind_are_gated_with_what_was_not_seen() {
    let lab = Lab::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1/containment");
    lab.write("cases.jsonl", std::fs::read_to_string(format!("{folder}/cases.jsonl")).unwrap());
    let text = std::fs::read_to_string(format!("{folder}/suite.yaml")).unwrap().replace("  calyx: {}\n", "");
    for (metrics, exit, says) in [
        ("attack_success_rate: {at_most: 0.1}", 0, "told has attack_success_rate 0 (at most 0.1"),
        (
            "benign_utility: {at_least: 0.6}",
            9,
            "between 0.5 and 1 (at least 0.6 is asked for), as 2 were not assessed",
        ),
        ("benign_utility: {at_most: 0.4}", 4, "The gate was missed"),
    ] {
        lab.write(
            "s.yaml",
            text.replace("gate: {pass_rate: 0.5}", &format!("gate: {{metrics: {{{metrics}}}}}")),
        );
        lab.run("run s.yaml --run-dir r --overwrite").exits(exit).says(says);
    }
}

#[test]
fn every_output_says_the_same_of_targets() {
    let lab = Lab::new();
    let targets = [
        target("good", ""),
        target("bad", "{regex: \"n0[0-2]\", reply: wrong}"),
        target("alike", "{contains: n099, reply: wrong}"),
    ];
    suite(&lab, "t", 100, &targets.concat(), "");
    let terminal = lab.run("run t.yaml --run-dir r").exits(0).said();
    let summary = summary(&lab, "r");
    let html = lab.read("r/report.html");
    let markdown = lab.run("report r --markdown").exits(0).stdout;
    let sentences: Vec<String> = summary["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&summary["best"]])
        .map(|part| part["sentence"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(sentences.len(), 4);
    for sentence in sentences.iter().map(|sentence| sentence.replace('<', "&lt;")) {
        assert!(markdown.contains(sentence.as_str()), "{sentence}\n{markdown}");
        assert!(html.contains(sentence.as_str()), "{sentence}");
    }
    assert!(
        sentences[0].starts_with("on cases like these, bad is worse than good by 30.0 points"),
        "{sentences:?}"
    );
    assert!(terminal.contains(&sentences[0]) && terminal.contains(&sentences[3]), "{terminal}");
    assert_eq!(summary["best"]["rivals"], serde_json::json!(["alike"]));
}

/// Two runs of one suite whose target differs by `rules`.
fn two(lab: &Lab, cases: usize, rules: &str) {
    suite(lab, "s", cases, &target("m", ""), "");
    lab.run("run s.yaml --run-dir a --quiet").exits(0);
    suite(lab, "s", cases, &target("m", rules), "");
    lab.run("run s.yaml --run-dir b --quiet");
}

#[test]
fn nine_hundred_and_ninety_nine_errors_are_regressions_and_do_not_pass_as_not_worse() {
    let lab = Lab::new();
    two(&lab, 1000, "{regex: \"n(00[1-9]|0[1-9]|[1-9])\", fault: error}");
    let first = "single flips are counted";
    let found = lab.run("diff a b --fail-on-regressions --limit 1").exits(6).says("999 lost verdicts");
    assert!(found.stdout.starts_with(first), "{}", found.stdout);
    lab.run("diff a b --fail-on-worse --limit 1")
        .exits(12)
        .says("it cannot be told whether B is worse than A");
    lab.run("diff a b --limit 1").exits(0);
}

#[test]
fn worse_is_told_from_a_few_flips() {
    let lab = Lab::new();
    two(&lab, 400, "{regex: \"n0[0-4]\", reply: wrong}");
    lab.run("diff a b --fail-on-worse")
        .exits(6)
        .says("m: on cases like these, B is worse than A by more than 3.0 points");
    lab.run("diff a b --fail-on-worse --margin 0.2")
        .exits(0)
        .says("not worse than A by more than 20.0 points");
    lab.run("diff b a --fail-on-worse").exits(0);
    lab.run("diff a b --fail-on-worse --margin 3").exits(2).says("margin `3` is not usable");
}

#[test]
fn one_flip_of_many_is_a_regression_and_not_worse() {
    let lab = Lab::new();
    two(&lab, 400, "{contains: n007, reply: wrong}");
    lab.run("diff a b --fail-on-regressions").exits(6).says("1 regression");
    lab.run("diff a b --fail-on-worse").exits(0).says("B is not worse than A by more than 3.0 points");
    two_of(&lab, 20);
}

/// With twenty cases nothing can be told, not even of runs that are alike.
fn two_of(lab: &Lab, cases: usize) {
    suite(lab, "s", cases, &target("m", ""), "");
    lab.run("run s.yaml --run-dir few --quiet").exits(0);
    lab.run("diff few few --fail-on-worse")
        .exits(12)
        .says("about 125 cases would tell with 80 % power, if they fall out like these");
}

#[test]
fn runs_of_the_same_cases_are_compared_and_others_refused() {
    let lab = Lab::new();
    two(&lab, 100, "{regex: \"n0[0-2]\", reply: wrong}");
    let text = lab.run("compare a b").exits(0).stdout;
    assert!(text.starts_with("on cases like these, b is worse than a by 30.0 points"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&lab.run("compare a b --format json").exits(0).stdout).unwrap();
    let pair = &json["targets"][0]["comparisons"][0];
    let sentence = pair["sentence"].as_str().unwrap();
    assert_eq!(text.lines().next(), Some(sentence));
    assert_eq!(pair["more_than_noise"], true);
    assert!(lab.run("compare a b --format markdown").exits(0).stdout.contains(sentence));
    let closing = lab.run("diff a b --limit 0").exits(0).stdout;
    let same = sentence.replace("b is worse than a", "B is worse than A");
    assert!(closing.contains(&same), "one function, one sentence: {closing}");
    lab.run("compare a b a").exits(0).says("is the best of 3");

    suite(&lab, "s", 60, &target("m", ""), "");
    lab.run("run s.yaml --run-dir short --quiet").exits(0);
    lab.run("compare a short").exits(2).says("the runs are not of the same cases").says("--on common");
    lab.run("compare a short --on common")
        .exits(0)
        .says("compared on 60 common cases only")
        .says("fare alike on all 60 cases");
}

#[test]
fn runs_are_compared_by_tag() {
    let lab = Lab::new();
    two(&lab, 60, "{regex: \"n0[0-5][13579]\", reply: wrong}");
    let text = lab.run("compare a b").exits(0).stdout;
    assert!(text.contains("tag odd: on cases like these, b is worse than a by 100.0 points"), "{text}");
    assert!(!text.contains("tag even"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&lab.run("compare a b --format json").exits(0).stdout).unwrap();
    let even = &json["by_tag"][0];
    assert_eq!((even["tag"].as_str(), even["comparisons"][0]["cases"].as_u64()), (Some("even"), Some(30)));
    assert_eq!(even["comparisons"][0]["more_than_noise"], false);
    lab.run("compare a a").exits(0).says("on none of the 2 tags alone is a difference more than noise");
}

#[test]
fn a_plan_of_every_kind_says_what_it_can_see() {
    let lab = Lab::new();
    for (kind, says) in [
        ("code", vec!["tasks see a difference", "tasks are too few"]),
        ("containment", vec!["attacks see a difference", "attacks are too few"]),
        ("robustness", vec!["is seen with 80 % power"]),
    ] {
        lab.run(&format!("init {kind} {kind}")).exits(0);
        let found = lab.run(&format!("plan {kind}/{kind}.yaml")).exits(0);
        assert!(found.stdout.contains("\ndiff:"), "{kind}: {}", found.stdout);
        assert!(says.iter().any(|says| found.stdout.contains(says)), "{kind}: {}", found.stdout);
    }
}

#[test]
fn a_plan_says_what_it_can_see() {
    let lab = Lab::new();
    suite(&lab, "p", 100, &target("m", ""), "gate: {pass_rate: 0.99, confidence: 0.95}");
    let found = lab.run("plan p.yaml").exits(0);
    assert!(found.stdout.contains("sees:        100 cases see a difference from 12.8"), "{}", found.stdout);
    assert!(
        found.stdout.contains(
            "diff:        two runs that are alike pass `--fail-on-worse` from a margin of 12.5 points on"
        ),
        "{}",
        found.stdout
    );
    assert!(found.stderr.contains("cases see 5.0 points"), "{}", found.stderr);
    assert!(
        found.stderr.contains("cannot hold over 100 cases; it takes 268 cases that all pass"),
        "{}",
        found.stderr
    );
    suite(&lab, "p", 100, &(target("m", "") + &target("n", "")), "repetitions: 5\ngate: {pass_rate: 0.9}");
    lab.run("plan p.yaml --margin 0.03")
        .exits(0)
        .says("a difference of 3 points may go unseen")
        .says("with 5 trials of each from 5.7 points on where only chance differs")
        .says("diff: between two runs, 100 cases see a difference")
        .says("warning: the margin cannot be reached")
        .says("cases do for 3.0 points")
        .says("gate: a gate of 90.0 % over 100 cases is held from 90.0 % passed on");
    lab.run("plan p.yaml --margin 3").exits(2).says("above 0 and below 1");
}

/// What is measured can be gated where records say it, and only there.
#[test]
fn gates_on_latency_and_cost_have_three_outcomes() {
    let lab = Lab::new();
    let slow = "  m: {scripted: {rules: [{contains: n003, latency_ms: 40, reply: late}, {contains: n004, fault: timeout}], \
                otherwise: {reply: \"{input}\"}}}\n";
    let measured = "determinism: {deterministic_artifacts: false}\ntimeout_ms: 60000\n";
    let gate = |metrics: &str, exit: i32, says: &str| {
        suite(&lab, "g", 10, slow, &format!("{measured}gate: {{metrics: {{{metrics}}}}}"));
        lab.run("run g.yaml --run-dir r --overwrite").exits(exit).says(says);
    };
    gate("latency_p50_ms: {at_most: 50000}", 0, "m has latency_p50_ms");
    gate("latency_p95_ms: {at_most: 50000}", 9, "(at most 50000 is asked for)");
    gate(
        "latency_mean_ms: {at_most: 0.000001}",
        4,
        "The gate was missed: on these cases, m has latency_mean_ms of at least",
    );
    let latency = &summary(&lab, "r")["slots"][0]["latency_ms"];
    assert_eq!((latency["trials"].as_u64(), latency["cut_off"].as_u64()), (Some(10), Some(1)), "{latency}");
    assert!(latency["p95"][1].is_null() && latency["p50"][1].is_number(), "{latency}");
    lab.run("verify r").exits(0);
    suite(&lab, "g", 10, slow, "gate: {metrics: {latency_p95_ms: {at_most: 50}}}");
    lab.run("check g.yaml")
        .exits(3)
        .says("deterministic records say no times")
        .says("deterministic_artifacts: false");
    for (gate, says) in [
        ("{metrics: {cost_usd: {at_most: 1}}}", "the gate has no price for `m`"),
        ("{metrics: {cost_usd: {at_most: 1}}, prices: {n: {input: 1, output: 1}}}", "no target is named `n`"),
        (
            "{metrics: {cost_usd: {at_most: 1}}, prices: {m: {input: -1, output: 1}}}",
            "the price of `m` is not a number of 0 or more",
        ),
        (
            "{metrics: {cost_usd: {at_most: 1}}, prices: {m: {input: 1, output: 1, cached_apart: true}}}",
            "cached_apart",
        ),
    ] {
        suite(&lab, "g", 10, slow, &format!("gate: {gate}"));
        lab.run("check g.yaml").exits(3).says(says);
    }
    suite(
        &lab,
        "g",
        10,
        slow,
        "gate: {metrics: {cost_usd: {at_most: 1}}, prices: {m: {input: 1, output: 1}}}",
    );
    lab.run("run g.yaml --run-dir r --overwrite").exits(9).says("m has no cost_usd");
}

/// A gate has a price for the target; each of its prompts is a slot.
#[test]
fn a_gate_on_cost_holds_for_every_prompt_of_a_target() {
    let lab = Lab::new();
    let rows = "{\"input\":\"A q\",\"output\":\"x\",\"usage\":{\"input_tokens\":1000000,\"output_tokens\":0}}\n\
                {\"input\":\"B q\",\"output\":\"x\",\"usage\":{\"input_tokens\":2000000,\"output_tokens\":0}}\n";
    lab.write("rows.jsonl", rows);
    let digest = proofhouse_ledger::Digest::of(rows.as_bytes()).prefixed();
    lab.write(
        "p.yaml",
        format!(
            "kind: probe\nsuite_id: p\nprompts: {{a: 'A {{{{ input }}}}', b: 'B {{{{ input }}}}'}}\ntargets: {{m: {{replay: {{path: rows.jsonl, sha256: '{digest}'}}}}}}\n\
             judges: {{same: {{equals: {{}}}}}}\ncases: [{{id: a, input: q, expected: x}}]\ngate: {{metrics: {{cost_usd: {{at_most: 5}}}}, prices: {{m: {{input: 3, output: 1}}}}}}\n"
        ),
    );
    lab.run("run p.yaml --run-dir r").exits(4).says("m/b has cost_usd");
    let costs: Vec<String> = summary(&lab, "r")["slots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slot| slot["usage"]["cost_usd"].to_string())
        .collect();
    assert_eq!(costs, ["3", "6"]);
    lab.run("verify r").exits(0);
}

/// Tokens that targets report, at the gate's prices; answers without a report may have cost anything.
#[test]
fn cost_follows_from_the_tokens_in_the_records() {
    let lab = Lab::new();
    let run = |unknown: usize, most: &str, exit: i32, says: &str| {
        let usage = ",\"usage\":{\"input_tokens\":1000,\"output_tokens\":100}";
        let row = |at: usize| {
            let usage = if at < unknown { "" } else { usage };
            format!("{{\"input\":\"n{at:03}\",\"output\":\"n{at:03}\"{usage}}}\n")
        };
        let answers: String = (0..10).map(row).collect();
        let digest = proofhouse_ledger::Digest::of(answers.as_bytes()).prefixed();
        lab.write("answers.jsonl", answers);
        let target = format!("  m: {{replay: {{path: answers.jsonl, sha256: \"{digest}\"}}}}\n");
        let gate = format!(
            "gate: {{metrics: {{cost_usd: {{at_most: {most}}}}}, prices: {{m: {{input: 2, output: 10}}}}}}"
        );
        suite(&lab, "g", 10, &target, &gate);
        lab.run("run g.yaml --run-dir r --overwrite").exits(exit).says(says);
    };
    run(0, "0.05", 0, "m has cost_usd 0.03 (at most 0.05 is asked for)");
    let usage = &summary(&lab, "r")["slots"][0]["usage"];
    assert_eq!(
        (usage["input_tokens"].as_u64(), usage["output_tokens"].as_u64()),
        (Some(10_000), Some(1_000))
    );
    run(0, "0.02", 4, "The gate was missed: on these cases, m has cost_usd 0.03");
    run(1, "0.05", 9, "m has cost_usd of at least 0.027 (at most 0.05 is asked for)");
    run(1, "0.02", 4, "m has cost_usd of at least 0.027");
    lab.run("verify r").exits(0);
}

/// Attacks and benign cases are no one thing: each has its own sentence, in `compare` and in the closing lines of `diff`.
#[test]
fn containment_runs_are_compared_by_attack_success_and_utility() {
    let lab = Lab::new();
    lab.run("init containment d").exits(0);
    let text = lab.read("d/containment.yaml");
    for (name, left_out) in [("open", "  calyx: {}\n"), ("gated", "  naive: {}\n")] {
        lab.write(&format!("d/{name}.yaml"), text.replace(left_out, ""));
        lab.run(&format!("run d/{name}.yaml --run-dir {name} --quiet"));
    }
    let compared = lab.run("compare open gated").exits(0).stdout;
    let attack = "attack success: on cases like these, gated is lower than open by 100.0 points";
    assert!(compared.starts_with(attack), "{compared}");
    assert!(compared.contains("benign utility: open and gated fare alike on all 28 cases"), "{compared}");
    let json: serde_json::Value =
        serde_json::from_str(&lab.run("compare open gated --format json").exits(0).stdout).unwrap();
    assert_eq!(json["targets"][0]["measure"], "attack success");
    assert_eq!(json["targets"][0]["comparisons"][0]["difference"], -1.0);
    for format in ["text", "markdown"] {
        lab.run(&format!("diff gated gated --limit 0 --format {format}"))
            .exits(0)
            .says("attack success: A and B fare alike on all 30 cases")
            .says("benign utility: A and B fare alike on all 28 cases");
    }
}

/// The suite's own ks: pass@1 by exact shares, others by each task's own estimate.
#[test]
fn code_runs_are_compared_by_pass_at_k_task_by_task() {
    let lab = Lab::new();
    lab.run("init code d").exits(0);
    lab.tools("run d/code.yaml --run-dir a --quiet").exits(0);
    let found = lab.run("compare a a").exits(0).stdout;
    for measure in ["careful, pass@1: a and a fare alike", "hasty, pass@3: a and a fare alike"] {
        assert!(found.contains(measure), "{found}");
    }
    lab.run("diff a a --limit 0").exits(0).says("hasty, pass@1: A and B fare alike on all");
}

/// What the demo does is known: two instructions never change, one is a matter of luck, a generator of white space breaks one of them,
/// level 3 is a coin, level 4 always fails. No word about it may be wrong more often than it says.
#[test]
fn the_demos_words_are_right_about_what_it_does() {
    let lab = Lab::new();
    lab.run("init robustness d").exits(0);
    let seeds: u64 =
        if crate::lab::variable("PROOFHOUSE_SIMULATIONS").as_deref() == Some("full") { 40 } else { 2 };
    let (mut clear, mut systematic, mut steady) = (0, 0, 0);
    for seed in 1..=seeds {
        lab.run(&format!(
            "run d/robustness.yaml --seed {seed} --run-dir r --overwrite --skip-report --quiet"
        ))
        .exits(0);
        let found = summary(&lab, "r")["robustness"].clone();
        let word = |part: &str, key: &str, name: serde_json::Value, said: &str| {
            let all = found[part].as_array().unwrap();
            all.iter().find(|each| each[key] == name).unwrap()[said].as_str().unwrap().to_owned()
        };
        for case in ["convert_list_to_dict", "simple_cache"] {
            assert_eq!(word("baselines", "case_id", case.into(), "verdict"), "stable", "seed {seed}");
        }
        steady +=
            u64::from(word("baselines", "case_id", "compile_email_regex".into(), "verdict") == "stable");
        for (level, verdict) in [(1, "clear"), (2, "clear"), (4, "systematic_failure")] {
            assert_eq!(word("levels", "level", level.into(), "verdict"), verdict, "seed {seed}");
        }
        let coin = word("levels", "level", 3.into(), "verdict");
        clear += u64::from(coin == "clear");
        systematic += u64::from(coin == "systematic_failure");
        assert_eq!(word("generators", "generator", "whitespace_noise".into(), "effect"), "changes_outcomes");
        for idle in ["synonym_substitution", "ambiguity_injection_light"] {
            assert_ne!(
                word("generators", "generator", idle.into(), "effect"),
                "changes_outcomes",
                "seed {seed}"
            );
        }
        let cases = found["cases"].as_array().unwrap();
        let boundary = &cases.iter().find(|case| case["case_id"] == "simple_cache").unwrap()["boundary"];
        let (above, below) = (boundary["above"].as_u64().unwrap(), boundary["below"].as_u64().unwrap());
        assert!(above >= 2 && below <= 4 && above < below, "seed {seed}: {boundary}");
    }
    // A coin is clear or systematic in at most 5 % each, which chance may exceed in so many runs.
    let most = 0.05 * seeds as f64 + 2.6 * (0.05 * 0.95 * seeds as f64).sqrt();
    println!("{seeds} seeds: the coin is clear in {clear}, a systematic failure in {systematic}");
    assert!(
        clear as f64 <= most && systematic as f64 <= most && steady == 0,
        "{clear} {systematic} {steady}"
    );
}

#[test]
fn a_tag_that_no_case_has_is_told_before_money_is_spent() {
    let lab = Lab::new();
    suite(&lab, "g", 4, &target("m", ""), "gate: {pass_rate: 0.5, per_tag: {evne: 0.5, odd: 0.5}}");
    lab.run("check g.yaml").exits(0).says("warning: no case has the tag `evne` of the gate");
    lab.run("run g.yaml --run-dir r").exits(9).says("m, tag evne, has no trial");
}

/// A target that says nothing passes what a judge passes of nothing: all, or none. Either way it is compared with nobody.
#[test]
fn who_says_nothing_is_neither_better_nor_worse_nor_as_good() {
    for (judge, rest) in [
        ("equals: {}", ""),
        ("regex: {pattern: \"^[^f]*$\"}", "  loud: {scripted: {otherwise: {reply: forbidden}}}\n"),
    ] {
        let lab = Lab::new();
        let targets =
            format!("{}{rest}  mute: {{scripted: {{otherwise: {{reply: ''}}}}}}\n", target("good", ""));
        suite(&lab, "s", 200, &targets, "");
        let yaml = lab.read("s.yaml").replace("equals: {}", judge);
        lab.write("s.yaml", yaml);
        lab.run("run s.yaml --run-dir a").exits(0);
        let found = summary(&lab, "a");
        let said = found.to_string();
        let sentence = "nothing that mute answered can be assessed, so it cannot be compared with good";
        assert!(said.contains(sentence), "{said}");
        let slots = found["slots"].as_array().unwrap();
        let mute = slots.iter().find(|slot| slot["slot"] == "mute").unwrap();
        let good = slots.iter().find(|slot| slot["slot"] == "good").unwrap();
        assert_eq!((&mute["silent"], good.get("silent")), (&true.into(), None));
        assert_ne!(found["best"]["slot"], "mute");
        assert!(lab.read("a/report.html").contains(sentence));
        lab.run("verify a").exits(0);
        lab.run("compare a a").exits(0).says("mute: nothing that a or a answered can be assessed");
        lab.run("diff a a --fail-on-worse")
            .exits(12)
            .says("mute: nothing that A or B answered can be assessed");
    }
    let lab = Lab::new();
    two(&lab, 200, "{regex: n, reply: ''}");
    lab.run("compare a b")
        .exits(0)
        .says("nothing that b answered can be assessed, so it cannot be compared with a");
    lab.run("diff a b --fail-on-worse --limit 0")
        .exits(12)
        .says("m: nothing that B answered can be assessed, so it cannot be told whether B is worse than A");
    lab.run("diff b a --fail-on-worse --limit 0").exits(12);
    lab.run("diff a b --limit 0")
        .exits(0)
        .says("m: nothing that B answered can be assessed, so it cannot be compared with A");
}

#[test]
fn runs_that_were_judged_otherwise_are_compared_with_a_remark() {
    let lab = Lab::new();
    two(&lab, 40, "{regex: \"n00[0-2]\", reply: wrong}");
    let yaml = lab.read("s.yaml").replace("equals: {}", "equals: {ignore_case: true}");
    lab.write("t.yaml", yaml);
    lab.run("run t.yaml --run-dir c --quiet");
    let remark = "b and c were judged otherwise (/judges/0/equals/ignore_case): a difference may be the judging's and not the target's";
    lab.run("compare b c").exits(0).says(remark);
    lab.run("compare b c --format markdown").exits(0).says(remark);
    lab.run("compare b c --format html").exits(0).says("were judged otherwise");
    let json: serde_json::Value =
        serde_json::from_str(&lab.run("compare b c --format json").exits(0).stdout).unwrap();
    assert_eq!(json["remarks"], serde_json::json!([remark]));
    assert!(!lab.run("compare a b").exits(0).said().contains("judged otherwise"));
}

#[test]
fn a_tag_is_told_with_its_own_rate_and_is_not_left_out_beside_metrics() {
    let lab = Lab::new();
    let wrong = target("m", "{regex: \"n0[0-4][13579]\", reply: wrong}");
    suite(
        &lab,
        "g",
        100,
        &wrong,
        "gate: {pass_rate: 0, per_tag: {odd: 0.9}, metrics: {flaky_cases: {at_most: 1}}}",
    );
    lab.run("run g.yaml --run-dir r")
        .exits(4)
        .says("on these cases, m, tag odd, passes 50.0 % of 50 trials (at least 90.0 % is asked for)");
}
