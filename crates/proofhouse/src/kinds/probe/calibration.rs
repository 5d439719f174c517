//! The labelled answers of a `probe` suite: what judges are tried on.

use std::sync::Arc;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;

use super::datasets::{self, FoundDataset};
use super::file::{CalibrationFile, ProbeFile};
use crate::spine::suite::cases::{CaseRules, CaseStream, Inputs};
use crate::spine::suite::check::Checker;
use crate::spine::suite::identity::json;
use crate::spine::suite::kind::Loading;
use crate::spine::suite::load::DatasetFacts;
use crate::spine::suite::problem::Code;
use crate::spine::suite::scan::{FirstPass, Scan};
use crate::spine::suite::tree::Step;

/// Where its keys stand.
const UNDER: [Step<'static>; 1] = [Step::Key("calibration")];

/// Answers whose right verdict is known.
#[derive(Debug, Clone)]
pub struct Calibration {
    inputs: Arc<Inputs>,
    /// How many there are.
    pub(crate) count: u64,
}

impl Calibration {
    /// All of them, in a second pass over the datasets.
    pub(crate) fn answers(&self) -> CaseStream {
        CaseStream::new(Arc::clone(&self.inputs), self.count)
    }

    /// What of it is in no dataset, and how many datasets at the end of the suite's are its own.
    pub(crate) fn settings(&self) -> Json {
        let cases = self.inputs.inline.iter().map(|case| Json::Object(case.clone()));
        Json::Object(Object::from_iter([
            ("cases", Json::Array(cases.collect())),
            ("datasets", json(&self.inputs.datasets.len())),
        ]))
    }

    /// How many of them are right, and how many are wrong.
    pub(crate) fn kinds(&self) -> (u64, u64) {
        let labels = self.answers().filter_map(|answer| Some(answer.ok()?.label?.1));
        labels.fold((0, 0), |(right, wrong), is_right| {
            (right + u64::from(is_right), wrong + u64::from(!is_right))
        })
    }
}

/// The datasets of labelled answers.
pub(super) fn find(checker: &mut Checker<'_>, file: &ProbeFile, loading: &Loading<'_>) -> Vec<FoundDataset> {
    let Some(written) = &file.calibration else { return Vec::new() };
    if written.cases.is_empty() && written.datasets.is_empty() {
        checker.complain(Code::Empty, &UNDER, "`calibration` has no labelled answers").hint = Some(
            "write some below `cases:`, such as `{id: a, input: …, output: …, right: true}`, or name a file below `datasets:`"
                .to_owned(),
        );
    }
    datasets::find(checker, (&UNDER, &written.datasets), loading)
}

/// Reads all labelled answers once. What is wrong with them goes to what was found of the cases.
pub(super) fn read(
    checker: &mut Checker<'_>,
    (written, found_datasets): (&CalibrationFile, Vec<FoundDataset>),
    rules: CaseRules,
    of_cases: &mut FirstPass,
) -> (Calibration, Vec<DatasetFacts>) {
    let inline: Vec<_> = written.cases.iter().map(|case| case.0.clone()).collect();
    let sources: Vec<_> =
        found_datasets.iter().map(|found| (Arc::clone(&found.dataset), found.fields.clone())).collect();
    let scan = Scan {
        tree: checker.tree,
        under: &["calibration"],
        rules: &rules,
        inline: &inline,
        datasets: &sources,
        tags: Vec::new(),
        form: None,
    };
    let mut found = scan.run();
    let facts = datasets::facts(checker, (&UNDER, &written.datasets), &found_datasets, &found.datasets);
    of_cases.problems.append(&mut found.problems);
    of_cases.warnings.append(&mut found.warnings);
    let datasets = datasets::checked(found_datasets, &facts);
    let calibration = Calibration {
        inputs: Arc::new(Inputs { rules, inline, datasets, named: found.named }),
        count: found.count,
    };
    if of_cases.problems.is_empty() {
        let (right, wrong) = calibration.kinds();
        if right == 0 || wrong == 0 {
            let kind = if right == 0 { "right" } else { "wrong" };
            of_cases.warnings.push(format!(
                "no labelled answer of `calibration` is {kind}, so no rate can be corrected for the judges' errors"
            ));
        }
    }
    (calibration, facts)
}
