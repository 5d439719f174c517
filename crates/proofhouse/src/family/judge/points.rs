//! Counting statements: a model lists those of one text and says of each whether another text supports it.

use super::grading::{self, Models, Opinion, plain};
use super::text::excerpt;
use super::{Advice, Help, Judge, Question, Subject, Verdict};
use crate::text::complaint::Complaint;

/// What a model has to end its list with, and how each line begins. The prompts say the same.
const LAST: &str = "STATEMENTS";
const SUPPORTED: &str = "SUPPORTED";
const UNSUPPORTED: &str = "UNSUPPORTED";

/// A judge's settings: which text is broken into statements, and the context that has to support them.
pub(super) trait Supported: Clone + Send + Sync + 'static {
    const NAME: &'static str;
    const PROMPT: &'static str;

    /// The text, or why there is none.
    fn broken(&self, subject: &Subject<'_>) -> Result<String, Complaint>;
    fn context(&self) -> &str;
    fn min_share(&self) -> Option<f64>;
    fn models(&self) -> &Models;
}

/// Where a context is looked for unless the settings say otherwise.
pub(super) fn context_field() -> String {
    "{{ context }}".to_owned()
}

/// The judge of these settings.
pub(super) fn compile(settings: &impl Supported) -> Result<Box<dyn Judge>, Complaint> {
    grading::check_share(settings.min_share())?;
    grading::check(settings.models())?;
    Ok(Box::new(Statements(settings.clone())))
}

struct Statements<S>(S);

impl<S: Supported> Statements<S> {
    /// The text, with a context to look for it in.
    fn text(&self, subject: &Subject<'_>) -> Result<String, Complaint> {
        grading::shown("the context", self.0.context())?;
        self.0.broken(subject)
    }
}

impl<S: Supported> Judge for Statements<S> {
    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let why = self.text(subject).err().map_or_else(|| "no model was asked".to_owned(), |why| why.what);
        Verdict::unjudged(why)
    }

    fn help(&self) -> Option<Help> {
        grading::help(self.0.models())
    }

    fn asks(&self, subject: &Subject<'_>) -> Vec<Question> {
        let Ok(text) = self.text(subject) else { return Vec::new() };
        let texts = [subject.input, self.0.context(), text.as_str()];
        grading::questions(S::NAME, S::PROMPT, &texts, self.0.models())
    }

    fn judge_with(&self, subject: &Subject<'_>, advice: &[Advice]) -> Verdict {
        if let Err(complaint) = self.text(subject) {
            return Verdict::unjudged(complaint.what);
        }
        let opinions: Vec<_> = advice.iter().map(|advice| share(grading::reply(advice))).collect();
        grading::graded(self.0.models(), &opinions, self.0.min_share())
    }

    fn said(&self, advice: &[Advice]) -> Vec<(String, Option<f64>, Option<String>)> {
        grading::said(self.0.models(), advice, |advice| share(grading::reply(advice)))
    }
}

/// The share of statements that are supported, with the first that is not. A list that is cut off, or whose own count differs, is none.
fn share(reply: Result<String, Complaint>) -> Opinion {
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
