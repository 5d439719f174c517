//! The generators: what else could the user have written?
//!
//! A generator turns one instruction into variants of it. The rule-based ones are pure functions of the instruction,
//! their settings, the seed and the variant's index; the model-based ones only make a prompt here, and `guard` decides
//! about what the model answered. Nothing here knows suites, files, clocks or models. A new generator is a file with
//! its settings plus two lines here: `pub mod x;` and a row of the table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::complaint::Complaint;
use crate::text::page::Page;

pub mod add_ambiguity;
pub mod add_constraints_tension;
pub mod add_multi_objective;
pub mod add_scope_detail;
pub mod ai_register_shift;
pub mod ai_rephrase_with_focus_shift;
pub mod ai_rewrite;
pub mod ai_semantic_restatement;
pub mod ambiguity_injection_light;
pub mod constraint_injection_light;
pub mod lexical_shuffle;
pub mod punctuation_noise;
pub mod synonym_substitution;
pub mod whitespace_noise;

pub mod contract;
pub mod guard;

mod additions;
mod code;
mod edit;
mod intensity;
mod lexicon;
mod prompt;
mod rng;
mod scan;
mod slots;
mod space;

pub use self::edit::{Edit, apply, reverse};
pub use self::prompt::{MAX_ATTEMPTS, Prompt, Rewriter};
pub use self::space::MAX_VARIANTS;

/// What a generator is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask<'a> {
    /// The instruction as the case has it, byte for byte.
    pub base: &'a str,
    /// How many variants are wanted.
    pub count: u32,
    /// The seed that the suite gave to this generator.
    pub seed: u64,
    /// The case: two cases with the same seed still draw different variants.
    pub case_id: &'a str,
}

/// A rule-based generator: it needs no model and gives the same bytes everywhere.
///
/// Variants differ from each other and from the base, and the first `k` of `n` are those that an ask for `k` gives.
pub trait Generator {
    /// The variants, in the order of their index.
    fn variants(&self, ask: &Ask<'_>) -> Variants;
}

/// What a generator gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variants {
    /// The variants, in the order of their index.
    pub list: Vec<Variant>,
    /// Set when there are fewer than asked for.
    pub shortfall: Option<Shortfall>,
}

/// One variant of an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its place, from 0.
    pub index: u32,
    /// The instruction that the target receives.
    pub text: String,
    /// What was changed, in the order of the base; `reverse` restores the base from it.
    pub edits: Vec<Edit>,
}

/// Fewer variants exist than were asked for; nothing is repeated to fill the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shortfall {
    /// How many variants were asked for.
    pub requested: u32,
    /// How many there are.
    pub produced: u32,
    /// Why there are no more.
    pub reason: Lack,
}

/// Why there are no more variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// The base has no text to work on.
    EmptyText,
    /// There is no white space between two words.
    NoGap,
    /// The wanted share of characters cannot be reached in this text.
    IntensityOutOfReach,
    /// No phrase can change its place without a risk for the meaning.
    NoSafeMove,
    /// No word of the text is in the map, or all of them are protected.
    NoSynonym,
    /// Every phrase is already there or would conflict with the text.
    NoFittingPhrase,
    /// All variants that exist are given.
    Exhausted,
    /// More than `MAX_VARIANTS` were asked for.
    Limit,
}

/// A data file that a generator works from; a change of its bytes is a new version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
    /// Its version.
    pub version: u32,
    /// SHA-256 of its bytes.
    pub digest: proofhouse_ledger::Digest,
}

/// How a generator comes to its variants.
#[derive(Clone, Copy)]
pub enum Maker<'a> {
    /// By rules, here and now.
    Rules(&'a dyn Generator),
    /// By a model, whose answers the guard looks at.
    Model(&'a dyn Rewriter),
}

/// What the settings of every generator can do; the struct that implements it is what a user writes.
pub trait Settings: JsonSchema {
    /// The generator's name as a suite spells it.
    const NAME: &'static str;

    /// Goes up whenever the same ask would give other bytes.
    const GENERATOR_VERSION: u32;

    /// Says what is wrong with the settings.
    fn check(&self) -> Result<(), Complaint> {
        Ok(())
    }

    /// The data file behind the generator.
    fn data(&self) -> Option<DataFile> {
        None
    }

    /// The generator at work.
    fn maker(&self) -> Maker<'_>;
}

macro_rules! family {
    ($($(#[$meta:meta])+ $variant:ident($settings:ty),)+) => {
        /// One generator as a suite spells it: the generator's name as the only key, its settings below.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum GeneratorConfig {
            $($(#[$meta])+ $variant($settings),)+
        }

        impl GeneratorConfig {
            /// The name of every generator, in the order of the table.
            pub const NAMES: &[&str] = &[$(<$settings as Settings>::NAME),+];

            /// The documentation page of every generator, in the order of the table.
            pub fn pages() -> Vec<Page> {
                vec![$(Page::of::<$settings>(<$settings as Settings>::NAME)),+]
            }

            /// The generator's name as a suite spells it; an alias gives the name.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => <$settings as Settings>::NAME,)+ }
            }

            /// The generator's version, which belongs to the identity of a plan.
            pub fn version(&self) -> u32 {
                match self { $(Self::$variant(_) => <$settings as Settings>::GENERATOR_VERSION,)+ }
            }

            /// Says what is wrong with the settings.
            pub fn check(&self) -> Result<(), Complaint> {
                match self { $(Self::$variant(settings) => settings.check(),)+ }
            }

            /// The data file behind the generator, which belongs to the identity of a plan.
            pub fn data(&self) -> Option<DataFile> {
                match self { $(Self::$variant(settings) => settings.data(),)+ }
            }

            /// The generator at work.
            pub fn maker(&self) -> Maker<'_> {
                match self { $(Self::$variant(settings) => settings.maker(),)+ }
            }
        }
    };
}

family! {
    /// Extra spaces, tabs and line breaks between words.
    WhitespaceNoise(whitespace_noise::WhitespaceNoise),
    /// Commas, periods and colons that come or go.
    PunctuationNoise(punctuation_noise::PunctuationNoise),
    /// Phrases in another order.
    LexicalShuffle(lexical_shuffle::LexicalShuffle),
    /// Words replaced by close synonyms.
    SynonymSubstitution(synonym_substitution::SynonymSubstitution),
    /// One mildly ambiguous phrase more.
    AmbiguityInjectionLight(ambiguity_injection_light::AmbiguityInjectionLight),
    /// One soft preference more.
    ConstraintInjectionLight(constraint_injection_light::ConstraintInjectionLight),
    /// A model rewrites in another style.
    #[serde(alias = "ai_rewrite_style")]
    AiRewrite(ai_rewrite::AiRewrite),
    /// A model rewrites with another emphasis.
    AiRephraseWithFocusShift(ai_rephrase_with_focus_shift::AiRephraseWithFocusShift),
    /// A model restates the task in other words.
    AiSemanticRestatement(ai_semantic_restatement::AiSemanticRestatement),
    /// A model rewrites in another register.
    AiRegisterShift(ai_register_shift::AiRegisterShift),
    /// Concrete details are added.
    AddScopeDetail(add_scope_detail::AddScopeDetail),
    /// Competing preferences are added.
    AddConstraintsTension(add_constraints_tension::AddConstraintsTension),
    /// Judgement calls are added.
    AddAmbiguity(add_ambiguity::AddAmbiguity),
    /// Further deliverables are added.
    AddMultiObjective(add_multi_objective::AddMultiObjective),
}

#[cfg(test)]
mod tests;
