//! Hosts that forbid things: the tier goes down by one, the reason and the fix are printed, and below `confined` nothing runs.

use std::collections::BTreeMap;

use crate::lab::{Stage, is_root};
use crate::suites::{GAPS, UNCOUNTED, expect_about, expect_effects};

const REQUESTS: [&str; 6] = ["doctor", "auto", "strong", "require-strong", "require-confined", "limited"];

fn expect(rows: &BTreeMap<String, String>, name: &str, parts: &[&str]) {
    let value = rows.get(name).unwrap_or_else(|| panic!("no row `{name}` in {rows:#?}"));
    for part in parts {
        assert!(value.contains(part), "`{part}` is not in `{name}`: {value}");
    }
}

#[test]
fn a_friendly_host_gives_strong() {
    let rows = Stage::new().user().run(&REQUESTS);
    expect(&rows, "tier strong", &["held"]);
    expect(&rows, "request auto", &["strong"]);
    expect(&rows, "request require-strong", &["strong"]);
    expect(&rows, "request limited", &["limited"]);
}

#[test]
fn dockers_profile_gives_confined_and_says_why() {
    for stage in [Stage::new().docker(), Stage::new().user().docker()] {
        let rows = stage.run(&REQUESTS);
        expect(&rows, "user namespace", &["EPERM"]);
        expect(&rows, "tier strong", &["make namespaces", "hint:", "seccomp=unconfined"]);
        expect(&rows, "request auto", &["confined"]);
        expect(&rows, "request require-confined", &["confined"]);
        expect(&rows, "request strong", &["refused", "`strong` is not to be had", "EPERM", "hint:"]);
        expect(
            &rows,
            "request require-strong",
            &["refused", "`--require-sandbox=strong` is not met", "hint:"],
        );
    }
}

#[test]
fn exhausted_user_namespaces_give_confined_and_say_why() {
    for stage in [Stage::new().exhausted(), Stage::new().user().exhausted()] {
        let rows = stage.run(&REQUESTS);
        expect(&rows, "user namespace", &["ENOSPC"]);
        expect(&rows, "tier strong", &["make namespaces: ENOSPC", "user.max_user_namespaces"]);
        expect(&rows, "request auto", &["confined"]);
        expect(&rows, "request strong", &["refused", "ENOSPC", "hint:"]);
    }
}

#[test]
fn below_confined_nothing_runs_unless_it_is_asked_for() {
    let rows = Stage::new().user().bare_kernel().run(&REQUESTS);
    expect(&rows, "tier confined", &["Landlock", "hint:"]);
    expect(&rows, "request auto", &["refused", "at least `confined`", "Landlock", "`--sandbox limited`"]);
    expect(&rows, "request require-confined", &["refused", "`--require-sandbox=confined` is not met"]);
    expect(&rows, "request limited", &["limited"]);
}

#[test]
fn a_hint_names_the_mechanism_that_was_measured_to_be_missing() {
    for (call, mechanism, hint) in [
        (libc::SYS_pidfd_open, "pidfd", "allow `pidfd_open`"),
        (libc::SYS_seccomp, "seccomp filter", "allow `seccomp`"),
        (libc::SYS_landlock_create_ruleset, "landlock", "Landlock enabled"),
    ] {
        let rows = Stage::new().user().without(call).run(&["doctor", "auto"]);
        expect(&rows, mechanism, &["ENOSYS"]);
        expect(&rows, "tier confined", &["hint:", hint]);
    }
}

#[test]
fn what_is_only_looked_at_is_said() {
    let rows = Stage::new().user().docker().run(&["doctor", "auto"]);
    expect(&rows, "inherited task clock", &["EPERM"]);
    let said: Vec<&String> =
        rows.iter().filter(|(name, _)| name.starts_with("gap")).map(|(_, text)| text).collect();
    assert!(
        said.iter().any(|text| text.contains("memory is not held")) || rows["memory"].contains("cgroup"),
        "{said:?}"
    );
}

#[test]
fn confined_holds_the_same_under_dockers_profile() {
    if is_root() {
        expect_about(&Stage::new().docker().run(&["attack", "confined"]), GAPS, UNCOUNTED, 480);
    }
    expect_about(&Stage::new().user().docker().run(&["attack", "confined"]), GAPS, UNCOUNTED, 480);
}

#[test]
fn confined_holds_the_same_without_user_namespaces() {
    expect_effects(&Stage::new().user().exhausted().run(&["attack", "confined"]), GAPS, 480);
}

#[test]
fn the_compiler_works_under_dockers_profile() {
    let stage = Stage::new().user().docker().with_toolchain();
    let rustc = stage.rustc();
    expect_effects(&stage.run(&["compile-attack", "confined", &rustc]), &[], 12);
}
