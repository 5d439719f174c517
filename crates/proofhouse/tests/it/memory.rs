//! Plan, run, report and verify stream: what they hold in memory does not grow with the number of trials.

use crate::lab::Lab;

/// Starts a program and prints its peak of resident memory in KiB.
const PEAK: &str = "import os, sys
null = os.open(os.devnull, os.O_WRONLY)
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
_, status, usage = os.wait4(pid, 0)
assert status == 0, status
print(usage.ru_maxrss)";

fn peak_kib(lab: &Lab, args: &str) -> i64 {
    #[expect(clippy::disallowed_methods, reason = "only a parent is told how much its child used")]
    let mut python = std::process::Command::new("python3");
    python.args(["-c", PEAK, env!("CARGO_BIN_EXE_proofhouse")]).args(args.split_whitespace());
    let output = python.current_dir(lab.path("")).output().unwrap();
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn thirty_thousand_cases_take_no_more_memory_than_two_thousand() {
    let commands = ["run busy.yaml --run-dir run --quiet --overwrite", "report run --quiet", "verify run"];
    let lab = Lab::new();
    let [few, many] = [2_000, 30_000].map(|cases| {
        lab.busy_suite(cases, 0);
        commands.map(|command| peak_kib(&lab, command))
    });
    for ((command, few), many) in commands.iter().zip(few).zip(many) {
        // Sixteen bytes for each verdict are kept for the comparison of targets; a block of lines is a megabyte.
        assert!(many - few < 8 << 10, "`{command}`: {few} KiB, then {many} KiB");
    }
}
