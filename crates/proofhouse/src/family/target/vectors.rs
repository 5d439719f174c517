//! The target that turns text into numbers by a file of word vectors.

use std::collections::BTreeMap;

use proofhouse_ledger::{Digest, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::{Outcome, Reply};
use super::{Chat, Local, Member, Opening, System, pinned};
use crate::text::complaint::Complaint;

/// Embeddings without a network: the mean of the vectors of a text's words, from a static file.
///
/// **Purpose.** The model of a `similar` judge where no endpoint may be asked, and rehearsals of one.
///
/// **File.** Lines of a word and its numbers with spaces between them, as GloVe and word2vec's text format have them; a first line
/// with two numbers (words and dimensions) is skipped. Words are looked up as they stand, then in lower case; punctuation at their ends does
/// not count.
///
/// **Guarantee.** `sha256` is required and checked, so that the run's identity covers every number. A text without any word of the file is
/// the error `no_vector`: nothing is made up. The same text has the same numbers on every machine.
///
/// ```yaml
/// meaning: {vectors: {path: glove.50d.txt, sha256: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vectors {
    /// The file, relative to the suite and below its directory.
    pub path: String,
    /// The SHA-256 that it has to have.
    pub sha256: Digest,
}

impl Vectors {
    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        pinned::check(&self.path)
    }
}

impl Member for Vectors {
    const IS_HERE: bool = true;

    fn system(&self, opening: &Opening) -> Result<System, Complaint> {
        let bytes = pinned::read(&self.path, self.sha256, opening)?;
        let table = Table::read(&bytes).map_err(|complaint| {
            complaint
                .about(format!("`{}`:", self.path))
                .hint("a word and its numbers on each line")
                .key("path")
        })?;
        Ok(System::Local(Box::new(table)))
    }
}

/// The numbers of every word, all of one length.
#[derive(Debug)]
struct Table {
    words: BTreeMap<String, Vec<f32>>,
    length: usize,
}

impl Table {
    fn read(bytes: &[u8]) -> Result<Self, Complaint> {
        let text = std::str::from_utf8(bytes).map_err(|_| Complaint::new("the file is not UTF-8"))?;
        let mut table = Table { words: BTreeMap::new(), length: 0 };
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |what: &str| Complaint::new(format!("line {}: {what}", at + 1));
            let mut parts = line.trim_end().split(' ');
            let word = parts.next().unwrap_or_default();
            let numbers: Option<Vec<f32>> =
                parts.map(|part| part.parse().ok().filter(|number: &f32| number.is_finite())).collect();
            let numbers = numbers
                .filter(|numbers| !numbers.is_empty())
                .ok_or_else(|| wrong("no numbers follow the word"))?;
            if at == 0 && numbers.len() == 1 && word.parse::<u64>().is_ok() {
                continue;
            }
            if table.length == 0 {
                table.length = numbers.len();
            }
            if numbers.len() != table.length {
                return Err(wrong("it has more or fewer numbers than the first"));
            }
            table.words.entry(word.to_owned()).or_insert(numbers);
        }
        match table.words.is_empty() {
            true => Err(Complaint::new("no line has a word")),
            false => Ok(table),
        }
    }

    fn word(&self, word: &str) -> Option<&Vec<f32>> {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let tried = [word, bare].into_iter().find_map(|word| self.words.get(word));
        tried.or_else(|| self.words.get(&bare.to_lowercase()))
    }
}

impl Local for Table {
    /// The mean of the vectors of a text's words.
    fn chat(&self, chat: &Chat) -> Reply {
        let mut sum = vec![0.0f64; self.length];
        let mut count = 0u32;
        for vector in chat.last().split_whitespace().filter_map(|word| self.word(word)) {
            count += 1;
            sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += f64::from(*number));
        }
        if count == 0 {
            return Reply::failed("no_vector", "no word of this text is in the file");
        }
        let mean = sum.into_iter().map(|number| Json::Number(number / f64::from(count)));
        Reply::new(Outcome::Answered, Some(Json::Array(mean.collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_mean_of_its_words() {
        let table = Table::read(b"2 2\nrain 1 0\nwet 0 1\n").unwrap();
        let said = |text: &str| {
            let reply = table.chat(&Chat::ask(text, 0, 0));
            reply.output.map_or_else(
                || reply.outcome.explained().0.unwrap_or_default().to_owned(),
                |output| output.to_string(),
            )
        };
        assert_eq!(said("rain"), "[1,0]");
        assert_eq!(said("Rain, and so: WET!"), "[0.5,0.5]");
        assert_eq!(said("sun"), "no_vector");
    }

    #[test]
    fn files_that_are_something_else_are_refused() {
        for (file, why) in [
            ("", "no line has a word"),
            ("a 1\nb 1 2\n", "line 2: it has more or fewer"),
            ("a b\n", "line 1: no numbers"),
            ("a\n", "line 1: no numbers"),
            ("a NaN\n", "line 1: no numbers"),
        ] {
            assert!(Table::read(file.as_bytes()).unwrap_err().what.contains(why), "{file}");
        }
    }
}
