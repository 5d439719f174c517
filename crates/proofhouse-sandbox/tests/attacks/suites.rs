//! The attack suite: `strong` lets nothing through, `confined` exactly what its list says, and every attack works where it is not stopped.

use std::collections::BTreeMap;

use crate::lab::{Stage, is_root};

/// What `confined` lets through without a cgroup. A gap that has vanished is as wrong here as a new one.
pub(crate) const GAPS: &[&str] = &[
    "artefact-fill",
    "artefact-inodes",
    "artefact-sparse",
    "disk-fill",
    "disk-unlinked",
    "inode-fill",
    "link-read-by-tool",
    "memory-sockets-handed",
    "stat-outside",
];

/// What a host that counts CPU time only by looking may let through besides, or see in time.
pub(crate) const UNCOUNTED: &[&str] =
    &["time-exec-children", "time-ignored-brief", "time-ignored-children", "time-unwaited-flag"];

type Rows = BTreeMap<String, String>;

/// Asserts that exactly these attacks had an effect, whatever box they were aimed at.
pub(crate) fn expect_effects(rows: &Rows, expected: &[&str], at_least: usize) {
    expect_about(rows, expected, &[], at_least);
}

/// The same with attacks that may have one or not.
pub(crate) fn expect_about(rows: &Rows, expected: &[&str], tolerated: &[&str], at_least: usize) {
    assert!(rows.len() >= at_least, "only {} attacks were run", rows.len());
    let broke: BTreeMap<&str, &str> = rows
        .iter()
        .filter(|(name, effect)| *name != "label" && *effect != "held")
        .map(|(name, effect)| (&**name, &**effect))
        .collect();
    let mut names: Vec<&str> = broke.keys().map(|name| name.split(" (").next().unwrap_or_default()).collect();
    names.dedup();
    names.retain(|name| !tolerated.contains(name));
    assert_eq!(names, expected, "{broke:#?}");
}

/// Asserts that every attack had an effect.
fn expect_all(rows: &Rows, at_least: usize) {
    assert!(rows.len() >= at_least, "only {} controls were run", rows.len());
    let idle: Vec<&str> =
        rows.iter().filter(|(_, effect)| *effect == "held").map(|(name, _)| &**name).collect();
    assert!(idle.is_empty(), "attacks that prove nothing: {idle:?}");
    let failed: Vec<_> = rows.iter().filter(|(_, effect)| effect.contains("the box failed")).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A test that only root can make is no test for anybody else; the same attacks run as the user in the other tests.
macro_rules! root_only {
    () => {
        if !is_root() {
            return;
        }
    };
}

#[test]
fn strong_holds_everything_as_root() {
    root_only!();
    expect_effects(&Stage::new().run(&["attack", "strong"]), &[], 480);
}

#[test]
fn strong_holds_everything_as_user() {
    expect_effects(&Stage::new().user().run(&["attack", "strong"]), &[], 480);
}

#[test]
fn strong_with_a_cgroup_holds_everything() {
    let rows = Stage::new().run(&["attack", "strong+cgroup"]);
    if rows["label"] == "strong+cgroup" {
        expect_effects(&rows, &[], 480);
    }
}

#[test]
fn confined_has_exactly_its_gaps_as_root() {
    root_only!();
    expect_effects(&Stage::new().run(&["attack", "confined"]), GAPS, 480);
}

#[test]
fn confined_has_exactly_its_gaps_as_user() {
    expect_effects(&Stage::new().user().run(&["attack", "confined"]), GAPS, 480);
}

#[test]
fn every_attack_works_without_its_guard_as_root() {
    root_only!();
    expect_all(&Stage::new().run(&["control"]), 230);
}

#[test]
fn every_attack_works_without_its_guard_as_user() {
    expect_all(&Stage::new().user().run(&["control"]), 230);
}

#[test]
fn strong_holds_the_compiler_as_root() {
    root_only!();
    let stage = Stage::new().with_toolchain();
    let rustc = stage.rustc();
    expect_effects(&stage.run(&["compile-attack", "strong", &rustc]), &[], 12);
}

#[test]
fn strong_holds_the_compiler_as_user() {
    let stage = Stage::new().user().with_toolchain();
    let rustc = stage.rustc();
    expect_effects(&stage.run(&["compile-attack", "strong", &rustc]), &[], 12);
}

#[test]
fn confined_holds_the_compiler_as_root() {
    root_only!();
    let stage = Stage::new().with_toolchain();
    let rustc = stage.rustc();
    expect_effects(&stage.run(&["compile-attack", "confined", &rustc]), &[], 12);
}

#[test]
fn confined_holds_the_compiler_as_user() {
    let stage = Stage::new().user().with_toolchain();
    let rustc = stage.rustc();
    expect_effects(&stage.run(&["compile-attack", "confined", &rustc]), &[], 12);
}

#[test]
fn every_compile_attack_works_without_its_guard() {
    let stage = Stage::new().with_toolchain();
    let rustc = stage.rustc();
    expect_all(&stage.run(&["compile-control", &rustc]), 12);
}
