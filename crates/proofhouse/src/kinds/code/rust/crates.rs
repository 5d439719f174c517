//! Crates that tasks use beside the standard library: built once by cargo, kept in a folder by what they are, and given
//! to every compilation read-only. Building runs the crates' own build scripts on the host, as any cargo build does.

use crate::text::complaint::Complaint;
use camino::Utf8PathBuf;
use proofhouse_ledger::{Digest, files};
use proofhouse_sandbox::recipes::Toolchain;
use proofhouse_sandbox::{Arg, Bind, Spec};

/// Where the crates are inside a box.
const INSIDE: &str = "/crates";
const NAME: &str = "crates";

/// Crates that are there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Crates {
    /// The folder of their libraries on the host.
    folder: Option<Utf8PathBuf>,
    /// Name and file of each.
    libraries: Vec<(String, String)>,
    /// Everything about them that a verdict depends on.
    versions: String,
}

/// Whether a text can be the name of a crate of a registry.
pub(crate) fn is_crate_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(inner)
}

/// Whether a text can be a version requirement: digits, dots, names of pre-releases and comparisons.
pub(crate) fn is_crate_version(version: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || ".-+*^~=<>, ".contains(c);
    !version.is_empty() && version.len() <= 64 && version.chars().all(inner)
}

impl Crates {
    /// Builds `wanted` (name and version) below `cache`, or finds them built.
    pub(super) fn build(
        toolchain: &Toolchain,
        wanted: &[(String, String)],
        cache: &Utf8PathBuf,
    ) -> Result<Crates, Complaint> {
        let text = |error: &dyn std::fmt::Display| {
            Complaint::new(format!("the suite's crates could not be built: {error}"))
        };
        let mut manifest = "[package]\nname = \"proofhouse-crates\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[profile.dev]\ndebug = 0\n\n[dependencies]\n".to_owned();
        for (name, version) in wanted {
            manifest.push_str(&format!("{name} = {version:?}\n"));
        }
        let digest = Digest::of_parts(&[toolchain.version.as_bytes(), manifest.as_bytes()]).to_string();
        let project = cache.join(&digest[..16]);
        std::fs::create_dir_all(project.join("src")).map_err(|error| text(&error))?;
        for (name, content) in [("Cargo.toml", manifest.as_str()), ("src/lib.rs", "")] {
            if std::fs::read_to_string(project.join(name)).ok().as_deref() != Some(content) {
                files::write_atomic(&project.join(name), content.as_bytes()).map_err(|error| text(&error))?;
            }
        }
        let built = toolchain
            .cargo_build(project.as_std_path(), true)
            .or_else(|_| toolchain.cargo_build(project.as_std_path(), false));
        let built = built.map_err(|error| text(&error))?;
        let mut libraries = Vec::new();
        for (name, _) in wanted {
            let crate_name = name.replace('-', "_");
            let found = built.iter().find(|(built, _)| *built == crate_name);
            let file = found.and_then(|(_, path)| path.file_name()?.to_str().map(str::to_owned));
            let file =
                file.ok_or_else(|| Complaint::new(format!("cargo built no library `{crate_name}`")))?;
            libraries.push((crate_name, file));
        }
        let lock = std::fs::read(project.join("Cargo.lock")).unwrap_or_default();
        let versions = Digest::of(&lock).to_string();
        Ok(Crates { folder: Some(project.join("target/debug/deps")), libraries, versions })
    }

    /// Their names, as code writes them.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.libraries.iter().map(|(name, _)| name.as_str())
    }

    /// Everything about them that a verdict depends on.
    pub(super) fn conditions(&self) -> &str {
        &self.versions
    }

    /// What the compiler is told about them.
    pub(super) fn arguments(&self) -> Vec<Arg> {
        let mut arguments = Vec::new();
        if self.folder.is_some() {
            arguments.push(Arg::text("-Ldependency=").then(Arg::bind(NAME, "")));
        }
        for (name, file) in &self.libraries {
            arguments.push(Arg::text(format!("--extern={name}=")).then(Arg::bind(NAME, file)));
        }
        arguments
    }

    /// The spec with their folder in it.
    pub(super) fn give(&self, spec: Spec) -> Spec {
        match &self.folder {
            Some(folder) => spec.binds([Bind::new(NAME, folder.as_std_path(), INSIDE)]),
            None => spec,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_version_is_never_more_than_that() {
        for name in ["rand", "serde_json", "md-5"] {
            assert!(is_crate_name(name), "{name}");
        }
        for name in ["", "x.path", "../x", "a = {path = \"/x\"}\nb", "a b", "1x", "\"a\"", "-x"] {
            assert!(!is_crate_name(name), "{name}");
        }
        for version in ["1", "0.4", "=1.2.3", ">=1, <2", "1.0.0-rc.1", "*"] {
            assert!(is_crate_version(version), "{version}");
        }
        for version in ["", "\"", "{path=\"/x\"}", "1\n[x]", "../x"] {
            assert!(!is_crate_version(version), "{version}");
        }
    }
}
