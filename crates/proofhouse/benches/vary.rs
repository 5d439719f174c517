//! Variants per second and core of every rule-based generator, beside the limit: copying the same bytes.
//!
//! `cargo bench -p proofhouse --bench vary`
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use proofhouse::family::vary::{Ask, GeneratorConfig, Maker, Variants};

/// Long enough to be typical, and every generator has something to do in it.
const BASE: &str = "Convert a list of names and emails into a simple dictionary keyed by id. \
                    Use clear and concise names for the common operations.";

/// How many variants one ask wants, as a suite would.
const COUNT: u32 = 10;

const ROUND: Duration = Duration::from_millis(300);
const ROUNDS: usize = 5;

const GENERATORS: &[&str] = &[
    r#"{"whitespace_noise": {}}"#,
    r#"{"punctuation_noise": {}}"#,
    r#"{"lexical_shuffle": {"max_swaps": 3}}"#,
    r#"{"synonym_substitution": {}}"#,
    r#"{"ambiguity_injection_light": {}}"#,
    r#"{"constraint_injection_light": {}}"#,
    r#"{"add_scope_detail": {"additions": ["Include subdomains.", "Handle duplicates."]}}"#,
    r#"{"add_constraints_tension": {"additions": ["Prefer clarity over cleverness."]}}"#,
    r#"{"add_ambiguity": {"additions": ["where appropriate", "in common cases"]}}"#,
    r#"{"add_multi_objective": {"additions": ["Keep public API small and clean."]}}"#,
];

fn main() {
    println!("base of {} bytes, {COUNT} variants an ask, best of {ROUNDS} rounds, one core\n", BASE.len());
    println!("{:<28} {:>14} {:>12} {:>10}", "generator", "variants/s", "copies/s", "of limit");
    for json in GENERATORS {
        let config: GeneratorConfig = serde_json::from_str(json).expect("the settings are right");
        let Maker::Rules(generator) = config.maker() else { continue };
        let mut seed = 0;
        let mut made = || {
            seed += 1;
            generator.variants(&Ask { base: BASE, count: COUNT, seed, case_id: "bench" })
        };
        let sample = made();
        let variants = best(|| black_box(made()).list.len());
        let copies = best(|| copy(&sample));
        println!("{:<28} {variants:>14.0} {copies:>12.0} {:>9.2}%", config.name(), 100.0 * variants / copies);
    }
}

/// The limit: the texts of one ask, copied into fresh memory.
fn copy(sample: &Variants) -> usize {
    let texts: Vec<String> = sample.list.iter().map(|variant| variant.text.clone()).collect();
    black_box(&texts).len()
}

/// The best rate of several rounds, because noise only ever slows down.
fn best(mut work: impl FnMut() -> usize) -> f64 {
    let round = |work: &mut dyn FnMut() -> usize| {
        let start = Instant::now();
        let mut done = 0;
        while start.elapsed() < ROUND {
            for _ in 0..16 {
                done += work();
            }
        }
        done as f64 / start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| round(&mut work)).fold(0.0, f64::max)
}
