//! `verify` names the record for each way in which somebody could have touched a run.

use crate::lab::Lab;

fn run(lab: &Lab) {
    lab.small_suite();
    lab.run("run small.yaml --run-dir run --quiet").exits(0);
    lab.run("verify run").exits(0).says("sound, 16 records");
}

/// Changes the records and expects `verify` to fail with these words.
#[track_caller]
fn tampered(change: impl FnOnce(&mut Vec<String>), words: &[&str]) {
    let lab = Lab::new();
    run(&lab);
    let mut lines: Vec<String> = lab.read("run/records.jsonl").lines().map(str::to_owned).collect();
    change(&mut lines);
    lab.write("run/records.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let outcome = lab.run("verify run").exits(7);
    for word in words {
        assert!(outcome.stdout.contains(word), "expected {word:?} in:\n{}", outcome.stdout);
    }
}

#[test]
fn a_flipped_bit_names_its_record() {
    tampered(
        |lines| lines[5] = lines[5].replacen("\"output\":\"beta\"", "\"output\":\"bet`\"", 1),
        &["records.jsonl:6", "(index 5, one / b #1)", "altered"],
    );
}

#[test]
fn a_removed_line_names_its_index() {
    tampered(|lines| drop(lines.remove(7)), &["record index 7", "missing"]);
}

#[test]
fn an_added_line_is_named() {
    let extra = |lines: &mut Vec<String>| lines.push(lines[3].replace("\"index\":3", "\"index\":16"));
    tampered(extra, &["records.jsonl:17", "added: index 16"]);
}

#[test]
fn a_duplicated_line_is_named() {
    tampered(|lines| lines.insert(4, lines[3].clone()), &["records.jsonl:5", "duplicated: index 3"]);
}

#[test]
fn reordered_lines_are_named() {
    tampered(|lines| lines.swap(2, 9), &["reordered: index 2"]);
}

#[test]
fn a_file_cut_at_a_line_end_names_what_is_missing() {
    tampered(|lines| lines.truncate(12), &["record indexes 12 to 15", "missing"]);
}

#[test]
fn a_foreign_run_id_is_named() {
    tampered(
        |lines| {
            let at = lines[1].find("\"run_id\":\"").unwrap() + 10;
            lines[1].replace_range(at..at + 12, "0123456789ab");
        },
        &["records.jsonl:2", "belongs to run 0123456789ab"],
    );
}

#[test]
fn garbage_is_named() {
    tampered(|lines| lines[8] = "{\"nonsense\":1}".to_owned(), &["records.jsonl:9"]);
    tampered(
        |lines| lines[8] = "\u{0}\u{1}garbage".to_owned(),
        &["records.jsonl:9", "not a canonical JSON object"],
    );
}

#[test]
fn a_record_rewritten_together_with_its_digest_is_noticed() {
    tampered(
        |lines| {
            let mut value: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
            value["passed"] = false.into();
            value.as_object_mut().unwrap().remove("record_sha256");
            let bare = proofhouse_ledger::canonical::to_vec(&value).unwrap();
            value["record_sha256"] = proofhouse_ledger::Digest::of(&bare).to_string().into();
            lines[0] = String::from_utf8(proofhouse_ledger::canonical::to_vec(&value).unwrap()).unwrap();
        },
        &["records_sha256", "records_merkle_root", "summary.json"],
    );
}

/// Changes one other file and expects `verify` to fail with these words.
#[track_caller]
fn edited(name: &str, from: &str, to: &str, words: &str) {
    let lab = Lab::new();
    run(&lab);
    let text = lab.read(name);
    assert!(text.contains(from), "{name} has no {from:?}: {text}");
    lab.write(name, text.replacen(from, to, 1));
    lab.run("verify run").exits(7).says(words);
}

#[test]
fn edited_files_are_noticed() {
    edited(
        "run/summary.json",
        "\"assessed\":12",
        "\"assessed\":13",
        "summary.json: is not what the records add up to",
    );
    edited("run/manifest.json", "\"record_count\":16", "\"record_count\":15", "`record_count` is 15");
    edited("run/manifest.json", "\"error\":4", "\"error\":3", "`counts`");
    edited("run/config.resolved.yaml", "repetitions: 2", "repetitions: 3", "config_sha256");
    edited("run/report.html", "small", "tall", "report.html: is not the report that the ledger gives");
    edited(
        "run.run.json",
        "\"total_cases_completed\":16",
        "\"total_cases_completed\":15",
        "total_cases_completed",
    );
    edited("run.run.json", "\"normal\"", "\"timeout\"", "exit_status");
    edited("run/manifest.json", "{", "{ ", "canonical form");
}

/// Each of these can be derived from the rest of the run.
#[test]
fn edited_manifest_and_envelope_fields_are_noticed() {
    for (from, to) in [
        ("\"seed\":0", "\"seed\":1"),
        ("\"rows\":4", "\"rows\":5"),
        ("\"path\":\"small.jsonl\"", "\"path\":\"other.jsonl\""),
        ("\"slot\":\"one\"", "\"slot\":\"uno\""),
        ("\"reply\":\"boom\"", "\"reply\":\"bang\""),
        ("\"strict_serialization\":true", "\"strict_serialization\":false"),
        ("\"schema_version\":\"1.0\"", "\"schema_version\":\"99.0\""),
    ] {
        let lab = Lab::new();
        run(&lab);
        std::fs::remove_file(lab.path("run/report.html")).unwrap();
        std::fs::remove_file(lab.path("run.run.json")).unwrap();
        let text = lab.read("run/manifest.json");
        assert!(text.contains(from), "{from}: {text}");
        lab.write("run/manifest.json", text.replacen(from, to, 1));
        lab.run("verify run").exits(7);
    }
    for (from, to) in [
        ("\"seed\":0", "\"seed\":1"),
        ("\"cases_errored\":4", "\"cases_errored\":3"),
        ("\"timeout_per_case\":60", "\"timeout_per_case\":61"),
        ("\"receipt_path\":\"run/records.jsonl\"", "\"receipt_path\":\"run/other.jsonl\""),
        ("\"variant\":\"one,two\"", "\"variant\":\"one\""),
        ("\"backend\":\"one=scripted", "\"backend\":\"one=openai"),
    ] {
        edited("run.run.json", from, to, "run.run.json");
    }
}

/// The id of a run follows from its configuration: changing both sides of a digest does not help.
#[test]
fn a_configuration_of_another_run_is_noticed() {
    let lab = Lab::new();
    run(&lab);
    let config = lab.read("run/config.resolved.yaml").replace("timeout_ms: 60000", "timeout_ms: 60001");
    let digest = |text: &str| proofhouse_ledger::Digest::of(text.as_bytes()).to_string();
    let manifest = lab
        .read("run/manifest.json")
        .replace(&digest(&lab.read("run/config.resolved.yaml")), &digest(&config));
    lab.write("run/config.resolved.yaml", config).write("run/manifest.json", manifest);
    std::fs::remove_file(lab.path("run.run.json")).unwrap();
    lab.run("report run").exits(0);
    lab.run("verify run").exits(7).says("`run_id` is not what config.resolved.yaml says");
}

#[test]
fn hostile_names_do_not_steer_the_terminal() {
    let lab = Lab::new();
    run(&lab);
    let text = lab.read("run/records.jsonl").replacen(
        "\"case_id\":\"a\"",
        "\"case_id\":\"\\u001b[2J\u{202e}sound\"",
        1,
    );
    lab.write("run/records.jsonl", text);
    let outcome = lab.run("verify run").exits(7);
    assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stdout.contains('\u{202e}'), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("␛[2J[U+202E]sound"), "{}", outcome.stdout);
}

