//! Is the second column worse than the first by more than a margin? Non-inferiority, with a third answer where it cannot be told.

use super::differences::Differences;
use super::{cases, grouped, level, points};
use crate::stats::Confidence;
use crate::stats::interval::Interval;

/// What can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Better, as good, or worse by less than the margin.
    NotWorse,
    /// Worse by more than the margin.
    Worse,
    /// Neither can be excluded.
    CannotTell,
}

/// Whether the second column is worse than the first by more than a margin, on cases like these.
#[derive(Debug, Clone, PartialEq)]
pub struct NotWorse {
    /// The first column.
    pub a: String,
    /// The second column.
    pub b: String,
    /// By how much the second may be worse.
    pub margin: f64,
    /// The answer.
    pub verdict: Verdict,
    /// The interval of second minus first: its lower end as if whatever was not assessed spoke against the second column, its
    /// upper end as if it spoke for it. None without cases.
    pub interval: Option<Interval>,
    /// How sure the interval is.
    pub confidence: f64,
    /// Cases behind it.
    pub cases: u64,
    /// Those of them that both sides assessed.
    pub compared: u64,
    /// Trials that one side could not assess.
    pub unassessed: u64,
    /// About how many cases would tell with 80 % power, if all were assessed and fell out like these.
    pub needed: Option<u64>,
}

/// The same pairs three times: as seen, and with what was not assessed taken for and against the second column.
#[derive(Debug, Clone, Default)]
pub struct Views {
    /// Trials that both sides assessed.
    pub seen: Differences,
    /// What one side lacks speaks against the second column.
    pub against: Differences,
    /// What one side lacks speaks for the second column.
    pub favour: Differences,
    /// How many trials one side lacks.
    pub unassessed: u64,
}

