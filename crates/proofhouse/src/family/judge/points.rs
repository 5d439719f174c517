//! Counting statements: a model lists those of one text and says of each whether another text supports it.

use super::grading::{Opinion, plain};
use super::text::excerpt;
use crate::text::complaint::Complaint;

/// What a model has to end its list with, and how each line begins. The prompts say the same.
const LAST: &str = "STATEMENTS";
const SUPPORTED: &str = "SUPPORTED";
const UNSUPPORTED: &str = "UNSUPPORTED";

/// The share of statements that are supported, with the first that is not. A list that is cut off, or whose own count differs, is none.
pub(super) fn share(reply: Result<String, Complaint>) -> Opinion {
    let text = match reply {
        Ok(text) => text,
        Err(why) => return (None, why.what),
    };
    let (mut supported, mut all, mut first) = (0_u32, 0_u32, None);
    let mut counted = None;
    for line in text.lines() {
        let bare = unnumbered(line);
        let Some((word, rest)) = bare.split_once(':') else { continue };
        match plain(word).as_str() {
            SUPPORTED => (supported, all) = (supported + 1, all + 1),
            UNSUPPORTED => {
                all += 1;
                first.get_or_insert_with(|| excerpt(rest.trim()));
            }
            LAST => counted = plain(rest).parse::<u32>().ok(),
            _ => {}
        }
    }
    match counted {
        None => (None, format!("no list of statements in {}", excerpt(&text))),
        Some(0) if all == 0 => (None, "found no statement".to_owned()),
        Some(said) if said != all => (None, format!("counted {said} statements and listed {all}")),
        Some(_) => {
            let first = first.map_or_else(String::new, |first| format!(", not {first}"));
            (Some(f64::from(supported) / f64::from(all)), format!("{supported} of {all} supported{first}"))
        }
    }
}

/// A line without the number or dash of a list.
fn unnumbered(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•'));
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits.len() < line.len() {
        true => digits.trim_start_matches(['.', ')', ' ']),
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_counted() {
        let share = |text: &str| share(Ok(text.to_owned()));
        let two = "Let me see.\n1. SUPPORTED: Paris is a city.\n2) **Unsupported:** It has 9 rivers.\n\nSTATEMENTS: 2";
        assert_eq!(share(two), (Some(0.5), "1 of 2 supported, not `** It has 9 rivers.`".to_owned()));
        assert_eq!(share("- SUPPORTED: a\n* SUPPORTED: b\n**STATEMENTS: 2**").0, Some(1.0));
        assert_eq!(share("UNSUPPORTED: a\nSTATEMENTS: 1.").0, Some(0.0));
        for (none, why) in [
            ("", "no list"),
            ("SUPPORTED: a", "no list"),
            ("SUPPORTED: a\nSTATEMENTS: 2", "counted 2 statements and listed 1"),
            ("STATEMENTS: 0", "found no statement"),
            ("STATEMENTS: many", "no list"),
            ("All of it is SUPPORTED: yes\nSTATEMENTS: 1", "counted 1 statements and listed 0"),
        ] {
            let (score, words) = share(none);
            assert!(score.is_none() && words.contains(why), "{none}: {words}");
        }
    }
}
