//! Two runs of repeated, reworded and stressed instructions: which verdicts, drops and boundaries moved by more than noise.

use super::{Boundary, LEVEL, grouped, p_value, points};
use crate::stats::interval::Interval;
use crate::stats::quantile::normal_cdf;
use crate::stats::{Stratum, cochran_mantel_haenszel, holm};

/// One thing that both runs say something about.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is about: `cache, level 3`.
    pub about: String,
    /// What each run says of it.
    pub said: (Said, Said),
}

/// What one run says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// A word for runs of which so many succeeded.
    Word {
        /// It.
        word: &'static str,
        /// Successes and runs.
        successes: (u64, u64),
        /// What usually happens, where that is certain.
        usual: Option<String>,
    },
    /// A difference in success with its 90 % interval.
    Drop(f64, Interval),
    /// A boundary on a ladder.
    Boundary(Boundary),
}

/// Whether one thing moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// What it is about.
    pub about: String,
    /// Of a test that both runs are alike; none for boundaries.
    pub p: Option<f64>,
    /// The same, adjusted by Holm over all of them.
    pub adjusted_p: Option<f64>,
    /// Whether that is more than noise.
    pub more_than_noise: bool,
    /// Whether the words differ, by noise or not.
    pub reworded: bool,
    /// All of it in words, without a full stop.
    pub sentence: String,
}

/// Which findings of B differ from those of A, each with its sentence.
///
/// Success is compared by Fisher's exact test, drops by their intervals (MOVER), both adjusted by Holm (1979). Boundaries moved where
/// their intervals do not meet.
pub fn moved(names: (&str, &str), findings: &[Finding]) -> Vec<Moved> {
    let p_values: Vec<Option<f64>> = findings.iter().map(|finding| test(&finding.said)).collect();
    let known: Vec<f64> = p_values.iter().flatten().copied().collect();
    let mut adjusted = holm(&known).into_iter();
    let one = |(finding, p): (&Finding, Option<f64>)| {
        let adjusted_p = p.and_then(|_| adjusted.next());
        let certain = match &finding.said {
            (Said::Boundary(a), Said::Boundary(b)) => apart(a, b).is_some(),
            (Said::Word { usual: Some(a), .. }, Said::Word { usual: Some(b), .. }) => a != b,
            _ => false,
        };
        let more_than_noise = certain || adjusted_p.is_some_and(|p| p < LEVEL);
        let sentence = sentence(names, finding, adjusted_p, more_than_noise);
        let reworded = match &finding.said {
            (Said::Word { word: a, .. }, Said::Word { word: b, .. }) => a != b,
            _ => false,
        };
        Moved { about: finding.about.clone(), p, adjusted_p, more_than_noise, reworded, sentence }
    };
    findings.iter().zip(p_values).map(one).collect()
}

/// How many moved, in one sentence without a full stop.
pub fn moved_sentence((a, b): (&str, &str), all: &[Moved]) -> String {
    let count = all.iter().filter(|each| each.more_than_noise).count();
    let of = grouped(all.len() as u64);
    match (all.len(), count) {
        (0, _) => format!("{a} and {b} have no finding in common, so nothing can be compared"),
        (_, 0) => {
            let least = all.iter().filter_map(|each| each.adjusted_p).reduce(f64::min);
            let least = least.map_or(String::new(), |p| format!(" (smallest adjusted {})", p_value(p)));
            format!(
                "none of {of} verdicts, drops and boundaries differs between {a} and {b} by more than noise{least}"
            )
        }
        (_, count) => {
            let verb = if count == 1 { "differs" } else { "differ" };
            format!(
                "{count} of {of} verdicts, drops and boundaries {verb} between {a} and {b} by more than noise"
            )
        }
    }
}

fn test(said: &(Said, Said)) -> Option<f64> {
    match said {
        (Said::Word { successes: first, .. }, Said::Word { successes: second, .. }) => {
            cochran_mantel_haenszel(&[Stratum { first: *first, second: *second }])
        }
        (Said::Drop(a, of_a), Said::Drop(b, of_b)) => {
            let reach = match b > a {
                true => (b - of_b.low).hypot(of_a.high - a),
                false => (of_b.high - b).hypot(a - of_a.low),
            };
            // The intervals are of 90 %.
            let z = if a == b { 0.0 } else { 1.644_853_626_951 * (b - a).abs() / reach };
            Some((2.0 * normal_cdf(-z)).min(1.0))
        }
        _ => None,
    }
}

