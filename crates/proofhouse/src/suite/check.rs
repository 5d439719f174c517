//! What types cannot say: names that have to exist, settings that have to fit together. All of it is reported at once.

use proofhouse_ledger::id::check_name;

use super::file::{Kind, ProbeFile, ScoringFile};
use super::model::{Determinism, Primary, Scoring, Suite};
use super::problem::{Code, Problem, did_you_mean, listed, quoted};
use super::tree::{Entry, Kind as Node, Step, Tree, path_text};
use crate::target::{At, Template};

/// The name that means the weighted mean, and so no judge.
const WEIGHTED_MEAN: &str = "weighted_mean";

/// Kinds that a suite can have some day.
const OTHER_KINDS: [&str; 3] = ["code", "robustness", "containment"];

/// A kind that exists, but not yet here, is said to be so rather than called unknown.
pub(crate) fn check_kind(tree: &Tree) -> Option<Problem> {
    let entry = tree.entry(tree.root, "kind")?;
    let Node::Text(kind) = &tree.node(entry.value).kind else { return None };
    let place = tree.place(tree.root, &[Step::Key("kind")]);
    if OTHER_KINDS.contains(&kind.as_str()) {
        let what = format!("suites of kind `{kind}` are not supported by this version");
        return Some(Problem::new(Code::Unsupported, place, what).hint("this version runs `kind: probe`"));
    }
    let known = [&["probe"], &OTHER_KINDS[..]].concat();
    let unknown = !known.contains(&kind.as_str());
    unknown.then(|| {
        Problem::new(Code::BadValue, place, format!("{} is not a kind of suite", quoted(kind)))
            .hint(did_you_mean(kind, &known, "kinds"))
    })
}

/// Problems found in one suite.
pub(crate) struct Checker<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) problems: Vec<Problem>,
}

