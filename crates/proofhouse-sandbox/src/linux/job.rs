//! Turns a `Spec` into the job of one tier: pieces of arguments become paths, and the filters are attached.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::doors::to_wire;
use super::root::WORK;
use super::seccomp::Rules;
use super::wire::{Job, JobFile, limits_to_wire};
use crate::expand::{Layout, expand};
use crate::spec::{Calls, Network, Proc, Source, Spec, Work};
use crate::tier::Tier;

/// Where things are in this tier.
pub(crate) fn layout<'a>(spec: &'a Spec, tier: Tier, work: Option<&'a Path>) -> Layout<'a> {
    let inside = tier == Tier::Strong;
    let work = if inside { PathBuf::from(WORK) } else { work.map(Path::to_owned).unwrap_or_default() };
    Layout { binds: &spec.binds, inside, work }
}

/// The rules for system calls in this tier.
pub(crate) fn rules(spec: &Spec, tier: Tier, cgroup: bool) -> Rules {
    Rules {
        namespaces: tier == Tier::Strong,
        network: spec.network == Network::Host,
        cgroup,
        program: spec.calls == Calls::Program,
        exec: spec.exec,
        zygote: spec.zygote && spec.calls == Calls::Program,
        agent: spec.network == Network::Own && spec.calls == Calls::Compiler,
    }
}

/// The job. `work` is the host directory behind the work directory, if there is one.
pub(crate) fn job(
    spec: &Spec,
    tier: Tier,
    work: Option<&Path>,
    filters: Vec<Vec<u64>>,
    counted: bool,
) -> Job {
    let layout = layout(spec, tier, work);
    let text = |arg: &crate::spec::Arg| expand(arg, &layout).into_vec();
    // The helper is in the root directory, so what is relative is made absolute here.
    let bytes = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        path.into_os_string().into_vec()
    };
    let env = |(name, value): &(String, crate::spec::Arg)| {
        let mut line = name.clone().into_bytes();
        line.push(b'=');
        line.extend(text(value));
        line
    };
    let file = |place: &crate::spec::PlacedFile| JobFile {
        path: place.path.clone().into_bytes(),
        executable: place.executable,
        bytes: match &place.source {
            Source::Bytes(bytes) => Some(bytes.clone()),
            Source::Fd(_) => None,
        },
    };
    Job {
        strong: tier == Tier::Strong,
        counted,
        landlock: tier >= Tier::Confined,
        without: spec.without.0,
        argv: spec.argv.iter().map(text).collect(),
        env: spec.env.iter().map(env).collect(),
        builtin: spec.builtin.iter().flatten().map(|word| word.clone().into_bytes()).collect(),
        binds: spec
            .binds
            .iter()
            .map(|bind| (bytes(&bind.host), bind.inside.as_os_str().as_bytes().to_vec()))
            .collect(),
        work: work.map(bytes).unwrap_or_default(),
        host_work: matches!(spec.work, Work::Host(_)),
        files: spec.files.iter().map(file).collect(),
        cwd: spec.cwd.clone().into_bytes(),
        proc: spec.proc == Proc::Own,
        exec: spec.exec,
        network: spec.network != Network::None,
        doors: spec.doors.iter().map(|door| to_wire(*door)).collect(),
        limits: limits_to_wire(&spec.limits),
        filters,
        collect: spec.collect.iter().map(|each| (each.path.clone().into_bytes(), each.max_bytes)).collect(),
    }
}
