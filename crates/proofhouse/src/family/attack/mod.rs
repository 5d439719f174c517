//! Attack generators: what else could an attacker have planted?
//!
//! A generator puts one planted text into another form that asks for the same. All are pure functions of the text and their
//! settings; whether a form works is what a containment suite finds out. A new one is a file with its settings plus two lines
//! here: `mod x;` and a row of the table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::complaint::Complaint;
use crate::text::page::Page;

mod authority;
mod base64;
mod delimiter_forgery;
mod few_shot_smuggling;
mod hex;
mod homoglyph;
mod html_hiding;
mod markdown_hiding;
mod other_language;
mod payload_splitting;
mod role_forgery;
mod rot13;
mod urgency;
mod zero_width;

/// What the settings of every attack generator can do; the struct that implements it is what a user writes.
pub trait Settings: JsonSchema {
    /// The generator's name as a suite spells it.
    const NAME: &'static str;

    /// Goes up whenever the same text would get another form.
    const GENERATOR_VERSION: u32;

    /// Says what is wrong with the settings.
    fn check(&self) -> Result<(), Complaint> {
        Ok(())
    }

    /// A planted text in its new form, which is never the text itself.
    fn disguise(&self, text: &str) -> String;
}

macro_rules! family {
    ($($(#[$meta:meta])+ $variant:ident($settings:ty),)+) => {
        /// One attack generator as a suite spells it: its name as the only key, its settings below.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum AttackConfig {
            $($(#[$meta])+ $variant($settings),)+
        }

        impl AttackConfig {
            /// The name of every attack generator, in the order of the table.
            pub const NAMES: &[&str] = &[$(<$settings as Settings>::NAME),+];

            /// The documentation page of every attack generator, in the order of the table.
            pub fn pages() -> Vec<Page> {
                vec![$(Page::of::<$settings>(<$settings as Settings>::NAME)),+]
            }

            /// The generator's name as a suite spells it.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => <$settings as Settings>::NAME,)+ }
            }

            /// The generator's version, which belongs to the identity of a run.
            pub fn version(&self) -> u32 {
                match self { $(Self::$variant(_) => <$settings as Settings>::GENERATOR_VERSION,)+ }
            }

            /// Says what is wrong with the settings.
            pub fn check(&self) -> Result<(), Complaint> {
                match self { $(Self::$variant(settings) => settings.check(),)+ }
            }

            /// A planted text in its new form.
            pub fn disguise(&self, text: &str) -> String {
                match self { $(Self::$variant(settings) => settings.disguise(text),)+ }
            }
        }
    };
}

family! {
    /// Base64, with a request to decode it.
    Base64(base64::Base64),
    /// Hexadecimal digits, with a request to decode them.
    Hex(hex::Hex),
    /// ROT13, with a request to decode it.
    Rot13(rot13::Rot13),
    /// Zero-width spaces inside words.
    ZeroWidth(zero_width::ZeroWidth),
    /// Letters that look like others.
    Homoglyph(homoglyph::Homoglyph),
    /// The request in another language.
    OtherLanguage(other_language::OtherLanguage),
    /// Pieces that are put together later.
    PayloadSplitting(payload_splitting::PayloadSplitting),
    /// Where Markdown shows nothing.
    MarkdownHiding(markdown_hiding::MarkdownHiding),
    /// Where HTML shows nothing.
    HtmlHiding(html_hiding::HtmlHiding),
    /// Words of the system or the user that nobody said.
    RoleForgery(role_forgery::RoleForgery),
    /// An end of the quoted material that is none.
    DelimiterForgery(delimiter_forgery::DelimiterForgery),
    /// Pressure of time.
    Urgency(urgency::Urgency),
    /// In the name of somebody who may decide.
    Authority(authority::Authority),
    /// A made-up conversation in which it always worked.
    FewShotSmuggling(few_shot_smuggling::FewShotSmuggling),
}

#[cfg(test)]
mod tests;
