//! A document before it has a form: what terminal, Markdown, page and JSON say is written once, here, by sections.
//!
//! A [`Doc`] is a list of blocks, and each block reaches so far: everywhere, documents, or the page alone. A back end prints
//! every block that reaches it and adds nothing of its own, so two of them cannot contradict each other. Text from anywhere
//! goes into lines as it is; making it harmless is the back end's duty, and none can forget it for a single place.

pub mod card;
pub mod figure;
pub mod html;
pub mod json;
pub mod markdown;
pub mod table;
pub mod terminal;

pub use card::Card;
pub use figure::Figure;
pub use table::{Cell, Column, Row, Table};

/// How far a block reaches; each step is part of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Terminal, Markdown, JSON and page.
    Everywhere,
    /// Markdown, JSON and page.
    Documents,
    /// The page alone: what needs room or a browser.
    Page,
}

impl Reach {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Reach::Everywhere => "everywhere",
            Reach::Documents => "documents",
            Reach::Page => "page",
        }
    }
}

/// What something means to the reader. Colours follow it, and words say it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Nobody can say.
    Open,
    /// Neither.
    #[default]
    Neutral,
}

impl Tone {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Open => "open",
            Tone::Neutral => "neutral",
        }
    }
}

/// How a piece of a line stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Our own words.
    Plain,
    /// A name that somebody else gave; it may be in any script and direction.
    Name,
    /// A word of a file, a command or a program.
    Code,
    /// What must not be overlooked.
    Strong,
    /// What only explains.
    Soft,
    /// What an attacker slipped in.
    Injected,
}

/// Which records are behind something: fields of the record table and their values.
pub type Records = Vec<(&'static str, String)>;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub(crate) text: String,
    pub(crate) style: Style,
    /// The records behind it.
    pub(crate) records: Option<Records>,
}

/// Text on one line, as long as it may be.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line(pub(crate) Vec<Span>);

impl Line {
    fn with(mut self, text: impl Into<String>, style: Style) -> Self {
        self.0.push(Span { text: text.into(), style, records: None });
        self
    }

    /// Appends words of ours.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Plain)
    }

    /// Appends a name.
    pub fn name(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Name)
    }

    /// Appends a word of a file or a program.
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Code)
    }

    /// Appends what must not be overlooked.
    pub fn strong(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Strong)
    }

    /// Appends what only explains.
    pub fn soft(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Soft)
    }

    /// Appends what an attacker slipped in.
    pub fn injected(self, text: impl Into<String>) -> Self {
        self.with(text, Style::Injected)
    }

    /// Appends another line.
    pub fn then(mut self, other: Line) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Makes the last piece lead to the records behind it.
    pub fn records(mut self, records: Records) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.records = Some(records);
        }
        self
    }

    /// A sentence in which backticks enclose words of files and programs.
    pub fn ticked(sentence: &str) -> Self {
        sentence.split('`').enumerate().fold(Line::default(), |line, (at, part)| match (part, at % 2) {
            ("", _) => line,
            (part, 0) => line.text(part),
            (part, _) => line.code(part),
        })
    }

    /// The line as plain text, words of programs in backticks.
    pub fn plain(&self) -> String {
        let piece = |span: &Span| match span.style {
            Style::Code => format!("`{}`", span.text),
            _ => span.text.clone(),
        };
        self.0.iter().map(piece).collect()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|span| span.text.is_empty())
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Line::default().text(text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Line::default().text(text)
    }
}

/// How much a sentence asks for attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// What was found.
    Finding,
    /// What goes with it.
    Plain,
    /// How to read it.
    Note,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub(crate) tone: Tone,
    pub(crate) line: Line,
}

/// A name with its value, or a question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub(crate) reach: Reach,
    pub(crate) name: Line,
    pub(crate) value: Line,
}

/// What a list of pairs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Names and values.
    Facts,
    /// Questions and answers.
    Answers,
}

/// Many small cells under their names, with a legend: for pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// What the cells of a row are of, from left to right.
    pub(crate) columns: Vec<String>,
    /// Class, sign and meaning.
    pub(crate) legend: Vec<(&'static str, &'static str, &'static str)>,
    /// The name of each row, which leads to its records, and its cells.
    pub(crate) rows: Vec<(Line, Vec<GridCell>)>,
}

