//! Which variants have the same driver: what is compared to see what a gate does.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;

/// By variant: who drives, and whether a gate stands before the tools.
#[derive(Default)]
pub(super) struct Drivers(BTreeMap<String, (Json, bool)>);

impl Drivers {
    /// Reads them off a resolved configuration.
    pub(super) fn of(config: &Json) -> Self {
        let Some(Json::Array(slots)) = config.get("targets") else { return Self::default() };
        let one = |slot: &Json| {
            let mut settings = slot.as_object()?.clone();
            let name = settings.remove("slot")?.as_str()?.to_owned();
            let gated = settings.remove("gated")? == Json::Bool(true);
            settings.remove("policy");
            Some((name, (Json::Object(settings), gated)))
        };
        Self(slots.iter().filter_map(one).collect())
    }

    pub(super) fn are_one_driver_gated_and_not(&self, a: &str, b: &str) -> bool {
        match (self.0.get(a), self.0.get(b)) {
            (Some((a, a_gated)), Some((b, b_gated))) => a == b && a_gated != b_gated,
            _ => false,
        }
    }
}
