//! Which files and folders a run may have beside its records, and what is said of one that was cut off.

use super::*;
use crate::manifest::Shard;

fn left_over(verified: &Verified) -> Vec<String> {
    verified.findings.left_over.iter().map(ToString::to_string).collect()
}

#[test]
fn the_folder_of_a_report_belongs_to_a_run_and_no_other_does() {
    let lab = Lab::probes(1);
    lab.verify();
    let at = |name: &str| lab.paths().dir.join(name);
    std::fs::create_dir(at("report-data")).unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    assert_eq!((texts(&verified), left_over(&verified)), (Vec::new(), Vec::new()));
    std::fs::create_dir(at("report-data.draft")).unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    assert_eq!(texts(&verified), [""; 0]);
    let [left] = &left_over(&verified)[..] else { panic!("one draft") };
    assert!(left.contains("report-data.draft") && left.contains("was being written"), "{left}");

    for name in ["report-data", "report-data.draft"] {
        std::fs::remove_dir(at(name)).unwrap();
        std::fs::write(at(name), "").unwrap();
    }
    std::fs::create_dir(at("other")).unwrap();
    let verified = verify(&lab.paths(), |_| {}).unwrap();
    let expected = ["other", "report-data", "report-data.draft"]
        .map(|name| format!("{name}: does not belong in a run directory"));
    assert_eq!((texts(&verified), left_over(&verified)), (expected.to_vec(), Vec::new()));
}

#[test]
fn how_far_a_cut_off_run_came_is_said() {
    let mut lab = Lab::probes(2);
    lab.envelope.total_cases_expected = 5;
    lab.verify();
    std::fs::remove_file(lab.paths().manifest()).unwrap();
    std::fs::remove_file(lab.paths().envelope()).unwrap();
    for (status, what) in [
        (ExitStatus::InProgress, "the run was cut off before its end, or is still going on"),
        (ExitStatus::ExternalKill, "the run was cut off before its envelope got its name"),
    ] {
        lab.envelope.exit_status = status;
        std::fs::write(lab.paths().envelope_tmp(), canonical::to_file(&lab.envelope).unwrap()).unwrap();
        let verified = verify(&lab.paths(), |_| {}).unwrap();
        let [left] = &left_over(&verified)[..] else { panic!("one envelope") };
        assert!(left.ends_with(what), "{left}");
    }
}

/// Only a run that came to no trial may have no records; where there are some, they are read whatever its envelope says.
#[test]
fn records_may_be_missing_only_where_none_was_completed() {
    let mut lab = Lab::probes(2);
    lab.envelope.exit_status = ExitStatus::InProgress;
    lab.envelope.total_cases_completed = 0;
    lab.verify();
    std::fs::remove_file(lab.paths().manifest()).unwrap();
    assert_eq!(verify(&lab.paths(), |_| {}).unwrap().totals.count, 2);
    std::fs::remove_file(lab.paths().records()).unwrap();
    assert_eq!(verify(&lab.paths(), |_| {}).unwrap().totals.count, 0);
    lab.envelope.total_cases_completed = 2;
    std::fs::write(lab.paths().envelope(), canonical::to_file(&lab.envelope).unwrap()).unwrap();
    assert!(verify(&lab.paths(), |_| {}).is_err(), "two records are missing");
}

/// What is torn begins where the first line is that no writer would have left, or at an end without its newline.
#[test]
fn where_the_records_of_a_cut_off_run_are_torn_is_said() {
    let mut lab = Lab::probes(4);
    lab.verify();
    lab.envelope.exit_status = ExitStatus::InProgress;
    std::fs::write(lab.paths().envelope_tmp(), canonical::to_file(&lab.envelope).unwrap()).unwrap();
    std::fs::remove_file(lab.paths().manifest()).unwrap();
    std::fs::remove_file(lab.paths().envelope()).unwrap();
    let torn = |records: &[u8]| {
        std::fs::write(lab.paths().records(), records).unwrap();
        let verified = verify(&lab.paths(), |_| {}).unwrap();
        assert_eq!(texts(&verified), [""; 0]);
        (verified.totals.count, left_over(&verified).get(1).cloned())
    };
    let from = |line: u64| {
        Some(format!("records.jsonl: from line {line} on it is torn: `run --resume` cuts it there"))
    };
    let whole = lab.lines.concat();
    assert_eq!(torn(&whole), (4, None));
    assert_eq!(torn(&whole[..whole.len() - 1]), (3, from(4)), "all of the last line but its end");
    assert_eq!(torn(&[&lab.lines[..2].concat(), &b"\0\0\n"[..], &lab.lines[2]].concat()), (2, from(3)));
    assert_eq!(torn(&[&b"\0\0\n"[..], &whole].concat()), (0, from(1)));
}

/// More blocks than threads, which take turns.
#[test]
fn a_file_of_many_blocks_is_read_in_order() {
    let lab = Lab::probes(8_000);
    assert!(lab.lines.concat().len() > 5 << 20, "{}", lab.lines.concat().len());
    let verified = lab.verify();
    assert_eq!((texts(&verified), verified.totals.count), (Vec::new(), 8_000));
}

#[test]
fn a_record_without_its_run_or_its_kind_is_named_even_where_there_is_no_manifest() {
    for field in ["kind", "run_id"] {
        let mut lab = Lab::probes(2);
        lab.lines[1] = samples::forged(&lab.lines[1], field, "\"?\"");
        lab.verify();
        std::fs::remove_file(lab.paths().manifest()).unwrap();
        let told = texts(&verify(&lab.paths(), |_| {}).unwrap());
        assert!(told.iter().any(|text| text.contains(&format!("field `{field}` is missing"))), "{told:?}");
    }
}

#[test]
fn a_shard_holds_the_trials_of_its_part_and_no_others() {
    let part = Part::new(0, 2).unwrap();
    let (own, others): (Vec<u64>, Vec<u64>) =
        (0..12).partition(|index| part.holds(&format!("case-{index}"), samples::SLOT));
    let told = |indexes: &[u64]| {
        let record = |index: &u64| samples::probe(*index, &Json::Null, |_| {});
        let mut lab = Lab::of(Kind::Probe, indexes.iter().map(record).collect());
        let plan_sha256 = lab.manifest.plan_sha256;
        lab.manifest.shard = Some(Shard { plan_count: 12, plan_sha256, part });
        let mut lab = lab.agree();
        lab.envelope.details = Json::Object([("shard".to_owned(), Json::from("0/2"))].into_iter().collect());
        texts(&lab.verify())
    };
    assert_eq!(told(&own), [""; 0]);
    let mut strange = own.clone();
    strange.push(others[0]);
    strange.sort_unstable();
    let [text] = &told(&strange)[..] else { panic!("one record does not belong there") };
    assert!(text.ends_with("its case and slot do not belong to shard 0/2"), "{text}");
}