/// A cell of a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct GridCell {
    pub(crate) class: &'static str,
    pub(crate) shown: String,
    /// The records behind it.
    pub(crate) records: Records,
    /// The same in words.
    pub(crate) spoken: String,
}

/// What a block holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// The one sentence that a reader takes along.
    Headline {
        /// What it means.
        tone: Tone,
        /// A few words.
        title: &'static str,
        /// Why.
        text: Line,
    },
    /// A heading within a section.
    Heading(Line),
    /// A sentence, or several that belong together.
    Sentence(Tone, Weight, Line),
    /// Entries, numbered or not.
    List {
        /// Whether their order matters.
        ordered: bool,
        /// The entries.
        items: Vec<Item>,
    },
    /// Names with values.
    Pairs(Pairing, Vec<Pair>),
    /// A table.
    Table(Table),
    /// A picture, with what it shows in words.
    Figure(Figure, String),
    /// A grid of cells.
    Grid(Grid),
    /// Single trials, each with its texts.
    Cards(Vec<Card>),
    /// Counts that lead to the records behind them, each with what it means: for pages.
    Chips(Vec<(Tone, Line)>),
    /// Who said what.
    Said(Vec<(String, Line)>),
    /// Text that is copied as it is.
    Verbatim(Line),
    /// What is folded away until somebody asks.
    More {
        /// What is in it.
        summary: Line,
        /// Whether it is open from the start.
        open: bool,
        /// What the page's style sheet calls it.
        class: &'static str,
        /// What is folded away.
        blocks: Vec<Block>,
    },
    /// Markup of our own source that only a page can use.
    Markup(&'static str),
}

impl Content {
    /// A sentence that says what was found.
    pub fn finding(tone: Tone, line: impl Into<Line>) -> Self {
        Content::Sentence(tone, Weight::Finding, line.into())
    }

    /// A sentence beside it.
    pub fn plain(line: impl Into<Line>) -> Self {
        Content::Sentence(Tone::Neutral, Weight::Plain, line.into())
    }

    /// A sentence about how to read it.
    pub fn note(line: impl Into<Line>) -> Self {
        Content::Sentence(Tone::Neutral, Weight::Note, line.into())
    }

    /// Entries without an order.
    pub fn list(lines: impl IntoIterator<Item = Line>) -> Self {
        let items = lines.into_iter().map(|line| Item { tone: Tone::Neutral, line }).collect();
        Content::List { ordered: false, items }
    }

    /// Names with values, all of which reach as far as the block.
    pub fn facts(pairs: impl IntoIterator<Item = (Line, Line)>) -> Self {
        let pair = |(name, value)| Pair { reach: Reach::Everywhere, name, value };
        Content::Pairs(Pairing::Facts, pairs.into_iter().map(pair).collect())
    }
}

impl From<Table> for Content {
    fn from(table: Table) -> Self {
        Content::Table(table)
    }
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub(crate) reach: Reach,
    pub(crate) content: Content,
}

/// What a section says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Doc {
    pub(crate) blocks: Vec<Block>,
}

impl Doc {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    fn add(&mut self, reach: Reach, content: impl Into<Content>) -> &mut Self {
        self.blocks.push(Block { reach, content: content.into() });
        self
    }

    /// Adds what everybody is told.
    pub fn everywhere(&mut self, content: impl Into<Content>) -> &mut Self {
        self.add(Reach::Everywhere, content)
    }

    /// Adds what a terminal has no room for.
    pub fn documents(&mut self, content: impl Into<Content>) -> &mut Self {
        self.add(Reach::Documents, content)
    }

    /// Adds what only a page can show.
    pub fn page(&mut self, content: impl Into<Content>) -> &mut Self {
        self.add(Reach::Page, content)
    }

    /// Whether a block says anything to a back end that shows blocks up to `reach`.
    pub(crate) fn reaches(&self, reach: Reach) -> bool {
        self.blocks.iter().any(|block| block.reach <= reach)
    }
}

/// A section with its anchor and heading, as back ends get it.
#[derive(Debug)]
pub struct Part {
    /// Its anchor.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it says.
    pub doc: Doc,
}

/// A whole document: what it is about in one line, and its parts in their order.
#[derive(Debug)]
pub struct Report {
    /// Its name.
    pub title: String,
    /// What it is about.
    pub lede: Line,
    /// The sections that have something to say.
    pub parts: Vec<Part>,
    /// What it was made from.
    pub source: Line,
}
