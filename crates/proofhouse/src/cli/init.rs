//! `init`: a commented suite that runs at once, or one over a benchmark that people have already.

use std::io::Read as _;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use proofhouse_ledger::Digest;
use proofhouse_ledger::files::{self, FileError};
use serde_json::Value;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::kinds::{self, KINDS, Recipe};

/// Write a commented suite that runs at once, with its data; or one over the file of a benchmark.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// What the suite asks: a kind, or a benchmark whose file you have (`--data`).
    #[arg(value_parser = PossibleValuesParser::new(words()))]
    kind: String,

    /// Where to write it.
    #[arg(default_value = ".")]
    dir: Utf8PathBuf,

    /// The file of the benchmark, as its owners publish it; it is copied beside the suite. Nothing is downloaded.
    #[arg(long, value_name = "FILE")]
    data: Option<Utf8PathBuf>,
}

/// Every word that `init` takes.
fn words() -> Vec<PossibleValue> {
    let kinds = KINDS.iter().map(|row| (row.kind.as_str(), row.about));
    let recipes = kinds::recipes().map(|recipe| (recipe.name, recipe.about));
    kinds.chain(recipes).map(|(name, about)| PossibleValue::new(name).help(about)).collect()
}

impl Init {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let recipe = kinds::recipes().find(|recipe| recipe.name == self.kind);
        let files: Vec<(String, Vec<u8>)> = match (recipe, &self.data) {
            (Some(recipe), Some(data)) => filled(recipe, data)?,
            (Some(recipe), None) => {
                let what = format!("`{}` is a suite over a file that you have", recipe.name);
                return Err(Failure::say(Exit::Usage, what).hint(format!(
                    "`proofhouse init {} DIR --data FILE`; nothing is downloaded",
                    recipe.name
                )));
            }
            (None, Some(_)) => {
                let names: Vec<&str> = kinds::recipes().map(|recipe| recipe.name).collect();
                return Err(Failure::say(Exit::Usage, format!("`--data` says nothing to `{}`", self.kind))
                    .hint(format!("it is for {}", names.join(", "))));
            }
            (None, None) => {
                let row = KINDS.iter().find(|row| row.kind.as_str() == self.kind);
                let starter = row.expect("the command line takes known words only").starter;
                starter.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
            }
        };
        // A file of data that is there already is what it would be.
        let is_there = |(name, content): &&(String, Vec<u8>)| {
            let path = self.dir.join(name);
            recipe.is_some()
                && !name.ends_with(".yaml")
                && files::read(&path).is_ok_and(|found| found == *content)
        };
        let new: Vec<&(String, Vec<u8>)> = files.iter().filter(|file| !is_there(file)).collect();
        for (name, _) in &new {
            let path = self.dir.join(name);
            if path.exists() {
                return Err(Failure::say(Exit::Refused, format!("`{path}` is there already"))
                    .hint("name another directory: `proofhouse init KIND DIR`"));
            }
        }
        for (name, content) in new {
            let path = self.dir.join(name);
            let parent = path.parent().unwrap_or(&self.dir);
            std::fs::create_dir_all(parent).map_err(FileError::new("create", parent))?;
            files::write_atomic(&path, content)?;
            terminal.data(&format!("{path}\n"))?;
        }
        terminal.say(&format!("next: proofhouse run {}", self.dir.join(&files[0].0)));
        Ok(Exit::Ok)
    }
}

/// The suite of a recipe over a file, and the file.
fn filled(recipe: &Recipe, data: &Utf8Path) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let bytes = files::read(data)?;
    let name = data.file_name().unwrap_or("data").to_owned();
    let keys = first_row(&name, &bytes);
    let fits = |form: &&[&str]| form.iter().all(|key| keys.iter().any(|known| known == key));
    if !recipe.rows.iter().any(fits) {
        let wanted: Vec<String> = recipe.rows.iter().map(|form| format!("`{}`", form.join("`, `"))).collect();
        let found = match keys.is_empty() {
            true => "no row can be read".to_owned(),
            false => format!("its first row has `{}`", keys.join("`, `")),
        };
        let what = format!("`{data}` is not a file of `{}`: {found}", recipe.name);
        return Err(Failure::say(Exit::InvalidSuite, what)
            .hint(format!("rows as they are published have {}", wanted.join(" or "))));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let stem: String =
        name.chars().take_while(|c| *c != '.').map(|c| if plain(c) { c } else { '-' }).take(90).collect();
    let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
    let suite = recipe
        .suite
        .replace("@DATA@", &quoted)
        .replace("@SHA256@", &Digest::of(&bytes).prefixed())
        .replace("@NAME@", if stem.is_empty() { recipe.name } else { &stem });
    Ok(vec![(format!("{}.yaml", recipe.name), suite.into_bytes()), (name, bytes)])
}

/// The keys of a file's first row; none where it cannot be read.
fn first_row(name: &str, bytes: &[u8]) -> Vec<String> {
    const MAX_UNPACKED: u64 = 1 << 30;
    let mut text = Vec::new();
    let read = match bytes.starts_with(b"\x1f\x8b") {
        true => flate2::read::MultiGzDecoder::new(bytes).take(MAX_UNPACKED).read_to_end(&mut text).is_ok(),
        false => (&mut &*bytes).read_to_end(&mut text).is_ok(),
    };
    let is_json = name.trim_end_matches(".gz").ends_with(".json");
    let row = match is_json {
        _ if !read => None,
        // A list of rows, or an object with one.
        true => serde_json::from_slice::<Value>(&text).ok().and_then(|whole| {
            let list = whole.as_array().or_else(|| whole.as_object()?.values().find_map(Value::as_array))?;
            list.first().cloned()
        }),
        false => text.split(|byte| *byte == b'\n').next().and_then(|line| serde_json::from_slice(line).ok()),
    };
    row.as_ref().and_then(Value::as_object).map(|row| row.keys().cloned().collect()).unwrap_or_default()
}
