//! What judges with a pinned prompt have in common: models that can be asked, marks that no text can foresee, and the reading of replies.

use std::collections::BTreeMap;

use proofhouse_ledger::{Digest, Json};

use super::{Advice, Help, Question, Verdict};
use crate::family::target::{Chat, Outcome, TargetConfig};
use crate::text::complaint::Complaint;

/// How much of one text a model is shown.
pub(super) const MAX_SHOWN_CHARS: usize = 40_000;

/// The models of a judge, by name.
pub(super) type Models = BTreeMap<String, TargetConfig>;

/// What each model says: a score where it could judge, and words for the reason.
pub(super) type Opinion = (Option<f64>, String);

/// Whether there are models, and all of them can be asked.
pub(super) fn check(models: &Models) -> Result<(), Complaint> {
    if models.is_empty() {
        return Err(
            Complaint::new("no model judges").hint("`models: {first: {openai: {model: gpt-4o-mini}}}`")
        );
    }
    for (name, config) in models {
        if let Some(complaint) = config.check().into_iter().next() {
            // The way to it stays behind: it leads through the model's settings, not through the judge's.
            return Err(Complaint { at: Vec::new(), ..complaint.about(format!("model `{name}`:")) });
        }
    }
    Ok(())
}

/// Whether this is a share.
pub(super) fn check_share(min_share: Option<f64>) -> Result<(), Complaint> {
    match min_share.filter(|share| !(0.0..=1.0).contains(share)) {
        None => Ok(()),
        Some(share) => Err(Complaint::new(format!("`min_share` is {share}")).hint("it is from 0 to 1")),
    }
}

/// Everybody who has to be there.
pub(super) fn help(models: &Models) -> Option<Help> {
    Some(Help::Models(models.iter().map(|(name, config)| (name.clone(), config.clone())).collect()))
}

/// A text that is shown to models: there is something in it, and not too much.
pub(super) fn shown<'t>(what: &str, text: &'t str) -> Result<&'t str, Complaint> {
    if text.trim().is_empty() {
        return Err(Complaint::new(format!("{what} is empty")));
    }
    match text.chars().nth(MAX_SHOWN_CHARS) {
        None => Ok(text),
        Some(_) => Err(Complaint::new(format!("{what} is longer than {MAX_SHOWN_CHARS} characters"))),
    }
}

/// Puts one prompt to every model. `{mark}` in it becomes a line that follows from all texts, so that none of them can close it, and
/// `{0}`, `{1}` and so on become the texts.
pub(super) fn questions(judge: &str, prompt: &str, texts: &[&str], models: &Models) -> Vec<Question> {
    let mut parts: Vec<&[u8]> = vec![judge.as_bytes()];
    parts.extend(texts.iter().map(|text| text.as_bytes()));
    let digest = Digest::of_parts(&parts);
    let mark = format!("====={}=====", &digest.to_string()[..16]);
    let mut filled = String::with_capacity(prompt.len() + texts.iter().map(|text| text.len()).sum::<usize>());
    let mut rest = prompt;
    // In one pass: a text that holds `{1}` itself is never filled.
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (hole, after) = after.split_once('}').expect("a pinned prompt closes its holes");
        filled.push_str(match hole.parse::<usize>() {
            Ok(place) => texts[place],
            Err(_) => &mark,
        });
        rest = after;
    }
    filled.push_str(rest);
    let seed = u64::from_le_bytes(digest.0[..8].try_into().expect("eight of thirty-two bytes"));
    (0..models.len()).map(|at| Question::Model(at, Chat::ask(filled.clone(), seed, 0))).collect()
}

/// What a model said, or why it said nothing.
pub(super) fn reply(advice: &Advice) -> Result<String, Complaint> {
    let Advice::Reply(reply) = advice else { return Err(Complaint::new("was not asked")) };
    match (&reply.outcome, &reply.output) {
        (Outcome::Answered, Some(output)) => Ok(output.to_text()),
        (outcome, _) => {
            Err(Complaint::new(format!("no verdict ({})", outcome.explained().0.unwrap_or("nothing"))))
        }
    }
}