#[test]
fn impossible_numbers_end_in_findings_and_not_in_a_panic() {
    tampered(
        |lines| lines[3] = lines[3].replace("\"index\":3", "\"index\":9223372036854775808"),
        &["records.jsonl:4"],
    );
    edited(
        "run/manifest.json",
        "\"record_count\":16",
        "\"record_count\":4611686018427387904",
        "record_count",
    );
    let lab = Lab::new();
    run(&lab);
    lab.write(
        "run/manifest.json",
        lab.read("run/manifest.json").replacen("\"seed\":0", "\"seed\":18446744073709551615", 1),
    );
    lab.run("recover run --rebuild").exits(1).says("cannot be true");
}

#[test]
fn an_unfinished_run_is_incomplete_and_not_unsound() {
    let lab = Lab::new();
    lab.busy_suite(100, 40);
    lab.run("run busy.yaml --run-dir run --jobs 1 --deadline 0.3 --quiet").exits(8);
    lab.run("verify run").exits(8).says("of 200 trials; what is there is sound");
    lab.run("diff run run --fail-on-changes").exits(8);
}

#[test]
fn report_does_not_cover_up_damage() {
    let lab = Lab::new();
    run(&lab);
    lab.write(
        "run/records.jsonl",
        lab.read("run/records.jsonl").replacen("\"passed\":true", "\"passed\":null", 1),
    );
    let before = lab.run_files("run");
    lab.run("report run").exits(7).says("verify");
    assert_eq!(lab.run_files("run"), before);
}

#[test]
fn a_foreign_file_is_noticed() {
    let lab = Lab::new();
    run(&lab);
    lab.write("run/notes.txt", "hello");
    lab.run("verify run").exits(7).says("notes.txt: does not belong");
}

#[test]
fn strict_wants_to_know_the_origin() {
    let lab = Lab::new();
    run(&lab);
    lab.run("verify run --strict").exits(7).says("git_commit");
}

#[test]
fn a_run_directory_that_is_not_there_is_a_wrong_command_line() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir run --quiet").exits(0);
    for command in [
        "verify gone",
        "verify run gone",
        "verify gone --rejudge",
        "report gone",
        "export gone --format jsonl",
        "bless gone",
        "attest gone --key key.pem",
        "recover gone",
        "recover gone --rebuild",
        "score gone small.yaml",
        "diff run gone",
        "diff gone run",
        "compare run gone",
    ] {
        let before = lab.snapshot();
        lab.run(command).exits(2);
        assert_eq!(lab.snapshot(), before, "{command}");
    }
    // Of several, a folder that is no run is named, and the others are looked at.
    lab.write("notes/chapter.tex", "years of work");
    let said = lab.run("verify notes run").exits(7);
    said.says("notes: NOT SOUND, it is not a run directory").says("run: sound");
    // A run that was begun, and killed before its directory was made, is there.
    lab.write("begun.run.json.tmp", lab.read("run.run.json").replace("\"normal\"", "\"in_progress\""));
    lab.run("verify begun").exits(8).says("incomplete");
}
