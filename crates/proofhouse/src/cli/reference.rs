//! The reference pages and schemas in the tree, generated from the program itself. A test says when they drifted.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::exit::Exit;
use super::schema::FileFormat;
use super::{Cli, suite_page};
use crate::family::attack::AttackConfig;
use crate::family::judge::JudgeConfig;
use crate::family::target::TargetConfig;
use crate::family::vary::GeneratorConfig;
use crate::text::page::Page;

/// Every generated file: its path from the root of the project, and its content.
pub fn generated() -> Vec<(String, String)> {
    let mut files = vec![
        ("docs/suite.md".to_owned(), suite_page::page()),
        ("docs/reference/commands.md".to_owned(), commands()),
        ("docs/reference/exit-codes.md".to_owned(), exit_codes()),
        (
            "docs/reference/attacks.md".to_owned(),
            family("Attacks", "puts planted text into another form", &AttackConfig::pages()),
        ),
        (
            "docs/reference/generators.md".to_owned(),
            family("Generators", "turns an instruction into variants of it", &GeneratorConfig::pages()),
        ),
        (
            "docs/reference/judges.md".to_owned(),
            family("Judges", "decides whether an answer is right", &JudgeConfig::pages()),
        ),
        (
            "docs/reference/targets.md".to_owned(),
            family("Targets", "can be put to the test", &TargetConfig::pages()),
        ),
    ];
    files.extend(
        FileFormat::all().map(|format| (format!("schemas/{}.schema.json", format.name()), format.text())),
    );
    files
}

fn commands() -> String {
    let mut text =
        "# Commands\n\nGenerated from the program; `proofhouse COMMAND --help` says the same.\n".to_owned();
    let mut root = Cli::command();
    root.build();
    for command in root.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let help = command.clone().term_width(100).render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(text, "\n## {}\n\n```text\n{}\n```\n", command.get_name(), help.join("\n").trim_end());
    }
    text
}

fn exit_codes() -> String {
    let mut text = "# Exit codes\n\n| code | meaning |\n|---:|---|\n".to_owned();
    for (exit, meaning) in Exit::TABLE {
        let _ = writeln!(text, "| {} | {meaning} |", exit as u8);
    }
    text
}

fn family(title: &str, what: &str, pages: &[Page]) -> String {
    let mut text =
        format!("# {title}\n\nWhat {what}. Generated from the source; `proofhouse list` says the same.\n");
    for page in pages {
        let _ = write!(text, "\n## {}\n\n{}\n", page.name, page.text.trim_end());
        if page.parameters.is_empty() {
            continue;
        }
        text.push_str("\n| setting | what it does | default |\n|---|---|---|\n");
        for parameter in &page.parameters {
            let what = parameter.text.replace('\n', " ").replace('|', "\\|");
            let default = parameter.default.as_deref().filter(|default| *default != "null").unwrap_or("");
            let _ = writeln!(text, "| `{}` | {what} | {} |", parameter.name, default.replace('|', "\\|"));
        }
    }
    text
}
