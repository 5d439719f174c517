//! The exact conditional test of two groups of outcomes: could the difference be the baseline's own noise?

use std::collections::BTreeMap;

use statrs::function::factorial::ln_factorial;

/// Tables whose probability differs by less than this share count as equally likely, as they do in R's `fisher.test`.
const SAME_PROBABILITY: f64 = 1e-7;

/// More tables than this are not looked at: rare outcomes are put together until fewer remain.
const MAX_TABLES: f64 = 200_000.0;

/// The probability, if both groups came from the same source, of a split of all outcomes between them that is no more
/// likely than the observed one.
///
/// The test of Freeman and Halton (1951), which is Fisher's for two kinds of outcome: given how often each kind was seen
/// in all, every assignment of the outcomes to the two groups is equally likely, whatever the source is like. So the
/// chance of a false finding is never above the level. Rare kinds are put together by their totals alone, which the
/// condition fixes, so that this stays true.
pub fn conditional_p_value<T: Ord>(base: &[T], variant: &[T]) -> f64 {
    if base.is_empty() || variant.is_empty() {
        return 1.0;
    }
    let mut counts: BTreeMap<&T, (u64, u64)> = BTreeMap::new();
    for outcome in base {
        counts.entry(outcome).or_default().0 += 1;
    }
    for outcome in variant {
        counts.entry(outcome).or_default().1 += 1;
    }
    let mut columns: Vec<Column> = counts
        .into_values()
        .map(|(base, variant)| Column { total: base + variant, taken: variant })
        .collect();
    columns.sort_by_key(|column| std::cmp::Reverse(column.total));
    let draws = variant.len() as u64;
    while columns.len() > 2 && tables(draws, columns.len()) > MAX_TABLES {
        let last = columns.pop().expect("more than two columns");
        let before = columns.last_mut().expect("more than one column");
        before.total += last.total;
        before.taken += last.taken;
    }
    let observed: f64 = columns.iter().map(|column| ln_choose(column.total, column.taken)).sum();
    let limit = observed + SAME_PROBABILITY;
    let all = ln_choose((base.len() + variant.len()) as u64, draws);
    let mut search = Search { columns: &columns, limit, all, sum: 0.0 };
    search.walk(0, draws, 0.0);
    search.sum.min(1.0)
}

struct Column {
    total: u64,
    taken: u64,
}

/// At most how many tables there are.
fn tables(draws: u64, columns: usize) -> f64 {
    let others = columns as u64 - 1;
    ln_choose(draws + others, others).exp()
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

struct Search<'a> {
    columns: &'a [Column],
    limit: f64,
    all: f64,
    sum: f64,
}

impl Search<'_> {
    fn walk(&mut self, at: usize, left: u64, weight: f64) {
        let column = &self.columns[at];
        if at + 1 == self.columns.len() {
            let weight = weight + if left <= column.total { ln_choose(column.total, left) } else { return };
            if weight <= self.limit {
                self.sum += (weight - self.all).exp();
            }
            return;
        }
        for taken in 0..=column.total.min(left) {
            self.walk(at + 1, left - taken, weight + ln_choose(column.total, taken));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p(base: &[u8], variant: &[u8]) -> f64 {
        conditional_p_value(base, variant)
    }

    fn times(groups: &[(u8, usize)]) -> Vec<u8> {
        groups.iter().flat_map(|(class, count)| std::iter::repeat_n(*class, *count)).collect()
    }

    /// Fisher's tea tasting, and values of R's `fisher.test`.
    #[test]
    fn values_of_the_textbooks() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(p(&times(&[(0, 3), (1, 1)]), &times(&[(0, 1), (1, 3)])), 0.485_714_285_714_286);
        near(p(&times(&[(0, 10)]), &times(&[(1, 5)])), 1.0 / 3003.0);
        near(p(&times(&[(0, 10)]), &times(&[(0, 5)])), 1.0);
        near(p(&times(&[(0, 8), (1, 2)]), &times(&[(0, 1), (1, 5)])), 0.034_965_034_965_035);
        // fisher.test(rbind(c(3,1,0), c(0,2,4))): 4 of the 210 tables' weight is more likely than none.
        let naive = {
            let mut sum = 0.0;
            let choose = |n: u64, k: u64| (ln_choose(n, k)).exp();
            let weight = |a: u64, b: u64, c: u64| choose(3, a) * choose(3, b) * choose(4, c);
            let observed = weight(0, 2, 4);
            for a in 0..=3 {
                for b in 0..=3 {
                    if a + b <= 6 && 6 - a - b <= 4 && weight(a, b, 6 - a - b) <= observed * (1.0 + 1e-7) {
                        sum += weight(a, b, 6 - a - b);
                    }
                }
            }
            sum / choose(10, 6)
        };
        near(p(&times(&[(0, 3), (1, 1)]), &times(&[(1, 2), (2, 4)])), naive);
    }

    #[test]
    fn many_kinds_are_put_together_and_stay_a_probability() {
        let base: Vec<u8> = (0..60).collect();
        let variant: Vec<u8> = (30..90).collect();
        let value = p(&base, &variant);
        assert!((0.0..=1.0).contains(&value));
    }

    proptest! {
        /// Exact validity: over all equally likely splits of the same outcomes, a p-value of at most `alpha` has a
        /// chance of at most `alpha`.
        #[test]
        fn the_test_never_rejects_too_often(outcomes in prop::collection::vec(0u8..4, 4..9), draws in 1usize..4) {
            let n = outcomes.len();
            let mut values = Vec::new();
            for mask in 0u32..1 << n {
                if mask.count_ones() as usize == draws {
                    let part = |inside: bool| -> Vec<u8> {
                        (0..n).filter(|at| (mask >> at & 1 == 1) == inside).map(|at| outcomes[at]).collect()
                    };
                    values.push(p(&part(false), &part(true)));
                }
            }
            for alpha in [0.01, 0.05, 0.1, 0.3, 0.5] {
                let rejected = values.iter().filter(|value| **value <= alpha).count();
                prop_assert!(rejected as f64 <= alpha * values.len() as f64 + 1e-9);
            }
        }
    }
}