impl NotWorse {
    /// Decides. `of` is how many such questions are asked at once: intervals hold for all of them together (Bonferroni).
    ///
    /// Low above −margin: not worse; high below −margin: worse. See Schuirmann (1987), and for unassessed trials Manski (1990). However
    /// often few cases are repeated, they do not show that others fare as well: [`Differences::cautious`].
    pub fn decide(names: (&str, &str), views: &Views, margin: f64, of: u64) -> Self {
        let sure = 1.0 - super::LEVEL / of.max(1) as f64;
        let confidence = Confidence::new(sure).unwrap_or(Confidence::P95);
        let interval = match (views.against.cautious(confidence), views.favour.interval(confidence)) {
            (Some(against), Some(favour)) => Some(Interval { low: against.low, high: favour.high }),
            _ => None,
        };
        let verdict = match interval {
            // Bounds alone may decide where one side failed everything: of a side that said nothing it is not told all the same.
            _ if views.seen.cases() == 0 => Verdict::CannotTell,
            Some(interval) if interval.low > -margin => Verdict::NotWorse,
            Some(interval) if interval.high < -margin => Verdict::Worse,
            _ => Verdict::CannotTell,
        };
        let told = |interval: Interval| interval.low > -margin || interval.high < -margin;
        Self {
            a: names.0.to_owned(),
            b: names.1.to_owned(),
            margin,
            verdict,
            interval,
            confidence: sure,
            cases: views.against.cases(),
            compared: views.seen.cases(),
            unassessed: views.unassessed,
            needed: views.seen.cases_until_sure(confidence, told),
        }
    }

    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let (a, b) = (&self.a, &self.b);
        let Some(interval) = self.interval else {
            return format!(
                "there is no case in both {a} and {b}, so it cannot be told whether {b} is worse"
            );
        };
        if self.compared == 0 {
            return format!(
                "no case was assessed for both {a} and {b}, so it cannot be told whether {b} is worse"
            );
        }
        let margin = points(self.margin);
        let margin = margin.trim_start_matches('+');
        let open = match self.unassessed {
            0 => String::new(),
            1 => ", 1 trial not assessed taken for and against".to_owned(),
            many => format!(", {} trials not assessed taken for and against", grouped(many)),
        };
        let seen = format!(
            "{} interval {} to {} points over {}{open}",
            level(self.confidence),
            points(interval.low),
            points(interval.high),
            cases(self.cases)
        );
        match self.verdict {
            Verdict::NotWorse => {
                format!(
                    "on cases like these, {b} is not worse than {a} by more than {margin} points ({seen})"
                )
            }
            Verdict::Worse => {
                format!("on cases like these, {b} is worse than {a} by more than {margin} points ({seen})")
            }
            Verdict::CannotTell => {
                let more = match self.needed.filter(|needed| *needed > self.cases) {
                    Some(needed) => {
                        format!(
                            "; about {} would tell with 80 % power, if they fall out like these",
                            cases(needed)
                        )
                    }
                    None if self.unassessed > 0 => "; assess what is missing".to_owned(),
                    None => String::new(),
                };
                format!(
                    "it cannot be told whether {b} is worse than {a} by more than {margin} points on cases like these ({seen}){more}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(same: u64, worse: u64, better: u64, lost: u64) -> Views {
        let mut views = Views { unassessed: lost, ..Views::default() };
        for (count, first, second) in [(same, 1, 1), (worse, 1, 0), (better, 0, 1)] {
            for _ in 0..count {
                views.seen.push((first, 1), (second, 1));
                views.against.push((first, 1), (second, 1));
                views.favour.push((first, 1), (second, 1));
            }
        }
        for _ in 0..lost {
            views.against.push((1, 1), (0, 1));
            views.favour.push((1, 1), (1, 1));
        }
        views
    }

    fn decide(same: u64, worse: u64, better: u64, lost: u64) -> NotWorse {
        NotWorse::decide(("old", "new"), &views(same, worse, better, lost), 0.03, 1)
    }

    #[test]
    fn three_answers() {
        assert_eq!(decide(500, 0, 0, 0).verdict, Verdict::NotWorse);
        assert_eq!(decide(400, 100, 0, 0).verdict, Verdict::Worse);
        assert_eq!(decide(50, 0, 0, 0).verdict, Verdict::CannotTell);
        assert_eq!(decide(0, 0, 0, 0).verdict, Verdict::CannotTell);
        insta::assert_snapshot!(decide(500, 0, 0, 0).sentence(), @"on cases like these, new is not worse than old by more than 3.0 points (95 % interval −0.8 to +0.8 points over 500 cases)");
        insta::assert_snapshot!(decide(400, 100, 0, 0).sentence(), @"on cases like these, new is worse than old by more than 3.0 points (95 % interval −23.7 to −16.7 points over 500 cases)");
        insta::assert_snapshot!(decide(50, 0, 0, 0).sentence(), @"it cannot be told whether new is worse than old by more than 3.0 points on cases like these (95 % interval −7.1 to +7.1 points over 50 cases); about 125 cases would tell with 80 % power, if they fall out like these");
    }

    #[test]
    fn what_was_not_assessed_does_not_pass() {
        let found = decide(1, 0, 0, 999);
        assert_eq!(found.verdict, Verdict::CannotTell);
        assert!(found.interval.unwrap().low < -0.9, "{found:?}");
        insta::assert_snapshot!(decide(500, 0, 0, 100).sentence(), @"it cannot be told whether new is worse than old by more than 3.0 points on cases like these (95 % interval −19.9 to +0.6 points over 600 cases, 100 trials not assessed taken for and against); assess what is missing");
    }

    #[test]
    fn asking_for_many_targets_widens_each() {
        let alone = NotWorse::decide(("a", "b"), &views(300, 6, 4, 0), 0.03, 1).interval.unwrap();
        let many = NotWorse::decide(("a", "b"), &views(300, 6, 4, 0), 0.03, 10).interval.unwrap();
        assert!(many.low < alone.low && many.high > alone.high);
    }
}
