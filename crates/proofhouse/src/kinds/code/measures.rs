//! What two `code` runs are compared by: pass@k, task by task.

use proofhouse_ledger::record::{HEAD, Line};
use proofhouse_ledger::{Json, config};

use crate::spine::compare::Measure;

/// pass@k for each k of the suite, of the tasks as they stand.
pub(super) fn measures(config: &Json) -> Vec<Measure> {
    let of = |line: &Line<'_>| {
        let as_it_stands = line.get(HEAD.variant_id)?.is_none();
        Ok(if as_it_stands { Some(line.get(HEAD.passed)?) } else { None })
    };
    let ks = config::part::<config::Code>(config).k;
    ks.into_iter().map(|k| Measure { name: format!("pass@{k}"), of, k, is_harm: false }).collect()
}