impl Checker<'_> {
    pub(crate) fn complain(
        &mut self,
        code: Code,
        steps: &[Step<'_>],
        what: impl Into<String>,
    ) -> &mut Problem {
        let place = self.tree.place(self.tree.root, steps);
        self.complain_at(code, place, steps, what)
    }

    /// As `complain`, but at the key that the last step names instead of its value.
    fn complain_of_key(&mut self, code: Code, steps: &[Step<'_>], what: impl Into<String>) -> &mut Problem {
        let mut entry = None;
        for step in steps {
            let map = entry.map_or(self.tree.root, |entry: &Entry| entry.value);
            entry = match step {
                Step::Key(key) => self.tree.entry(map, key),
                Step::Index(_) => None,
            };
        }
        let place = match entry {
            Some(entry) => self.tree.source.place(entry.key_mark),
            None => self.tree.place(self.tree.root, steps),
        };
        self.complain_at(code, place, steps, what)
    }

    fn complain_at(
        &mut self,
        code: Code,
        place: super::problem::Place,
        steps: &[Step<'_>],
        what: impl Into<String>,
    ) -> &mut Problem {
        self.problems.push(Problem::new(code, place, what).at_path(path_text(steps)));
        self.problems.last_mut().expect("one was pushed just above")
    }

    /// From what was written to what it means; `None` when the prompt is no template.
    pub(crate) fn suite(&mut self, file: &ProbeFile, determinism: Determinism, seed: u64) -> Option<Suite> {
        if let Err(error) = check_name(&file.suite_id) {
            self.complain(Code::BadValue, &[Step::Key("suite_id")], error.to_string()).hint =
                Some(format!("for example `{}`", as_name(&file.suite_id)));
        }
        self.targets(file);
        self.judges(file);
        let scoring = self.scoring(file, &file.scoring);
        if file.cases.is_empty() && file.datasets.is_empty() {
            let steps: &[Step<'_>] = match self.tree.entry(self.tree.root, "cases") {
                Some(_) => &[Step::Key("cases")],
                None => &[],
            };
            self.complain(Code::Empty, steps, "the suite has no cases").hint =
                Some("write some below `cases:`, or name a file below `datasets:`".to_owned());
        }
        let prompt_template = match Template::parse(&file.prompt) {
            Ok(template) => Some(template),
            Err(error) => {
                self.complain(Code::Template, &[Step::Key("prompt")], error.what).hint =
                    Some("write `{{` and `}}` for braces that stand for themselves".to_owned());
                None
            }
        };
        Some(Suite {
            kind: Kind::Probe,
            suite_id: file.suite_id.clone(),
            title: file.title.clone(),
            description: file.description.clone(),
            seed,
            repetitions: u32::try_from(file.repetitions.0).expect("the type holds at most 100000"),
            timeout_ms: file.timeout_ms.0,
            determinism,
            targets: file.targets.0.clone(),
            prompt: file.prompt.clone(),
            prompt_template: prompt_template?,
            judges: file.judges.0.clone(),
            scoring,
            gate: file.gate.clone(),
        })
    }

    fn targets(&mut self, file: &ProbeFile) {
        if file.targets.0.is_empty() {
            self.complain(Code::Empty, &[Step::Key("targets")], "the suite has no targets").hint =
                Some("give it at least one: `targets: {model: {scripted: {…}}}`".to_owned());
        }
        for (slot, config) in &file.targets.0 {
            self.name("targets", slot);
            for complaint in config.check() {
                let mut steps = vec![Step::Key("targets"), Step::Key(slot), Step::Key(config.kind_name())];
                steps.extend(complaint.at.iter().map(|at| match at {
                    At::Key(key) => Step::Key(key),
                    At::Index(index) => Step::Index(*index),
                }));
                self.complain(Code::BadValue, &steps, complaint.what).hint = complaint.hint;
            }
        }
    }

    fn judges(&mut self, file: &ProbeFile) {
        if file.judges.0.is_empty() {
            self.complain(Code::Empty, &[Step::Key("judges")], "the suite has no judges").hint =
                Some("give it at least one: `judges: {exact: {equals: {}}}`".to_owned());
        }
        for (name, config) in &file.judges.0 {
            self.name("judges", name);
            if name == WEIGHTED_MEAN {
                let what = format!("`{WEIGHTED_MEAN}` is the name of the mean of all judges");
                self.complain_of_key(Code::BadValue, &[Step::Key("judges"), Step::Key(name)], what).hint =
                    Some("choose another name".to_owned());
            }
            if let Err(what) = config.check() {
                // A judge gives a fragment, a blank line and a hint.
                let (what, hint) = match what.split_once("\n\nhint: ") {
                    Some((what, hint)) => (what, Some(hint.to_owned())),
                    None => (what.as_str(), None),
                };
                let steps = [Step::Key("judges"), Step::Key(name), Step::Key(config.name())];
                self.complain(Code::BadValue, &steps, what).hint = hint;
            }
        }
    }

    fn name(&mut self, map: &str, name: &str) {
        if let Err(error) = check_name(name) {
            self.complain_of_key(Code::BadValue, &[Step::Key(map), Step::Key(name)], error.to_string())
                .hint = Some(format!("for example `{}`", as_name(name)));
        }
    }

    fn scoring(&mut self, file: &ProbeFile, scoring: &ScoringFile) -> Scoring {
        let names: Vec<&str> = file.judges.0.iter().map(|(name, _)| name.as_str()).collect();
        let mut weights = vec![1.0; names.len()];
        for (name, weight) in &scoring.weights.0 {
            match names.iter().position(|known| known == name) {
                Some(at) => weights[at] = weight.0,
                None => {
                    let steps = [Step::Key("scoring"), Step::Key("weights"), Step::Key(name)];
                    let what = format!("no judge is named {}", quoted(name));
                    self.complain_of_key(Code::UnknownJudge, &steps, what).hint =
                        Some(did_you_mean(name, &names, "judges"));
                }
            }
        }
        let primary = match scoring.primary.as_deref() {
            None if names.len() == 1 => Primary::Judge(0),
            None | Some(WEIGHTED_MEAN) => Primary::WeightedMean,
            Some(name) => match names.iter().position(|known| *known == name) {
                Some(at) => Primary::Judge(at),
                None => {
                    let known = [&names[..], &[WEIGHTED_MEAN]].concat();
                    let what = format!("no judge is named {}", quoted(name));
                    self.complain(Code::UnknownJudge, &[Step::Key("scoring"), Step::Key("primary")], what)
                        .hint = Some(format!("the choices are {}", listed(known)));
                    Primary::WeightedMean
                }
            },
        };
        if primary == Primary::WeightedMean && !names.is_empty() && weights.iter().sum::<f64>() == 0.0 {
            let steps = [Step::Key("scoring"), Step::Key("weights")];
            self.complain(Code::BadValue, &steps, "all weights are 0, so there is no weighted mean").hint =
                Some("give at least one judge a weight above 0".to_owned());
        }
        let threshold = scoring.threshold.map_or(1.0, |threshold| threshold.0);
        Scoring { weights, threshold, primary }
    }
}

/// The nearest text that is a usable name.
fn as_name(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .take(100)
        .collect();
    match name.trim_matches(['.', '-']) {
        "" => "my-suite".to_owned(),
        name => name.to_owned(),
    }
}
