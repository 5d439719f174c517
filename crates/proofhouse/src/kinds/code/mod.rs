//! Generated code: reading problems and samples as people have them, and judging each completion in the sandbox.
//!
//! `problem` and `sample` read files, `language` is the seam between what every language shares and what one language
//! knows (`rust`, `python`), `verdict` is what is said of a completion in the end: none of these knows of suites or runs.

use proofhouse_ledger::record::{CODE, Kind};

use crate::kinds::{FlagSet, Row, erased};
use crate::spine::rejudge::Impossible;

mod account;
mod behind;
mod bench;
mod body;
mod boxes;
mod cache;
mod detect;
mod dice;
mod export;
mod failures;
mod flags;
mod formats;
mod judge;
mod language;
mod lines;
mod measures;
mod metrics;
mod output;
mod plan;
mod problem;
mod prose;
mod python;
mod readers;
mod recipes;
mod record;
mod rehearse;
mod rejudge;
mod report;
mod robust;
mod rust;
mod sample;
mod sections;
mod soundness;
mod suite;
mod tally;
mod verdict;
mod words;
mod work;

pub use bench::{Bench, Budgets};
pub use cache::Cache;
pub use detect::{Content, NoLanguage, content_of, crates_of, language_of, usual_version};
pub use flags::CodeFlags;
pub use formats::Format;
pub use judge::{BATCH, Judge, judge_samples};
pub use language::{Language, LanguageName, Task};
pub use problem::{Problem, ProblemError, ProblemFile, read_problem_file, read_problems};
pub use prose::{Prose, Unfit};
pub use python::Python;
pub use record::{Body, Context, body};
pub use rehearse::{Flaw, Remark, rehearse};
pub use rust::{Clippy, Rust};
pub(crate) use rust::{is_crate_name, is_crate_version};
pub use sample::{Invalid, MAX_COMPLETION_BYTES, Sample, Samples, completion};
pub use soundness::Soundness;
pub use suite::{CodeBody, Edition, SampleSource, chosen as chosen_tasks};

/// Its name in suites and records.
pub(crate) const KIND: Kind = Kind::Code;
pub use verdict::{Border, Bounded, Diagnostics, ErrorType, Finding, Judged, TestOutcome};

pub(super) const ROW: Row = Row {
    kind: KIND,
    about: "Does generated code compile, pass its tests, satisfy the linter?",
    read: |loading| suite::read(loading).map(erased),
    is_meant: |_| false,
    schema: |generator| generator.subschema_for::<suite::CodeFile>(),
    flags: FlagSet {
        augment: <CodeFlags as clap::Args>::augment_args,
        value: |matches| {
            let flags = <CodeFlags as clap::FromArgMatches>::from_arg_matches(matches)?;
            Ok((std::sync::Arc::new(flags), Vec::new()))
        },
    },
    tally: tally::open,
    planned: || vec![CODE.tags.into()],
    rejudge: |_| {
        Box::new(Impossible(
            "its verdicts rest on the suite's tasks: with `--suite FILE` their programs are run again",
        ))
    },
    readers: readers::READERS,
    present: sections::PRESENTATION,
    verdict: sections::verdict,
    changes: |_, _| Vec::new(),
    measures: measures::measures,
    formats: &[],
    exports: &[export::FORMAT],
    recipes: recipes::RECIPES,
    imports: &[],
    starter: &[
        ("code.yaml", include_str!("init/code.yaml")),
        ("problems.jsonl", include_str!("init/problems.jsonl")),
        ("careful.jsonl", include_str!("init/careful.jsonl")),
        ("hasty.jsonl", include_str!("init/hasty.jsonl")),
    ],
};
