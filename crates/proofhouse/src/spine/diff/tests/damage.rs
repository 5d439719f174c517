//! Stored digests, places and whole lines that are not what they should be; runs that are not whole.

use proofhouse_ledger::canonical;

use super::lab::{Lab, Lines, assert_counts, check, lines, manifest, six, whole};
use crate::spine::diff::findings::Findings;
use crate::spine::diff::join::{Merged, walk};
use crate::spine::diff::roots::Roots;
use crate::spine::diff::{Decision, Demand, DiffError, Options, Report, RunClass, Side, compare, decide};

const BOTH: Demand = Demand { no_changes: true, no_regressions: true, not_worse: false };

fn flaws(report: &Report) -> Vec<(Side, &str)> {
    let flaws = report.changes.iter().flat_map(|change| &change.flaws);
    flaws.map(|flaw| (flaw.side, flaw.pointer.as_str())).collect()
}

/// Sets the value of a field in the text of a line, and nothing else.
fn set(line: &mut String, key: &str, value: &str) {
    let from = line.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
    let to = from + line[from..].find([',', '}']).unwrap();
    line.replace_range(from..to, value);
}

/// Spoils one field of line 3 in a run of the same id and in another run; it is one metadata change in both.
fn spoilt(key: &str, value: &str, expected: &[&str]) {
    for run in ["x", "y"] {
        let mut bad = lines(run, &six());
        set(&mut bad[3], key, value);
        let report = check(("x", &lines("x", &six())), (run, &bad), &[("metadata", 1)]);
        let expected: Vec<(Side, &str)> = expected.iter().map(|pointer| (Side::B, *pointer)).collect();
        assert_eq!(flaws(&report), expected, "{key} in run {run}");
        assert!(report.changes[0].fields.is_empty());
        assert_eq!(decide(&report, BOTH), Decision::Changes);
        let report = check((run, &bad), ("x", &lines("x", &six())), &[("metadata", 1)]);
        assert!(flaws(&report).iter().all(|(side, _)| *side == Side::A));
    }
}

#[test]
fn an_edited_digest_is_a_change() {
    let other = format!("\"{}\"", "0".repeat(64));
    spoilt("record_sha256", &other, &["/record_sha256"]);
    spoilt("output_sha256", &other, &["/record_sha256", "/output_sha256"]);
    spoilt("output_sha256", "null", &["/record_sha256", "/output_sha256"]);
    spoilt("input_fingerprint", &other, &["/record_sha256", "/input_fingerprint"]);
}

/// What a walk comes to that takes stored digests as they stand; none where it may not.
fn believing(lab: &Lab) -> Option<Merged> {
    let pairing = lab.pairing();
    std::thread::scope(|scope| {
        let roots = Roots::new(scope, &pairing)?;
        Some(walk(&pairing, Findings::new(9), Some(roots)).unwrap())
    })
}

#[test]
fn stored_digests_are_believed_only_where_a_run_was_sealed_with_them() {
    let (a, good) = (lines("x", &six()), lines("y", &six()));
    let mut rows = six();
    rows[2].passed = Some(false);
    rows.remove(4);
    let lab = |b: &Lines| Lab::with(("x", &a), ("y", b));
    for honest in [good.clone(), lines("y", &rows)] {
        assert!(matches!(believing(&lab(&honest)), Some(Merged::All(_))));
    }
    let mut edited = good.clone();
    set(&mut edited[3], "record_sha256", &format!("\"{}\"", "0".repeat(64)));
    assert!(matches!(believing(&lab(&edited)), Some(Merged::Doubtful)));
    // Lines that are gone, or there again, have other roots too.
    for other in [&good[..5], &[&good[..], &good[5..]].concat()[..]] {
        let lab = lab(&good);
        lab.write(&lab.b, &whole(&other.to_vec()));
        assert!(!matches!(believing(&lab), Some(Merged::All(_))));
    }
    let lab = lab(&good);
    std::fs::remove_file(lab.b.manifest()).unwrap();
    assert!(believing(&lab).is_none());
}

#[test]
fn a_wrong_place_is_a_change() {
    spoilt("index", "99", &["/record_sha256", "/index"]);
    spoilt("index", "2", &["/record_sha256", "/index"]);
    let stamp = "\"2020-01-01T00:00:00.000000+00:00\"";
    spoilt("started_at", stamp, &["/record_sha256", "/started_at"]);
    spoilt("completed_at", stamp, &["/record_sha256", "/completed_at"]);
    spoilt("run_id", "\"0123456789ab\"", &["/record_sha256", "/run_id"]);
}

