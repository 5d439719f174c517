//! Honest programs near their limits, and harnesses side by side: the same verdict every time, and nobody in another's way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use proofhouse_sandbox::recipes::programs;
use proofhouse_sandbox::{Spec, Status, Tier};

use crate::lab::{Stage, is_root, lab};

/// Fourteen kinds of programs near their limit: spawned, forked and orphaned children, pipelines, threads, mapped files. Counted twice,
/// what they share would be over it.
#[test]
fn two_hundred_honest_programs_of_many_shapes_end_well() {
    for (stage, tier) in
        [(Stage::new().user(), "strong"), (Stage::new(), "strong"), (Stage::new().user(), "confined")]
    {
        let rows = stage.run(&["honest", tier, "200"]);
        assert_eq!(rows, BTreeMap::from([("ok".to_owned(), "200".to_owned())]), "{tier}");
    }
}

#[test]
fn twenty_repetitions_near_the_limit_and_over_it_have_one_verdict() {
    for tier in ["strong", "confined"] {
        let rows = Stage::new().user().run(&["again", tier, "20"]);
        assert_eq!(rows.len(), 6, "{rows:?}");
        for (name, ends) in rows {
            let verdict = if name.ends_with("near") { "ok" } else { "memory_limit" };
            assert_eq!(ends, format!("{{{verdict:?}: 20}}"), "{tier}: {name}");
        }
    }
}

/// To count mappings takes time, of which a busy machine has little; whoever makes them has to share it as well.
#[test]
fn memory_in_mappings_is_seen_on_a_busy_machine() {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let rows: Vec<_> = ["strong", "confined"]
            .map(|tier| (tier, Stage::new().user().run(&["attack", tier, "memory-mappings"])))
            .into();
        done.store(true, Ordering::Relaxed);
        for (tier, rows) in rows {
            assert_eq!(rows.len(), 2, "{tier}");
            assert!(rows.values().all(|effect| effect == "held"), "{tier}: {rows:?}");
        }
    });
}

/// The crate's own program: a child that stays in its parent's memory for a while is one memory, at every look.
#[test]
fn two_hundred_programs_with_borrowing_children_have_one_verdict() {
    for (stage, tier, runs) in [
        (Stage::new().user(), "strong", "200"),
        (Stage::new(), "strong", "40"),
        (Stage::new().user(), "confined", "40"),
    ] {
        let rows = stage.run(&["borrow", tier, runs]);
        assert_eq!(rows, BTreeMap::from([("Ok".to_owned(), runs.to_owned())]), "{tier}");
    }
}

/// A harness in another pid namespace sees none of our processes, and must leave our directories alone all the same.
#[test]
fn harnesses_in_two_pid_namespaces_share_one_scratch_directory() {
    if !is_root() {
        return;
    }
    let lab = lab(Tier::Confined);
    let path = lab.dir.path().display().to_string();
    std::fs::set_permissions(lab.dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o1777)).unwrap();
    std::thread::scope(|scope| {
        let boxed = scope.spawn(|| {
            let script = "echo here > kept; sleep 2; cat kept";
            lab.run(&Spec::new(["/bin/sh", "-c", script]).binds(programs()).env("PATH", "/usr/bin:/bin"))
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        for stage in [Stage::new().other_pids(), Stage::new().user().other_pids()] {
            let rows = stage.scratch(&path).run(&["doctor", "confined"]);
            assert!(rows["request confined"].contains("confined"), "{rows:#?}");
        }
        let outcome = boxed.join().unwrap();
        assert_eq!((outcome.status, outcome.stdout.text()), (Status::Ok, "here\n".to_owned()));
    });
}

/// Where the kernel does not count, children that were waited for are not taken for lost ones: what the shell itself knows of its
/// children is what they used, in whole clock ticks.
#[test]
fn brief_children_that_are_waited_for_are_counted_once() {
    for tier in ["strong", "confined"] {
        let rows = Stage::new().without(libc::SYS_perf_event_open).run(&["brief", tier]);
        assert_eq!(rows["status"], "Ok", "{rows:?}");
        let number = |name: &str| rows[name].parse::<f64>().unwrap();
        assert!(number("counted") <= number("used") * 1.1 + 60.0, "{tier}: {rows:?}");
        assert!(number("counted") >= number("used") * 0.9 - 60.0, "{tier}: {rows:?}");
    }
}

/// What another user of the machine plants where work directories are made is neither followed nor touched, whoever the harness is. The
/// directory is not sticky, so that it is not the kernel that refuses to follow.
#[test]
#[expect(clippy::disallowed_methods, reason = "another user plants")]
fn what_another_user_plants_changes_nothing() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    if !is_root() {
        eprintln!("skipped: only root can be two users");
        return;
    }
    const PLANTER: u32 = 65_533;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().display().to_string();
    let mode = |of: &str, bits| {
        std::fs::set_permissions(dir.path().join(of), std::fs::Permissions::from_mode(bits)).unwrap();
    };
    mode("", 0o777);
    std::fs::create_dir(dir.path().join("victim")).unwrap();
    std::fs::write(dir.path().join("victim/file"), "kept").unwrap();
    mode("victim/file", 0o604);
    mode("victim", 0o705);
    let plant = "ln -s $PWD/victim proofhouse-box-planted; ln -s $PWD/victim/file proofhouse-box-file
        mkdir -p proofhouse-box-theirs/in; ln -s $PWD/victim proofhouse-box-theirs/in/link; ln -s $PWD/victim proofhouse-box-theirs/link
        mkdir proofhouse-box-closed; chmod 0 proofhouse-box-closed
        # Now a directory, now a link, for whoever looks before it leaps.
        while :; do
            mkdir proofhouse-box-turning; rmdir proofhouse-box-turning
            ln -s $PWD/victim proofhouse-box-turning; rm proofhouse-box-turning
        done";
    let mut planter = std::process::Command::new("/bin/sh");
    let mut planter =
        planter.args(["-c", plant]).current_dir(dir.path()).uid(PLANTER).gid(PLANTER).spawn().unwrap();
    while !dir.path().join("proofhouse-box-closed").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    for stage in [Stage::new(), Stage::new().user(), Stage::new()] {
        let rows = stage.scratch(&path).run(&["doctor", "confined"]);
        assert!(rows["request confined"].contains("confined"), "{rows:#?}");
    }
    planter.kill().unwrap();
    planter.wait().unwrap();
    let seen = |of: &str| {
        let found = std::fs::symlink_metadata(dir.path().join(of)).unwrap();
        (found.uid(), found.mode() & 0o7777)
    };
    assert_eq!(seen("victim"), (0, 0o705));
    assert_eq!(seen("victim/file"), (0, 0o604));
    assert_eq!(std::fs::read_to_string(dir.path().join("victim/file")).unwrap(), "kept");
    assert_eq!(seen("proofhouse-box-closed"), (PLANTER, 0));
    assert_eq!(seen("proofhouse-box-theirs/in").0, PLANTER);
    for link in ["proofhouse-box-planted", "proofhouse-box-file", "proofhouse-box-theirs/in/link"] {
        assert!(std::fs::symlink_metadata(dir.path().join(link)).unwrap().is_symlink(), "{link}");
    }
}
