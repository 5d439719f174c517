//! Nothing outlives its box, and no box outlives its harness.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::lab::Stage;

#[test]
fn a_thousand_boxes_leave_no_orphan_in_strong() {
    assert_eq!(Stage::new().user().run(&["orphans", "strong", "1000"])["left"], "0");
}

#[test]
fn a_thousand_boxes_leave_no_orphan_in_confined() {
    assert_eq!(Stage::new().user().run(&["orphans", "confined", "1000"])["left"], "0");
}

#[test]
fn a_hundred_boxes_leave_no_orphan_in_limited() {
    assert_eq!(Stage::new().user().run(&["orphans", "limited", "100"])["left"], "0");
}

/// Processes of this name, which is made for one test.
fn alive(name: &str) -> usize {
    let is_named = |pid: &str| {
        std::fs::read_to_string(Path::new("/proc").join(pid).join("comm"))
            .is_ok_and(|comm| comm.trim() == name)
    };
    #[expect(clippy::disallowed_methods, reason = "processes have no order that matters for counting")]
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_named)).count()
}

/// Kills harnesses at different moments of a run: before, while and after the box is built.
fn kill_harnesses(tier: &str, kills: u64) {
    let name = format!("ph-{tier:.4}-{}", std::process::id());
    let mut seen = 0;
    for round in 0..kills {
        let mut harness = Stage::new().user().command(&["hold", tier, &name]);
        let mut child = harness.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "open\n");
        std::thread::sleep(Duration::from_millis(round % 25));
        seen += alive(&name);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(seen > 0, "no harness was killed while its box was running");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(alive(&name), 0);
}

#[test]
fn a_hundred_killed_harnesses_leave_nothing_in_strong() {
    kill_harnesses("strong", 100);
}

#[test]
fn a_hundred_killed_harnesses_leave_nothing_in_confined() {
    kill_harnesses("confined", 100);
}
