//! `list`: the members of each family, with their documentation.

use clap::Args;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::family::attack::AttackConfig;
use crate::family::judge::JudgeConfig;
use crate::family::target::TargetConfig;
use crate::family::vary::GeneratorConfig;
use crate::kinds;
use crate::spine::export::Format;
use crate::text::doc::terminal::pairs;

/// List what suites can be made of, with documentation.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Which family.
    #[arg(value_enum)]
    family: Family,

    /// Only this member, with its whole page.
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Family {
    /// What turns an instruction into variants of it.
    Generators,
    /// What puts planted text into another form.
    Attacks,
    /// What decides whether an answer is right.
    Judges,
    /// What can be put to the test.
    Targets,
    /// What a run can be exported as.
    Exports,
    /// Exit codes of this program.
    ExitCodes,
}

impl List {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let pages = match self.family {
            Family::Generators => GeneratorConfig::pages(),
            Family::Attacks => AttackConfig::pages(),
            Family::Judges => JudgeConfig::pages(),
            Family::Targets => TargetConfig::pages(),
            Family::Exports => {
                let row = |format: &Format| [format.name.to_owned(), format.about.to_owned()];
                terminal.data(&pairs(&kinds::exports().map(row).collect::<Vec<_>>()))?;
                return Ok(Exit::Ok);
            }
            Family::ExitCodes => {
                terminal.data(&Exit::help())?;
                return Ok(Exit::Ok);
            }
        };
        if let Some(name) = &self.name {
            let page = pages.iter().find(|page| page.name == name.as_str()).ok_or_else(|| {
                let names: Vec<&str> = pages.iter().map(|page| page.name).collect();
                Failure::say(Exit::Usage, format!("there is no `{name}`"))
                    .hint(format!("there are {}", names.join(", ")))
            })?;
            terminal.data(&page.render())?;
            return Ok(Exit::Ok);
        }
        let rows: Vec<_> = pages.iter().map(|page| [page.name.to_owned(), page.summary.clone()]).collect();
        terminal.data(&pairs(&rows))?;
        Ok(Exit::Ok)
    }
}
