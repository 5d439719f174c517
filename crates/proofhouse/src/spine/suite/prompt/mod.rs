//! What targets are asked: prompts as they are written, and the conversation that each makes of a case.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::Utf8PathBuf;
use proofhouse_ledger::Json;

use crate::family::target::{AnswerFormat, Message, Part, Shapes, Tool};
use crate::text::complaint::Complaint;
use crate::text::template::{Form, Template, Unfilled};

mod examples;
pub(crate) mod file;
mod image;
mod read;
mod sent;

use examples::Examples;
pub(crate) use file::PromptFile;
use file::Role;
pub(crate) use read::{PromptPlace, read};
pub use sent::{Sent, Talk};

/// A prompt that cases fill.
#[derive(Debug)]
pub(crate) struct Prompt {
    /// Its name; none where a suite has one prompt without a name.
    pub(crate) name: Option<String>,
    body: Body,
    examples: Option<Examples>,
    /// Where pictures lie.
    base: Utf8PathBuf,
    settings: Json,
}

#[derive(Debug)]
enum Body {
    Text(Template),
    Talk { lines: Vec<Line>, tools: Arc<Vec<Tool>>, format: Option<AnswerFormat> },
}

#[derive(Debug)]
struct Line {
    role: Role,
    /// None where the target answers.
    content: Option<Vec<Piece>>,
    each: bool,
}

#[derive(Debug)]
enum Piece {
    Text(Template),
    Image(Template),
}

/// Why a case does not fill a prompt.
#[derive(Debug)]
pub(crate) enum NotFilled {
    /// A hole.
    Hole(Unfilled),
    /// A picture.
    Picture(Complaint),
}

impl From<Unfilled> for NotFilled {
    fn from(unfilled: Unfilled) -> Self {
        NotFilled::Hole(unfilled)
    }
}

/// How a field of a case is looked up.
pub(crate) type Lookup<'a> = dyn Fn(&str) -> Option<&'a Json> + 'a;

