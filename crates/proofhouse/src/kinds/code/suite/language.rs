//! The language of a suite: what it says, what its problems show, and whether both agree.

use super::CodeFile;
use crate::kinds::code::{LanguageName, Problem as Task, language_of};
use crate::spine::suite::check::Checker;
use crate::spine::suite::problem::Code;
use crate::spine::suite::tree::Step;

/// The language that the suite names, or else the one that its problems show.
pub(super) fn of(
    checker: &mut Checker<'_>,
    file: &CodeFile,
    problems: &[Task],
    warnings: &mut Vec<String>,
) -> Option<LanguageName> {
    let found = language_of(problems);
    let language = match (file.language, found) {
        (Some(said), Ok(found)) if said != found => {
            warnings.push(format!(
                "the suite says `language: {}`, but its problems look like {}",
                said.as_str(),
                found.as_str()
            ));
            said
        }
        (Some(said), _) => said,
        (None, Ok(found)) => found,
        (None, Err(why)) => {
            checker.complain(Code::BadValue, &[Step::Key("problems")], why.to_string()).hint =
                Some(why.hint());
            return None;
        }
    };
    if language != LanguageName::Rust && !file.crates.0.is_empty() {
        checker.complain(Code::BadValue, &[Step::Key("crates")], "crates belong to Rust suites").hint =
            Some("take `crates` out, or set `language: rust`".to_owned());
    }
    warnings.extend((language.profile().doubts)(problems));
    Some(language)
}
