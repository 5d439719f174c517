//! From a row of fields to a case, and the stream that gives all cases away one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::CALIBRATION;
use proofhouse_ledger::{Digest, Json};

use super::dataset::{Dataset, Rows};
use super::file::{Fields, Format};
use super::problem::{Code, Place, Problem, Problems, did_you_mean, listed, quoted};
use super::prompt::{NotFilled, Prompt, Sent};
use super::tree::Step;
use crate::text::template::{Template, Unfilled};

/// The longest id of a case, in bytes.
const MAX_ID_BYTES: usize = 500;

/// One item of a suite, ready to be put to targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name, unique in the suite.
    pub id: String,
    /// Each prompt, filled: what the target receives, byte for byte.
    pub sent: Vec<Sent>,
    /// The right answer; null without one.
    pub expected: Json,
    /// Topics to group results by.
    pub tags: Vec<String>,
    /// Indices of the judges of this case; all of them for `None`.
    pub judges: Option<Vec<usize>>,
    /// Its fields, where judges or targets have settings that are filled from them.
    pub fields: Option<Arc<Object>>,
    /// For a labelled answer: the answer, and whether it is right.
    pub label: Option<(Json, bool)>,
}

impl Case {
    /// What its first prompt asks, as people read it.
    pub fn input(&self) -> std::borrow::Cow<'_, str> {
        self.sent.first().map(Sent::shown).unwrap_or_default()
    }
}

/// How rows become cases, the same for all rows of a suite.
#[derive(Debug)]
pub(crate) struct CaseRules {
    pub(crate) prompts: Arc<Vec<Prompt>>,
    /// Other texts that are filled from a case: what they are, and the text.
    pub(crate) filled: Vec<(String, Template)>,
    pub(crate) judges: Vec<String>,
    /// For each judge, whether a case without `expected` cannot be judged by it.
    pub(crate) needs_expected: Vec<bool>,
    /// Whether rows are labelled answers, with `output` and `right`.
    pub(crate) labelled: bool,
}

/// Fields that a trial has, and a case may have, too.
const OF_TRIALS: [&str; 8] =
    ["input", "expected", "output", "repetition", "seed", "system", "messages", "tools"];

/// Why a row is not a case.
#[derive(Debug)]
pub(crate) struct RowFault {
    code: Code,
    field: Option<String>,
    what: String,
    hint: String,
}

impl RowFault {
    /// What makes two rows share a mistake.
    pub(crate) fn kind(&self) -> (Code, &str) {
        (self.code, &self.what)
    }

