//! The real agents of a suite, made ready once, and the sandbox that they are run in.

use std::sync::Arc;

use camino::Utf8PathBuf;
use proofhouse_sandbox::Sandbox;

use crate::kinds::containment::ContainmentBody;
use crate::kinds::containment::real::Prepared;
use crate::text::complaint::Complaint;

/// One place for each variant; empty where none is a real agent.
#[derive(Default)]
pub(super) struct Agents {
    prepared: Vec<Option<Prepared>>,
    sandbox: Option<Arc<Sandbox>>,
}

impl Agents {
    /// Makes every agent ready.
    pub(super) fn open(
        body: &ContainmentBody,
        sandbox: Option<&Arc<Sandbox>>,
        base: &Utf8PathBuf,
    ) -> Result<Agents, Complaint> {
        if body.variants.iter().all(|variant| variant.agent.is_none()) {
            return Ok(Agents::default());
        }
        let sandbox = sandbox.ok_or_else(|| Complaint::new("a real agent needs a sandbox"))?;
        if !sandbox.has_own_network() {
            let what = format!(
                "a real agent needs a network of its own, and the sandbox `{}` has none: the agent could not reach its model",
                sandbox.tier()
            );
            return Err(
                Complaint::new(what).hint("`proofhouse doctor` says what keeps this machine from `strong`")
            );
        }
        let prepare = |variant: &super::VariantSpec| {
            let prepared = variant.agent.as_ref().map(|agent| Prepared::new(agent, base)).transpose();
            prepared.map_err(|complaint| complaint.about(format!("agent of variant `{}`:", variant.name)))
        };
        let prepared = body.variants.iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
        Ok(Agents { prepared, sandbox: Some(Arc::clone(sandbox)) })
    }

    /// The agent of a variant.
    pub(super) fn of(&self, slot: usize) -> Option<(&Prepared, &Arc<Sandbox>)> {
        Some((self.prepared.get(slot)?.as_ref()?, self.sandbox.as_ref()?))
    }

    /// Trials in flight: an agent computes, it does not only wait.
    pub(super) fn jobs(&self) -> Option<usize> {
        self.sandbox.as_ref().map(|_| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Whether any variant is a real agent.
    pub(super) fn are_any(&self) -> bool {
        self.sandbox.is_some()
    }
}
