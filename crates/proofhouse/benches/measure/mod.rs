//! What a process costs, measured from outside: wall, CPU, peak memory.

use std::path::Path;
use std::process::Command;

/// Starts a program and prints wall seconds, CPU seconds, peak RSS in KiB and the exit code.
const MEASURE: &str = "import os, sys, time
start = time.perf_counter()
null = os.open(os.devnull, os.O_WRONLY)
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
_, status, usage = os.wait4(pid, 0)
print(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status))";

/// What a process cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
    pub(crate) rss_mb: f64,
}

/// Runs `proofhouse` with words separated by spaces.
pub(crate) fn proofhouse(root: &Path, arguments: &str) -> Cost {
    let mut words = vec![env!("CARGO_BIN_EXE_proofhouse")];
    words.extend(arguments.split_whitespace());
    cost(root, &words)
}

/// Runs any program.
pub(crate) fn cost(root: &Path, words: &[&str]) -> Cost {
    #[expect(clippy::disallowed_methods, reason = "a bench starts what it measures")]
    let output = Command::new("python3").arg("-c").arg(MEASURE).args(words).current_dir(root).output();
    let output = output.expect("python3 measures processes");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [wall, cpu, rss, code] = numbers[..] else {
        panic!("{words:?}: {text}{}", String::from_utf8_lossy(&output.stderr))
    };
    assert_eq!(code, 0.0, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Cost { wall, cpu, rss_mb: rss * 1024.0 / 1e6 }
}

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
