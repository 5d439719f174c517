//! The judges of a robustness suite, and which of them a case has.

use proofhouse_ledger::Json;

use super::SUCCESS;
use super::file::{CaseFile, RobustnessFile};
use crate::family::judge::{JudgeConfig, Weighs};
use crate::spine::suite::check::Checker;
use crate::spine::suite::problem::{Code, did_you_mean, quoted};
use crate::spine::suite::tree::Step;

/// The judges of what tools print. Nobody else is asked: a judge that needs a model or a program has no place here.
pub(super) fn judges(checker: &mut Checker<'_>, file: &RobustnessFile) -> Vec<(String, JudgeConfig)> {
    for (name, config) in &file.judges.0 {
        checker.name("judges", name);
        let steps = [Step::Key("judges"), Step::Key(name), Step::Key(config.name())];
        match config.compile() {
            Ok(judge) if judge.help().is_some() => {
                let what = format!(
                    "a judge of kind `{}` asks somebody, and robustness suites ask their tools alone",
                    config.name()
                );
                checker.complain(Code::BadValue, &steps, what).hint = Some(
                    "use a judge that reads the output itself; `proofhouse list judges` shows them"
                        .to_owned(),
                );
            }
            Ok(judge) if judge.weighs() != Weighs::default() => {
                let what = format!(
                    "a judge of kind `{}` weighs time or cost of an endpoint's answer, and a tool has none",
                    config.name()
                );
                checker.complain(Code::BadValue, &steps, what).hint =
                    Some("`timeout_ms` bounds how long a tool may take".to_owned());
            }
            Ok(_) if name == SUCCESS => {
                checker
                    .complain_of_key(
                        Code::BadValue,
                        &steps[..2],
                        "`success` is the name of the whole verdict",
                    )
                    .hint = Some("choose another name".to_owned());
            }
            Ok(_) => {}
            Err(complaint) => checker.pass_on(Code::BadValue, &steps, complaint),
        }
    }
    file.judges.0.clone()
}

/// The places of the judges that the case names, and whether they have what they need.
pub(super) fn places(
    checker: &mut Checker<'_>,
    here: &[Step<'_>],
    case: &CaseFile,
    judges: &[(String, JudgeConfig)],
) -> Option<Vec<usize>> {
    let known: Vec<&str> = judges.iter().map(|(name, _)| name.as_str()).collect();
    let mut places: Vec<usize> = Vec::new();
    for (nth, name) in case.judges.iter().flatten().enumerate() {
        match known.iter().position(|known| known == name) {
            Some(at) => places.push(at),
            None => {
                let steps = [here, &[Step::Key("judges"), Step::Index(nth)]].concat();
                let what = format!("no judge is named {}", quoted(name));
                checker.complain(Code::UnknownJudge, &steps, what).hint =
                    Some(did_you_mean(name, &known, "judges"));
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    let of_case = case.judges.as_ref().map(|_| places);
    let all: Vec<usize> = (0..known.len()).collect();
    let lacking = of_case.as_ref().unwrap_or(&all).iter().find(|at| judges[**at].1.needs_expected());
    if let (Some(at), Json::Null) = (lacking, &case.expected) {
        let what = format!("judge {} compares with `expected`, and the case has none", quoted(known[*at]));
        checker.complain(Code::MissingKey, here, what).hint =
            Some("add `expected: …`, or name the judges of this case below `judges`".to_owned());
    }
    if judges.is_empty() && case.expected != Json::Null {
        let steps = [here, &[Step::Key("expected")]].concat();
        checker.complain(Code::BadValue, &steps, "the suite has no judge that would read `expected`").hint =
            Some("add `judges: {right: {contains: {}}}`".to_owned());
    }
    of_case
}
