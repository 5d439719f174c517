//! Which of many is best, and by how much others could still be better: comparison with the best.

use super::differences::Differences;
use super::{cases, names, points};
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
    /// The smallest number of cases that it shares with another.
    pub cases: u64,
}

/// What can be said of the one that did best among many; none without another one to compare with.
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
    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let (name, count) = (&self.name, cases(self.cases));
        if self.rivals.is_empty() {
            return format!(
                "on cases like these, {name} is the best of {} (95 % certain, over {count})",
                self.of
            );
        }
        let within = points(self.within);
        format!(
            "on cases like these, {name} is the best of {}, or within {} points of it (95 % certain, over {count}); \
             the best may as well be {}",
            self.of,
            within.trim_start_matches('+'),
            names(&self.rivals)
        )
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