    /// The problem, at the place that `place` finds for a field.
    pub(crate) fn into_problem(self, place: impl FnOnce(&[Step<'_>]) -> Place) -> Problem {
        let steps: Vec<Step<'_>> = self.field.iter().map(|field| Step::Key(field)).collect();
        let mut place = place(&steps);
        if steps.is_empty() {
            // The row as a whole: pointing at its begin is enough.
            place.width = 1;
        }
        Problem::new(self.code, place, self.what)
            .at_path(self.field.clone().unwrap_or_default())
            .hint(self.hint)
    }
}

impl CaseRules {
    /// The names of all fields that prompts and other templates ask for, and of those that play a part.
    pub(crate) fn columns(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> =
            ["id", "input", "expected", "tags", "judges"].map(str::to_owned).into();
        if self.labelled {
            names.extend(["output", "right"].map(str::to_owned));
        }
        names.extend(self.prompts.iter().flat_map(Prompt::fields));
        names.extend(self.filled.iter().flat_map(|(_, template)| template.fields().map(str::to_owned)));
        names
    }

    /// Makes a case of a row. In csv a list is text with `;` between its items.
    pub(crate) fn case(
        &self,
        mut row: Object,
        fields: &Fields,
        format: Option<Format>,
        ids: &mut Ids,
    ) -> Result<Case, RowFault> {
        let mut id = match id(&row, fields.column("id"))? {
            Some(id) => id,
            None => ids.of_content(&row),
        };
        if id.starts_with(CALIBRATION) {
            return Err(RowFault {
                code: Code::BadValue,
                field: Some(fields.column("id").to_owned()),
                what: format!("the id begins with `{CALIBRATION}`"),
                hint: "such ids are those of labelled answers in records; choose another one".to_owned(),
            });
        }
        let value = |name: &str| row.get(fields.column(name));
        // A labelled answer is asked of nobody: the first prompt says what it answers.
        let prompts = if self.labelled { &self.prompts[..1] } else { &self.prompts[..] };
        let mut sent = Vec::with_capacity(prompts.len());
        for prompt in prompts {
            let filled = prompt.fill(&id, &value);
            sent.push(filled.map_err(|fault| not_filled(&row, fields, prompt.name.as_deref(), fault))?);
        }
        // What only a trial has is filled in when it runs.
        let of_case = |template: &&(String, Template)| {
            template.1.fields().all(|name| !OF_TRIALS.contains(&name) || value(name).is_some())
        };
        for (what, template) in self.filled.iter().filter(of_case) {
            let rendered = template.render(&mut String::new(), &value);
            rendered.map_err(|unfilled| missing_field(&row, fields, what, &unfilled))?;
        }
        let names = |value: Option<&Json>, column: &str| match value {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) if format == Some(Format::Csv) => {
                let items = text.split(';').map(str::trim).filter(|item| !item.is_empty());
                let items: Vec<String> = items.map(str::to_owned).collect();
                Ok((!items.is_empty()).then_some(items))
            }
            Some(Json::String(text)) => Ok(Some(vec![text.clone()])),
            Some(Json::Array(list)) => list
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
                .map(Some)
                .ok_or_else(|| not_names(column)),
            Some(_) => Err(not_names(column)),
        };
        let tags = names(row.get(fields.column("tags")), fields.column("tags"))?.unwrap_or_default();
        let judges = match names(row.get(fields.column("judges")), fields.column("judges"))? {
            Some(judges) => Some(self.judges(&judges, fields.column("judges"))?),
            None => None,
        };
        let kept = (!self.filled.is_empty()).then(|| Arc::new(by_name(&row, fields)));
        let expected = row.remove(fields.column("expected")).unwrap_or_default();
        if expected == Json::Null {
            self.check_without_expected(judges.as_deref(), fields.column("expected"))?;
        }
        let mut label = None;
        if self.labelled {
            id.insert_str(0, CALIBRATION);
            label = Some(label_of(&mut row)?);
        }
        Ok(Case { id, sent, expected, tags, judges, fields: kept, label })
    }

    /// A judge that compares with nothing would leave every trial of the case without a verdict.
    fn check_without_expected(&self, judges: Option<&[usize]>, column: &str) -> Result<(), RowFault> {
        let mut asked = (0..self.judges.len()).filter(|at| judges.is_none_or(|judges| judges.contains(at)));
        match asked.find(|at| self.needs_expected[*at]) {
            None => Ok(()),
            Some(at) => Err(RowFault {
                code: Code::MissingKey,
                field: None,
                what: format!(
                    "judge `{}` needs {}, which this case does not have",
                    self.judges[at],
                    quoted(column)
                ),
                hint: format!("add `{column}`, or let `judges` name the judges that do without it"),
            }),
        }
    }

    fn judges(&self, names: &[String], column: &str) -> Result<Vec<usize>, RowFault> {
        let known: Vec<&str> = self.judges.iter().map(String::as_str).collect();
        if names.is_empty() {
            return Err(RowFault {
                code: Code::Empty,
                field: Some(column.to_owned()),
                what: "the case has no judge".to_owned(),
                hint: format!("leave `{column}` out to use all judges, or name some of {}", listed(known)),
            });
        }
        let mut indices = Vec::with_capacity(names.len());
        for name in names {
            let Some(at) = known.iter().position(|known| known == name) else {
                return Err(RowFault {
                    code: Code::UnknownJudge,
                    field: Some(column.to_owned()),
                    what: format!("no judge is named {}", quoted(name)),
                    hint: did_you_mean(name, &known, "judges"),
                });
            };
            if !indices.contains(&at) {
                indices.push(at);
            }
        }
        indices.sort_unstable();
        Ok(indices)
    }
}

/// Ids of rows that have none: the digest of what they say, numbered where it comes again.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    seen: BTreeMap<[u8; 6], u32>,
}

impl Ids {
    /// Whether every row so far has an id of its own.
    pub(crate) fn is_unused(&self) -> bool {
        self.seen.is_empty()
    }

    fn of_content(&mut self, row: &Object) -> String {
        let digest = Digest::of(Json::Object(row.clone()).to_string().as_bytes());
        let short: [u8; 6] = digest.0[..6].try_into().expect("six of thirty-two bytes");
        let times = self.seen.entry(short).or_default();
        *times += 1;
        let name = digest.to_string()[..12].to_owned();
        if *times == 1 { name } else { format!("{name}-{times}") }
    }
}

