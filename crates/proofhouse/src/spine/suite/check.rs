//! What types cannot say: names that have to exist, settings that have to fit together. All of it is reported at once.

use proofhouse_ledger::id::check_name;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::Kind;

use super::file::{DeterminismFile, Gate};
use super::load::Overrides;
use super::model::{Determinism, Slot, Suite};
use super::problem::{Code, Problem, did_you_mean, quoted};
use super::tree::{Entry, Kind as Node, Step, Tree, path_text};
use crate::family::target::TargetConfig;
use crate::text::complaint::{At, Complaint};
use crate::text::template::Template;

/// The word that a suite has for its kind, if it is one of those that there are; `None` where it has no word.
pub(crate) fn kind_word<'n>(tree: &Tree, known: &[&'n str]) -> Result<Option<&'n str>, Problem> {
    let Some(entry) = tree.entry(tree.root, "kind") else { return Ok(None) };
    let Node::Text(word) = &tree.node(entry.value).kind else { return Ok(None) };
    if let Some(kind) = known.iter().find(|kind| *kind == word) {
        return Ok(Some(kind));
    }
    let place = tree.place(tree.root, &[Step::Key("kind")]);
    Err(Problem::new(Code::BadValue, place, format!("{} is not a kind of suite", quoted(word)))
        .hint(did_you_mean(word, known, "kinds")))
}

/// What suites of all kinds say.
pub(crate) struct Common<'f> {
    pub(crate) suite_id: &'f str,
    pub(crate) title: &'f Option<String>,
    pub(crate) description: &'f Option<String>,
    pub(crate) seed: u64,
    pub(crate) timeout_ms: u64,
    pub(crate) determinism: &'f DeterminismFile,
    pub(crate) targets: &'f [(String, TargetConfig)],
    pub(crate) gate: &'f Option<Gate>,
    /// Names of the metrics that the gate may ask for.
    pub(crate) metrics: Vec<&'static str>,
    /// Those of them that records have only where they say measured times.
    pub(crate) timed: &'static [&'static str],
}

impl Common<'_> {
    /// The suite with what its kind adds; each target has a slot.
    pub(crate) fn suite(&self, overrides: &Overrides, kind: Kind, own: Object) -> Suite {
        Suite {
            suite_id: self.suite_id.to_owned(),
            title: self.title.clone(),
            description: self.description.clone(),
            seed: overrides.seed.unwrap_or(self.seed),
            timeout_ms: self.timeout_ms,
            determinism: determinism(self.determinism, overrides),
            targets: self.targets.to_vec(),
            slots: self.targets.iter().map(|(name, target)| Slot::of_target(name, target)).collect(),
            gate: self.priced_gate(),
            kind,
            own,
        }
    }
}

impl Common<'_> {
    /// The gate, with how each target counts the tokens that its prices are for.
    pub(crate) fn priced_gate(&self) -> Option<Gate> {
        let mut gate = self.gate.clone()?;
        for (slot, price) in &mut gate.prices {
            let target = self.targets.iter().find(|(name, _)| name == slot);
            price.cached_apart = target.is_some_and(|(_, target)| target.counts_cached_apart());
        }
        Some(gate)
    }
}

/// Problems found in one suite.
pub(crate) struct Checker<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) problems: Vec<Problem>,
}

