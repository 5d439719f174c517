//! The policy as text, and its digest for the manifest: two runs with the same digest were held by the same rules.

use ring::digest::{SHA256, digest};

use crate::capture::hex;
use crate::spec::Network;
use crate::tier::Tier;

/// The rules of a tier, one a line, in an order that never depends on the machine.
pub fn policy_text(tier: Tier, network: Network, cgroup: bool) -> String {
    let mut lines = vec![
        "proofhouse sandbox policy 1".to_owned(),
        format!("tier {tier}"),
        format!("network {network:?}"),
    ];
    lines.push(format!("memory {}", if cgroup { "cgroup" } else { "watchdog 500..10000 us" }));
    match tier {
        Tier::None => lines.push("nothing held".into()),
        Tier::Limited => {
            lines.push("rlimits, own session, orphans ended, empty environment, descriptors 0 to 2".into())
        }
        Tier::Confined | Tier::Strong => lines.extend(held(tier, network, cgroup)),
    }
    lines.join("\n") + "\n"
}

#[cfg(target_os = "linux")]
fn held(tier: Tier, network: Network, cgroup: bool) -> Vec<String> {
    let mut lines: Vec<String> = [
        "rlimits core cpu as nproc nofile fsize memlock msgqueue rtprio nice",
        "own session, default signals, descriptors 0 to 2, empty environment",
        "no capabilities, bounding set empty, no new privileges",
        "landlock newest known, best effort: read binds, write work, devices, no tcp, scoped signals and abstract sockets",
    ]
    .map(str::to_owned)
    .into();
    if network == Network::Own {
        lines.push("own loopback: tcp within it, doors served from outside".into());
    }
    if tier == Tier::Strong {
        lines.push("namespaces user pid mount net ipc uts cgroup".into());
        lines.push("root tmpfs read-only; binds ro nosuid nodev; work tmpfs nosuid nodev sized".into());
    }
    lines.push(format!("devices {}", crate::linux::devices().join(" ")));
    let mut spec = crate::spec::Spec::new(Vec::<crate::spec::Arg>::new());
    spec.network = network;
    for spec in [spec.clone(), spec.clone().as_program(), spec.as_zygote()] {
        lines.push(crate::linux::seccomp::describe(crate::linux::rules(&spec, tier, cgroup)));
    }
    lines
}

#[cfg(not(target_os = "linux"))]
fn held(_: Tier, _: Network, _: bool) -> Vec<String> {
    Vec::new()
}

/// SHA-256 of [`policy_text`], as hexadecimal digits.
pub fn policy_digest(tier: Tier, network: Network, cgroup: bool) -> String {
    hex(digest(&SHA256, policy_text(tier, network, cgroup).as_bytes()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_stands_for_one_policy() {
        let mut seen = std::collections::BTreeSet::new();
        for tier in Tier::ALL {
            for network in [Network::None, Network::Host] {
                for cgroup in [false, true] {
                    assert!(seen.insert(policy_digest(tier, network, cgroup)), "{tier} {network:?} {cgroup}");
                }
            }
        }
        assert_eq!(
            policy_digest(Tier::Strong, Network::None, false),
            policy_digest(Tier::Strong, Network::None, false)
        );
    }
}
