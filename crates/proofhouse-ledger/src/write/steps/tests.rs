//! How a run begins and ends on the real disk; what a power cut leaves in between is for the simulated one.

use super::*;
use crate::part::Places;
use crate::write::tests::{Dir, line, run_id, whole};
use crate::write::{discard_next, is_run_dir, scan, swap_in};

fn text(path: camino::Utf8PathBuf) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[test]
fn a_run_begins_with_its_envelope_and_a_configuration_that_stays_where_it_goes_on() {
    let dir = Dir::new();
    let paths = dir.paths();
    std::fs::remove_dir(&paths.dir).unwrap();
    for (envelope, config, going_on, kept) in [
        ("begun", "config", false, "config"),
        ("gone on", "other", true, "config"),
        ("begun anew", "other", false, "other"),
    ] {
        begin(&paths, envelope.as_bytes(), config.as_bytes(), going_on).unwrap();
        assert_eq!(
            (text(paths.envelope_tmp()), text(paths.config())),
            (Some(envelope.into()), Some(kept.into()))
        );
    }
    std::fs::remove_file(paths.config()).unwrap();
    begin(&paths, b"gone on", b"first", true).unwrap();
    assert_eq!(text(paths.config()).as_deref(), Some("first"), "killed before it was written");
}

#[test]
fn a_whole_run_ends_without_a_journal_and_an_unfinished_one_keeps_it() {
    for (complete, journal) in [(true, None), (false, Some("waits".to_owned()))] {
        let dir = Dir::new();
        let paths = dir.paths();
        begin(&paths, b"begun", b"config", false).unwrap();
        std::fs::write(paths.journal(), "waits").unwrap();
        end(&paths, &paths, b"ended", complete).unwrap();
        assert_eq!(text(paths.journal()), journal);
        assert_eq!((text(paths.envelope()).as_deref(), text(paths.envelope_tmp())), (Some("ended"), None));
        assert_eq!(text(paths.config()).as_deref(), Some("config"), "it stands where it was written");
    }
}

#[test]
fn a_run_beside_another_takes_its_place_only_when_it_is_whole() {
    for complete in [true, false] {
        let dir = Dir::new();
        let (paths, next) = (dir.paths(), dir.paths().next());
        std::fs::write(paths.config(), "old").unwrap();
        begin(&next, b"begun", b"new", false).unwrap();
        end(&next, &paths, b"{\"exit_status\":\"normal\"}", complete).unwrap();
        assert_eq!(text(paths.config()).as_deref(), Some(if complete { "new" } else { "old" }));
        assert_eq!((next.dir.exists(), paths.envelope().exists()), (!complete, complete));
        discard_next(&paths).unwrap();
        assert!(
            !next.dir.exists() && !next.envelope().exists(),
            "nothing is left of what will not be gone on with"
        );
    }
}

#[test]
fn a_run_moved_into_place_by_itself_leaves_nothing_of_the_older_one() {
    let dir = Dir::new();
    let (paths, next) = (dir.paths(), dir.paths().next());
    std::fs::write(paths.config(), "old").unwrap();
    std::fs::write(paths.attestation(), "signed").unwrap();
    begin(&next, b"ended", b"new", false).unwrap();
    swap_in(&paths).unwrap();
    assert_eq!(
        (text(paths.config()).as_deref(), text(paths.envelope()).as_deref()),
        (Some("new"), Some("ended"))
    );
    assert!(!next.dir.exists() && !paths.prev().dir.exists() && !paths.attestation().exists());
}

#[test]
fn what_was_torn_is_cut_off_before_a_run_is_settled() {
    let dir = Dir::new();
    let paths = dir.paths();
    begin(&paths, b"begun", b"config", false).unwrap();
    let torn = |bytes: &[u8]| [bytes, b"{\"torn"].concat();
    std::fs::write(paths.records(), torn(&whole(3))).unwrap();
    std::fs::write(paths.journal(), torn(&line(7))).unwrap();
    std::fs::write(paths.telemetry(), torn(b"{}\n")).unwrap();
    let found =
        scan(&paths, run_id(), Places::Whole, |_, _| Ok(())).map_err(|error| error.to_string()).unwrap();
    settle(&paths, &found, b"ended").unwrap();
    assert_eq!(std::fs::read(paths.records()).unwrap(), whole(3));
    assert_eq!(std::fs::read(paths.journal()).unwrap(), line(7));
    assert_eq!(text(paths.telemetry()).as_deref(), Some("{}\n"));
    assert_eq!((text(paths.envelope()).as_deref(), text(paths.envelope_tmp())), (Some("ended"), None));
}

/// Beside its configuration, the records decide; where there is no whole line of them, the envelope does.
#[test]
fn a_directory_is_a_run_by_its_configuration_and_its_first_record() {
    let dir = Dir::new();
    let paths = dir.paths();
    std::fs::write(paths.records(), line(0)).unwrap();
    assert!(!is_run_dir(&paths.dir), "there is no configuration");
    std::fs::write(paths.config(), "").unwrap();
    for (records, is_run) in [
        (&b"{\"record_id\":7}\n"[..], true),
        (b"{\"case\":7}\n", false),
        (b"[\"record_id\":7]\n", false),
        (b"{\"case\":7}\n{\"record_id\":7}\n", false),
        (b"{\"rec", true),
        (b"{", true),
        (b"", true),
        (b"rec", false),
        (b"\0\0\0\0", false),
    ] {
        std::fs::write(paths.records(), records).unwrap();
        assert_eq!(is_run_dir(&paths.dir), is_run, "{}", String::from_utf8_lossy(records));
    }
    std::fs::write(paths.envelope_tmp(), "{}").unwrap();
    assert!(is_run_dir(&paths.dir), "zeros are what a power cut leaves of a run that has not ended");
}
