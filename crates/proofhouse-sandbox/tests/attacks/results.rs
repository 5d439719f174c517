//! Results: what the payload planted is never followed, and a good file goes from box to box without passing through here.

use proofhouse_sandbox::recipes::programs;
use proofhouse_sandbox::{Arg, Calls, NotTaken, Spec, Status, Tier};

use crate::lab::lab;

fn shell(script: &str) -> Spec {
    Spec::new(["/bin/sh", "-c", script]).binds(programs()).env("PATH", Arg::text("/usr/bin:/bin"))
}

#[test]
fn planted_results_are_refused_for_what_they_are() {
    let plant = "echo good > good; ln -s /etc/passwd link; ln -s / dir; mkfifo fifo; echo x > a; ln a hard; \
                 truncate -s 50M giant; mkdir folder; ln -s good near";
    let expected = [
        ("good", None),
        ("link", Some(NotTaken::Link)),
        ("dir/etc/passwd", Some(NotTaken::Link)),
        ("fifo", Some(NotTaken::NotRegular)),
        ("hard", Some(NotTaken::HardLinked)),
        ("giant", Some(NotTaken::TooLarge)),
        ("folder", Some(NotTaken::NotRegular)),
        ("near", Some(NotTaken::Link)),
        ("absent", Some(NotTaken::Missing)),
        ("../../etc/passwd", Some(NotTaken::Link)),
        ("/etc/passwd", Some(NotTaken::Link)),
    ];
    for tier in [Tier::Strong, Tier::Confined, Tier::Limited] {
        let spec = expected.iter().fold(shell(plant), |spec, (path, _)| spec.collect(path, 1 << 20));
        let outcome = lab(tier).run(&spec);
        assert_eq!(outcome.status, Status::Ok, "{}", outcome.stderr.text());
        let found: Vec<_> =
            outcome.collected.iter().map(|each| (&*each.path, each.result.as_ref().err().copied())).collect();
        assert_eq!(found, expected, "{tier}");
        assert_eq!(outcome.collected[0].result.as_ref().unwrap().read().unwrap(), b"good\n");
    }
}

#[test]
fn a_program_goes_from_one_box_to_many() {
    for tier in [Tier::Strong, Tier::Confined] {
        let lab = lab(tier);
        let made = lab.run(&shell("cp /bin/echo tool").collect("tool", 10 << 20));
        let tool = made.collected[0].result.as_ref().unwrap();
        for word in ["one", "two"] {
            let spec = Spec::new([Arg::work("sub/tool"), word.into()])
                .binds(programs())
                .program_from("sub/tool", tool.fd.clone());
            assert_eq!(lab.run(&spec).stdout.text(), format!("{word}\n"));
        }
    }
}

#[test]
fn a_shared_program_is_one_file_that_no_box_can_change() {
    for tier in [Tier::Strong, Tier::Confined] {
        let lab = lab(tier);
        let made = lab.run(&shell("cp /bin/sh tool").collect("tool", 10 << 20));
        let tool = lab.program(made.collected[0].result.as_ref().unwrap().clone());
        let attack = "echo x > \"$0\" || rm \"$0\" || chmod 644 \"$0\" || echo held";
        for _ in 0..2 {
            let spec = tool.run(["-c".into(), attack.into()]).binds(programs());
            let mut spec = spec.env("PATH", Arg::text("/usr/bin:/bin"));
            // The attacker here is a shell, which starts programs.
            (spec.calls, spec.exec) = (Calls::Compiler, true);
            let outcome = lab.run(&spec);
            assert_eq!(outcome.stdout.text(), "held\n", "{tier}: {}", outcome.stderr.text());
        }
        assert_eq!(entries(&lab), 1, "{tier}: the program is there once");
        drop(tool);
        assert_eq!(entries(&lab), 0, "{tier}");
    }
}

#[test]
fn without_a_place_to_share_it_every_box_gets_a_copy_of_a_program() {
    let lab = lab(Tier::Strong);
    std::fs::remove_dir(lab.dir.path()).unwrap();
    let made = lab.run(&shell("cp /bin/echo tool").collect("tool", 10 << 20));
    let tool = lab.program(made.collected[0].result.as_ref().unwrap().clone());
    for word in ["one", "two"] {
        let outcome = lab.run(&tool.run([word.into()]).binds(programs()));
        assert_eq!(outcome.stdout.text(), format!("{word}\n"));
    }
}

/// How many things are in the scratch directory.
fn entries(lab: &crate::lab::Lab) -> usize {
    #[expect(clippy::disallowed_methods, reason = "only their number is asked")]
    let entries = std::fs::read_dir(lab.dir.path()).unwrap().count();
    entries
}

#[test]
fn work_directories_are_gone_afterwards_whatever_was_done_to_them() {
    let nasty =
        "mkdir -p a/b/c; chmod 000 a; d=deep; for i in $(seq 300); do mkdir $d && cd $d; done; exit 0";
    for tier in [Tier::Confined, Tier::Limited] {
        let lab = lab(tier);
        assert_eq!(lab.run(&shell(nasty)).status, Status::Ok);
        assert_eq!(entries(&lab), 0, "{tier}");
    }
}
