//! The attack suite: `strong` lets nothing through, `confined` exactly what its list says, and every attack works where it is not stopped.

use std::collections::BTreeMap;

use crate::lab::{Stage, is_root};

/// What `confined` lets through when the caller is root. A gap that has vanished is as wrong here as a new one.
pub(crate) const GAPS_AS_ROOT: &[&str] = &["disk-fill", "inode-fill", "stat-outside"];

/// The same for an unprivileged user, whose own files the box's user can change the mode of when it is given a host directory.
pub(crate) const GAPS_AS_USER: &[&str] = &["chmod-by-tool", "disk-fill", "inode-fill", "stat-outside"];

type Rows = BTreeMap<String, String>;

/// Asserts that exactly these attacks had an effect.
pub(crate) fn expect_effects(rows: &Rows, expected: &[&str], at_least: usize) {
    assert!(rows.len() >= at_least, "only {} attacks were run", rows.len());
    let broke: BTreeMap<&str, &str> = rows
        .iter()
        .filter(|(name, effect)| *name != "label" && *effect != "held")
        .map(|(name, effect)| (&**name, &**effect))
        .collect();
    let names: Vec<&str> = broke.keys().copied().collect();
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
    expect_effects(&Stage::new().run(&["attack", "strong"]), &[], 60);
}

#[test]
fn strong_holds_everything_as_user() {
    expect_effects(&Stage::new().user().run(&["attack", "strong"]), &[], 60);
}

#[test]
fn strong_with_a_cgroup_holds_everything() {
    let rows = Stage::new().run(&["attack", "strong+cgroup"]);
    if rows["label"] == "strong+cgroup" {
        expect_effects(&rows, &[], 60);
    }
}

#[test]
fn confined_has_exactly_its_gaps_as_root() {
    root_only!();
    expect_effects(&Stage::new().run(&["attack", "confined"]), GAPS_AS_ROOT, 60);
}

#[test]
fn confined_has_exactly_its_gaps_as_user() {
    expect_effects(&Stage::new().user().run(&["attack", "confined"]), GAPS_AS_USER, 60);
}

#[test]
fn every_attack_works_without_its_guard_as_root() {
    root_only!();
    expect_all(&Stage::new().run(&["control"]), 60);
}

#[test]
fn every_attack_works_without_its_guard_as_user() {
    expect_all(&Stage::new().user().run(&["control"]), 60);
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
