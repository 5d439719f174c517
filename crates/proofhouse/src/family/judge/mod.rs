//! The judges of `probe` suites: was this answer right?
//!
//! A judge is a pure function of what the target was given, what it answered and what the case expects. It knows
//! nothing of suites, trials or files. A new one is a file with its settings, and here its `mod` line and a row of the table.
//! `panel` puts several judges together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::complaint::Complaint;
use crate::text::page::Page;

mod bleu;
mod choice;
mod combine;
mod command;
mod contains;
mod context_recall;
mod cost;
mod equals;
mod exit_code;
mod f1;
mod factuality;
mod faithfulness;
mod finish_reason;
mod given;
mod is_sql;
mod is_xml;
mod json_equals;
mod json_schema;
mod latency;
mod length;
mod levenshtein;
mod math;
mod not;
mod numeric;
mod plugin;
mod refusal;
mod regex;
mod rouge;
mod rubric;
mod select_best;
mod similar;
mod starts_with;
mod tool_calls;

mod ask;
mod extract;
mod grading;
mod latest;
mod panel;
mod points;
mod subject;
mod templated;
mod text;

pub use self::ask::{Advice, Help, Question, Run};
pub use self::bleu::Bleu;
pub use self::choice::{Choice, ExpectedAs};
pub use self::combine::{All, Any};
pub use self::command::Command;
pub use self::contains::{Contains, Require};
pub use self::context_recall::ContextRecall;
pub use self::cost::Cost;
pub use self::equals::Equals;
pub use self::exit_code::ExitCode;
pub use self::extract::Extract;
pub use self::f1::F1;
pub use self::factuality::{Factuality, FactualityScores};
pub use self::faithfulness::Faithfulness;
pub use self::finish_reason::FinishReason;
pub use self::given::Given;
pub use self::is_sql::{IsSql, SqlDialect, SqlExtract, SqlKind};
pub use self::is_xml::IsXml;
pub use self::json_equals::JsonEquals;
pub use self::json_schema::JsonSchemaJudge;
pub use self::latency::Latency;
pub use self::length::{Length, Unit};
pub use self::levenshtein::Levenshtein;
pub use self::math::Math;
pub use self::not::Not;
pub use self::numeric::Numeric;
pub use self::panel::{Panel, PanelVerdict, Scoring};
pub use self::plugin::PluginJudge;
pub use self::refusal::Refusal;
pub use self::regex::RegexJudge;
pub use self::rouge::{Measure, Rouge, Variant};
pub use self::rubric::{Decide, Rubric};
pub use self::select_best::{Orders, SelectBest};
pub use self::similar::Similar;
pub use self::starts_with::StartsWith;
pub use self::subject::{MAX_REASON_CHARS, Subject, Verdict, Weighs};
pub use self::templated::{OWN_FIELDS, templates};
pub use self::text::Which;
pub use self::tool_calls::{Extra, Order, ToolCalls};

/// A judge that is ready to work: its patterns are compiled, its own values are normalised.
pub trait Judge: Send + Sync {
    /// Judges one answer. Never panics, and its work is bounded whatever the target answered.
    fn judge(&self, subject: &Subject<'_>) -> Verdict;

    /// Who has to be there; most judges need nobody.
    fn help(&self) -> Option<Help> {
        None
    }

    /// What it weighs beside the answer; most judges look at nothing else.
    fn weighs(&self) -> Weighs {
        Weighs::default()
    }

    /// What has to be asked about a subject before it can be judged.
    fn asks(&self, _: &Subject<'_>) -> Vec<Question> {
        Vec::new()
    }

    /// Judges one answer with what was advised, in the order of the questions.
    fn judge_with(&self, subject: &Subject<'_>, _: &[Advice]) -> Verdict {
        self.judge(subject)
    }

    /// What models said, in full: name, score where there is one, and text where there is one. Nothing from judges that ask none.
    fn said(&self, _: &[Advice]) -> Vec<(String, Option<f64>, Option<String>)> {
        Vec::new()
    }
}

/// What the settings of every judge can do; the struct that implements it is what a user writes.
pub trait Settings: JsonSchema {
    /// Turns settings into a judge, or says what is wrong with them.
    fn compile(&self) -> Result<Box<dyn Judge>, Complaint>;

