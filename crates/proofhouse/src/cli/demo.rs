//! `demo`: the starter suites of all kinds, run here and now, with one page that leads to their reports.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser as _};
use maud::html;
use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::{self, FileError};

use super::exit::Exit;
use super::failure::Failure;
use super::{Cli, Terminal, browser, dispatch};
use crate::kinds::{self, KINDS, Row};
use crate::spine::present;
use crate::text::doc::html::{Shown, frame};

/// Run a starter suite of every kind and make a page of their reports: no key, no network, no model.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Where suites, runs and the page go; the suites are there to play with.
    #[arg(default_value = "proofhouse-demo")]
    dir: Utf8PathBuf,

    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
}

impl Demo {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut found = BTreeMap::new();
        for row in KINDS {
            let suite = self.write(row)?;
            let run = RunPaths::new(self.dir.join("runs").join(row.kind.as_str()));
            terminal.say(&format!("running {suite}"));
            let said = match run_quietly(&suite, &run, terminal) {
                Ok(()) => present::gist(&run, kinds::own_presentation)
                    .map_err(|error| Failure::new(Exit::Internal, &error))?,
                // One kind that this machine cannot run hides nothing of the others.
                Err(failure) => format!("not run: {}", failure.message.replace('\n', " ")),
            };
            found.insert(row.kind.as_str(), said);
        }
        let page = self.dir.join("index.html");
        files::write_atomic(&page, self.page(&found).as_bytes())?;
        let mut text = String::new();
        for row in KINDS {
            let said = found.get(row.kind.as_str()).map_or("", String::as_str);
            text.push_str(&format!("{}: {}\n", row.kind.as_str(), super::visible(said)));
        }
        terminal.prose(&text)?;
        terminal.say(&format!(
            "\npage:    {page}\nsuites:  {}\nnext:    edit a suite there, and `proofhouse run` it",
            self.dir
        ));
        if self.open {
            browser::open(&page, terminal);
        }
        Ok(Exit::Ok)
    }

    /// Writes a starter suite; what somebody has changed there stays. Gives the suite's path.
    fn write(&self, row: &Row) -> Result<Utf8PathBuf, Failure> {
        let dir = self.dir.join(row.kind.as_str());
        for (name, content) in row.starter {
            let path = dir.join(name);
            let parent = path.parent().unwrap_or(&dir);
            std::fs::create_dir_all(parent).map_err(FileError::new("create", parent))?;
            if !path.exists() {
                files::write_atomic(&path, content.as_bytes())?;
            }
        }
        Ok(dir.join(row.starter[0].0))
    }

    fn page(&self, found: &BTreeMap<&str, String>) -> String {
        let report = |row: &Row| format!("runs/{}/report.html", row.kind.as_str());
        let page = html! {
            (frame::top("Proofhouse demo", "", frame::Loads::Nothing))
            header.top {
                p.brand { "Proofhouse " span { "demo" } }
                h1 { "A suite of every kind, run on this machine" }
                p.lede { "Each suite is a folder beside this page; edit it, and run it again with " code { "proofhouse run" } "." }
            }
            main {
                div.cards {
                    @for row in KINDS {
                        article.card {
                            h3 {
                                @if self.dir.join(report(row)).exists() { a href=(report(row)) { (row.kind.as_str()) } } @else { (row.kind.as_str()) }
                            }
                            dl {
                                dt { "Asks" } dd { (row.about) }
                                dt { "Found" } dd { (Shown(found.get(row.kind.as_str()).map_or("", String::as_str))) }
                                dt { "Suite" } dd { code { (row.kind.as_str()) "/" (row.starter[0].0) } }
                            }
                        }
                    }
                }
            }
        };
        page.into_string() + "\n</body>\n</html>\n"
    }
}

/// Runs a suite as the command line would. What a gate says of it is no failure of the demo.
fn run_quietly(suite: &Utf8Path, run: &RunPaths, terminal: &Terminal) -> Result<(), Failure> {
    let mut words = vec!["proofhouse", "run", suite.as_str(), "--run-dir", run.dir.as_str()];
    if run.dir.exists() {
        words.push("--overwrite");
    }
    let parsed =
        Cli::try_parse_from(words).map_err(|error| Failure::say(Exit::Internal, error.to_string()))?;
    let quiet = Terminal { quiet: true, surroundings: terminal.surroundings };
    dispatch(parsed.command, &quiet).map(drop)
}