/// `Some(true)` where B's boundary lies above A's.
fn apart(a: &Boundary, b: &Boundary) -> Option<bool> {
    let above =
        |low: &Boundary, high: &Boundary| low.below.zip(high.above).is_some_and(|(low, high)| high >= low);
    match (above(a, b), above(b, a)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

fn sentence((a, b): (&str, &str), finding: &Finding, p: Option<f64>, more: bool) -> String {
    let about = &finding.about;
    let verdict = |test: &str| match p {
        Some(p) if more => format!("more than noise ({test}adjusted {})", p_value(p)),
        Some(p) => format!("may be noise ({test}adjusted {})", p_value(p)),
        None => "nothing can be compared".to_owned(),
    };
    match &finding.said {
        (
            Said::Word { word: old, successes: first, usual: before },
            Said::Word { word: new, successes: second, usual: after },
        ) => {
            let rate = |(hits, runs): &(u64, u64)| match runs {
                0 => "none assessed".to_owned(),
                _ => format!("{hits} of {runs} succeed"),
            };
            let words =
                if old == new { format!("{old} in both") } else { format!("{old} in {a}, {new} in {b}") };
            if let (Some(before), Some(after)) = (before, after)
                && before != after
            {
                return format!(
                    "{about}: {words}; what usually happens is another: it {before} in {a}, it {after} in {b}"
                );
            }
            format!(
                "{about}: {words}; {} in {a}, {} in {b}: {}",
                rate(first),
                rate(second),
                verdict("Fisher's exact test, ")
            )
        }
        (Said::Drop(old, _), Said::Drop(new, _)) => format!(
            "{about}: success by {} points in {a}, by {} in {b}: {}",
            points(*old),
            points(*new),
            verdict("")
        ),
        (Said::Boundary(old), Said::Boundary(new)) => {
            let place = |of: &Boundary| {
                of.sentence().split(" (").next().unwrap_or_default().replace("the boundary ", "")
            };
            let verdict = match apart(old, new) {
                Some(true) => "it moved up by more than noise",
                Some(false) => "it moved down by more than noise",
                None => "it cannot be told to have moved",
            };
            format!("{about}: the boundary {} in {a} and {} in {b}: {verdict}", place(old), place(new))
        }
        _ => format!("{about}: the runs say different things of it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(word: &'static str, successes: (u64, u64), usual: Option<&str>) -> Said {
        Said::Word { word, successes, usual: usual.map(str::to_owned) }
    }

    fn lies(above: Option<u32>, below: Option<u32>) -> Said {
        Said::Boundary(Boundary { above, below, levels: 5 })
    }

    #[test]
    fn what_moved_is_said_and_what_may_be_noise_too() {
        let finding = |about: &str, a: Said, b: Said| Finding { about: about.to_owned(), said: (a, b) };
        let drop = |value: f64| Said::Drop(value, Interval { low: value - 0.1, high: value + 0.1 });
        let found = moved(
            ("A", "B"),
            &[
                finding("sort", word("stable", (22, 22), None), word("flaky", (4, 22), None)),
                finding("regex", word("mostly the same", (20, 22), None), word("stable", (22, 22), None)),
                finding(
                    "cache",
                    word("stable", (22, 22), Some("succeeds")),
                    word("stable", (22, 22), Some("succeeds, 1 repair")),
                ),
                finding("whitespace_noise", drop(0.0), drop(-0.6)),
                finding("ladder", lies(Some(3), Some(5)), lies(Some(1), Some(3))),
                finding("ladder", lies(Some(3), Some(5)), lies(Some(2), Some(4))),
            ],
        );
        assert_eq!(
            found.iter().map(|each| each.more_than_noise).collect::<Vec<_>>(),
            [true, false, true, true, true, false]
        );
        assert_eq!(
            found.iter().map(|each| each.reworded).collect::<Vec<_>>(),
            [true, true, false, false, false, false]
        );
        insta::assert_snapshot!(found[0].sentence, @"sort: stable in A, flaky in B; 22 of 22 succeed in A, 4 of 22 succeed in B: more than noise (Fisher's exact test, adjusted p < 0.0001)");
        insta::assert_snapshot!(found[1].sentence, @"regex: mostly the same in A, stable in B; 20 of 22 succeed in A, 22 of 22 succeed in B: may be noise (Fisher's exact test, adjusted p = 0.9767)");
        insta::assert_snapshot!(found[2].sentence, @"cache: stable in both; what usually happens is another: it succeeds in A, it succeeds, 1 repair in B");
        insta::assert_snapshot!(found[3].sentence, @"whitespace_noise: success by 0 points in A, by −60.0 in B: more than noise (adjusted p < 0.0001)");
        insta::assert_snapshot!(found[4].sentence, @"ladder: the boundary lies between level 3 and 5 in A and lies between level 1 and 3 in B: it moved down by more than noise");
        insta::assert_snapshot!(found[5].sentence, @"ladder: the boundary lies between level 3 and 5 in A and lies between level 2 and 4 in B: it cannot be told to have moved");
        insta::assert_snapshot!(moved_sentence(("A", "B"), &found), @"4 of 6 verdicts, drops and boundaries differ between A and B by more than noise");
        insta::assert_snapshot!(moved_sentence(("A", "B"), &found[1..2]), @"none of 1 verdicts, drops and boundaries differs between A and B by more than noise (smallest adjusted p = 0.9767)");
        insta::assert_snapshot!(moved_sentence(("A", "B"), &[]), @"A and B have no finding in common, so nothing can be compared");
    }

    /// From 0.2 (up to 0.23) to 0.3 (down to 0.26): 0.1 over the root of 0.04² + 0.03² is twice what the ends of a 90 % interval are.
    #[test]
    fn drops_are_compared_by_the_ends_that_face_each_other() {
        let low = Said::Drop(0.2, Interval { low: -0.5, high: 0.23 });
        let high = Said::Drop(0.3, Interval { low: 0.26, high: 0.9 });
        for said in [(low.clone(), high.clone()), (high, low.clone())] {
            let p = test(&said).unwrap();
            assert!((p - 0.0010029166656443335).abs() < 1e-9, "{p}");
        }
        assert_eq!(test(&(low.clone(), low)), Some(1.0));
        let certain = |value| Said::Drop(value, Interval { low: value, high: value });
        assert_eq!(test(&(certain(0.2), certain(0.2))), Some(1.0), "two drops without any doubt are one");
        assert_eq!(test(&(certain(0.2), certain(0.3))), Some(0.0), "or are two");
    }

    #[test]
    fn what_a_run_did_not_assess_cannot_be_compared() {
        let said = (word("stable", (5, 5), None), word("not assessed", (0, 0), None));
        let found = moved(("A", "B"), &[Finding { about: "sort".to_owned(), said }]);
        assert_eq!((found[0].p, found[0].adjusted_p, found[0].more_than_noise), (None, None, false));
        assert_eq!(
            found[0].sentence,
            "sort: stable in A, not assessed in B; 5 of 5 succeed in A, none assessed in B: nothing can be compared"
        );
    }

    #[test]
    fn a_boundary_moves_up_or_down_where_the_intervals_do_not_meet_between_levels() {
        let say = |a, b| {
            let found = moved(("A", "B"), &[Finding { about: "ladder".to_owned(), said: (a, b) }]);
            (found[0].more_than_noise, found[0].sentence.rsplit_once(": ").unwrap().1.to_owned())
        };
        for (a, b, moves, sentence) in [
            (lies(Some(1), Some(3)), lies(Some(3), Some(5)), true, "it moved up by more than noise"),
            (lies(Some(1), Some(3)), lies(Some(4), None), true, "it moved up by more than noise"),
            (lies(Some(1), Some(3)), lies(Some(2), None), false, "it cannot be told to have moved"),
            (lies(Some(3), None), lies(None, Some(3)), true, "it moved down by more than noise"),
            (lies(None, None), lies(Some(3), Some(5)), false, "it cannot be told to have moved"),
        ] {
            assert_eq!(say(a.clone(), b.clone()), (moves, sentence.to_owned()), "{a:?} {b:?}");
        }
    }

    #[test]
    fn runs_that_say_different_things_of_one_are_told_so() {
        let said = (word("stable", (5, 5), None), lies(Some(1), Some(3)));
        let found = moved(("A", "B"), &[Finding { about: "sort".to_owned(), said }]);
        assert_eq!((found[0].p, found[0].more_than_noise, found[0].reworded), (None, false, false));
        assert_eq!(found[0].sentence, "sort: the runs say different things of it");
    }

    #[test]
    fn of_what_differs_one_is_told_apart_from_several() {
        let moves = |more_than_noise, adjusted_p| Moved {
            about: String::new(),
            p: adjusted_p,
            adjusted_p,
            more_than_noise,
            reworded: false,
            sentence: String::new(),
        };
        let say = |all: &[Moved]| moved_sentence(("A", "B"), all);
        let one = "1 of 2 verdicts, drops and boundaries differs between A and B by more than noise";
        assert_eq!(say(&[moves(true, Some(0.01)), moves(false, Some(0.3))]), one);
        let none = "none of 3 verdicts, drops and boundaries differs between A and B by more than noise";
        assert_eq!(
            say(&[moves(false, Some(0.3)), moves(false, Some(0.2)), moves(false, None)]),
            format!("{none} (smallest adjusted p = 0.2)")
        );
        assert_eq!(say(&[moves(false, None), moves(false, None), moves(false, None)]), none);
        assert!(test(&(word("", (5, 5), None), lies(None, None))).is_none());
    }
}
