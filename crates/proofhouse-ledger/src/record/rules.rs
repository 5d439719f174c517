//! What a record must be beside well-formed: the fields of its kind and no others, each of its type, and no two that
//! contradict each other.

use super::declare::Shape;
use super::field::each_plain_score;
use super::layout::LayoutId;
use super::{Damage, HEAD, Kind, Line, Status};
use crate::Digest;
use crate::json::is_canonical;

/// Which fields of its kind a line has, remembered for further lines of the same layout.
#[derive(Default, Clone)]
pub(crate) struct Fitting {
    of: Option<(LayoutId, Kind)>,
    /// One for each field of the line.
    shapes: Vec<&'static Shape>,
}

impl Fitting {
    /// Whether each field is one of its kind, and none is missing; then `shapes` has them.
    fn finds(&mut self, line: &Line<'_>, kind: Kind) -> bool {
        if self.of == Some((line.layout(), kind)) {
            return true;
        }
        self.of = None;
        self.shapes.clear();
        let mut all = kind.shape().iter();
        for (key, _) in line.fields() {
            let due = all.find(|shape| shape.name.as_bytes() == key || !(shape.may_be_missing)());
            match due.filter(|shape| shape.name.as_bytes() == key) {
                Some(shape) => self.shapes.push(shape),
                None => return false,
            }
        }
        let whole = all.all(|shape| (shape.may_be_missing)());
        self.of = whole.then_some((line.layout(), kind));
        whole
    }
}

