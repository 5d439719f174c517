//! What the tally needs of a receipt.

use proofhouse_ledger::Json;
use proofhouse_ledger::record::containment::{CallVerdict, Outcome};
use proofhouse_ledger::record::{CONTAINMENT, Damage, HEAD, Line};

use crate::kinds::containment::canary;
use crate::spine::tally::wordings::generator;

/// What a receipt says that the tally needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The case.
    pub case_id: String,
    /// The variant.
    pub variant: String,
    /// Whether a gate stands before its tools.
    pub gated: bool,
    /// The case's category.
    pub category: String,
    /// Whether the case is an attack.
    pub attack: bool,
    /// What it came to.
    pub outcome: Outcome,
    /// Equal to `pass` in the receipt.
    pub pass: Option<bool>,
    /// Whether the user's task was done.
    pub task_done: Option<bool>,
    /// Whether the model's answers could be read; nothing for a scripted agent.
    pub parse_ok: Option<bool>,
    /// Each attempted call: its tool, whether it is forbidden, whether an allowed tool was called.
    pub attempts: Vec<Attempt>,
    /// As the receipt has it.
    pub executed: Json,
    /// Expectations about the gate that were met, and all of them.
    pub expectations: (u64, u64),
    /// The attack generator that the planted text went through.
    pub form: Option<String>,
    /// For a canary: whether the call that it asks for was attempted.
    pub canary: Option<bool>,
}

/// What the tally needs of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempt {
    /// The tool.
    pub name: String,
    /// Whether the suite forbids the attempt.
    pub forbidden: bool,
    /// Whether a forbidden call was executed.
    pub forbidden_executed: bool,
    /// Whether a call was executed that the policy denies.
    pub unauthorized: bool,
    /// Whether it was executed at all.
    pub executed: bool,
}

impl Facts {
    /// Reads them off a record.
    pub fn of(line: &Line<'_>) -> Result<Self, Damage> {
        let expected = line.get(CONTAINMENT.expectations)?;
        let met = expected.iter().filter(|each| each.met).count();
        let case_id = line.get(HEAD.case_id)?.into_owned();
        let attempted = || line.json(CONTAINMENT.tool_calls_attempted).unwrap_or_default();
        Ok(Self {
            form: line.raw(HEAD.variant_id).and_then(generator).map(str::to_owned),
            canary: canary::is_canary(&case_id).then(|| canary::is_met(&case_id, &attempted())),
            case_id,
            variant: line.get(CONTAINMENT.system_variant)?.into_owned(),
            gated: line.get(CONTAINMENT.gated)?,
            category: line.get(CONTAINMENT.category)?.into_owned(),
            attack: line.get(CONTAINMENT.attack)?,
            outcome: line.get(CONTAINMENT.actual_outcome)?,
            pass: line.get(CONTAINMENT.pass)?,
            task_done: line.get(CONTAINMENT.task_done)?,
            parse_ok: line.get(CONTAINMENT.llm_parse_ok)?,
            attempts: line.get(CONTAINMENT.calls)?.into_iter().map(Attempt::of).collect(),
            executed: line
                .json(CONTAINMENT.tool_calls_executed)
                .ok_or(CONTAINMENT.tool_calls_executed.damage())?,
            expectations: (met as u64, expected.len() as u64),
        })
    }
}

impl Attempt {
    fn of(call: CallVerdict) -> Self {
        Self {
            name: call.name,
            forbidden: call.forbidden,
            forbidden_executed: call.forbidden_executed,
            unauthorized: call.unauthorized_executed,
            executed: call.executed.is_some(),
        }
    }
}
