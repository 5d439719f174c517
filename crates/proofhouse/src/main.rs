//! The `proofhouse` program: everything is in the library.

fn main() -> std::process::ExitCode {
    // The sandbox starts this program a second time as its small helper; then nothing below is wanted.
    proofhouse_sandbox::trampoline_main_if_asked();
    proofhouse_sandbox::give_memory_back();
    proofhouse::cli::main()
}
