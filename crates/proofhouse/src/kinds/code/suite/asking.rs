//! What models are asked for a task: the suite's prompt over the task's, as it stands and in other wordings.

use super::{CodeBody, CodeFile};
use crate::family::vary::Variant;
use crate::kinds::code::{Problem as Task, Prose, Unfit};
use crate::spine::suite::check::Checker;
use crate::spine::suite::problem::Code;
use crate::spine::suite::tree::Step;
use crate::spine::suite::wordings::{Wordable, Wording};
use crate::text::complaint::Complaint;
use crate::text::template::{Template, Unfilled};

/// A prompt that names a field which problems do not have would fail for every task alike.
pub(super) fn check_prompt(checker: &mut Checker<'_>, code: &CodeBody) {
    let filled = |problem: &Task| code.ask(problem, &problem.prompt);
    if let Some(complaint) = code.problems.iter().find_map(|problem| filled(problem).err()) {
        checker.pass_on(Code::Template, &[Step::Key("prompt")], complaint);
    }
}

/// Wordings are of what models are asked, by way of the tasks' prompts.
pub(super) fn check_wordings(checker: &mut Checker<'_>, file: &CodeFile) {
    if file.vary.is_empty() {
        return;
    }
    if file.targets.0.is_empty() {
        let what = "`vary` rewords what models are asked, and the suite asks none";
        checker.complain_of_key(Code::BadValue, &[Step::Key("vary")], what).hint =
            Some("name a model below `targets:`, or take `vary` out: lines of samples files are judged as they are".to_owned());
    }
    if Template::parse(&file.prompt).is_ok_and(|template| !template.fields().any(|name| name == "prompt")) {
        let what = "`vary` rewords the tasks' `{prompt}`, which is not part of what models are asked";
        checker.complain(Code::BadValue, &[Step::Key("prompt")], what).hint =
            Some("put `{prompt}` into the suite's `prompt`, or take `vary` out".to_owned());
    }
}

impl CodeBody {
    /// Every other wording of a task's prompt, in plan order: its prose is reworded, its code and its examples stay.
    pub fn reworded(&self, problem: &Task) -> Vec<Wording> {
        let entry = problem.entry_point.as_deref();
        let prose = (self.language.profile().prose)(&problem.prompt, entry);
        self.wordings.of(&problem.task_id, &prose)
    }

    /// What a model is asked for this task with this wording of its prompt.
    ///
    /// # Errors
    /// When the prompt has a field that the problem does not have.
    pub fn ask(&self, problem: &Task, prompt: &str) -> Result<String, Complaint> {
        let mut text = String::new();
        let rendered = self.prompt_template.render_text(&mut text, &|name, out| {
            let value = match name {
                "prompt" => Some(prompt),
                "task_id" => Some(problem.task_id.as_str()),
                "entry_point" => problem.entry_point.as_deref(),
                "declaration" => problem.declaration.as_deref(),
                _ => None,
            };
            out.push_str(value.unwrap_or_default());
            value.is_some()
        });
        rendered.map(|()| text).map_err(|unfilled| {
            let what = match unfilled {
                Unfilled::Missing(name) | Unfilled::Null(name) => {
                    format!("the prompt needs `{{{name}}}`, which problems do not have")
                }
                Unfilled::Failed(why) => format!("the prompt cannot be filled: {why}"),
            };
            Complaint::new(what).hint("problems have `prompt`, `task_id`, `entry_point` and `declaration`")
        })
    }
}

impl Wordable for Prose<'_> {
    fn base(&self) -> Result<&str, &'static str> {
        self.text().map_err(Unfit::as_str)
    }

    fn reworded(&self, variant: Variant) -> Result<String, &'static str> {
        self.reword(&variant.edits).map_err(Unfit::as_str)
    }
}
