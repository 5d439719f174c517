//! Tokens, added up over all attempts of a trial.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;

/// What the target says that it used, by our own names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Usage {
    counts: BTreeMap<&'static str, u64>,
    last: u64,
}

/// Where an endpoint's answer holds which count.
pub(super) type Places = &'static [(&'static str, &'static str)];

impl Usage {
    /// Takes the counts out of an answer: pairs of our name and a JSON pointer.
    pub(super) fn read(answer: &Json, places: Places) -> Self {
        let mut usage = Usage::default();
        for (name, pointer) in places {
            if let Some(count) = answer.pointer(pointer).and_then(Json::as_f64)
                && (0.0..1e15).contains(&count)
            {
                usage.counts.insert(name, count as u64);
            }
        }
        usage.last = usage.tokens();
        usage
    }

    /// Adds the next attempt's.
    pub(super) fn add(&mut self, other: Usage) {
        for (name, count) in other.counts {
            *self.counts.entry(name).or_default() += count;
        }
        self.last = other.last;
    }

    fn tokens(&self) -> u64 {
        ["input_tokens", "output_tokens"].iter().filter_map(|name| self.counts.get(name)).sum()
    }

    /// What the last attempt used.
    pub(super) fn last_tokens(&self) -> u64 {
        self.last
    }

    /// For the record; nothing where nothing was said.
    pub(super) fn to_json(&self) -> Option<Json> {
        let entries = self.counts.iter().map(|(name, count)| (*name, Json::Number(*count as f64)));
        (!self.counts.is_empty()).then(|| Json::Object(entries.collect()))
    }
}
