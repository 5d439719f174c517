//! What a spec asks for is what the program gets, and no more.

use proofhouse_sandbox::recipes::programs;
use proofhouse_sandbox::{Arg, Bind, Cancel, Infra, Keep, Network, Proc, Spec, Status, Stdin, Tier, Work};

use crate::lab::{Lab, lab, lab_with, toolchain};

fn shell(script: &str) -> Spec {
    Spec::new(["/bin/sh", "-c", script]).binds(programs()).env("PATH", Arg::text("/usr/bin:/bin"))
}

fn each(check: impl Fn(&Lab)) {
    for tier in [Tier::Strong, Tier::Confined, Tier::Limited] {
        check(&lab(tier));
    }
}

#[test]
fn a_program_sees_its_input_environment_and_arguments_only() {
    each(|lab| {
        let spec = shell("cat; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort; pwd; echo \"$0\" >&2")
            .env("WHERE", Arg::work("x"))
            .stdin("from stdin\n");
        let outcome = lab.run(&spec);
        assert_eq!(outcome.status, Status::Ok, "{}", outcome.stderr.text());
        let text = outcome.stdout.text();
        let lines: Vec<&str> = text.lines().collect();
        let work = lines.last().unwrap();
        let expected = ["from stdin", "PATH=/usr/bin:/bin", &format!("WHERE={work}/x"), work];
        assert_eq!(lines, expected);
        if lab.tier() == Tier::Strong {
            assert_eq!(*work, "/work");
        }
    });
}

#[test]
fn an_argument_reaches_the_program_byte_for_byte() {
    each(|lab| {
        let odd = "a\n\t{work} ünï \u{202e}rtl 'q' \"d\" $HOME \\ \u{1}";
        let spec = Spec::new([
            Arg::text("/bin/sh"),
            "-c".into(),
            "printf %s \"$1\"".into(),
            "sh".into(),
            odd.into(),
        ])
        .binds(programs());
        assert_eq!(lab.run(&spec).stdout.head, odd.as_bytes());
    });
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    each(|lab| {
        assert_eq!(lab.run(&shell("exit 3")).status, Status::Exit(3));
        assert_eq!(lab.run(&shell("kill -ABRT $$")).status, Status::Signal(libc::SIGABRT));
        assert_eq!(lab.run(&shell("kill -KILL $$")).status, Status::Signal(libc::SIGKILL));
        // A program that only pretends to have used up its time is not believed.
        assert_eq!(lab.run(&shell("kill -XCPU $$")).status, Status::Signal(libc::SIGXCPU));
    });
}

#[test]
fn a_missing_program_is_no_verdict() {
    each(|lab| {
        let status = lab.run(&Spec::new(["/no/such/program"])).status;
        assert_eq!(
            status,
            Status::InfraError(Infra::Exec { program: "/no/such/program".into(), errno: libc::ENOENT })
        );
    });
}

#[test]
fn a_missing_bind_is_no_verdict() {
    let spec = Spec::new(["/bin/true"]).binds([proofhouse_sandbox::Bind::same("/no/such/place")]);
    for tier in [Tier::Strong, Tier::Confined] {
        let status = lab(tier).run(&spec).status;
        let Status::InfraError(Infra::Setup { step, .. }) = &status else { panic!("{status:?}") };
        assert!(step.contains("/no/such/place"), "{step}");
    }
}

