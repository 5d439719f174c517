//! The helper as a program of its own, for this crate's tests and benches.

fn main() {
    proofhouse_sandbox::trampoline_main_if_asked();
}