    /// Whether a case without `expected` cannot be judged.
    fn needs_expected(&self) -> bool;
}

macro_rules! family {
    ($($(#[doc = $doc:literal])+ $variant:ident($settings:ty) = $name:literal,)+) => {
        /// One judge as a suite spells it: the judge's name as the only key, its settings below.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum JudgeConfig {
            $($(#[doc = $doc])+ $variant($settings),)+
        }

        impl JudgeConfig {
            /// The name of every judge, in the order of the table.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The judge's name as a suite spells it.
            pub fn name(&self) -> &'static str {
                match self { $(JudgeConfig::$variant(_) => $name,)+ }
            }

            fn settings(&self) -> &dyn SettingsObject {
                match self { $(JudgeConfig::$variant(settings) => settings,)+ }
            }

            /// The documentation page of every judge, in the order of the table.
            pub fn pages() -> Vec<Page> {
                vec![$(Page::of::<$settings>($name)),+]
            }
        }
    };
}

family! {
    /// The answer is the expected text.
    Equals(Equals) = "equals",
    /// The answer contains the expected text.
    Contains(Contains) = "contains",
    /// The answer matches a regular expression, or what the expression captures is the expected text.
    Regex(RegexJudge) = "regex",
    /// The answer is JSON that satisfies a JSON Schema.
    JsonSchema(JsonSchemaJudge) = "json-schema",
    /// The answer is the expected JSON value.
    JsonEquals(JsonEquals) = "json-equals",
    /// The answer is the expected number, within a tolerance.
    Numeric(Numeric) = "numeric",
    /// The answer names the expected choice, in any of the usual spellings.
    Choice(Choice) = "choice",
    /// The answer is close to the expected text by edit distance.
    Levenshtein(Levenshtein) = "levenshtein",
    /// The answer shares its words and phrases with the expected text.
    Bleu(Bleu) = "bleu",
    /// The answer shares its words with the expected text.
    Rouge(Rouge) = "rouge",
    /// The program ended with one of these exit codes.
    ExitCode(ExitCode) = "exit-code",
    /// A program in the sandbox judges.
    Command(Command) = "command",
    /// A program that speaks JSON lines judges.
    Plugin(PluginJudge) = "plugin",
    /// Models judge by a criterion in words.
    Rubric(Rubric) = "rubric",
    /// The answer does not satisfy another judge.
    Not(Not) = "not",
    /// At least one of several judges is satisfied.
    Any(Any) = "any",
    /// Every one of several judges is satisfied.
    All(All) = "all",
    /// The answer begins with the expected text.
    StartsWith(StartsWith) = "starts-with",
    /// The answer is neither too short nor too long.
    Length(Length) = "length",
    /// The answer declines, or does not.
    Refusal(Refusal) = "refusal",
    /// The answer ended as it should.
    FinishReason(FinishReason) = "finish-reason",
    /// The answer shares its words with the expected text, as SQuAD scores it.
    F1(F1) = "f1",
    /// The answer's final result is the expected one, however it is written.
    Math(Math) = "math",
    /// The answer calls the right tools with the right arguments.
    ToolCalls(ToolCalls) = "tool-calls",
    /// The answer means the same as the expected text, by embeddings.
    Similar(Similar) = "similar",
    /// Models choose between the answer and another one.
    SelectBest(SelectBest) = "select-best",
    /// The answer is well-formed XML.
    IsXml(IsXml) = "is-xml",
    /// The score that another tool or a person gave already.
    Given(Given) = "given",
    /// The answer came in time.
    Latency(Latency) = "latency",
    /// The answer cost no more than it may.
    Cost(Cost) = "cost",
    /// The answer is SQL of the kinds, tables and columns that are allowed.
    IsSql(IsSql) = "is-sql",
    /// Models say how the answer's facts stand to those of the expected one.
    Factuality(Factuality) = "factuality",
    /// Models say how much of the expected answer the retrieved context holds.
    ContextRecall(ContextRecall) = "context-recall",
    /// Models say how much of the answer the given context supports.
    Faithfulness(Faithfulness) = "faithfulness",
}

impl JudgeConfig {
    /// Whether the settings make sense, without keeping the judge.
    pub fn check(&self) -> Result<(), Complaint> {
        self.compile().map(drop)
    }

    /// The judge that these settings describe.
    pub fn compile(&self) -> Result<Box<dyn Judge>, Complaint> {
        self.settings().compile_object()
    }

    /// Whether a case without `expected` cannot be judged.
    pub fn needs_expected(&self) -> bool {
        self.settings().needs_expected_object()
    }
}

/// `Settings` without its static parts, so that the table can hand out any member behind one reference.
trait SettingsObject {
    fn compile_object(&self) -> Result<Box<dyn Judge>, Complaint>;
    fn needs_expected_object(&self) -> bool;
}

impl<S: Settings> SettingsObject for S {
    fn compile_object(&self) -> Result<Box<dyn Judge>, Complaint> {
        self.compile()
    }
    fn needs_expected_object(&self) -> bool {
        self.needs_expected()
    }
}

#[cfg(test)]
mod tests;