/// The fields of a row by the names that templates use.
fn by_name(row: &Object, fields: &Fields) -> Object {
    let mut named = row.clone();
    for part in ["id", "input", "expected", "tags", "judges"] {
        if let Some(value) = row.get(fields.column(part)).filter(|_| row.get(part).is_none()) {
            named.set(part, value.clone());
        }
    }
    named
}

/// The answer of a row, and whether it is right.
fn label_of(row: &mut Object) -> Result<(Json, bool), RowFault> {
    let missing = |field: &str| RowFault {
        code: Code::MissingKey,
        field: None,
        what: format!("the labelled answer has no `{field}`"),
        hint: "it has an `output`, and `right: true` or `right: false`".to_owned(),
    };
    let output = row.remove("output").ok_or_else(|| missing("output"))?;
    let right = match row.get("right") {
        None | Some(Json::Null) => return Err(missing("right")),
        Some(Json::Bool(right)) => *right,
        Some(Json::String(text)) if text.eq_ignore_ascii_case("true") => true,
        Some(Json::String(text)) if text.eq_ignore_ascii_case("false") => false,
        Some(other) => {
            return Err(RowFault {
                code: Code::WrongType,
                field: Some("right".to_owned()),
                what: format!("`right` is {}", quoted(&other.to_string())),
                hint: "whether the answer is right: `true` or `false`".to_owned(),
            });
        }
    };
    Ok((output, right))
}

/// The id that a row has; none where it has no such field.
fn id(row: &Object, column: &str) -> Result<Option<String>, RowFault> {
    let fault =
        |code, what: String, hint: String| RowFault { code, field: Some(column.to_owned()), what, hint };
    let example = "an id is text or a whole number, unique in the suite".to_owned();
    match row.get(column) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) if text.trim().is_empty() => {
            Err(fault(Code::BadValue, "the id is empty".to_owned(), example))
        }
        Some(Json::String(text)) if text.len() > MAX_ID_BYTES => {
            Err(fault(Code::TooLarge, format!("the id is longer than {MAX_ID_BYTES} bytes"), example))
        }
        Some(Json::String(text)) if text.chars().any(char::is_control) => {
            Err(fault(Code::BadValue, "the id has a control character".to_owned(), example))
        }
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(Json::Number(number)) if number.fract() == 0.0 => Ok(Some(Json::Number(*number).to_string())),
        Some(other) => {
            Err(fault(Code::WrongType, format!("the id is {}", quoted(&other.to_string())), example))
        }
    }
}

fn not_names(column: &str) -> RowFault {
    RowFault {
        code: Code::WrongType,
        field: Some(column.to_owned()),
        what: format!("`{column}` is text or a list of texts"),
        hint: "for example `[\"arithmetic\", \"easy\"]`".to_owned(),
    }
}

fn not_filled(row: &Object, fields: &Fields, prompt: Option<&str>, fault: NotFilled) -> RowFault {
    let named = prompt.map_or_else(|| "the prompt".to_owned(), |name| format!("prompt `{name}`"));
    match fault {
        NotFilled::Hole(unfilled) => missing_field(row, fields, &named, &unfilled),
        NotFilled::Picture(complaint) => RowFault {
            code: Code::BadValue,
            field: None,
            what: complaint.what,
            hint: complaint.hint.unwrap_or_else(|| "look at the field that names the picture".to_owned()),
        },
    }
}

fn missing_field(row: &Object, fields: &Fields, what: &str, unfilled: &Unfilled) -> RowFault {
    let name = match unfilled {
        Unfilled::Missing(name) => name.as_str(),
        Unfilled::Null(name) => {
            let column = fields.column(name);
            return RowFault {
                code: Code::Template,
                field: row.get(column).map(|_| column.to_owned()),
                what: format!("{what} needs `{{{name}}}`, which is null in this case"),
                hint: "give the field a value, or take the row out".to_owned(),
            };
        }
        Unfilled::Failed(why) => {
            return RowFault {
                code: Code::Template,
                field: None,
                what: format!("{what} cannot be filled: {why}"),
                hint: format!("the case's fields are {}", row_fields(row)),
            };
        }
    };
    let column = fields.column(name);
    let renamed = if column == name { String::new() } else { format!(" (field `{column}`)") };
    let known: Vec<&str> = row.iter().map(|(key, _)| key).collect();
    let near = super::problem::nearest(column, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    RowFault {
        code: Code::Template,
        field: None,
        what: format!("{what} needs `{{{name}}}`{renamed}, which this case does not have"),
        hint: format!("{near}the case's fields are {}", row_fields(row)),
    }
}

fn row_fields(row: &Object) -> String {
    listed(row.iter().map(|(key, _)| key))
}

/// A dataset with everything that the first pass found out.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) fields: Fields,
    pub(crate) digest: Digest,
}

