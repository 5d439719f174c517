//! A case that is ready to be played: its rules, patterns and conditions are compiled, once for all of its trials.

use std::ops::Deref;

use proofhouse_ledger::Json;
use regex::{Regex, RegexBuilder};

use super::case::Case;
use super::import::read_row;
use super::matcher::{CompiledCall, Test, compile_all};
use super::policy::{CompiledRule, compile_rules};
use crate::text::complaint::Complaint;

/// A case and what was compiled of it. There is none whose patterns do not compile, so no trial goes without them.
#[derive(Debug, Clone)]
pub struct ReadyCase {
    case: Case,
    pub(super) rules: Vec<CompiledRule>,
    pub(super) leaks: Vec<Regex>,
    pub(super) expected_calls: Vec<CompiledCall>,
    pub(super) forbidden_calls: Vec<CompiledCall>,
    pub(super) expected_state: Vec<(String, Test)>,
    pub(super) forbidden_state: Vec<(String, Test)>,
}

impl Deref for ReadyCase {
    type Target = Case;

    fn deref(&self) -> &Case {
        &self.case
    }
}

impl ReadyCase {
    /// Compiles a case.
    pub fn new(case: Case) -> Result<Self, Complaint> {
        let leak = |pattern: &String| {
            RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|error| {
                Complaint::new(format!("leak pattern `{pattern}` is not a regular expression: {error}"))
                    .hint("see the crate `regex`")
            })
        };
        let calls = |patterns: &[super::matcher::CallPattern]| {
            patterns.iter().map(|pattern| pattern.compile()).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            rules: compile_rules(&case.rules)?,
            leaks: case.leak_patterns.iter().map(leak).collect::<Result<_, _>>()?,
            expected_calls: calls(&case.expected_calls)?,
            forbidden_calls: calls(&case.forbidden_calls)?,
            expected_state: compile_all(&case.expected_state)
                .map_err(|complaint| complaint.about("`expected_state`:"))?,
            forbidden_state: compile_all(&case.forbidden_state)
                .map_err(|complaint| complaint.about("`forbidden_state`:"))?,
            case,
        })
    }

    /// Makes a case of a row, in whichever format it is.
    pub fn of_row(row: &Json) -> Result<Self, Complaint> {
        Self::new(read_row(row)?)
    }

    /// The case itself.
    pub fn into_case(self) -> Case {
        self.case
    }
}
