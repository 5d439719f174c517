//! Tests of suites as a user meets them: files in a directory go in, a loaded suite or a message comes out.

mod code;
mod identity;
mod keys;
mod mangled;
mod messages;
mod robustness;
mod row_messages;
mod rows;
mod schema;
mod yaml;

use camino::{Utf8Path, Utf8PathBuf};

use super::load;
use super::probe::Probe;
use crate::spine::run::Job;
use crate::spine::suite::{Case, Overrides, Problems};

/// The smallest good suite.
const GOOD: &str = r#"kind: probe
suite_id: demo
targets:
  steady:
    scripted: {otherwise: {reply: "4"}}
judges:
  exact: {equals: {}}
cases:
  - {id: add-1, input: "2 + 2", expected: "4"}
"#;

/// The same with its cases in a file.
const WITH_DATA: &str = r#"kind: probe
suite_id: demo
targets:
  steady:
    scripted: {otherwise: {reply: "4"}}
judges:
  exact: {equals: {value: "4"}}
datasets:
  - path: data/x.jsonl
"#;

/// A directory with files in it.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new(suite: &str) -> Self {
        let lab = Lab { folder: tempfile::tempdir().unwrap() };
        lab.file("suite.yaml", suite)
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        self.root().join(name)
    }

    fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    fn load(&self) -> Result<Job, Problems> {
        self.load_with(&Overrides::default())
    }

    fn load_with(&self, overrides: &Overrides) -> Result<Job, Problems> {
        load(&self.path("suite.yaml"), overrides)
    }

    fn loaded(&self) -> Job {
        self.load().unwrap_or_else(|problems| panic!("{problems}"))
    }

    fn cases(&self) -> Vec<Case> {
        self.loaded()
            .body_as::<Probe>()
            .unwrap()
            .cases()
            .collect::<Result<_, _>>()
            .unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// The message, with the directory's own name taken out.
    fn refused(&self) -> String {
        match self.load() {
            Ok(loaded) => panic!("loaded: {loaded:?}"),
            Err(problems) => self.shown(&problems),
        }
    }

    fn shown(&self, problems: &Problems) -> String {
        let root = format!("{}/", self.root());
        problems.to_string().replace(&root, "").replace(self.root().as_str(), ".")
    }
}

/// The message for a suite alone.
fn refused(suite: &str) -> String {
    Lab::new(suite).refused()
}

/// The message for a suite whose only dataset has this content.
fn refused_rows(name: &str, content: impl AsRef<[u8]>) -> String {
    Lab::new(&WITH_DATA.replace("x.jsonl", name)).file(&format!("data/{name}"), content).refused()
}
