//! Which of many is best, and by how much others could still be better: comparison with the best.

use super::differences::Differences;
use super::{cases, grouped, names, points};
use crate::stats::Confidence;

/// One of the others, held against the one that did best here.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its verdicts minus those of the one that did best.
    pub against_best: Differences,
}

/// The one that did best here, and what that says of cases like these.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// It.
    pub name: String,
    /// How far below the true best it is at most; 0 where it is the best.
    pub within: f64,
    /// Those that may be the best in its place.
    pub rivals: Vec<String>,
    /// How many there are in all.
    pub of: u64,
    /// The cases on which all of them were assessed.
    pub cases: u64,
    /// Cases on which only some of them were; they count for none.
    pub left_out: u64,
    /// Those that answered nothing which can be assessed, and are not among them.
    pub silent: Vec<String>,
}

/// What can be said of the one that did best among many; none without another one to compare with. All differences are over the same
/// cases: those on which all were assessed.
///
/// Hsu (1984), Annals of Statistics 12, 1136–1144, with Bonferroni's bound in place of Dunnett's: with 95 % certainty at once
/// for all, the true best is this one or a rival, and it is not further above this one than said. That this one was chosen by its
/// result is covered.
pub fn best(name: &str, others: &[Candidate]) -> Option<Best> {
    let known: Vec<&Candidate> = others.iter().filter(|other| other.against_best.cases() > 0).collect();
    if known.is_empty() {
        return None;
    }
    let confidence = Confidence::new(1.0 - 2.0 * super::LEVEL / known.len() as f64)?;
    let mut found = Best {
        name: name.to_owned(),
        within: 0.0,
        rivals: Vec::new(),
        of: known.len() as u64 + 1,
        cases: u64::MAX,
        left_out: 0,
        silent: Vec::new(),
    };
    for other in known {
        let above = other.against_best.interval(confidence)?.high;
        if above > 0.0 {
            found.within = found.within.max(above);
            found.rivals.push(other.name.clone());
        }
        found.cases = found.cases.min(other.against_best.cases());
    }
    Some(found)
}

impl Best {
    /// Says how many cases only some met, and who is not among those compared.
    pub fn among(self, left_out: u64, silent: Vec<String>) -> Self {
        Self { left_out, silent, ..self }
    }

    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let name = &self.name;
        let over = match self.left_out {
            0 => cases(self.cases),
            more => format!(
                "the {} of {} on which all were assessed",
                grouped(self.cases),
                cases(self.cases + more)
            ),
        };
        let mut text = if self.rivals.is_empty() {
            format!("on cases like these, {name} is the best of {} (95 % certain, over {over})", self.of)
        } else {
            let within = points(self.within);
            format!(
                "on cases like these, {name} is the best of {}, or within {} points of it (95 % certain, over {over}); \
                 the best may as well be {}",
                self.of,
                within.trim_start_matches('+'),
                names(&self.rivals)
            )
        };
        if !self.silent.is_empty() {
            let (silent, are) =
                (names(&self.silent), if self.silent.len() == 1 { "it is" } else { "they are" });
            text.push_str(&format!(
                "; nothing that {silent} answered can be assessed, so {are} not among them"
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(name: &str, worse: u64, better: u64) -> Candidate {
        let mut against_best = Differences::default();
        for (count, first, second) in [(100 - worse - better, 1, 1), (worse, 1, 0), (better, 0, 1)] {
            (0..count).for_each(|_| against_best.push((first, 1), (second, 1)));
        }
        Candidate { name: name.to_owned(), against_best }
    }

    #[test]
    fn rivals_are_those_that_cannot_be_excluded() {
        let found = best("t4", &[other("t1", 30, 0), other("t2", 6, 4), other("t3", 5, 5)]).unwrap();
        assert_eq!(found.rivals, ["t2", "t3"]);
        assert!(found.within > 0.05 && found.within < 0.12, "{found:?}");
        insta::assert_snapshot!(found.sentence(), @"on cases like these, t4 is the best of 4, or within 7.8 points of it (95 % certain, over 100 cases); the best may as well be t2, t3");
        insta::assert_snapshot!(best("t4", &[other("t1", 30, 0)]).unwrap().sentence(), @"on cases like these, t4 is the best of 2 (95 % certain, over 100 cases)");
        assert_eq!(best("alone", &[]), None);
    }
}
