//! The way that other systems run programs, tried on this one: time, output and process groups are held, nothing is isolated.

use proofhouse_sandbox::{Arg, NotTaken, Spec, Status, Tier};

use crate::lab::lab;

fn shell(script: &str) -> Spec {
    Spec::new(["/bin/sh", "-c", script]).env("PATH", Arg::text("/usr/bin:/bin"))
}

#[test]
fn the_portable_way_keeps_time_output_and_results() {
    let lab = lab(Tier::Limited);
    let spec = shell("cat; echo $0; cat given; ln -s /etc/passwd link; echo r > result")
        .stdin("in\n")
        .file("given", "file\n")
        .collect("result", 10)
        .collect("link", 10_000);
    let outcome = lab.run_portably(&spec);
    assert_eq!((outcome.status, outcome.stdout.text()), (Status::Ok, "in\n/bin/sh\nfile\n".to_owned()));
    assert_eq!(outcome.tier, Tier::Limited);
    assert_eq!(outcome.collected[0].result.as_ref().unwrap().read().unwrap(), b"r\n");
    assert_eq!(outcome.collected[1].result.as_ref().err(), Some(&NotTaken::Link));

    assert_eq!(lab.run_portably(&shell("exit 9")).status, Status::Exit(9));
    let endless = shell("sleep 30 & sleep 30").limits(|l| l.wall_ms = 50);
    assert_eq!(lab.run_portably(&endless).status, Status::WallLimit);
    let flood = lab.run_portably(&shell("yes").limits(|l| l.output_bytes = 1234));
    assert_eq!((flood.status, flood.stdout.length), (Status::OutputLimit, 1234));
    let file = shell("exec head -c 2000000 /dev/urandom > big").limits(|l| l.file_bytes = 1_000_000);
    assert_eq!(lab.run_portably(&file).status, Status::FileLimit);
    let cpu = shell("while :; do :; done").limits(|l| l.cpu_ms = 100);
    assert_eq!(lab.run_portably(&cpu).status, Status::CpuLimit);
}

#[test]
fn none_runs_a_program_as_it_is() {
    let outcome = lab(Tier::None).run(&shell("exit 4"));
    assert_eq!((outcome.status, outcome.tier), (Status::Exit(4), Tier::None));
}
