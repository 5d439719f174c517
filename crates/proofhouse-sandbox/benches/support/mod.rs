//! What the benchmarks share: opening a sandbox, and a table of interleaved timings.

use std::path::PathBuf;

use proofhouse_sandbox::{Helper, Options, Request, Sandbox, Tier};

/// A sandbox of this tier.
pub(crate) fn open(tier: Tier, cgroup: bool) -> Sandbox {
    let mut options = Options::new(std::env::temp_dir());
    options.helper = Helper::At(PathBuf::from(env!("CARGO_BIN_EXE_proofhouse-box")));
    options.request = Request::exactly(tier);
    options.cgroup = cgroup;
    Sandbox::open(options).expect("this machine has the tier")
}

/// Milliseconds since some moment.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn timed_ms(run: impl FnOnce()) -> f64 {
    let start = std::time::Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1000.0
}

/// The value below which this share of the sorted values lies.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = ((values.len().saturating_sub(1)) as f64 * share).round() as usize;
    values.get(index).copied().unwrap_or(f64::NAN)
}

/// Timings of several ways of doing one thing; the first is what the others are compared with.
#[allow(dead_code, reason = "not every benchmark compares")]
pub(crate) struct Rows(Vec<(&'static str, Vec<f64>)>);

#[allow(dead_code, reason = "not every benchmark compares")]
impl Rows {
    pub(crate) fn new(names: &[&'static str]) -> Rows {
        Rows(names.iter().map(|name| (*name, Vec::new())).collect())
    }

    pub(crate) fn time(&mut self, row: usize, run: impl FnOnce()) {
        self.0[row].1.push(timed_ms(run));
    }

    pub(crate) fn add(&mut self, row: usize, value: f64) {
        self.0[row].1.push(value);
    }

    /// Minimum, median and their distance from the first row.
    #[expect(clippy::print_stdout, reason = "a benchmark prints")]
    pub(crate) fn print(mut self) {
        let first = &mut self.0[0].1;
        let base = [quantile(first, 0.0), quantile(first, 0.5)];
        println!("{:<24} {:>9} {:>9} {:>11} {:>11}", "", "min ms", "median", "min over", "median over");
        for (name, values) in &mut self.0 {
            if values.is_empty() {
                println!("{name:<24} not installed");
                continue;
            }
            let (min, median) = (quantile(values, 0.0), quantile(values, 0.5));
            println!(
                "{name:<24} {min:>9.2} {median:>9.2} {:>+11.2} {:>+11.2}",
                min - base[0],
                median - base[1]
            );
        }
    }
}
