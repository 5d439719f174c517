//! The sandbox by itself, for this crate's tests and benches and for trying it out: `doctor`, `attack`, `control`, `orphans`, `hold`.
//! Without a word it is only the helper.

#[cfg(target_os = "linux")]
#[path = "proofhouse-box/honest.rs"]
mod honest;

use std::process::ExitCode;

fn main() -> ExitCode {
    proofhouse_sandbox::trampoline_main_if_asked();
    #[cfg(target_os = "linux")]
    {
        stage::main()
    }
    #[cfg(not(target_os = "linux"))]
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "a program for tests, whose standard output is what they read")]
mod stage {
    use std::io::Write;
    use std::process::ExitCode;

    use proofhouse_sandbox::attacks::{self, AttackResult};
    use proofhouse_sandbox::recipes::Toolchain;
    use proofhouse_sandbox::{Arg, Options, Request, Sandbox, Spec, Tier};

    pub(crate) fn main() -> ExitCode {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["doctor", rest @ ..] => doctor(rest),
            ["attack", tier] => attack(tier),
            ["attack", tier, name] => show(&attacks::run_attack(&open("limited"), parse(tier), name)),
            ["control"] => show(&attacks::run_controls(&open("limited"))),
            ["compile-attack", tier, rustc] => {
                show(&attacks::run_compile_attacks(&open("limited"), parse(tier), &toolchain(rustc)))
            }
            ["compile-control", rustc] => {
                show(&attacks::run_compile_controls(&open("limited"), &toolchain(rustc)))
            }
            ["hold", tier, name] => hold(tier, name),
            ["scope"] => scope(),
            ["brief", tier] => brief(tier),
            ["borrow", tier, runs] => {
                let runs = runs.parse().expect("a number of runs");
                for (status, count) in attacks::count_borrowing(&open("limited"), parse(tier), runs) {
                    println!("{status}\t{count}");
                }
            }
            ["honest", tier, runs] => {
                for (end, count) in crate::honest::near(&open(tier), runs.parse().expect("a number of runs"))
                {
                    println!("{end}\t{count}");
                }
            }
            ["again", tier, runs] => {
                let lines = crate::honest::again(&open(tier), runs.parse().expect("a number of runs"));
                for (name, ends) in lines {
                    println!("{name}\t{ends:?}");
                }
            }
            ["orphans", tier, runs] => {
                let runs = runs.parse().expect("a number of runs");
                let left = attacks::count_orphans(&open("limited"), parse(tier), runs).expect("an arena");
                println!("left\t{left}");
            }
            _ => return ExitCode::from(2),
        }
        ExitCode::SUCCESS
    }

    /// `strong+cgroup` counts memory with a cgroup, where there is one.
    fn attack(tier: &str) {
        let plain = tier.trim_end_matches("+cgroup");
        let mut options = options("limited");
        options.cgroup = plain != tier;
        let sandbox = Sandbox::open(options).expect("a sandbox");
        println!("label\t{}", sandbox.probe().label(parse(plain)));
        show(&attacks::run_attacks(&sandbox, parse(plain)));
    }

    fn parse(tier: &str) -> Tier {
        Tier::parse(tier).expect("a tier")
    }

    fn options(tier: &str) -> Options {
        let mut options = Options::new(std::env::temp_dir());
        options.cgroup = false;
        options.request = match tier.strip_prefix("require-") {
            Some(least) => Request::require(Tier::parse(least)),
            None => Request { sandbox: Tier::parse(tier), require: None },
        };
        options
    }

    fn open(tier: &str) -> Sandbox {
        Sandbox::open(options(tier)).expect("a sandbox of that tier")
    }

    fn toolchain(rustc: &str) -> Toolchain {
        Toolchain::rust(rustc.as_ref()).expect("a toolchain")
    }

    /// The probe, then the tier that each request gets, or the refusal.
    fn doctor(requests: &[&str]) {
        for (name, value) in Sandbox::examine(options("auto")).expect("a helper").rows() {
            println!("{name}\t{value}");
        }
        for request in requests {
            match Sandbox::open(options(request)) {
                Ok(sandbox) => println!("request {request}\t{}", sandbox.tier()),
                Err(error) => {
                    println!("request {request}\trefused: {}", error.to_string().replace('\n', " "))
                }
            }
        }
    }

    fn show(results: &[AttackResult]) {
        for result in results {
            let effect = result.effect.as_deref().unwrap_or("held").replace(['\n', '\t'], " ");
            println!("{} ({})\t{effect}", result.name, result.spec);
        }
    }

    /// How much CPU time an honest script is said to have used whose brief children are all waited for.
    fn brief(tier: &str) {
        const SCRIPT: &str = "for i in $(seq 150); do /bin/sh -c 'j=0; while [ $j -lt 1500 ]; do j=$((j+1)); done'; done; times";
        let spec = Spec::new(["/bin/sh", "-c", SCRIPT])
            .binds(proofhouse_sandbox::recipes::programs())
            .env("PATH", Arg::text("/usr/bin:/bin"));
        let outcome = open(tier).run(&spec);
        println!("status\t{:?}", outcome.status);
        println!("counted\t{}", outcome.usage.cpu_ms);
        // Minutes and seconds, in user and system mode, of the shell and of its children.
        let of_one = |word: &str| {
            let (minutes, seconds) = word.trim_end_matches('s').split_once('m')?;
            Some((minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?) * 1e3)
        };
        let text = outcome.stdout.text();
        println!("used\t{:.0}", text.split_whitespace().filter_map(of_one).sum::<f64>());
    }

    /// Where boxes are counted, and where again when the helper was killed and another had to take its place.
    fn scope() {
        let mut options = options("strong");
        options.cgroup = true;
        let sandbox = Sandbox::open(options).expect("a sandbox");
        let probe = sandbox.probe();
        println!("label\t{}", probe.label(sandbox.tier()));
        let by_scope = probe
            .mechanisms
            .iter()
            .any(|each| each.name.starts_with("cgroup with CPU") && each.result.is_ok());
        println!("counts CPU time alone\t{by_scope}");
        show(&attacks::run_attack(&sandbox, sandbox.tier(), "time-ignored-children"));
        let read = |path: String| std::fs::read_to_string(path).unwrap_or_default();
        for round in ["first", "second"] {
            let spec = Spec::new(["/bin/true"]).binds(proofhouse_sandbox::recipes::programs());
            println!("{round} status\t{:?}", sandbox.run(&spec).status);
            let own = std::process::id();
            let helper = read(format!("/proc/{own}/task/{own}/children"));
            let helper = helper.split_whitespace().next().expect("a helper").to_owned();
            let group = read(format!("/proc/{helper}/cgroup"));
            let group =
                group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default().to_owned();
            println!("{round} group\t{group}");
            let helper =
                rustix::process::Pid::from_raw(helper.parse().expect("a number")).expect("a process");
            rustix::process::kill_process(helper, rustix::process::Signal::KILL).expect("our own helper");
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
    }

    /// Runs a box whose processes try to get away and which stays until this process is killed.
    fn hold(tier: &str, name: &str) {
        let sandbox = open(tier);
        let script = format!(
            "cp /bin/sleep ./{name}; (setsid ./{name} 60 >/dev/null 2>&1 &) ; (./{name} 60 &) ; exec ./{name} 60"
        );
        let mut spec = Spec::new(["/bin/sh", "-c", &script])
            .binds(proofhouse_sandbox::recipes::programs())
            .env("PATH", Arg::text("/usr/bin:/bin"));
        spec.limits.wall_ms = 60_000;
        println!("open");
        let _ = std::io::stdout().flush();
        println!("{:?}", sandbox.run(&spec).status);
    }
}
