//! One YAML list of maps. The text is held whole, the rows are composed one by one.

use std::io::Read;
use std::sync::Arc;

use proofhouse_ledger::Digest;
use serde_saphyr::granit_parser::Event;

use super::bytes::Bytes;
use super::{BadRow, Dataset, NextRow};
use crate::spine::suite::compose::Composer;
use crate::spine::suite::de;
use crate::spine::suite::file::InlineCase;
use crate::spine::suite::problem::{Code, Place, Problem};
use crate::spine::suite::tree::{Source, Step, Tree};

pub(super) struct YamlList {
    composer: Composer,
    /// The current row; its nodes go back to the composer before the next one.
    row: Option<Tree>,
    digest: Digest,
    source: Arc<Source>,
    done: bool,
}

impl YamlList {
    pub(super) fn new(mut bytes: Bytes, dataset: &Dataset) -> Result<Self, Problem> {
        let mut text = Vec::new();
        let read = bytes.read_to_end(&mut text).and_then(|_| bytes.finish());
        let digest = read.map_err(|error| dataset.io_problem(&error))?;
        let source = Arc::new(Source::new(dataset.name.clone(), text)?);
        let mut composer = Composer::new(Arc::clone(&source));
        let done = match composer.open() {
            Ok((Event::SequenceStart(..), _)) => false,
            Ok((_, mark)) => {
                let problem = Problem::new(Code::WrongType, source.place(mark), "expected a list of cases");
                return Err(problem.hint("begin each case with `- `"));
            }
            // An empty file has no rows, which is reported for every format alike.
            Err(problem) if problem.code == Code::Empty => true,
            Err(problem) => return Err(problem),
        };
        Ok(YamlList { composer, row: None, digest, source, done })
    }

    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    pub(super) fn next(&mut self, dataset: &Dataset, warnings: &mut Vec<String>) -> NextRow {
        if self.done {
            return Ok(None);
        }
        if let Some(row) = self.row.take() {
            self.composer.put_back(row);
        }
        let item = match self.composer.item() {
            Ok(Some(item)) => item,
            Ok(None) => {
                self.done = true;
                return self.composer.close().map(|()| None).map_err(BadRow::last);
            }
            Err(problem) => {
                self.done = true;
                return Err(BadRow::last(problem));
            }
        };
        let duplicates = std::mem::take(&mut self.composer.problems);
        let row = self.row.insert(self.composer.lend(item));
        if let Some(problem) = duplicates.into_iter().next() {
            return Err(BadRow::skip(problem));
        }
        let mut reading = de::read::<InlineCase>(row, dataset.lenient);
        warnings.append(&mut reading.warnings);
        match (reading.value, reading.problems.into_iter().next()) {
            (_, Some(problem)) => Err(BadRow::skip(problem)),
            (Some(case), None) => Ok(Some(case.0)),
            (None, None) => unreachable!("a reading has a value or a problem"),
        }
    }

    pub(super) fn place(&self, steps: &[Step<'_>]) -> Place {
        match &self.row {
            Some(row) => row.place(row.root, steps),
            None => Place::whole(self.source.name.as_str()),
        }
    }
}
