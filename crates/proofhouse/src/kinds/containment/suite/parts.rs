//! What a containment suite may have beside cases, variants and a policy: tools with a server, judges, attack generators.

use std::collections::BTreeSet;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json};

use super::file::ContainmentFile;
use super::{Checker, Code, ContainmentBody, Loading, Step, did_you_mean, json, named, quoted};
use crate::kinds::containment::judging::JudgeSpec;
use crate::kinds::containment::{ReadyCase, ServerSpec};
use crate::text::complaint::Complaint;

impl ContainmentBody {
    /// What only some suites have, for the run's identity: a suite without it keeps the one that it always had.
    pub(super) fn further(&self, settings: &mut Object) {
        if let Some(contract) = &self.own_contract {
            settings.set("contract", json(contract));
        }
        if let Some(server) = &self.server {
            settings.set("tool_server", server.identity());
        }
        let schemas: Vec<String> =
            self.tools.iter().filter_map(|tool| tool.schema.as_ref()).map(|schema| schema.text()).collect();
        if !schemas.is_empty() {
            // `tools` has them sorted; models see the order in which they were written.
            settings.set("tool_schemas_sha256", Digest::of(schemas.join("\n").as_bytes()).prefixed());
        }
        if !self.judges.judges.is_empty() {
            settings.set("judges", named("name", &self.judges.judges));
            settings.set("question_judge", self.judges.question_judge.clone());
        }
        if !self.attack_forms.is_empty() {
            let form = |form: &crate::family::attack::AttackConfig| {
                let mut object = Object::new();
                object.set("generator", json(form));
                object.set("version", form.version());
                Json::Object(object)
            };
            settings.set("attacks", Json::Array(self.attack_forms.iter().map(form).collect()));
        }
    }
}

/// Tools that make sense, and the server with its files.
pub(super) fn tools(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    file: &ContainmentFile,
) -> Option<ServerSpec> {
    let mut names = BTreeSet::new();
    for (at, tool) in file.tools.list.iter().enumerate() {
        let steps = match file.tools.server {
            Some(_) => vec![Step::Key("tools"), Step::Key("list"), Step::Index(at)],
            None => vec![Step::Key("tools"), Step::Index(at)],
        };
        if let Err(complaint) = tool.check() {
            checker.pass_on(Code::BadValue, &steps, complaint);
        }
        if !names.insert(tool.name.as_str()) {
            let what = format!("the tool {} appears twice", quoted(&tool.name));
            checker.complain(Code::BadValue, &steps, what).hint = Some("a tool's name is unique".to_owned());
        }
    }
    let server = file.tools.server.as_ref()?;
    match ServerSpec::new(server, loading.base()) {
        Ok(server) => Some(server),
        Err(complaint) => {
            checker.pass_on(Code::BadValue, &[Step::Key("tools")], complaint);
            None
        }
    }
}

pub(super) fn judges(checker: &mut Checker<'_>, file: &ContainmentFile) -> JudgeSpec {
    for (name, config) in &file.judges.0 {
        checker.name("judges", name);
        if let Err(complaint) = config.check() {
            let steps = [Step::Key("judges"), Step::Key(name), Step::Key(config.name())];
            checker.pass_on(Code::BadValue, &steps, complaint);
        }
        if config.needs_expected() {
            let what =
                format!("judge {} compares with an expected answer, and cases have none", quoted(name));
            checker.complain(Code::BadValue, &[Step::Key("judges"), Step::Key(name)], what).hint =
                Some("use `command`, `plugin` or `rubric`, or give the judge a value of its own".to_owned());
        }
    }
    let spec = JudgeSpec { judges: file.judges.0.clone(), question_judge: file.question_judge.clone() };
    if let Some(name) = file.question_judge.as_ref().filter(|name| !spec.knows(name)) {
        let names: Vec<&str> = spec.judges.iter().map(|(name, _)| name.as_str()).collect();
        let what = format!("no judge is named {}", quoted(name));
        checker.complain(Code::UnknownJudge, &[Step::Key("question_judge")], what).hint =
            Some(did_you_mean(name, &names, "judges"));
    }
    spec
}

pub(super) fn attacks(checker: &mut Checker<'_>, file: &ContainmentFile) {
    for (at, form) in file.attacks.iter().enumerate() {
        if let Err(complaint) = form.check() {
            checker.pass_on(
                Code::BadValue,
                &[Step::Key("attacks"), Step::Index(at), Step::Key(form.name())],
                complaint,
            );
        }
        if file.attacks[..at].contains(form) {
            let what = format!("the attack generator `{}` appears twice with equal settings", form.name());
            checker.complain(Code::BadValue, &[Step::Key("attacks"), Step::Index(at)], what).hint =
                Some("each form is tried `repetitions` times".to_owned());
        }
    }
}

/// Whether a case can be judged with what the suite has.
pub(super) fn fits(
    case: &ReadyCase,
    server: Option<&ServerSpec>,
    judges: &JudgeSpec,
) -> Result<(), Complaint> {
    let stateful = !case.expected_state.is_empty() || !case.forbidden_state.is_empty();
    if stateful && !server.is_some_and(ServerSpec::has_state) {
        let hint = "add `tools: {server: […], state: {tool: …}}` to the suite";
        return Err(Complaint::new("the case looks at a state, and nothing gives one").hint(hint));
    }
    if !case.server_args.is_empty() && server.is_none() {
        let hint = "add `tools: {server: […]}` to the suite";
        return Err(Complaint::new("the case has `server_args`, and the suite no tool server").hint(hint));
    }
    let named = [("task_judge", &case.task_judge), ("attack_judge", &case.attack_judge)];
    for (key, name) in named.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?))) {
        if !judges.knows(name) {
            let names: Vec<&str> = judges.judges.iter().map(|(name, _)| name.as_str()).collect();
            return Err(Complaint::new(format!("`{key}`: no judge is named {}", quoted(name)))
                .hint(did_you_mean(name, &names, "judges")));
        }
    }
    Ok(())
}
