//! `list`: the members of each family, with their documentation.

use clap::Args;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::family::judge::JudgeConfig;
use crate::family::target::TargetConfig;
use crate::family::vary::GeneratorConfig;
use crate::kinds;

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
            Family::Judges => JudgeConfig::pages(),
            Family::Targets => TargetConfig::pages(),
            Family::Exports => {
                for format in kinds::exports() {
                    terminal.data(&format!("{:12}  {}\n", format.name, format.about))?;
                }
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
        let width = pages.iter().map(|page| page.name.len()).max().unwrap_or(0);
        for page in &pages {
            terminal.data(&format!("{:width$}  {}\n", page.name, page.summary))?;
        }
        Ok(Exit::Ok)
    }
}