/// The mean of the models that could judge, with the words of all; 1 or 0 where a share is enough. No score
/// where half of them or more could not judge.
pub(super) fn graded(models: &Models, opinions: &[Opinion], min_share: Option<f64>) -> Verdict {
    let scores: Vec<f64> = opinions.iter().filter_map(|(score, _)| *score).collect();
    let words: Vec<String> =
        models.keys().zip(opinions).map(|(name, (_, words))| format!("{name}: {words}")).collect();
    let words = words.join("; ");
    if scores.len() * 2 <= opinions.len() {
        let (could, all) = (scores.len(), opinions.len());
        return Verdict::unjudged(format!("{could} of {all} models could judge; {words}"));
    }
    let mean = (scores.iter().sum::<f64>() / scores.len() as f64).clamp(0.0, 1.0);
    // What rounding takes from a mean decides nothing.
    let score = min_share.map_or(mean, |least| f64::from(mean + 1e-12 >= least));
    Verdict::graded(score, || words.clone()).explained(|| words)
}

/// What models said, in full, for the record.
pub(super) fn said(
    models: &Models,
    advice: &[Advice],
    opinion: impl Fn(&Advice) -> Opinion,
) -> Vec<(String, Option<f64>, Option<String>)> {
    let text = |advice: &Advice| match advice {
        Advice::Reply(reply) => reply.output.as_ref().map(Json::to_text),
        _ => None,
    };
    models.keys().zip(advice).map(|(name, advice)| (name.clone(), opinion(advice).0, text(advice))).collect()
}

/// A line without the decoration that models like, in capitals.
pub(super) fn plain(line: &str) -> String {
    line.trim().trim_matches(['*', '_', '`', '#', ' ', '.', '-']).to_ascii_uppercase()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Judge, JudgeConfig, Subject};
    use super::*;
    use crate::family::target::Reply;

    /// The judge of some settings, with as many models as there are replies; `down` is no reply.
    pub(in super::super) fn verdict(yaml: &str, subject: &Subject<'_>, replies: &[&str]) -> Verdict {
        let models: Vec<String> =
            (0..replies.len()).map(|nth| format!("m{nth}: {{scripted: {{}}}}")).collect();
        let yaml = yaml.replace("MODELS", &format!("models: {{{}}}", models.join(", ")));
        let config: JudgeConfig =
            serde_saphyr::from_str(&yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"));
        let judge: Box<dyn Judge> = super::super::templated::compile(&config).unwrap();
        let advice: Vec<Advice> = replies.iter().map(|text| advice(text)).collect();
        let asked = judge.asks(subject);
        let verdict = judge.judge_with(subject, &advice[..asked.len().min(advice.len())]);
        assert!(asked.is_empty() || asked.len() == replies.len(), "{asked:?}");
        assert_eq!(judge.said(&advice).len(), replies.len());
        verdict
    }

    pub(in super::super) fn advice(text: &str) -> Advice {
        Advice::Reply(Box::new(match text {
            "down" => Reply::failed("connection", "refused"),
            text => Reply::new(Outcome::Answered, Some(Json::from(text))),
        }))
    }

    #[test]
    fn texts_neither_close_their_marks_nor_fill_holes() {
        let models = Models::from([("m".to_owned(), serde_saphyr::from_str("scripted: {}").unwrap())]);
        let asked = questions("x", "{mark}\n{0}\n{mark}\n{1}", &["a {1} {mark}", "b"], &models);
        let Question::Model(0, chat) = &asked[0] else { panic!("{asked:?}") };
        let lines: Vec<&str> = chat.last().lines().collect();
        assert_eq!(lines[1], "a {1} {mark}");
        assert_eq!((lines[0], lines[3]), (lines[2], "b"));
        assert!(lines[0].starts_with("=====") && lines[0].len() == 26, "{lines:?}");
    }
}