#[test]
fn a_line_of_another_run_is_noticed_though_its_bytes_are_equal() {
    let (a, mut b) = (lines("x", &six()), lines("y", &six()));
    b[3] = a[3].clone();
    let report = check(("x", &a), ("y", &b), &[("metadata", 1)]);
    assert!(flaws(&report).contains(&(Side::B, "/run_id")));
}

#[test]
fn a_record_that_claims_another_place_consistently_is_told_in_one_line() {
    let rows = six();
    let mut b = lines("y", &rows);
    b[3] = super::lab::line("y", 40, &rows[3]);
    let report = check(("x", &lines("x", &rows)), ("y", &b), &[]);
    assert_eq!((report.b.misplaced, report.b.first_misplaced_line), (1, Some(4)));
    assert_eq!(decide(&report, BOTH), Decision::Changes);
    let mut b = lines("x", &rows);
    b[3] = super::lab::line("x", 40, &rows[3]);
    check(("x", &lines("x", &rows)), ("x", &b), &[("metadata", 1)]);
}

#[test]
fn a_line_that_is_not_canonical_is_a_change() {
    let mut bad = lines("x", &six());
    set(&mut bad[3], "repetition", "0.0");
    let report = check(("x", &lines("x", &six())), ("x", &bad), &[("metadata", 1)]);
    assert_eq!(
        flaws(&report),
        [(Side::B, "/repetition"), (Side::B, "/record_sha256"), (Side::B, "/record_id")]
    );
}

/// Both runs with manifests that count six, and B's file as given.
fn with_file(records: &str) -> Report {
    let good = lines("x", &six());
    let lab = Lab::with(("x", &good), ("x", &good));
    lab.write(&lab.b, records);
    lab.report()
}

#[test]
fn a_torn_tail_is_cut_and_told() {
    let good = whole(&lines("x", &six()));
    let report = with_file(&good[..good.len() - 40]);
    assert_counts(&report, &[("removed", 1)]);
    assert_eq!(report.b.torn.as_ref().unwrap().line, 6);
    assert!(report.b.incomplete.iter().any(|reason| reason.contains("torn")));
    assert_eq!(decide(&report, BOTH), Decision::Regressions);

    let report = with_file(&format!("{good}{{\"case"));
    assert_counts(&report, &[]);
    assert_eq!(
        decide(&report, Demand { no_changes: true, no_regressions: false, not_worse: false }),
        Decision::Changes
    );
    assert_eq!(decide(&report, BOTH), Decision::Incomplete);
}

#[test]
fn a_garbage_line_is_named_by_number() {
    for garbage in
        ["garbage", "", "{}", "[1,2]", "{\"record_id\":\"0123\"}", "{\"a\":1,\"record_id\":7,\"z\":nul}"]
    {
        let mut bad: Lines = lines("x", &six());
        bad[3] = garbage.to_owned();
        let report = with_file(&whole(&bad));
        assert_counts(&report, &[("removed", 1)]);
        assert_eq!((report.unreadable_count, report.unreadable[0].line), (1, 4), "{garbage:?}");
        let lab = Lab::with(("x", &bad), ("x", &bad));
        assert_counts(&lab.report(), &[]);
        let lab = Lab::with(("x", &lines("x", &six())), ("y", &bad));
        assert_eq!(lab.report().unreadable_count, 1);
    }
    // A line that splits into fields but is no JSON within them.
    let mut bad = lines("x", &six());
    set(&mut bad[3], "latency_ms", "nul");
    let report = with_file(&whole(&bad));
    assert_eq!((report.unreadable_count, report.unreadable[0].line), (1, 4));
    assert_eq!((report.common, report.unchanged), (6, 5));
}

#[test]
fn an_empty_file_is_an_empty_run() {
    let report = with_file("");
    assert_counts(&report, &[("removed", 6)]);
    let lab = Lab::new();
    lab.write(&lab.a, "");
    lab.write(&lab.b, "");
    let report = lab.report();
    assert_counts(&report, &[]);
    assert!(!report.different_runs);
    assert_eq!(decide(&report, BOTH), Decision::Incomplete, "neither has a manifest");
}

#[test]
fn a_run_without_a_manifest_takes_its_identity_from_its_records() {
    let lab = Lab::new();
    lab.write(&lab.a, &whole(&lines("x", &six())));
    lab.write(&lab.b, &whole(&lines("y", &six())));
    let report = lab.report();
    assert_counts(&report, &[]);
    assert!(report.different_runs);
    assert_eq!(report.b.incomplete, ["it has no manifest, so it was not finished"]);
}

