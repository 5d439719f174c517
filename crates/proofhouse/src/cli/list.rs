//! `list`: the members of each family, with their documentation.

use clap::{Args, ValueEnum as _};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use super::machine::{self, Form, Listed, Member};
use crate::family::attack::AttackConfig;
use crate::family::judge::JudgeConfig;
use crate::family::target::TargetConfig;
use crate::family::vary::GeneratorConfig;
use crate::kinds;
use crate::text::doc::terminal::pairs;
use crate::text::page::Page;

/// List what suites can be made of, with documentation.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Which family; without one, all of them by name.
    #[arg(value_enum)]
    family: Option<Family>,

    /// Only this member, with its whole page.
    name: Option<String>,

    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: Form,
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
    /// Files of other tools that can be imported.
    Imports,
    /// Exit codes of this program.
    ExitCodes,
}

impl List {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        if let (Some(Family::ExitCodes), Form::Text) = (self.family, self.format) {
            terminal.data(&Exit::help())?;
            return Ok(Exit::Ok);
        }
        let mut members = self.family.map_or_else(families, Family::members);
        if let Some(name) = &self.name {
            let names: Vec<String> = members.iter().map(|member| member.name.clone()).collect();
            members.retain(|member| member.name == *name);
            if members.is_empty() {
                return Err(Failure::say(Exit::Usage, format!("there is no `{name}`"))
                    .hint(format!("there are {}", names.join(", "))));
            }
        }
        match (self.format, &self.name, members.as_slice()) {
            (Form::Json, ..) => {
                let family = self.family.and_then(|family| family.to_possible_value());
                let family = family.map_or("families".to_owned(), |value| value.get_name().to_owned());
                machine::print(terminal, &Listed { schema_version: machine::VERSION, family, members })?;
            }
            (Form::Text, Some(_), [Member { page: Some(page), .. }]) => terminal.data(page)?,
            (Form::Text, _, members) => {
                let row = |member: &Member| [member.name.clone(), member.summary.clone()];
                let rows: Vec<[String; 2]> = members.iter().map(row).collect();
                let widest = rows.iter().map(|[name, _]| name.len()).max().unwrap_or(0);
                terminal.facts(&pairs(&rows), widest + 2)?;
                if self.family.is_none() {
                    terminal.say(
                        "\nnext: proofhouse list FAMILY, and proofhouse list FAMILY NAME for a whole page",
                    );
                }
            }
        }
        Ok(Exit::Ok)
    }
}

/// All families, as members of one.
fn families() -> Vec<Member> {
    let values = Family::value_variants().iter().filter_map(clap::ValueEnum::to_possible_value);
    let member = |value: clap::builder::PossibleValue| Member {
        name: value.get_name().to_owned(),
        summary: value.get_help().map(ToString::to_string).unwrap_or_default(),
        page: None,
    };
    values.map(member).collect()
}

impl Family {
    fn members(self) -> Vec<Member> {
        let page = |page: Page| {
            let (name, text) = (page.name.to_owned(), page.render());
            Member { name, summary: page.summary, page: Some(text) }
        };
        let line = |name: &str, summary: &str| Member {
            name: name.to_owned(),
            summary: summary.to_owned(),
            page: None,
        };
        let pages = |pages: Vec<Page>| pages.into_iter().map(page).collect();
        match self {
            Family::Generators => pages(GeneratorConfig::pages()),
            Family::Attacks => pages(AttackConfig::pages()),
            Family::Judges => pages(JudgeConfig::pages()),
            Family::Targets => pages(TargetConfig::pages()),
            Family::Exports => kinds::exports().map(|format| line(format.name, format.about)).collect(),
            Family::Imports => kinds::imports().map(|import| line(import.name, import.about)).collect(),
            Family::ExitCodes => {
                let code = |(exit, meaning): &(Exit, &str)| line(&(*exit as u8).to_string(), meaning);
                Exit::TABLE.iter().map(code).collect()
            }
        }
    }
}
