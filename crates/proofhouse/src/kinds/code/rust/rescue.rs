//! Tasks whose tests look at more than values: at a capacity, at an address, at what is behind a boxed error. Their own solution
//! passes beside them and fails over the border, and so would every right answer. Whether a task is such a one is asked of its
//! solution alone, and only once somebody fails it: a completion cannot choose the weaker way.

use super::assemble::Assembled;
use super::compile::Compiler;
use super::judge::{Alone, before_compiling, begun};
use super::prepared::{Prepared, Way};
use super::screen::screen;
use super::{Clippy, Rust, one_process};
use crate::kinds::code::verdict::{Border, ErrorType, Judged};

/// Whether the border could be behind a verdict. Time is not: what runs out of it is tried again.
pub(super) fn concerns(judged: &Judged) -> bool {
    let failures =
        [ErrorType::AssertionFailure, ErrorType::RuntimeError, ErrorType::MemoryLimit, ErrorType::Tampered];
    judged.border == Some(Border::Separate) && judged.error_type.is_some_and(|each| failures.contains(&each))
}

/// The same means without the linter: what it says of a task's own solution matters to nobody.
pub(super) fn without_linter(rust: &Rust) -> Rust {
    Rust { clippy: Clippy::Off, ..rust.clone() }
}

/// Whether a task's tests can only be passed beside them, found out once.
pub(super) fn needs_one_process(compiler: &Compiler<'_>, task: &Prepared) -> bool {
    let Some(solution) = &task.solution else { return false };
    *task.beside_only.get_or_init(|| {
        let rust = without_linter(compiler.rust);
        let compiler = Compiler { rust: &rust, ..*compiler };
        passes_only_beside(&compiler, task, solution)
    })
}

fn passes_only_beside(compiler: &Compiler<'_>, task: &Prepared, solution: &Assembled) -> bool {
    let screened = screen(&task.frame, solution);
    if before_compiling(compiler.rust, task).is_some() {
        return false;
    }
    let Way::Border(signature) = task.way(solution) else { return false };
    let alone = Alone { compiler: *compiler, task, assembled: solution, screened: &screened };
    let new = || begun(solution, &screened);
    // Twice, so that a test that draws lots decides nothing.
    let fails = || concerns(&alone.across(new(), &signature));
    fails() && fails() && one_process::judge(&alone, new()).passed()
}
