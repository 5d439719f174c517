//! Tiers of protection and the rule that picks one. The rule is a pure function of what was asked and what the probe saw, so
//! that nothing ever degrades silently.

use std::fmt;

use crate::probe::Probe;

/// How well a box holds, from nothing to everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Nothing is promised.
    None,
    /// Time, output and orphans are held; nothing is isolated.
    Limited,
    /// Landlock and seccomp hold files, network, environment, orphans and signals.
    Confined,
    /// Namespaces and a private root hold all of it.
    Strong,
}

impl Tier {
    /// All tiers, weakest first.
    pub const ALL: [Tier; 4] = [Tier::None, Tier::Limited, Tier::Confined, Tier::Strong];

    /// The word for it on the command line and in records.
    pub fn word(self) -> &'static str {
        match self {
            Tier::None => "none",
            Tier::Limited => "limited",
            Tier::Confined => "confined",
            Tier::Strong => "strong",
        }
    }

    /// The tier of that word.
    pub fn parse(word: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|tier| tier.word() == word)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// What the user asked for: `--sandbox` and `--require-sandbox`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `--sandbox TIER`, or `None` for `auto`.
    pub sandbox: Option<Tier>,
    /// `--require-sandbox[=TIER]`: the least that will do.
    pub require: Option<Tier>,
}

impl Request {
    /// `--sandbox auto`.
    pub const AUTO: Request = Request { sandbox: None, require: None };

    /// `--sandbox TIER`.
    pub fn exactly(tier: Tier) -> Request {
        Request { sandbox: Some(tier), require: None }
    }

    /// `--require-sandbox` without a tier asks for what `auto` accepts.
    pub fn require(tier: Option<Tier>) -> Request {
        Request { sandbox: None, require: Some(tier.unwrap_or(Tier::Confined)) }
    }
}

/// Why no tier was picked, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}\n\nhint: {fix}")]
pub struct Refusal {
    /// Which rule refused; `--require-sandbox` has its own exit code.
    pub kind: RefusalKind,
    /// What is missing, with the system's own word for it.
    pub reason: String,
    /// The command, flag or setting that fixes it.
    pub fix: String,
}

/// Which rule refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// `auto` does not go below `confined`.
    BelowConfined,
    /// The tier asked for with `--sandbox` is not to be had.
    Unavailable,
    /// `--require-sandbox` is not met.
    RequireNotMet,
}

/// Picks the tier.
pub fn choose(request: Request, probe: &Probe) -> Result<Tier, Refusal> {
    let best = probe.best();
    let tier = match request.sandbox {
        Some(tier) if probe.has(tier) => tier,
        Some(tier) => return Err(refuse(RefusalKind::Unavailable, tier, probe)),
        None if best >= Tier::Confined => best,
        None if request.require.is_some() => {
            let least = request.require.unwrap_or(Tier::Confined);
            return Err(refuse(RefusalKind::RequireNotMet, least, probe));
        }
        None => return Err(refuse(RefusalKind::BelowConfined, Tier::Confined, probe)),
    };
    match request.require {
        Some(least) if tier < least => Err(refuse(RefusalKind::RequireNotMet, least, probe)),
        _ => Ok(tier),
    }
}

fn refuse(kind: RefusalKind, wanted: Tier, probe: &Probe) -> Refusal {
    let (why, mut fix) = match probe.failure(wanted) {
        Some(failure) => (format!(": {failure}"), failure.fix.clone()),
        None => (String::new(), format!("give `--sandbox {wanted}` or leave it at auto")),
    };
    let reason = match kind {
        RefusalKind::BelowConfined => {
            fix.push_str("; or accept `--sandbox limited`, which isolates nothing");
            format!("no sandbox of at least `confined` is to be had on this machine{why}")
        }
        RefusalKind::Unavailable => {
            format!("the sandbox tier `{wanted}` is not to be had on this machine{why}")
        }
        RefusalKind::RequireNotMet => format!("`--require-sandbox={wanted}` is not met{why}"),
    };
    Refusal { kind, reason, fix }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Failure, Memory};

    fn probe(strong: bool, confined: bool) -> Probe {
        let result = |held: bool, step: &str| match held {
            true => Ok(()),
            false => Err(Failure { step: step.into(), errno: libc::EPERM, fix: format!("fix {step}") }),
        };
        Probe {
            system: "test".into(),
            root: false,
            mechanisms: Vec::new(),
            landlock_abi: 7,
            memory: Memory::Watchdog,
            strong: result(strong, "namespaces"),
            confined: result(confined, "landlock"),
        }
    }

    fn refusal(request: Request, probe: &Probe) -> (RefusalKind, String) {
        let refusal = choose(request, probe).expect_err("refused");
        (refusal.kind, refusal.to_string())
    }

    #[test]
    fn auto_takes_the_best_and_never_less_than_confined() {
        assert_eq!(choose(Request::AUTO, &probe(true, true)), Ok(Tier::Strong));
        assert_eq!(choose(Request::AUTO, &probe(false, true)), Ok(Tier::Confined));
        let (kind, text) = refusal(Request::AUTO, &probe(false, false));
        assert_eq!(kind, RefusalKind::BelowConfined);
        assert_eq!(
            text,
            "no sandbox of at least `confined` is to be had on this machine: landlock: EPERM (Operation not permitted)\n\n\
             hint: fix landlock; or accept `--sandbox limited`, which isolates nothing"
        );
    }

    #[test]
    fn a_tier_asked_for_by_name_is_that_tier_or_nothing() {
        for tier in Tier::ALL {
            assert_eq!(choose(Request::exactly(tier), &probe(true, true)), Ok(tier));
        }
        let (kind, text) = refusal(Request::exactly(Tier::Strong), &probe(false, true));
        assert_eq!(kind, RefusalKind::Unavailable);
        assert!(text.contains("`strong`") && text.ends_with("hint: fix namespaces"), "{text}");
        assert_eq!(choose(Request::exactly(Tier::Limited), &probe(false, false)), Ok(Tier::Limited));
    }

    #[test]
    fn a_requirement_has_its_own_kind_of_refusal() {
        assert_eq!(choose(Request::require(None), &probe(false, true)), Ok(Tier::Confined));
        assert_eq!(
            refusal(Request::require(Some(Tier::Strong)), &probe(false, true)).0,
            RefusalKind::RequireNotMet
        );
        assert_eq!(refusal(Request::require(None), &probe(false, false)).0, RefusalKind::RequireNotMet);
        let both = Request { sandbox: Some(Tier::Limited), require: Some(Tier::Confined) };
        let (kind, text) = refusal(both, &probe(true, true));
        assert_eq!(kind, RefusalKind::RequireNotMet);
        assert!(text.contains("`--require-sandbox=confined` is not met"), "{text}");
    }
}
