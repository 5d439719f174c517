//! What the guard says about the shape of an answer: sentences, steps and talk.

use super::super::scan::{is_final, quotations};
use super::text::Text;
use super::{Comparison, Reason, terms};

impl Comparison<'_> {
    /// `extra_sentence`, `multi_step` and `meta_commentary`.
    pub(super) fn shape(&self, reasons: &mut Vec<Reason>) {
        if breaks(self.answer) > breaks(self.base) {
            reasons.push(Reason::ExtraSentence);
        }
        let steps = terms::STEPS.iter().any(|phrase| self.grows(phrase));
        let items = items(self.answer.raw) > items(self.base.raw);
        let strict = self.strict
            && (self.joined_verbs().next().is_some()
                || self.answer.raw.matches(';').count() > self.base.raw.matches(';').count());
        if steps || items || strict {
            reasons.push(Reason::MultiStep);
        }
        if self.talks() {
            reasons.push(Reason::MetaCommentary);
        }
    }

    fn talks(&self) -> bool {
        let (base, answer) = (self.base, self.answer);
        let opens = terms::OPENINGS.iter().any(|phrase| answer.starts(phrase) && !base.starts(phrase));
        let remarks = terms::REMARKS.iter().any(|phrase| self.grows(phrase));
        let labelled = label(answer.raw).is_some() && label(base.raw).is_none();
        opens || remarks || labelled || (is_wrapped(answer.raw) && !is_wrapped(base.raw.trim()))
    }
}

/// Places where one sentence or paragraph ends and another begins.
fn breaks(text: &Text<'_>) -> usize {
    let is_break = |pair: &&[super::super::scan::Chunk]| {
        let (chunk, next) = (&pair[0], &pair[1]);
        let gap = &text.raw[chunk.whole.end..next.whole.start];
        let numbering = chunk.word(text.raw).bytes().all(|byte| byte.is_ascii_digit())
            && text.raw[..chunk.whole.start].rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
        let ends = !numbering
            && chunk.tail(text.raw).contains(is_final)
            && !chunk.word(text.raw).contains('.')
            && (chunk.plain || text.raw[next.whole.start..].starts_with(char::is_uppercase));
        ends || gap.matches('\n').count() > 1
    };
    text.chunks.windows(2).filter(is_break).count()
}

/// A few words before a colon that say what comes after it.
fn label(text: &str) -> Option<&str> {
    let (head, _) = text.split_once(':')?;
    let words = Text::read(head);
    let labels = words.words.len() <= 4 && terms::LABELS.iter().any(|label| words.count(label) > 0);
    labels.then_some(head)
}

/// Lines that start like the items of a list.
fn items(text: &str) -> usize {
    let is_item = |line: &&str| {
        let line = line.trim_start();
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered =
            number.len() < line.len() && number.starts_with(['.', ')']) && number[1..].starts_with(' ');
        numbered || ["- ", "* ", "• "].iter().any(|bullet| line.starts_with(bullet))
    };
    text.lines().filter(is_item).count()
}

/// The whole text is one quotation or one piece of code.
fn is_wrapped(text: &str) -> bool {
    quotations(text).first() == Some(&(0..text.len()))
}