#[test]
fn what_the_host_keeps_below_a_folder_called_work_is_there_beside_what_is_written() {
    let host = tempfile::tempdir().unwrap();
    std::fs::set_permissions(host.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(host.path().join("tool"), "there\n").unwrap();
    let spec = shell("cat /work/team/venv/tool; echo mine > own; cat own; touch /work/team/venv/new")
        .binds([Bind::new("venv", host.path(), "/work/team/venv")])
        .limits(|l| l.disk_inodes = 1);
    let outcome = lab(Tier::Strong).run(&spec);
    assert_eq!(outcome.stdout.text(), "there\nmine\n", "{}", outcome.stderr.text());
    assert_eq!(outcome.status, Status::Exit(1), "the host's folder stays read-only");
}

#[test]
fn the_output_cap_is_exact() {
    each(|lab| {
        let write = |bytes: u64| {
            shell(&format!("head -c {bytes} /dev/urandom; exit 0")).limits(|l| l.output_bytes = 5000)
        };
        let fits = lab.run(&write(5000));
        assert_eq!((fits.status, fits.stdout.length, fits.stdout.truncated), (Status::Ok, 5000, false));
        let over = lab.run(&write(5001));
        assert_eq!(
            (over.status, over.stdout.length, over.stdout.truncated),
            (Status::OutputLimit, 5000, true)
        );
        assert_eq!(over.stdout.head.len(), 5000);
    });
}

#[test]
fn a_long_output_is_kept_as_head_and_tail_with_its_true_length() {
    let mut spec = shell("seq 1 100000");
    spec.keep = Keep { head_bytes: 4, tail_bytes: 7 };
    let stream = lab(Tier::Strong).run(&spec).stdout;
    assert_eq!(
        (&stream.head[..], &stream.tail[..], stream.length),
        (&b"1\n2\n"[..], &b"100000\n"[..], 588_895)
    );
}

#[test]
fn each_limit_has_its_own_status() {
    for tier in [Tier::Strong, Tier::Confined] {
        let lab = lab(tier);
        let cpu = shell("while :; do :; done").limits(|l| l.cpu_ms = 100);
        assert_eq!(lab.run(&cpu).status, Status::CpuLimit);
        let wall = shell("sleep 20").limits(|l| l.wall_ms = 100);
        assert_eq!(lab.run(&wall).status, Status::WallLimit);
        let memory = shell("head -c 300000000 /dev/urandom | tail -c 300000000 > /dev/null")
            .limits(|l| l.memory_bytes = 50 << 20);
        assert_eq!(lab.run(&memory).status, Status::MemoryLimit);
        let file = shell("exec head -c 2000000 /dev/urandom > big").limits(|l| l.file_bytes = 1_000_000);
        assert_eq!(lab.run(&file).status, Status::FileLimit);
    }
}

/// Uses little CPU time, but always at the moment when the kernel looks whom to charge a whole clock tick, as a busy machine does
/// to any program by chance. Ends after so many milliseconds.
const TICK_CATCHER: &str = r#"
    use std::time::{Duration, Instant};
    #[repr(C)] struct Time { seconds: i64, nanos: i64 }
    unsafe extern "C" { fn clock_gettime(clock: i32, time: *mut Time) -> i32; }
    fn charged() -> Duration {
        let mut time = Time { seconds: 0, nanos: 0 };
        unsafe { clock_gettime(-8, &raw mut time) };
        Duration::new(time.seconds as u64, time.nanos as u32)
    }
    fn main() {
        let length = Duration::from_millis(std::env::args().nth(1).unwrap().parse().unwrap());
        let start = Instant::now();
        while start.elapsed() < length {
            let before = charged();
            while charged() - before < Duration::from_micros(500) {}
            std::thread::sleep(Duration::from_micros(3_400));
        }
    }
"#;

#[test]
fn clock_ticks_end_nobody_within_the_budget_and_have_a_name_beyond_it() {
    let lab = lab(Tier::Strong);
    let (source, program) = (lab.dir.path().join("ticks.rs"), lab.dir.path().join("ticks"));
    std::fs::write(&source, TICK_CATCHER).unwrap();
    let rustc = toolchain().sysroot.join("bin/rustc");
    #[expect(
        clippy::disallowed_methods,
        reason = "the program to be tried has to be built outside of the box"
    )]
    let built = std::process::Command::new(rustc)
        .args(["--edition=2024", "-O", "-o"])
        .args([&program, &source])
        .status();
    assert!(built.unwrap().success());
    let run = |length_ms: &str| {
        let spec = Spec::new([Arg::bind("ticks", ""), length_ms.into()])
            .binds(programs())
            .binds([Bind::new("ticks", &program, "/ticks")])
            .limits(|l| (l.cpu_ms, l.wall_ms) = (2_000, 60_000));
        lab.run(&spec)
    };
    std::thread::scope(|scope| {
        let brief = scope.spawn(|| run("4000"));
        let endless = run("50000");
        assert_eq!(endless.status, Status::CpuLimit, "{:?}", endless.usage);
        // Whoever is ended has really used the budget up, which on a busy machine the catcher may.
        let brief = brief.join().unwrap();
        let within = brief.usage.cpu_us < 2_000_000;
        assert!(brief.status == Status::Ok || !within, "{:?}, {:?}", brief.status, brief.usage);
    });
}