impl Checker<'_> {
    /// Refuses what a gate of this kind does not know: its trials are not all alike.
    pub(crate) fn plain_gate(&mut self, gate: &Option<Gate>) {
        if gate.as_ref().is_some_and(Gate::is_refined) {
            let what = "the gate of such a suite knows `pass_rate` and `metrics` only";
            self.complain(Code::BadValue, &[Step::Key("gate")], what).hint =
                Some("`confidence`, `per_tag` and `per_case` are for `probe` and `containment`".to_owned());
        }
    }

    /// Refuses a gate that asks for nothing, or for metrics that the kind does not have.
    fn gate(&mut self, gate: &Option<Gate>, known: &[&str]) {
        let Some(gate) = gate else { return };
        if gate.pass_rate.is_none() && (gate.metrics.is_empty() || gate.is_refined()) {
            let what = "the gate has no `pass_rate`";
            self.complain(Code::MissingKey, &[Step::Key("gate")], what).hint =
                Some("for example `gate: {pass_rate: 0.9}`".to_owned());
        }
        for (name, limits) in &gate.metrics {
            let at = [Step::Key("gate"), Step::Key("metrics"), Step::Key(name)];
            if !known.contains(&name.as_str()) {
                let what = format!("suites of this kind have no metric {}", quoted(name));
                self.complain_of_key(Code::BadValue, &at, what).hint =
                    Some(did_you_mean(name, known, "metrics"));
            } else if limits.at_least.is_none() && limits.at_most.is_none() {
                let what = format!("nothing is asked of {}", quoted(name));
                self.complain_of_key(Code::BadValue, &at, what).hint =
                    Some(format!("for example `{name}: {{at_most: 0.05}}`"));
            }
        }
    }

    pub(crate) fn complain(
        &mut self,
        code: Code,
        steps: &[Step<'_>],
        what: impl Into<String>,
    ) -> &mut Problem {
        let place = self.tree.place(self.tree.root, steps);
        self.complain_at(code, place, steps, what)
    }

    /// Passes on a complaint about the settings at `steps`.
    pub(crate) fn pass_on(&mut self, code: Code, steps: &[Step<'_>], complaint: Complaint) {
        let inside = complaint.at.iter().map(|at| match at {
            At::Key(key) => Step::Key(key),
            At::Index(index) => Step::Index(*index),
        });
        let steps: Vec<Step<'_>> = steps.iter().copied().chain(inside).collect();
        let problem = self.complain(code, &steps, complaint.what);
        problem.hint = complaint.hint;
        if complaint.secret {
            problem.place.text = None;
        }
    }

    /// As `complain`, but at the key that the last step names instead of its value.
    pub(crate) fn complain_of_key(
        &mut self,
        code: Code,
        steps: &[Step<'_>],
        what: impl Into<String>,
    ) -> &mut Problem {
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

    /// What can be wrong with what all kinds say.
    pub(crate) fn common(&mut self, file: &Common<'_>, overrides: &Overrides) {
        if let Err(error) = check_name(file.suite_id) {
            self.complain(Code::BadValue, &[Step::Key("suite_id")], error.to_string()).hint =
                Some(format!("for example `{}`", as_name(file.suite_id)));
        }
        self.targets(file.targets);
        self.gate(file.gate, &file.metrics);
        if let Some(gate) = file.gate {
            self.expenses(gate, file, overrides);
        }
    }

    /// Refuses a gate on what records will not say.
    fn expenses(&mut self, gate: &Gate, file: &Common<'_>, overrides: &Overrides) {
        let deterministic = determinism(file.determinism, overrides).deterministic_artifacts;
        for name in gate.metrics.keys().filter(|name| deterministic && file.timed.contains(&name.as_str())) {
            let at = [Step::Key("gate"), Step::Key("metrics"), Step::Key(name)];
            let what = format!("{} is measured, and deterministic records say no times", quoted(name));
            self.complain_of_key(Code::BadValue, &at, what).hint =
                Some("`determinism: {deterministic_artifacts: false}` writes them".to_owned());
        }
        if !gate.prices.is_empty() && !file.metrics.contains(&"cost_usd") {
            let what = "suites of this kind have no metric `cost_usd`, so nothing needs prices";
            self.complain_of_key(Code::BadValue, &[Step::Key("gate"), Step::Key("prices")], what).hint =
                Some("`input_tokens` and `output_tokens` can be held to limits".to_owned());
            return;
        }
        let slots: Vec<&str> = file.targets.iter().map(|(name, _)| name.as_str()).collect();
        for (slot, price) in &gate.prices {
            let at = [Step::Key("gate"), Step::Key("prices"), Step::Key(slot)];
            if !slots.contains(&slot.as_str()) {
                let what = format!("no target is named {}", quoted(slot));
                self.complain_of_key(Code::BadValue, &at, what).hint =
                    Some(did_you_mean(slot, &slots, "targets"));
            }
            if [price.input, price.output, price.cached.unwrap_or(0.0)]
                .iter()
                .any(|usd| !usd.is_finite() || *usd < 0.0)
            {
                self.complain_of_key(
                    Code::BadValue,
                    &at,
                    format!("the price of {} is not a number of 0 or more", quoted(slot)),
                )
                .hint = Some("US dollars for a million tokens: `{input: 0.15, output: 0.6}`".to_owned());
            }
        }
        if gate.metrics.contains_key("cost_usd")
            && let Some(slot) = slots.iter().find(|slot| !gate.prices.contains_key(**slot))
        {
            let at = [Step::Key("gate"), Step::Key("metrics"), Step::Key("cost_usd")];
            self.complain_of_key(
                Code::MissingKey,
                &at,
                format!("the gate has no price for {}", quoted(slot)),
            )
            .hint = Some(format!(
                "US dollars for a million tokens: `prices: {{{slot}: {{input: 0.15, output: 0.6}}}}` in the gate"
            ));
        }
    }

    fn targets(&mut self, targets: &[(String, TargetConfig)]) {
        for (slot, config) in targets {
            self.name("targets", slot);
            for complaint in config.check() {
                let steps = [Step::Key("targets"), Step::Key(slot), Step::Key(config.kind_name())];
                self.pass_on(Code::BadValue, &steps, complaint);
            }
        }
    }

    /// What a target is asked, parsed.
    pub(crate) fn template(&mut self, prompt: &str) -> Option<Template> {
        match Template::parse(prompt) {
            Ok(template) => Some(template),
            Err(error) => {
                self.complain(Code::Template, &[Step::Key("prompt")], error.what).hint = Some(error.hint);
                None
            }
        }
    }

    pub(crate) fn name(&mut self, map: &str, name: &str) {
        if let Err(error) = check_name(name) {
            self.complain_of_key(Code::BadValue, &[Step::Key(map), Step::Key(name)], error.to_string())
                .hint = Some(format!("for example `{}`", as_name(name)));
        }
    }
}

fn determinism(file: &DeterminismFile, overrides: &Overrides) -> Determinism {
    let strict = overrides.strict_serialization.or(file.strict_serialization).unwrap_or(true);
    let artifacts = overrides.deterministic_artifacts.or(file.deterministic_artifacts);
    Determinism { strict_serialization: strict, deterministic_artifacts: artifacts.unwrap_or(strict) }
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