#[test]
fn what_is_no_run_is_refused() {
    let lab = Lab::new();
    let error = compare(&lab.a, &lab.b, &Options::default()).unwrap_err();
    assert!(matches!(error, DiffError::NotARun(_)));
    assert!(error.to_string().contains("\n\nhint: "));
}

#[test]
fn what_differs_between_the_runs_is_warned_of() {
    let good = lines("x", &six());
    let lab = Lab::with(("x", &good), ("x", &good));
    let mut other = manifest("x", 6);
    other.proofhouse_version = "0.2.0".to_owned();
    other.suite_content_sha256 = proofhouse_ledger::Digest::of(b"other");
    other.determinism.strict_serialization = false;
    std::fs::write(lab.b.manifest(), canonical::to_file(&other).unwrap()).unwrap();
    insta::assert_snapshot!(lab.report().warnings.join("\n"), @r#"
    the versions of proofhouse differ: 0.1.0 → 0.2.0
    the determinism flags differ: strict_serialization true, deterministic_artifacts true → strict_serialization false, deterministic_artifacts true
    the suites' content differs: a3680fcd2bc8 → d9298a10d1b0
    "#);
    assert_eq!(lab.report().run_changes, ["toolchain", "setting"]);
    std::fs::write(lab.b.manifest(), "{").unwrap();
    assert!(lab.report().b.incomplete[0].starts_with("`manifest.json` cannot be read"));
}

/// Two runs with the same records, whose configurations are `a` and `b`.
fn configured(a: &str, b: &str) -> Lab {
    let good = lines("x", &six());
    let lab = Lab::with(("x", &good), ("x", &good));
    for (paths, config) in [(&lab.a, a), (&lab.b, b)] {
        std::fs::write(paths.config(), config).unwrap();
        let mut named = manifest("x", 6);
        named.config_sha256 = proofhouse_ledger::Digest::of(config.as_bytes());
        std::fs::write(paths.manifest(), canonical::to_file(&named).unwrap()).unwrap();
    }
    lab
}

#[test]
fn each_setting_that_differs_is_a_change_of_its_class() {
    let base = "cases: [{id: a}]\njudges: [{equals: {trim: true}}]\nprompt: '{input}'\ntimeout_ms: 1\n";
    assert_eq!(configured(base, base).report().run_changes, Vec::<String>::new());
    for (from, to, class, words) in [
        ("trim: true", "trim: false", "judge", "the judges differ at /judges/0/equals/trim"),
        ("{id: a}", "{id: b}", "dataset", "the cases differ at /cases/0/id"),
        ("'{input}'", "'{input}!'", "prompt", "the prompts differ at /prompt"),
        ("timeout_ms: 1", "timeout_ms: 2", "setting", "the settings differ at /timeout_ms"),
        ("timeout_ms: 1", "timeout_ms: 1\nclippy: true", "setting", "the settings differ at /clippy"),
    ] {
        let mut lab = configured(base, &base.replace(from, to));
        let report = lab.report();
        assert_eq!(
            (&report.run_changes[..], &report.warnings[..]),
            (&[class.into()][..], &[words.into()][..])
        );
        assert!(report.differs(), "{class}");
        lab.options.allow = RunClass::ALL.into_iter().filter(|allowed| allowed.as_str() == class).collect();
        let allowed = lab.report();
        assert!(!allowed.differs() && allowed.warnings == report.warnings, "{class}");
    }
}

#[test]
fn a_configuration_that_is_gone_or_not_the_manifests_makes_a_run_incomplete() {
    let lab = configured("seed: 1\n", "seed: 1\n");
    std::fs::write(lab.b.config(), "seed: 2\n").unwrap();
    assert_eq!(lab.report().b.incomplete, ["`config.resolved.yaml` is not the one that its manifest names"]);
    std::fs::remove_file(lab.b.config()).unwrap();
    assert!(lab.report().b.incomplete[0].starts_with("`config.resolved.yaml` cannot be read: "));
}

#[test]
fn wall_clock_fields_are_changes_unless_ignored() {
    let mut b = lines("x", &six());
    set(&mut b[0], "started_at", "\"2026-01-01T00:00:00.000000+00:00\"");
    let lab = Lab::with(("x", &lines("x", &six())), ("x", &b)).ignoring("/record_sha256");
    for (paths, run) in [(&lab.a, "x"), (&lab.b, "x")] {
        let mut volatile = manifest(run, 6);
        volatile.determinism.deterministic_artifacts = false;
        std::fs::write(paths.manifest(), canonical::to_file(&volatile).unwrap()).unwrap();
    }
    assert_counts(&lab.report(), &[("metadata", 1)]);
    assert_counts(&lab.ignoring("/started_at").report(), &[]);
}
