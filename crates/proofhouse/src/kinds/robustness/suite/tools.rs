//! The tools that a suite tests: from the suite itself or from `--target`, with the files that they start with.

use std::sync::Arc;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files::sorted_dir;

use super::{RobustnessBody, RobustnessFile, ToolSetup};
use crate::family::target::command::WorkFile;
use crate::family::target::{Command, TargetConfig};
use crate::kinds::robustness::RobustnessFlags;
use crate::spine::suite::bounds::Ordered;
use crate::spine::suite::check::Checker;
use crate::spine::suite::de::{self, ReadValue};
use crate::spine::suite::keys;
use crate::spine::suite::kind::Loading;
use crate::spine::suite::problem::{Code, Place, Problem, quoted};
use crate::spine::suite::tree::{Source, Step, Tree};
use crate::text::complaint::Complaint;

/// How many files a working directory may start with, and how large they are together.
const MAX_FILES: usize = 4096;
const MAX_BYTES: usize = 64 << 20;

/// The tools and what they start with.
pub(super) struct Tools {
    pub(super) targets: Vec<(String, TargetConfig)>,
    pub(super) setups: Vec<ToolSetup>,
    pub(super) from_suite: bool,
}

/// Finds the tools: `--target` wins over the suite.
pub(super) fn find(checker: &mut Checker<'_>, loading: &Loading<'_>, file: &RobustnessFile) -> Tools {
    let own =
        loading.path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let (targets, base, from_suite) =
        match loading.overrides.own::<RobustnessFlags>().and_then(|flags| flags.target.as_ref()) {
            None => (file.targets.0.clone(), own.to_owned(), true),
            Some(path) => {
                let base =
                    path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
                (named_targets(checker, loading, path), base.to_owned(), false)
            }
        };
    let setups =
        targets.iter().map(|(slot, target)| setup(checker, slot, target, &base, from_suite)).collect();
    Tools { targets, setups, from_suite }
}

/// Reads a file of targets by slot.
fn named_targets(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    path: &Utf8Path,
) -> Vec<(String, TargetConfig)> {
    if let Ok(bytes) = std::fs::read(path) {
        checker.problems.extend(keys::in_bytes(path.as_str(), &bytes, loading.keys));
    }
    let refuse = |problems: &mut Vec<Problem>, what: String| {
        let hint =
            "the file holds targets by name: `forge: {command: {argv: [forge, \"{instruction}\"], …}}`";
        problems.push(Problem::new(Code::BadValue, Place::whole(path.as_str()), what).hint(hint));
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            refuse(&mut checker.problems, format!("the targets cannot be read: {error}"));
            return Vec::new();
        }
    };
    let source = Source::new(path.to_string(), bytes).map_err(|problem| vec![problem]);
    let tree = match source.and_then(|source| Tree::parse(Arc::new(source))) {
        Ok(tree) => tree,
        Err(problems) => {
            checker.problems.extend(problems);
            return Vec::new();
        }
    };
    let ReadValue { value, problems, .. } = de::read::<Ordered<TargetConfig>>(&tree, loading.lenient);
    let Some(targets) = value.filter(|_| problems.is_empty()) else {
        checker.problems.extend(problems);
        return Vec::new();
    };
    for (slot, target) in &targets.0 {
        if let Err(error) = proofhouse_ledger::id::check_name(slot) {
            refuse(&mut checker.problems, error.to_string());
        }
        for complaint in target.check() {
            refuse(&mut checker.problems, format!("target {}: {}", quoted(slot), complaint.what));
        }
    }
    targets.0
}

fn setup(
    checker: &mut Checker<'_>,
    slot: &str,
    target: &TargetConfig,
    base: &Utf8Path,
    from_suite: bool,
) -> ToolSetup {
    let empty = ToolSetup { base: base.to_owned(), files: Vec::new() };
    let TargetConfig::Command(command) = target else {
        let what =
            format!("{} is not a tool: a robustness suite tests targets of kind `command`", quoted(slot));
        let problem = checker.complain(Code::BadValue, &[Step::Key("targets"), Step::Key(slot)], what);
        problem.hint = Some("`proofhouse list targets` documents `command`".to_owned());
        return empty;
    };
    let Some(workdir) = &command.workdir else { return empty };
    let leaves = |part: Utf8Component<'_>| !matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
    let read = match Utf8Path::new(workdir).components().any(leaves) {
        true => Err(Complaint::new("it leaves the suite's directory")),
        false => read_folder(&base.join(workdir)),
    };
    match read {
        Ok(files) => ToolSetup { files, ..empty },
        Err(complaint) => {
            let steps = [Step::Key("targets"), Step::Key(slot), Step::Key("command"), Step::Key("workdir")];
            let steps = if from_suite { &steps[..] } else { &[] };
            let hint = "name a folder with the files that the tool starts with, relative to the suite";
            let complaint = complaint.about(format!("{}:", quoted(workdir))).hint(hint);
            checker.pass_on(Code::Unreadable, steps, complaint);
            empty
        }
    }
}

/// Every file below a folder, sorted by path.
fn read_folder(root: &Utf8Path) -> Result<Vec<WorkFile>, Complaint> {
    let mut files = Vec::new();
    let mut open = vec![Utf8PathBuf::new()];
    let mut bytes_left = MAX_BYTES;
    while let Some(dir) = open.pop() {
        for name in sorted_dir(&root.join(&dir)).map_err(Complaint::of)? {
            let path = dir.join(name);
            let full = root.join(&path);
            let about = std::fs::symlink_metadata(&full)
                .map_err(|error| Complaint::new(format!("{path}: {error}")))?;
            if about.is_dir() {
                open.push(path);
                continue;
            }
            if !about.is_file() {
                return Err(Complaint::new(format!(
                    "{path} is neither a file nor a folder; links are not followed"
                )));
            }
            let bytes = std::fs::read(&full).map_err(|error| Complaint::new(format!("{path}: {error}")))?;
            bytes_left = bytes_left
                .checked_sub(bytes.len())
                .ok_or_else(|| Complaint::new(format!("more than {} MiB of files", MAX_BYTES >> 20)))?;
            if files.len() == MAX_FILES {
                return Err(Complaint::new(format!("more than {MAX_FILES} files")));
            }
            files.push(WorkFile { path: path.into_string(), bytes, executable: is_executable(&about) });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

#[cfg(unix)]
fn is_executable(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}

/// A switch that cannot reach the tool would be a claim about nothing.
pub(super) fn check_switches(
    checker: &mut Checker<'_>,
    body: &RobustnessBody,
    targets: &[(String, TargetConfig)],
) {
    let deaf = |command: &Command| command.resolved().repair_off.is_empty();
    for (slot, target) in targets {
        if let TargetConfig::Command(command) = target
            && !body.repair_enabled
            && deaf(command)
        {
            let what = format!("`repair_enabled: false` cannot reach the target {}", quoted(slot));
            checker.complain(Code::BadValue, &[Step::Key("repair_enabled")], what).hint = Some(
                "say how the tool is told: `repair_off: {args: [--no-repair]}` or `repair_off: {env: {…}}`"
                    .to_owned(),
            );
        }
    }
}
