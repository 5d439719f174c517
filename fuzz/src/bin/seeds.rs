//! Writes the corpora that fuzzers begin from.

fn main() -> std::io::Result<()> {
    proofhouse_fuzz::seed("corpus".into())
}