/// Where the cases of a suite come from.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) rules: CaseRules,
    pub(crate) inline: Vec<Object>,
    pub(crate) datasets: Vec<Checked>,
    /// Whether every case has an id of its own.
    pub(crate) named: bool,
}

/// All cases in the order of the suite: those written in it, then its datasets.
pub struct CaseStream {
    inputs: Arc<Inputs>,
    inline_at: usize,
    dataset_at: usize,
    rows: Option<Rows>,
    /// Cases still to be given.
    left: u64,
    failed: bool,
    ids: Ids,
}

impl CaseStream {
    pub(crate) fn new(inputs: Arc<Inputs>, count: u64) -> Self {
        CaseStream {
            inputs,
            inline_at: 0,
            dataset_at: 0,
            rows: None,
            left: count,
            failed: false,
            ids: Ids::default(),
        }
    }

    /// Passes over the next cases without making them, at most `count` and as many as that is possible for; says how many. What
    /// is wrong with a file is said by whoever reads on: its digest is that of all bytes, also of those that were passed over.
    pub(crate) fn pass_over(&mut self, count: u64) -> u64 {
        let count = if self.inputs.named { count.min(self.left) } else { 0 };
        let inline = count.min((self.inputs.inline.len() - self.inline_at) as u64);
        self.inline_at += inline as usize;
        let mut passed = inline;
        if let Some(checked) = self.inputs.datasets.get(self.dataset_at).filter(|_| passed < count) {
            if self.rows.is_none() {
                self.rows = Rows::open(&checked.dataset).ok();
            }
            while let Some(rows) = self.rows.as_mut().filter(|_| passed < count)
                && rows.pass_over()
            {
                passed += 1;
            }
        }
        self.left -= passed;
        passed
    }

    fn try_next(&mut self) -> Result<Option<Case>, Problem> {
        let inputs = Arc::clone(&self.inputs);
        let ids = &mut self.ids;
        if self.left > 0 && self.inline_at < inputs.inline.len() {
            let row = inputs.inline[self.inline_at].clone();
            self.inline_at += 1;
            self.left -= 1;
            let case = inputs.rules.case(row, &Fields::default(), None, ids);
            return Ok(Some(case.expect("the first pass has made this case of this row")));
        }
        while let Some(checked) = inputs.datasets.get(self.dataset_at) {
            let rows = match &mut self.rows {
                Some(rows) => rows,
                None => self.rows.insert(Rows::open(&checked.dataset)?),
            };
            let row = if self.left > 0 { rows.next().map_err(|bad| *bad.problem)? } else { None };
            if let Some(row) = row {
                let case = inputs.rules.case(row, &checked.fields, Some(checked.dataset.format), ids);
                self.left -= 1;
                return case.map(Some).map_err(|fault| fault.into_problem(|steps| rows.place(steps)));
            }
            let rows = self.rows.take().expect("it was filled just above");
            if rows.finish()? != checked.digest {
                return Err(changed(&checked.dataset));
            }
            self.dataset_at += 1;
        }
        Ok(None)
    }
}

fn changed(dataset: &Dataset) -> Problem {
    Problem::new(Code::Changed, Place::whole(dataset.name.as_str()), "the dataset changed while it was read")
        .hint("run again; every trial so far used the rows that were there before")
}

impl Iterator for CaseStream {
    type Item = Result<Case, Problems>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.try_next().map_err(|problem| {
            // Whatever a second pass finds, the first one did not: the file is another one now.
            let dataset = self.inputs.datasets.get(self.dataset_at).map(|checked| &checked.dataset);
            match (problem.code, dataset) {
                (Code::Changed | Code::Unreadable, _) | (_, None) => Problems::from(problem),
                (_, Some(dataset)) => Problems::new(vec![changed(dataset), problem]),
            }
        });
        self.failed = next.is_err();
        next.transpose()
    }
}
