//! Many completions in one crate: one compilation, then one boxed run for each. A member that is in any doubt gets no
//! verdict here and is judged alone, so that what is said of it never depends on its neighbours.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_sandbox::{Program, Status};

use super::assemble::{Assembled, Reading, assemble};
use super::checks::LIST;
use super::diagnostics::{self, Told};
use super::frame::Frame;
use super::judge::Run;
use super::screen::screen;
use super::shared::Signature;
use super::{Clippy, Rust, program};
use crate::code::bench::Bench;
use crate::code::problem::Problem;
use crate::code::verdict::{ErrorType, Judged};

/// How often a crate is compiled again without the members that an error named.
const MAX_ROUNDS: usize = 4;

/// One member of a crate.
struct Member<'a> {
    /// Its place among the items that were given.
    at: usize,
    frame: &'a Frame,
    assembled: Assembled,
}

/// Judges what can be judged together; `None` for the rest.
pub(super) fn judge(rust: &Rust, bench: &Bench, items: &[(&Problem, &str)]) -> Vec<Option<Judged>> {
    let mut verdicts: Vec<Option<Judged>> = items.iter().map(|_| None).collect();
    let mut frames = BTreeMap::new();
    for (problem, _) in items {
        frames.entry(problem.task_id.as_str()).or_insert_with(|| Frame::of(problem, &rust.names));
    }
    let linted = rust.toolchain.as_ref().is_ok_and(|toolchain| toolchain.has_clippy());
    if rust.unsound(bench).is_some() || (rust.clippy == Clippy::Required && !linted) {
        return verdicts;
    }
    let mut members: Vec<Member<'_>> = Vec::new();
    for (at, (problem, completion)) in items.iter().enumerate() {
        let frame = &frames[problem.task_id.as_str()];
        members.extend(eligible(frame, completion).map(|assembled| Member { at, frame, assembled }));
    }
    let mut alone = BTreeSet::new();
    let mut share = true;
    for _ in 0..MAX_ROUNDS {
        members.retain(|member| !alone.contains(&member.at));
        if members.len() < 2 {
            break;
        }
        match compile(rust, bench, &members, share) {
            Compiled::Program(program, told) => {
                test(rust, bench, &members, &program, &told, &mut verdicts);
                break;
            }
            Compiled::Named(named) if !named.is_empty() => alone.extend(named),
            // Shared tests may need what a completion imports: then each gets its own.
            Compiled::Named(_) | Compiled::Unclear if share => share = false,
            Compiled::Named(_) | Compiled::Unclear => break,
        }
    }
    verdicts
}

/// A completion that cannot reach or notice its neighbours.
fn eligible(frame: &Frame, completion: &str) -> Option<Assembled> {
    let assembled = assemble(frame, completion)?;
    let screened = screen(frame, &assembled);
    let plain = screened.tampered.is_none()
        && !screened.unreadable
        && !screened.at_root
        && !screened.has_unsafe
        && !screened.notices_its_place
        && screened.missing_crates.is_empty()
        && assembled.reading != Reading::AsIs
        && !frame.checks.names.is_empty();
    plain.then_some(assembled)
}

enum Compiled {
    Program(Program, Vec<Told>),
    /// These members, by their places, have errors of their own.
    Named(BTreeSet<usize>),
    Unclear,
}

