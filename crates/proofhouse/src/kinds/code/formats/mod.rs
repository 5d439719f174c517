//! What a row of a problem file means: one file per family of formats, each turning its rows into problems.
//!
//! A row is read as published. Where a format says how an answer is tested in data (inputs, expected outputs, a
//! reference solution) instead of code, the test is written here, as Python for the trusted side.

mod evalplus;
mod humaneval;
mod mbpp;
mod python;
mod row;
mod stdio;

pub(super) use row::{Row, name_of, texts_of};
pub(super) use stdio::program as whole_program;

use super::problem::Problem;
use crate::text::complaint::Complaint;

/// How the rows of a problem file are read; the words are said to users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// `prompt` and `test`: HumanEval, HumanEval-X.
    #[default]
    HumanEval,
    /// The same with a `buggy_solution`.
    HumanEvalPack,
    /// The same with an `instruction` and a `level`.
    McEval,
    /// `prompt` and `tests`, with `stop_tokens`.
    MultiPlE,
    /// HumanEval+ with `base_input` and `plus_input`.
    HumanEvalPlus,
    /// MBPP+ with `base_input` and `plus_input`.
    MbppPlus,
    /// `text` or `prompt` with a `test_list`.
    Mbpp,
    /// Programs that read standard input and write standard output.
    Stdio,
}

impl Format {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Format::HumanEval => "HumanEval",
            Format::HumanEvalPack => "HumanEvalPack",
            Format::McEval => "McEval",
            Format::MultiPlE => "MultiPL-E",
            Format::HumanEvalPlus => "HumanEval+",
            Format::MbppPlus => "MBPP+",
            Format::Mbpp => "MBPP",
            Format::Stdio => "standard input and output",
        }
    }
}

/// A problem, and what its reader should know about how it was read.
pub(super) struct Understood {
    pub(super) problem: Problem,
    /// Said once per file, with the number of rows that it is true of.
    pub(super) notes: Vec<String>,
}

/// What the row means.
pub(super) fn understand(row: &Row) -> Result<Understood, Complaint> {
    if evalplus::fits(row) {
        evalplus::read(row)
    } else if mbpp::fits(row) {
        mbpp::read(row)
    } else if stdio::fits(row) {
        stdio::read(row)
    } else {
        humaneval::read(row)
    }
}

#[cfg(test)]
mod tests;
