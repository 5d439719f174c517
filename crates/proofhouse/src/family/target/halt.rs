//! When an endpoint says no to everybody: a wrong key or an empty account is told once, not for ten thousand trials.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::reply::{Outcome, Reply};

/// So many refusals of one endpoint in a row stop a run.
const IN_A_ROW: u32 = 5;

/// What made targets say that nothing more should be asked; shared by all of a run.
#[derive(Debug, Default)]
pub struct Halt(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Slot → its refusals in a row.
    in_a_row: BTreeMap<String, u32>,
    reason: Option<String>,
}

impl Halt {
    /// Takes note of how a request ended.
    pub(super) fn note(&self, slot: &str, reply: &Reply) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let error = match &reply.outcome {
            Outcome::Failed { error_type, error }
                if matches!(error_type.as_str(), "unauthorized" | "quota") =>
            {
                error
            }
            // What was never sent says nothing about the key.
            Outcome::Failed { error_type, .. } if error_type == "never_sent" => return,
            _ => {
                state.in_a_row.remove(slot);
                return;
            }
        };
        let count = state.in_a_row.entry(slot.to_owned()).or_default();
        *count += 1;
        if *count >= IN_A_ROW {
            let reason = format!("`{slot}` was refused {count} times in a row: {error}");
            state.reason.get_or_insert(reason);
        }
    }

    /// Notes that a paid answer did not say what it used, so that a budget cannot be kept.
    pub(super) fn without_usage(&self, slot: &str) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = format!(
            "an answer of `{slot}` does not say how many tokens it used, so `--budget` cannot be kept"
        );
        state.reason.get_or_insert(reason);
    }

    /// Why nothing more should be asked.
    pub fn reason(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reason.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_in_a_row_stop_a_run() {
        let halt = Halt::default();
        let refused = Reply::failed("unauthorized", "HTTP 401: no such key");
        let answered = Reply::new(Outcome::Answered, Some("4".into()));
        for _ in 0..20 {
            (0..4).for_each(|_| halt.note("a", &refused));
            halt.note("a", &answered);
        }
        assert_eq!(halt.reason(), None);
        (0..4).for_each(|_| halt.note("a", &refused));
        halt.note("b", &answered);
        halt.note("a", &refused);
        assert!(halt.reason().unwrap().contains("`a` was refused 5 times in a row: HTTP 401"), "{halt:?}");
    }
}