fn compile(rust: &Rust, bench: &Bench, members: &[Member<'_>], share: bool) -> Compiled {
    let Ok(toolchain) = &rust.toolchain else { return Compiled::Unclear };
    let lints = rust.clippy != Clippy::Off && toolchain.has_clippy();
    let files = files(members, share);
    let run = Run { rust, toolchain, bench, files: &files, own: &|_| false };
    let mut outcome = run.drive(lints, true);
    let stderr = std::mem::take(&mut outcome.stderr.head);
    let found = outcome.collected.pop().and_then(|each| each.result.ok());
    match (&outcome.status, found) {
        (Status::Ok, Some(found)) => {
            let told = members
                .iter()
                .enumerate()
                .map(|(number, member)| {
                    diagnostics::read_member(&stderr, number, &|at| member.assembled.is_own(at))
                })
                .collect();
            Compiled::Program(bench.sandbox().program(found), told)
        }
        (Status::Exit(1), _) => match diagnostics::members_in_error(&stderr) {
            Some(numbers) if !numbers.is_empty() => {
                let place = |number: &usize| members.get(*number).map(|member| member.at);
                Compiled::Named(numbers.iter().filter_map(place).collect())
            }
            _ => Compiled::Unclear,
        },
        _ => Compiled::Unclear,
    }
}

/// The crate: a folder for each member, one for the tests that several of them share, and a root that runs the member
/// that it is told to.
fn files(members: &[Member<'_>], share: bool) -> Vec<(String, String)> {
    const LISTED: &str = "__proofhouse_guard::__proofhouse_tests";
    let mut root = String::new();
    let mut arms = String::new();
    let mut files = Vec::new();
    let mut shared: BTreeMap<*const Frame, (String, Signature)> = BTreeMap::new();
    for (number, member) in members.iter().enumerate() {
        let frame: *const Frame = member.frame;
        let of_task = || members.iter().filter(|other| std::ptr::eq(other.frame, member.frame)).count();
        if share
            && !shared.contains_key(&frame)
            && of_task() > 1
            && let Some(signature) = Signature::of(member.frame)
        {
            // Folders of members are numbered, and so is this one, so that its name is taken out of what is told.
            let name = format!("m{}", members.len() + shared.len());
            root.push_str(&format!(
                "#[allow(warnings, clippy::all)] #[path = \"{name}/shared.rs\"] mod {name};\n"
            ));
            files.push((format!("{name}/shared.rs"), signature.module(member.frame)));
            files.push((format!("{name}/guard.rs"), program::guard(member.frame)));
            files.push((format!("{name}/tests.rs"), program::tests(member.frame)));
            shared.insert(frame, (name, signature));
        }
        root.push_str(&format!("#[path = \"m{number}/candidate.rs\"] mod m{number};\n"));
        let fitting = |(_, signature): &&(String, Signature)| signature.fits(member.frame, &member.assembled);
        match shared.get(&frame).filter(fitting) {
            Some((name, signature)) => {
                arms.push_str(&format!(
                    "::core::option::Option::Some(\"{number}\") => {{ let _ = {name}::__PROOFHOUSE_ENTRY.set(m{number}::__PROOFHOUSE_ENTRY); \
                     __proofhouse_runner::run({name}::{LISTED}::{LIST}) }}\n"
                ));
                let candidate = format!("{}{}", member.assembled.source, signature.behind(name));
                files.push((format!("m{number}/candidate.rs"), candidate));
            }
            None => {
                arms.push_str(&format!(
                    "::core::option::Option::Some(\"{number}\") => {{ {} }}\n",
                    program::run(&format!("m{number}::"))
                ));
                let own = program::member_files(member.frame, &member.assembled);
                files.extend(own.map(|(name, text)| (format!("m{number}/{name}"), text)));
            }
        }
    }
    root.push_str(&format!(
        "{}fn main() {{ match ::std::env::args().nth(1).as_deref() {{\n\
         {arms}_ => ::std::process::exit(4) }} }}\n",
        program::RUNNER_ITEM
    ));
    files.insert(0, ("main.rs".to_owned(), root));
    files
}

fn test(
    rust: &Rust,
    bench: &Bench,
    members: &[Member<'_>],
    program: &Program,
    told: &[Told],
    verdicts: &mut [Option<Judged>],
) {
    let Ok(toolchain) = &rust.toolchain else { return };
    let lints = rust.clippy != Clippy::Off && toolchain.has_clippy();
    for ((number, member), told) in members.iter().enumerate().zip(told) {
        let mut judged = Judged {
            main_free: Some(member.assembled.main_free),
            compile_ok: Some(true),
            clippy_ok: lints.then_some(told.lints.is_empty()),
            ..Judged::default()
        };
        judged.diagnostics.lints = told.lints.clone();
        let run = Run { rust, toolchain, bench, files: &[], own: &|at| member.assembled.is_own(at) };
        let judged = if rust.clippy == Clippy::Required && judged.clippy_ok == Some(false) {
            super::judge::lint_failure(judged)
        } else {
            run.test(judged, &member.frame.checks.names, program.run([number.to_string().into()]))
        };
        let certain = match judged.error_type {
            None | Some(ErrorType::AssertionFailure | ErrorType::LintFailure) => true,
            Some(ErrorType::RuntimeError) => judged.diagnostics.panic.is_some(),
            // The first of two tries: what is recorded comes from the second, which has nothing beside it.
            Some(ErrorType::TestTimeout) => true,
            Some(_) => false,
        };
        if certain {
            verdicts[member.at] = Some(judged);
        }
    }
}
