//! A file with all variants in it. A variant holds the source as it was: one mutant is chosen at a time, so that no other
//! is needed within it, and the text grows by sums instead of products.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::places::{Place, Shape};

/// What stands where in the written file, to know whom the compiler means.
pub struct Written {
    pub text: String,
    /// A mutant's own text.
    pub variants: Vec<(Range<usize>, usize)>,
    /// All of a place, with the mutants in it.
    pub wholes: Vec<(Range<usize>, Vec<usize>)>,
}

/// `first` is the number of the first place; mutants in `out` are left out.
pub fn rewrite(source: &str, places: &[Place], first: usize, out: &BTreeSet<usize>) -> Written {
    let mut edits: Vec<(usize, (bool, isize, isize), usize)> = Vec::new();
    let stays = |place: &Place| place.variants.iter().any(|(number, _)| !out.contains(number));
    for (index, place) in places.iter().enumerate().filter(|(_, place)| stays(place)) {
        let (start, end) = (place.bytes.start, place.bytes.end);
        let order = index as isize;
        // At one position: what ends comes before what starts, inner ends first, outer starts first.
        edits.push((start, (true, -(end as isize), order), index));
        if end > start {
            edits.push((end, (false, -(start as isize), -order), index));
        }
    }
    edits.sort();
    let mut written = Written { text: String::new(), variants: Vec::new(), wholes: Vec::new() };
    let mut starts = vec![0; places.len()];
    let mut done = 0;
    for (position, (opens, ..), index) in edits {
        written.text.push_str(&source[done..position]);
        done = position;
        let place = &places[index];
        if opens {
            starts[index] = written.text.len();
            written.open(place, first + index);
        }
        if !opens || place.bytes.is_empty() {
            written.close(place, out);
            let mutants = place.variants.iter().map(|(number, _)| *number).collect();
            written.wholes.push((starts[index]..written.text.len(), mutants));
        }
    }
    written.text.push_str(&source[done..]);
    written
}

impl Written {
    fn open(&mut self, place: &Place, number: usize) {
        let at = format!("crate::mutants::at({number})");
        self.text.push_str(&match place.shape {
            Shape::Expression => format!("(match {at} {{ 0 => ("),
            Shape::Entry => format!(" match {at} {{ 0 => ("),
            Shape::Arm => format!(" if {at} == 0"),
            Shape::GuardedArm => format!("{at} == 0 && ("),
        });
    }

    fn close(&mut self, place: &Place, out: &BTreeSet<usize>) {
        match place.shape {
            Shape::Arm => return,
            Shape::GuardedArm => return self.text.push(')'),
            Shape::Expression | Shape::Entry => self.text.push_str("),"),
        }
        for (index, (number, variant)) in place.variants.iter().enumerate() {
            if !out.contains(number) {
                let returns = if place.shape == Shape::Entry { "return " } else { "" };
                self.text.push_str(&format!(" {} => {returns}", index + 1));
                let start = self.text.len();
                self.text.push_str(&format!("({variant})"));
                self.variants.push((start..self.text.len(), *number));
                self.text.push(',');
            }
        }
        let end = if place.shape == Shape::Entry { "}" } else { "})" };
        self.text.push_str(" _ => unreachable!()");
        self.text.push_str(end);
    }
}
