//! Many tests at once: p-values adjusted so that chance findings stay rare.

/// Holm's (1979) adjustment: rejecting what is at most α keeps the chance of any false rejection at most α.
///
/// The answer is in the order of the input.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    holm_within(p_values, p_values.len() as u64)
}

/// The same for some tests of a larger family, whichever they are: the others are taken as not significant.
///
/// # Panics
/// When the family is smaller than the number of p-values.
pub fn holm_within(p_values: &[f64], family: u64) -> Vec<f64> {
    assert!(family >= p_values.len() as u64, "a family has at least these members");
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, at) in ascending(p_values).into_iter().enumerate() {
        largest = largest.max((p_values[at] * (family - rank as u64) as f64).min(1.0));
        adjusted[at] = largest;
    }
    adjusted
}

/// The adjustment of Benjamini and Hochberg (1995): of what is at most α, a share of at most α is false on average.
///
/// The answer is in the order of the input.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len();
    let mut adjusted = vec![0.0; count];
    let mut smallest: f64 = 1.0;
    for (rank, at) in ascending(p_values).into_iter().enumerate().rev() {
        smallest = smallest.min(p_values[at] * count as f64 / (rank + 1) as f64);
        adjusted[at] = smallest;
    }
    adjusted
}

/// The places of the p-values from the smallest to the largest, equal ones in their order.
fn ascending(p_values: &[f64]) -> Vec<usize> {
    assert!(p_values.iter().all(|p| (0.0..=1.0).contains(p)), "a p-value is within 0..=1");
    let mut places: Vec<usize> = (0..p_values.len()).collect();
    places.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The 15 p-values of Benjamini and Hochberg (1995), of trials of thrombolysis.
    const THROMBOLYSIS: [f64; 15] = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
        0.6528, 0.7590, 1.0000,
    ];

    /// The paper rejects four hypotheses with its procedure and three with those that guard against any error.
    #[test]
    fn the_example_of_benjamini_and_hochberg() {
        let rejected = |adjusted: Vec<f64>| adjusted.iter().filter(|p| **p <= 0.05).count();
        assert_eq!(rejected(benjamini_hochberg(&THROMBOLYSIS)), 4);
        assert_eq!(rejected(holm(&THROMBOLYSIS)), 3);
    }

    /// What R's `p.adjust` gives.
    #[test]
    fn adjusted_values_in_the_order_of_the_input() {
        let near = |a: Vec<f64>, b: &[f64]| {
            assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
        };
        near(holm(&[0.03, 0.01, 0.04, 0.02, 0.05]), &[0.09, 0.05, 0.09, 0.08, 0.09]);
        near(benjamini_hochberg(&[0.03, 0.01, 0.04, 0.02, 0.05]), &[0.05; 5]);
        near(benjamini_hochberg(&[0.9, 0.001]), &[0.9, 0.002]);
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn adjusting_keeps_order_and_never_helps(p in prop::collection::vec(0.0f64..=1.0, 1..40)) {
            let (family, discovery) = (holm(&p), benjamini_hochberg(&p));
            for i in 0..p.len() {
                prop_assert!(family[i] + 1e-15 >= discovery[i] && discovery[i] + 1e-15 >= p[i] && family[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || (family[i] <= family[j] && discovery[i] <= discovery[j]));
                }
            }
        }
    }
}