impl Prompt {
    /// What a target is asked for a case.
    pub(crate) fn fill<'a>(&self, case_id: &str, case: &Lookup<'a>) -> Result<Sent, NotFilled> {
        let picked = match &self.examples {
            Some(examples) => {
                let asked = self.asked(case);
                let is_case = |row: &Json| {
                    examples.agrees(row, &|name| case(name).cloned()) || self.shows(row, examples, &asked)
                };
                examples.of(case_id, &is_case)
            }
            None => Vec::new(),
        };
        let all = Json::Array(picked.iter().map(|row| (*row).clone()).collect());
        let has_examples = self.examples.is_some();
        let value = |name: &str| match name {
            "examples" if has_examples => Some(&all),
            name => case(name),
        };
        let (lines, tools, format) = match &self.body {
            Body::Text(template) => {
                let mut text = String::new();
                template.render(&mut text, &value)?;
                return Ok(Sent::Text(text));
            }
            Body::Talk { lines, tools, format } => (lines, tools, format),
        };
        let mut talk = Talk {
            tools: Arc::clone(tools),
            format: format.clone(),
            turns: vec![Vec::new()],
            ..Talk::default()
        };
        // Neighbours that are repeated for each example belong together: question and answer in turn.
        for block in lines.chunk_by(|a, b| a.each && b.each) {
            if !block[0].each {
                self.say(&block[0], &value, &mut talk)?;
                continue;
            }
            let examples = self.examples.as_ref().expect("`each` was refused without `examples`");
            for row in &picked {
                for line in block {
                    self.say(line, &|name| examples.field(row, name).or_else(|| case(name)), &mut talk)?;
                }
            }
        }
        Ok(Sent::Talk(Arc::new(talk)))
    }

    /// What the user says of the case itself, as far as that can be told without the examples.
    fn asked<'a>(&self, case: &Lookup<'a>) -> Vec<String> {
        let Body::Talk { lines, .. } = &self.body else { return Vec::new() };
        let own = lines.iter().filter(|line| !line.each && line.role == Role::User);
        let texts = own.flat_map(|line| line.content.iter().flatten()).filter_map(|piece| {
            let Piece::Text(template) = piece else { return None };
            let mut text = String::new();
            template.render(&mut text, &|name| case(name)).ok().map(|()| text)
        });
        texts.collect()
    }

    /// Whether an example would ask what the case asks.
    fn shows(&self, row: &Json, examples: &Examples, asked: &[String]) -> bool {
        let Body::Talk { lines, .. } = &self.body else { return false };
        let each = lines.iter().filter(|line| line.each && line.role == Role::User);
        each.flat_map(|line| line.content.iter().flatten()).any(|piece| {
            let Piece::Text(template) = piece else { return false };
            let mut text = String::new();
            template.render(&mut text, &|name| examples.field(row, name)).is_ok() && asked.contains(&text)
        })
    }

    fn say<'a>(
        &self,
        line: &Line,
        value: &dyn Fn(&str) -> Option<&'a Json>,
        talk: &mut Talk,
    ) -> Result<(), NotFilled> {
        let Some(pieces) = &line.content else {
            talk.turns.push(Vec::new());
            return Ok(());
        };
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let (Piece::Text(template) | Piece::Image(template)) = piece;
            let mut text = String::new();
            template.render(&mut text, value)?;
            parts.push(match piece {
                Piece::Text(_) => Part::Text(text),
                Piece::Image(_) => Part::Image(image::load(&self.base, &text).map_err(NotFilled::Picture)?),
            });
        }
        let words = |parts: Vec<Part>| {
            let text = parts.into_iter().filter_map(|part| match part {
                Part::Text(text) => Some(text),
                Part::Image(_) => None,
            });
            text.collect::<Vec<_>>().join("\n")
        };
        let turn = talk.turns.last_mut().expect("there is always one");
        match line.role {
            Role::System => {
                let text = words(parts);
                talk.system =
                    Some(talk.system.take().map_or(text.clone(), |system| format!("{system}\n\n{text}")));
            }
            Role::User if matches!(parts.as_slice(), [Part::Text(_)]) => {
                turn.push(Message::User(words(parts)))
            }
            Role::User => turn.push(Message::Shown(parts)),
            Role::Assistant => {
                let text = Some(words(parts));
                turn.push(Message::Assistant { text, calls: Vec::new(), spoken: None });
            }
        }
        Ok(())
    }

    fn templates(&self) -> Vec<(&Template, bool)> {
        match &self.body {
            Body::Text(template) => vec![(template, false)],
            Body::Talk { lines, .. } => {
                let pieces = lines
                    .iter()
                    .flat_map(|line| line.content.iter().flatten().map(|piece| (piece, line.each)));
                pieces
                    .map(|(Piece::Text(template) | Piece::Image(template), each)| (template, each))
                    .collect()
            }
        }
    }

    /// The fields of a case that it may ask for.
    pub(crate) fn fields(&self) -> BTreeSet<String> {
        let own = self.templates().into_iter().flat_map(|(template, _)| template.fields().map(str::to_owned));
        own.filter(|name| name != "examples").collect()
    }

    /// Its texts as they were written.
    pub(crate) fn sources(&self) -> Vec<&str> {
        self.templates().into_iter().map(|(template, _)| template.source()).collect()
    }

    /// How its holes are written: the newer form where one of its texts is.
    pub(crate) fn form(&self) -> Form {
        match self.templates().iter().any(|(template, _)| template.form() == Form::Jinja) {
            true => Form::Jinja,
            false => Form::Simple,
        }
    }

    /// Whether it shows examples.
    pub(crate) fn has_examples(&self) -> bool {
        self.examples.is_some()
    }

    /// The text, where it is nothing but text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.body, Body::Text(_))
    }

    /// Whether it is a conversation in which the target speaks more than once.
    fn has_turns(&self) -> bool {
        matches!(&self.body, Body::Talk { lines, .. } if lines.iter().any(|line| line.content.is_none()))
    }

    /// For the run's identity.
    pub(crate) fn settings(&self) -> &Json {
        &self.settings
    }

    /// What it asks that a target of these shapes cannot be asked.
    pub(crate) fn too_much_for(&self, shapes: Shapes) -> Option<&'static str> {
        let Body::Talk { lines, tools, format } = &self.body else { return None };
        let pictures = lines.iter().flat_map(|line| line.content.iter().flatten());
        if !shapes.images && pictures.into_iter().any(|piece| matches!(piece, Piece::Image(_))) {
            return Some("pictures");
        }
        if !shapes.format && format.is_some() {
            return Some("a `response_format`");
        }
        (!shapes.tools && !tools.is_empty()).then_some("tools")
    }
}
