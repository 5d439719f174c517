//! The `proofhouse` program: everything is in the library.

fn main() -> std::process::ExitCode {
    proofhouse::cli::main()
}
