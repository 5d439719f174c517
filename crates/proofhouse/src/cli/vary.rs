//! `vary`: what a generator makes of an instruction, to look at.

use clap::Args;
use proofhouse_ledger::Json;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::family::vary::{Ask, GeneratorConfig, Maker, Variant};
use crate::text::complaint::Complaint;
use crate::text::yaml;

/// Print variants of an instruction, with their edits.
#[derive(Debug, Args)]
pub(super) struct Vary {
    /// The generator; `proofhouse list generators` names them.
    generator: String,

    /// The instruction, byte for byte.
    #[arg(long, value_name = "TEXT")]
    instruction: String,

    /// How many variants.
    #[arg(long, value_name = "N", default_value_t = 5)]
    count: u32,

    /// The seed.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,

    /// The generator's settings, as JSON or YAML.
    #[arg(long, value_name = "YAML", default_value = "{}")]
    params: String,
}

impl Vary {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let config = self.config()?;
        config.check().map_err(|complaint| Failure::of(Exit::Usage, complaint))?;
        let ask = Ask { base: &self.instruction, count: self.count, seed: self.seed, case_id: "vary" };
        match config.maker() {
            Maker::Rules(generator) => {
                let variants = generator.variants(&ask);
                for variant in &variants.list {
                    terminal.data(&show(variant))?;
                }
                if let Some(shortfall) = variants.shortfall {
                    let (made, asked) = (shortfall.produced, shortfall.requested);
                    terminal.say(&format!("shortfall: {made} of {asked} ({:?})", shortfall.reason));
                }
            }
            Maker::Model(rewriter) => {
                terminal.say("this generator asks a model; these are the prompts");
                for index in 0..self.count {
                    terminal.data(&format!("{index}\t{:?}\n", rewriter.prompt(&ask, index, 1)))?;
                }
            }
        }
        Ok(Exit::Ok)
    }

    fn config(&self) -> Result<GeneratorConfig, Failure> {
        let text = format!("{{{}: {}}}", self.generator, self.params);
        // By way of plain JSON: the YAML reader would be compiled for the settings of every generator otherwise.
        let json: Result<Json, Complaint> = yaml::read(&text);
        let config = json.and_then(|json| serde_json::from_str(&json.to_string()).map_err(Complaint::of));
        config.map_err(|error| {
            let known = GeneratorConfig::NAMES.contains(&self.generator.as_str());
            let hint = match known {
                true => format!("`proofhouse list generators {}` shows the settings", self.generator),
                false => "`proofhouse list generators` names them".to_owned(),
            };
            Failure::say(Exit::Usage, format!("generator `{}`: {}", self.generator, error.what)).hint(hint)
        })
    }
}

/// The variant as a JSON string, then one line per edit.
fn show(variant: &Variant) -> String {
    let quoted = |text: &str| proofhouse_ledger::Json::from(text).to_string();
    let mut text = format!("{}\t{}\n", variant.index, quoted(&variant.text));
    for edit in &variant.edits {
        text.push_str(&format!(
            "\tat {}: {} -> {}\n",
            edit.at,
            quoted(&edit.removed),
            quoted(&edit.inserted)
        ));
    }
    text
}
