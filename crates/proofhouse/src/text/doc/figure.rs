//! Figures as numbers: a page draws them, JSON hands them on, and the rest has the same numbers in words beside them.

use super::Records;

/// A part of a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Portion {
    /// What the page's style sheet calls it.
    pub(crate) class: &'static str,
    /// What it is.
    pub(crate) title: &'static str,
    /// How much.
    pub(crate) count: u64,
    /// The records behind it.
    pub(crate) records: Records,
}

/// A small chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// A share with its interval.
    Interval {
        /// Lower end, value and upper end; none where nothing was assessed.
        estimate: Option<[f64; 3]>,
        /// The wider interval that takes cases as clusters.
        clustered: Option<[f64; 2]>,
        /// A line that the share is measured against.
        line: Option<f64>,
    },
    /// A difference of two shares with its interval, around a line at 0.
    Difference {
        /// Lower end and upper end.
        interval: Option<[f64; 2]>,
        /// The difference.
        value: Option<f64>,
    },
    /// Parts of a whole.
    Stacked(Vec<Portion>),
    /// One bar from the left: its share of the longest.
    Bar(f64),
    /// Shares over an ordered scale: lower end, value and upper end of each.
    Curve(Vec<(String, [f64; 3])>),
}

impl Figure {
    /// A share without anything beside it; none where a part is missing.
    pub fn interval(low: Option<f64>, value: Option<f64>, high: Option<f64>) -> Self {
        let estimate = low.zip(value).zip(high).map(|((low, value), high)| [low, value, high]);
        Figure::Interval { estimate, clustered: None, line: None }
    }

    /// The same with a line that it is measured against.
    pub fn against(self, line: Option<f64>) -> Self {
        match self {
            Figure::Interval { estimate, clustered, .. } => Figure::Interval { estimate, clustered, line },
            other => other,
        }
    }
}

/// What stands above a column of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// 0 to 100 %.
    Share,
    /// −100 to +100 points.
    Difference,
    /// The column's title.
    Title,
}
