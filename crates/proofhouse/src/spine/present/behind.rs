//! Which records are behind a number: filters of the page's table that show exactly what was counted.

use crate::text::doc::html::fragment;
use crate::text::doc::{Cell, Figure, Line, Records};
use crate::text::numbers::count;
use proofhouse_ledger::summary::Rate;

/// Records by their target, their verdict, and the values of their fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Behind {
    filters: Records,
    fields: Vec<String>,
}

impl Behind {
    /// All records of a run.
    pub(crate) fn all() -> Self {
        Self::default()
    }

    /// Those of a target.
    pub(crate) fn slot(slot: &str) -> Self {
        Self::all().filter("slot", slot)
    }

    /// Those of them that a filter of the table leaves: `verdict`, `status`, `error`, `tag`, `case`.
    pub(crate) fn filter(mut self, key: &'static str, value: &str) -> Self {
        self.filters.push((key, value.to_owned()));
        self
    }

    /// Those of them whose field has one of these values; an empty one stands for null.
    pub(crate) fn with<'a>(self, field: &str, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.condition(field, "=", values)
    }

    /// Those of them whose field has none of these values.
    pub(crate) fn without<'a>(self, field: &str, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.condition(field, "!=", values)
    }

    /// Those of them with this in a list.
    pub(crate) fn holding(self, field: &str, entry: &str) -> Self {
        self.condition(field, "~=", [entry])
    }

    fn condition<'a>(mut self, field: &str, how: &str, values: impl IntoIterator<Item = &'a str>) -> Self {
        let values: Vec<String> = values.into_iter().map(fragment).collect();
        self.fields.push(format!("{}{how}{}", fragment(field), values.join("|")));
        self
    }

    /// Where the table shows them.
    pub(crate) fn records(mut self) -> Records {
        if !self.fields.is_empty() {
            self.filters.push(("with", self.fields.join(" ")));
        }
        // A place without filters would be none.
        if self.filters.is_empty() {
            self.filters.push(("sort", "index".to_owned()));
        }
        self.filters
    }

    /// The same where not records were counted but `cases`, `variants`, `levels`, `generators`, `outcomes` or `calls` among them.
    pub(crate) fn by(self, unit: &'static str) -> Records {
        let mut records = self.records();
        records.push(("by", unit.to_owned()));
        records
    }
}

/// A count that leads to what it counted; nothing is behind a zero.
pub(crate) fn counted(number: u64, records: Records) -> Line {
    let line = Line::from(count(number));
    if number > 0 { line.records(records) } else { line }
}

/// `3 tasks`, of which the number leads to what it counted.
pub(crate) fn counted_as(number: u64, (one, many): (&str, &str), records: Records) -> Line {
    counted(number, records).text(format!("\u{a0}{}", if number == 1 { one } else { many }))
}

/// `3 of 4`, each with what it counted.
pub(crate) fn parts_of(rate: &Rate, top: Records, all: Records) -> Line {
    counted(rate.numerator, top).text(" of ").then(counted(rate.denominator, all))
}

/// A figure that leads to the records it is drawn of.
pub(crate) fn drawn(figure: Figure, records: Records) -> Cell {
    Cell::from(figure).behind(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_anybody_stay_values() {
        let records =
            Behind::slot("a b").with("case", ["x|y", "p=q r"]).without("observed", [""]).by("cases");
        assert_eq!(
            records,
            [
                ("slot", "a b".to_owned()),
                ("with", "case=x%7Cy|p%3Dq%20r observed!=".to_owned()),
                ("by", "cases".to_owned())
            ]
        );
        assert_eq!(Behind::all().records(), [("sort", "index".to_owned())]);
    }
}