/// Everything that is wrong with a record by itself, in words.
pub(crate) fn wrongs(line: &Line<'_>, kind: Kind, fitting: &mut Fitting, wrong: &mut Vec<String>) {
    let fits = |((_, raw), shape): ((_, &[u8]), &&'static Shape)| (shape.fits)(raw);
    if !fitting.finds(line, kind) || !line.fields().zip(&fitting.shapes).all(fits) {
        let before = wrong.len();
        misfits(line, kind, wrong);
        if wrong.len() > before {
            return;
        }
    }
    match judgement(line).and_then(|mut found| {
        unanswered(line, &mut found)?;
        found.extend(kind.contradictions(line)?);
        Ok(found)
    }) {
        Ok(found) => wrong.extend(found.into_iter().map(str::to_owned)),
        Err(damage) => wrong.push(damage.to_string()),
    }
}

/// Fields that are missing, unknown or of another type. Both lists are in the order of a line.
fn misfits(line: &Line<'_>, kind: Kind, wrong: &mut Vec<String>) {
    let mut shapes = kind.shape().iter().peekable();
    for (key, raw) in line.fields() {
        // Mostly the next field is the one that is due, which is told faster than which of two comes first.
        let mut due = shapes.next_if(|shape| shape.name.as_bytes() == key);
        if due.is_none() {
            while let Some(shape) = shapes.next_if(|shape| shape.name.as_bytes() < key) {
                if !(shape.may_be_missing)() {
                    wrong.push(Damage::Field(shape.name).to_string());
                }
            }
            due = shapes.next_if(|shape| shape.name.as_bytes() == key);
        }
        match due {
            Some(shape) if (shape.fits)(raw) => {}
            Some(shape) if !is_canonical(raw) => {
                wrong.push(format!("field `{}` is not in canonical form", shape.name));
            }
            Some(shape) => wrong.push(Damage::Field(shape.name).to_string()),
            None => {
                let (name, kind) = (String::from_utf8_lossy(key), kind.as_str());
                wrong.push(format!("field `{name}` is none of a `{kind}` record"));
            }
        }
    }
    for shape in shapes.filter(|shape| !(shape.may_be_missing)()) {
        wrong.push(Damage::Field(shape.name).to_string());
    }
}

/// Status, verdict and deciding score must agree, whatever the kind.
fn judgement(line: &Line<'_>) -> Result<Vec<&'static str>, Damage> {
    let mut wrong = Vec::new();
    let (status, passed) = (line.status()?, line.get(HEAD.passed)?);
    let unanswered = !matches!(status, Status::Success | Status::Timeout);
    if unanswered && passed.is_some() {
        wrong.push("`passed` is not null, and `status` says that there was nothing to judge");
    }
    if status == Status::Timeout && passed == Some(true) {
        wrong.push("`passed` is true, and `status` says that there was no answer in time");
    }
    let primary = line.get(HEAD.primary_metric)?;
    let scores = scored(line, primary.as_deref())?;
    if scores.beyond {
        wrong.push("a score is not between 0 and 1");
    }
    if let Some(score) = scores.deciding {
        match (passed, score) {
            // A threshold is at most 1, so that nothing fails with a score of 1.
            (Some(false), Some(1.0)) => wrong.push("`passed` contradicts the score of `primary_metric`"),
            (Some(_), None) => {
                wrong.push("one of `passed` and the score of `primary_metric` is null and the other is not");
            }
            _ => {}
        }
    }
    Ok(wrong)
}

/// Who was not asked said nothing and used nothing, and what went wrong has a class.
fn unanswered(line: &Line<'_>, wrong: &mut Vec<&'static str>) -> Result<(), Damage> {
    let is_null = |raw: &[u8]| raw == b"null";
    if line.status()? == Status::NotRun && !is_null(line.require(HEAD.usage)?) {
        wrong.push("there is `usage`, and `status` says that nobody ran it");
    }
    if is_null(line.require(HEAD.error_type)?) && !is_null(line.require(HEAD.error)?) {
        wrong.push("there is an `error`, and `error_type` is null");
    }
    Ok(())
}

/// What a record's scores say about its verdict.
#[derive(Default)]
struct Scored {
    /// Whether one is not between 0 and 1.
    beyond: bool,
    /// The score of the primary metric, if there is one.
    deciding: Option<Option<f64>>,
}

fn scored(line: &Line<'_>, primary: Option<&str>) -> Result<Scored, Damage> {
    let mut scored = Scored::default();
    let take = |scored: &mut Scored, name: &str, score: Option<f64>| {
        scored.beyond |= score.is_some_and(|score| !(0.0..=1.0).contains(&score));
        if Some(name) == primary {
            scored.deciding = Some(score);
        }
    };
    let raw = line.require(HEAD.scores)?;
    if each_plain_score(raw, |name, score| take(&mut scored, name, score)).is_none() {
        scored = Scored::default();
        line.get(HEAD.scores)?.iter().for_each(|(name, score)| take(&mut scored, name, *score));
    }
    Ok(scored)
}

/// Of kinds whose deciding score is the verdict as a number; judges may have given others beside it where the record has their reasons.
pub(super) fn score_is_the_verdict(
    line: &Line<'_>,
    metric: &str,
    judged: bool,
    wrong: &mut Vec<&'static str>,
) -> Result<(), Damage> {
    let passed = line.get(HEAD.passed)?.map(f64::from);
    let scores = line.get(HEAD.scores)?;
    let own = scores.iter().any(|(name, score)| name == metric && *score == passed);
    let alone = scores.len() == 1 || judged;
    if !own || !alone || line.get(HEAD.primary_metric)?.as_deref() != Some(metric) {
        wrong.push("`scores` is not the verdict as a number");
    }
    Ok(())
}

/// Whether a stored text, if all of it is there as it came, has this digest. What was cut, redacted or was no UTF-8 is not what
/// the digest is of.
pub(super) fn is_digest_of(text: Option<&str>, true_length: Option<u64>, digest: Option<Digest>) -> bool {
    let Some((text, digest)) = text.zip(digest) else { return true };
    let untouched =
        true_length == Some(text.len() as u64) && !text.contains('\u{fffd}') && !text.contains("[redacted");
    !untouched || Digest::of(text.as_bytes()) == digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;
    use crate::record::{Spans, samples};

    /// `turns` is the last field of a probe that may be absent, `variant_id` the last that may not.
    #[test]
    fn only_fields_that_every_record_has_are_missed_behind_the_last() {
        let told = |key: &str, value: &str| {
            let line = samples::forged(&samples::probe(0, &Json::Null, |_| {}), key, value);
            let (mut spans, mut wrong) = (Spans::default(), Vec::new());
            let line = Line::split(line.strip_suffix(b"\n").unwrap(), &mut spans).unwrap();
            wrongs(&line, Kind::Probe, &mut Fitting::default(), &mut wrong);
            wrong
        };
        assert_eq!(told("variant_id", ""), ["field `variant_id` is missing or of the wrong type"]);
        assert_eq!(told("zebra", "1"), ["field `zebra` is none of a `probe` record"]);
        assert_eq!(told("turns", "[]"), [""; 0]);
    }

    #[test]
    fn only_what_is_all_there_is_held_against_its_digest() {
        let (own, other) = (Some(Digest::of(b"abc")), Some(Digest::of(b"other")));
        for (text, length, digest, is) in [
            (Some("abc"), Some(3), own, true),
            (Some("abc"), Some(3), other, false),
            // Cut, of no known length, not there, not digested, no UTF-8, redacted.
            (Some("abc"), Some(4), other, true),
            (Some("abc"), None, other, true),
            (None, Some(3), other, true),
            (Some("abc"), Some(3), None, true),
            (Some("a\u{fffd}"), Some(4), other, true),
            (Some("[redacted x]"), Some(12), other, true),
        ] {
            assert_eq!(is_digest_of(text, length, digest), is, "{text:?} {length:?}");
        }
    }

    #[test]
    fn a_verdict_is_its_score_and_has_no_other_beside_it() {
        for (passed, metric, scores, judged, right) in [
            ("true", "pass", r#"{"pass":1}"#, false, true),
            ("false", "pass", r#"{"pass":0}"#, false, true),
            ("null", "pass", r#"{"pass":null}"#, false, true),
            ("true", "pass", r#"{"pass":0}"#, false, false),
            ("null", "pass", r#"{"pass":1}"#, false, false),
            ("true", "pass", r#"{"other":1}"#, false, false),
            ("true", "pass", "{}", true, false),
            ("true", "pass", r#"{"other":0.5,"pass":1}"#, false, false),
            ("true", "pass", r#"{"other":0.5,"pass":1}"#, true, true),
            ("true", "other", r#"{"pass":1}"#, false, false),
        ] {
            let text = format!(r#"{{"passed":{passed},"primary_metric":"{metric}","scores":{scores}}}"#);
            let (mut spans, mut wrong) = (Spans::default(), Vec::new());
            let line = Line::split(text.as_bytes(), &mut spans).unwrap();
            score_is_the_verdict(&line, "pass", judged, &mut wrong).unwrap();
            assert_eq!(wrong.is_empty(), right, "{text} {judged}");
        }
    }

    /// Whatever they are stored as: 0, 1 and null are read without a parser, all others with one.
    #[test]
    fn status_verdict_and_deciding_score_agree() {
        let (unjudged, late) = ("there was nothing to judge", "there was no answer in time");
        let (beyond, against, half) =
            ("not between 0 and 1", "contradicts the score", "is null and the other is not");
        for (status, passed, scores, said) in [
            ("success", "true", r#"{"a":1}"#, &[][..]),
            ("success", "true", r#"{"a":0}"#, &[]),
            ("success", "false", r#"{"a":0.5}"#, &[]),
            ("success", "null", r#"{"a":null}"#, &[]),
            ("success", "true", r#"{"b":null}"#, &[]),
            ("success", "false", r#"{"a":1}"#, &[against]),
            ("success", "false", r#"{"a":1,"b":0.5}"#, &[against]),
            ("success", "true", r#"{"a":null}"#, &[half]),
            ("success", "false", r#"{"a":null,"b":0.25}"#, &[half]),
            ("success", "true", r#"{"a":1,"b":-0.5}"#, &[beyond]),
            ("success", "true", r#"{"a":1.5}"#, &[beyond]),
            ("timeout", "false", r#"{"a":0}"#, &[]),
            ("timeout", "null", r#"{"a":null}"#, &[]),
            ("timeout", "true", r#"{"a":1}"#, &[late]),
            ("error", "null", r#"{"a":null}"#, &[]),
            ("error", "false", r#"{"a":0}"#, &[unjudged]),
            ("not_run", "true", r#"{"a":1}"#, &[unjudged]),
        ] {
            let text = format!(
                r#"{{"passed":{passed},"primary_metric":"a","scores":{scores},"status":"{status}"}}"#
            );
            let mut spans = Spans::default();
            let wrong = judgement(&Line::split(text.as_bytes(), &mut spans).unwrap()).unwrap();
            assert_eq!(wrong.len(), said.len(), "{text}: {wrong:?}");
            assert!(wrong.iter().zip(said).all(|(wrong, said)| wrong.contains(said)), "{text}: {wrong:?}");
        }
    }
}
