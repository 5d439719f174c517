//! Facts about the machine and the source tree, for envelope and telemetry only.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::{Digest, files};
use proofhouse_sandbox::{Sandbox, Spec};

/// The machine's name.
pub fn name() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

/// Operating system and architecture.
pub fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// The boot of this machine, where the system tells.
pub fn boot_id() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}

/// CPU time of this process, all threads, in milliseconds.
pub fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Where digests of executables may be kept.
static DIGESTS: OnceLock<Utf8PathBuf> = OnceLock::new();

/// Lets the digest of this executable be kept in a folder: it has forty megabytes, and hashing them takes longer than a small run.
pub fn keep_digests_in(folder: Utf8PathBuf) {
    // Whoever comes second says the same.
    let _ = DIGESTS.set(folder);
}

/// Of the running executable.
pub fn tool_sha256() -> Option<Digest> {
    let path = std::env::current_exe().ok()?;
    let path = Utf8Path::from_path(&path)?;
    kept_digest(path, DIGESTS.get().map(Utf8PathBuf::as_path))
}

/// The digest of a file, from `folder` where it was kept for this very file: its path, place on the disk, size, and when its content and
/// its entry last changed, which nobody can set back.
fn kept_digest(path: &Utf8Path, folder: Option<&Utf8Path>) -> Option<Digest> {
    let stat = |path: &Utf8Path| {
        let stat = rustix::fs::stat(path.as_std_path()).ok()?;
        let facts = format!(
            "{path} {} {} {} {}.{} {}.{}",
            stat.st_dev,
            stat.st_ino,
            stat.st_size,
            stat.st_mtime,
            stat.st_mtime_nsec,
            stat.st_ctime,
            stat.st_ctime_nsec
        );
        Some(Digest::of(facts.as_bytes()).to_string())
    };
    let (Some(folder), Some(key)) = (folder, stat(path)) else { return Digest::of_file(path).ok() };
    let place = folder.join(&key[..32]);
    let kept = std::fs::read(&place).ok();
    // The whole key stands beside the digest: half a file, or another one's, is none.
    if let Some(digest) =
        kept.as_deref().and_then(|bytes| bytes.strip_prefix(key.as_bytes())?.strip_prefix(b" "))
        && let Some(digest) = Digest::from_hex(digest)
    {
        return Some(digest);
    }
    let digest = Digest::of_file(path).ok()?;
    // A file that changed meanwhile has another key by now. What cannot be kept is hashed again.
    if stat(path).as_deref() == Some(key.as_str()) {
        let _ = files::write_shared(&place, format!("{key} {digest}").as_bytes());
    }
    Some(digest)
}

/// The state of the git repository around a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Git {
    /// Short commit hash.
    pub commit: Option<String>,
    /// Whether there are changes that are not committed; null where that cannot be told.
    pub dirty: Option<bool>,
}

/// Finds the commit that a file's repository is at, from its files, and asks `git` whether there is more.
pub fn git(around: &Utf8Path) -> Git {
    let Some(dir) = git_dir(around) else { return Git::default() };
    let commit = head_commit(&dir).map(|hash| hash.chars().take(12).collect());
    Git { commit, dirty: is_dirty(around) }
}

/// Whether `git status` lists anything; null where git cannot be asked.
fn is_dirty(around: &Utf8Path) -> Option<bool> {
    let tree = around.canonicalize_utf8().ok()?;
    let options = proofhouse_sandbox::Options::new(std::env::temp_dir());
    // The repository may be another user's (a container's root looks at a mounted one), and run directories in it are
    // no change of its content.
    let words = ["git", "-c", "safe.directory=*", "-C", tree.parent()?.as_str()];
    let spec = Spec::new(words.into_iter().chain(["status", "--porcelain", "--untracked-files=no"]))
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GIT_OPTIONAL_LOCKS", "0");
    let outcome = Sandbox::run_unboxed(&options, &spec);
    (outcome.status == proofhouse_sandbox::Status::Ok).then_some(outcome.stdout.length > 0)
}

fn git_dir(around: &Utf8Path) -> Option<Utf8PathBuf> {
    let start = around.canonicalize_utf8().ok()?;
    start.ancestors().skip(1).find_map(|dir| {
        let candidate = dir.join(".git");
        if candidate.is_dir() {
            return Some(candidate);
        }
        // A worktree or submodule has a file that points at the real directory.
        let text = std::fs::read_to_string(&candidate).ok()?;
        Some(dir.join(text.strip_prefix("gitdir:")?.trim()))
    })
}

fn head_commit(dir: &Utf8Path) -> Option<String> {
    let head = std::fs::read_to_string(dir.join("HEAD")).ok()?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else {
        return is_hash(head.trim()).then(|| head.trim().to_owned());
    };
    let common = std::fs::read_to_string(dir.join("commondir")).ok();
    let common = common.map_or(dir.to_owned(), |path| dir.join(path.trim()));
    for base in [dir, &common] {
        if let Ok(text) = std::fs::read_to_string(base.join(reference)) {
            return is_hash(text.trim()).then(|| text.trim().to_owned());
        }
    }
    let packed = std::fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| {
        let (hash, name) = line.split_once(' ')?;
        (name == reference && is_hash(hash)).then(|| hash.to_owned())
    })
}

fn is_hash(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_kept_for_the_very_file_that_it_was_made_of() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let (program, folder) = (dir.join("program"), dir.join("kept"));
        std::fs::write(&program, "one").unwrap();
        let digest = || kept_digest(&program, Some(&folder));
        let kept = || files::sorted_dir(&folder).unwrap();
        assert_eq!(digest(), Some(Digest::of(b"one")));
        assert_eq!((digest(), kept().len()), (Some(Digest::of(b"one")), 1));
        // It is what was kept that answers, and only if it is whole.
        let place = folder.join(&kept()[0]);
        let whole = std::fs::read_to_string(&place).unwrap();
        let other = Digest::of(b"other");
        std::fs::write(&place, whole.replace(&Digest::of(b"one").to_string(), &other.to_string())).unwrap();
        assert_eq!(digest(), Some(other));
        for damaged in [whole[..whole.len() - 1].to_owned(), String::new(), other.to_string()] {
            std::fs::write(&place, damaged).unwrap();
            assert_eq!(digest(), Some(Digest::of(b"one")));
        }
        // Another file under its name, of the same size, is another one.
        std::fs::write(dir.join("next"), "two").unwrap();
        std::fs::rename(dir.join("next"), &program).unwrap();
        assert_eq!(digest(), Some(Digest::of(b"two")));
        assert_eq!(kept_digest(&program, None), Some(Digest::of(b"two")));
        assert_eq!(kept_digest(&dir.join("gone"), Some(&folder)), None);
    }
}
