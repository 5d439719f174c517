//! Tables: columns that know how their cells stand and how far they reach, and cells that may hold a figure.

use super::figure::{Figure, Scale};
use super::{Line, Reach, Records, Tone};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Words.
    Text,
    /// Names that say themselves what they are.
    Names,
    /// Numbers, aligned at their right.
    Numbers,
    /// Counts of a part of a stacked figure, by the part's class.
    Part(&'static str),
    /// Figures under a scale; the same numbers stand in other columns.
    Figures(Scale),
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub(crate) title: String,
    pub(crate) holds: Holds,
    pub(crate) reach: Reach,
}

impl Column {
    fn new(title: impl Into<String>, holds: Holds) -> Self {
        Column { title: title.into(), holds, reach: Reach::Everywhere }
    }

    /// Of words.
    pub fn text(title: impl Into<String>) -> Self {
        Self::new(title, Holds::Text)
    }

    /// Of names that say themselves what they are.
    pub fn names(title: impl Into<String>) -> Self {
        Self::new(title, Holds::Names)
    }

    /// Of numbers.
    pub fn number(title: impl Into<String>) -> Self {
        Self::new(title, Holds::Numbers)
    }

    /// Of counts of a part of a stacked figure.
    pub fn part(class: &'static str, title: impl Into<String>) -> Self {
        Self::new(title, Holds::Part(class))
    }

    /// Of figures; a page alone can show them.
    pub fn figures(scale: Scale, title: impl Into<String>) -> Self {
        Self::new(title, Holds::Figures(scale))
    }

    /// The same for documents only.
    pub fn documents(mut self) -> Self {
        self.reach = Reach::Documents;
        self
    }

    /// The same for the page only.
    pub fn page(mut self) -> Self {
        self.reach = Reach::Page;
        self
    }

    pub(crate) fn is_figures(&self) -> bool {
        matches!(self.holds, Holds::Figures(_))
    }

    pub(crate) fn is_right(&self) -> bool {
        matches!(self.holds, Holds::Numbers | Holds::Part(_))
    }
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    pub(crate) line: Line,
    /// A second line that explains; terminals have no room for it.
    pub(crate) small: Line,
    pub(crate) tone: Tone,
    /// What the page's style sheet calls it.
    pub(crate) class: &'static str,
    pub(crate) figure: Option<Figure>,
    /// The records that the figure is drawn of.
    pub(crate) behind: Option<Records>,
}

impl Cell {
    /// Where there is nothing to say.
    pub fn dash() -> Self {
        Cell::from("–")
    }

    /// With a second line.
    pub fn small(mut self, small: impl Into<Line>) -> Self {
        self.small = small.into();
        self
    }

    /// With a meaning.
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// With the records that its figure is drawn of.
    pub fn behind(mut self, records: Records) -> Self {
        self.behind = Some(records);
        self
    }

    /// With a class of the page's style sheet.
    pub fn class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }
}

impl From<Line> for Cell {
    fn from(line: Line) -> Self {
        Cell { line, ..Cell::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Line::from(text).into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Line::from(text).into()
    }
}

impl From<Figure> for Cell {
    fn from(figure: Figure) -> Self {
        Cell { figure: Some(figure), ..Cell::default() }
    }
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub(crate) cells: Vec<Cell>,
    /// What the page's style sheet calls it.
    pub(crate) class: &'static str,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What the page's style sheet calls it.
    pub(crate) class: &'static str,
    /// What it shows, for those who hear the page; who sees it has the heading above.
    pub(crate) caption: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Whether rows with the same first cell belong together.
    pub(crate) grouped: bool,
}

impl Table {
    /// A table without rows.
    pub fn new(class: &'static str, caption: &'static str, columns: Vec<Column>) -> Self {
        Table { class, caption, columns, rows: Vec::new(), grouped: false }
    }

    /// Rows with the same first cell belong together.
    pub fn grouped(mut self) -> Self {
        self.grouped = true;
        self
    }

    /// Adds a row; it has a cell for each column.
    pub fn row(&mut self, cells: Vec<Cell>) -> &mut Self {
        self.row_of("", cells)
    }

    /// Adds a row with a class of the page's style sheet.
    pub fn row_of(&mut self, class: &'static str, cells: Vec<Cell>) -> &mut Self {
        assert_eq!(cells.len(), self.columns.len(), "a row of `{}` has a cell for each column", self.caption);
        self.rows.push(Row { cells, class });
        self
    }

    /// Whether there is anything in it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A sentence for each row: `hasty: passed 73.7 %; not assessed 5. steady: …`.
    pub(crate) fn in_words(&self) -> String {
        let columns: Vec<(usize, &Column)> = self.shown(Reach::Everywhere).collect();
        let row = |row: &Row| {
            let cell = |at: usize| row.cells[at].line.plain();
            let said = columns.iter().skip(1).map(|(at, column)| titled(&column.title, &cell(*at)));
            format!("{}: {}.", cell(0), said.collect::<Vec<_>>().join("; "))
        };
        self.rows.iter().map(row).collect::<Vec<_>>().join(" ")
    }

    /// The columns of a back end that shows blocks up to `reach` and no figures.
    pub(crate) fn shown(&self, reach: Reach) -> impl Iterator<Item = (usize, &Column)> + Clone {
        let columns = self.columns.iter().enumerate();
        columns.filter(move |(_, column)| column.reach <= reach && !column.is_figures())
    }
}

/// A cell behind its column's title, as it stands within a sentence; one that names itself (`pass@1 73.3 %` below `pass@k`) needs none.
fn titled(title: &str, cell: &str) -> String {
    let stem = |text: &str| text.split(['@', ' ']).next().unwrap_or_default().to_owned();
    if stem(title) == stem(cell) {
        return cell.to_owned();
    }
    let mut letters = title.chars();
    let begins = match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().to_string(),
        (first, _) => first.map(String::from).unwrap_or_default(),
    };
    let colon = if cell.contains(", ") { ":" } else { "" };
    format!("{begins}{}{colon} {cell}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::titled;

    #[test]
    fn a_cell_in_a_sentence_says_what_it_is_once() {
        assert_eq!(titled("Tasks solved", "3 of 3"), "tasks solved 3 of 3");
        assert_eq!(titled("pass@k", "pass@1 73.3 %"), "pass@1 73.3 %");
        assert_eq!(titled("Rewording", "1 stable, 2 flaky"), "rewording: 1 stable, 2 flaky");
        assert_eq!(titled("95 % interval", "1–2 %"), "95 % interval 1–2 %");
        assert_eq!(titled("ASR", "0 %"), "ASR 0 %");
        assert_eq!(titled("É", ""), "É ");
    }
}