#[test]
fn a_cgroup_ends_a_box_that_takes_too_much() {
    let lab = lab_with(Tier::Strong, true);
    if !lab.probe().label(Tier::Strong).ends_with("+cgroup") {
        return;
    }
    let spec =
        shell("head -c 300000000 /dev/urandom | tail -c 300000000").limits(|l| l.memory_bytes = 50 << 20);
    // Whichever process the kernel chooses to kill, the box's own init included.
    for _ in 0..20 {
        let outcome = lab.run(&spec);
        assert_eq!(outcome.status, Status::MemoryLimit);
        assert!(outcome.usage.peak_memory_bytes <= (50 << 20) * 102 / 100, "{:?}", outcome.usage);
    }
    assert_eq!(lab.run(&shell("exit 0")).status, Status::Ok);
}

#[test]
fn a_sandbox_outlives_another_of_the_same_process() {
    let stays = lab_with(Tier::Strong, true);
    drop(lab_with(Tier::Strong, true));
    assert_eq!(stays.run(&shell("exit 0")).status, Status::Ok);
}

#[test]
fn a_run_can_be_called_off() {
    each(|lab| {
        let cancel = Cancel::new().unwrap();
        cancel.cancel();
        let status = lab.run_until(&shell("sleep 20"), &cancel).status;
        assert_eq!(status, Status::InfraError(Infra::Cancelled));
    });
}

#[test]
fn a_host_directory_takes_what_a_tool_writes() {
    each(|lab| {
        let work = lab.dir.path().join(format!("tool-{}", lab.tier()));
        std::fs::create_dir(&work).unwrap();
        std::fs::write(work.join("given"), "template").unwrap();
        let mut spec = shell("cat given; mkdir sub; echo made > sub/new; echo more >> given");
        spec.work = Work::Host(work.clone());
        let outcome = lab.run(&spec);
        assert_eq!(
            (outcome.status, outcome.stdout.text()),
            (Status::Ok, "template".to_owned()),
            "{}",
            outcome.stderr.text()
        );
        assert_eq!(std::fs::read_to_string(work.join("sub/new")).unwrap(), "made\n");
        assert_eq!(std::fs::read_to_string(work.join("given")).unwrap(), "templatemore\n");
    });
}

#[test]
fn the_network_is_reached_only_by_grant() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    for tier in [Tier::Strong, Tier::Confined] {
        let lab = lab(tier);
        let mut spec = Spec::new(["/bin/bash", "-c", &script]).binds(programs());
        assert_eq!(lab.run(&spec).status, Status::Exit(1));
        assert!(listener.accept().is_err());
        spec.network = Network::Host;
        assert_eq!(lab.run(&spec).status, Status::Ok);
        assert!(listener.accept().is_ok());
    }
}

#[test]
fn proc_is_the_boxes_own_and_only_where_asked_for() {
    let lab = lab(Tier::Strong);
    let mut spec = shell("ls /proc 2>/dev/null | grep -c '^[0-9]'; ls /proc/sys 2>/dev/null");
    assert_eq!(lab.run(&spec).stdout.text(), "0\n");
    spec.proc = Proc::Own;
    let seen: u32 = lab.run(&spec).stdout.text().trim().parse().unwrap();
    assert!((2..=5).contains(&seen), "{seen}");
}

#[test]
fn many_threads_share_one_sandbox() {
    let lab = lab(Tier::Strong);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let lab = &lab;
            scope.spawn(move || {
                for run in 0..10 {
                    let mut spec = shell("cat");
                    spec.stdin = Stdin::Bytes(format!("{thread}-{run}").into_bytes());
                    assert_eq!(lab.run(&spec).stdout.text(), format!("{thread}-{run}"));
                }
            });
        }
    });
}

#[test]
fn usage_is_measured_over_the_whole_tree() {
    let spec = shell("for i in 1 2 3; do (i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done) & done; wait");
    let usage = lab(Tier::Strong).run(&spec).usage;
    assert!(usage.cpu_us > 10_000 && usage.max_rss_bytes > 500_000, "{usage:?}");
}

#[test]
fn a_helper_that_was_killed_is_replaced() {
    let lab = lab(Tier::Strong);
    let children = || -> Vec<i32> {
        let text = std::fs::read_to_string("/proc/thread-self/children").unwrap();
        text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    };
    let before = children();
    assert_eq!(before.len(), 1, "the helper is the only child");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(before[0]).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    // The run that finds the helper gone may be lost, but never judged; the next one has a new helper.
    let first = lab.run(&shell("exit 5")).status;
    assert!(matches!(first, Status::Exit(5) | Status::InfraError(Infra::NoReport)), "{first:?}");
    assert_eq!(lab.run(&shell("exit 5")).status, Status::Exit(5));
    assert_ne!(children(), before);
}

#[test]
fn a_sandbox_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<proofhouse_sandbox::Sandbox>();
}
