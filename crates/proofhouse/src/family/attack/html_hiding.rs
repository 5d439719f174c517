//! The `html_hiding` attack generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;

/// The text in HTML that browsers do not show: white on white, without size, off the page.
///
/// Guarantee: the text is in it, byte for byte.
///
/// ```yaml
/// html_hiding: {}
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HtmlHiding {}

impl Settings for HtmlHiding {
    const NAME: &'static str = "html_hiding";
    const GENERATOR_VERSION: u32 = 1;

    fn disguise(&self, text: &str) -> String {
        format!(
            "<span style=\"color:#fff;background:#fff;font-size:0;position:absolute;left:-9999px\" aria-hidden=\"true\">{text}</span>"
        )
    }
}
