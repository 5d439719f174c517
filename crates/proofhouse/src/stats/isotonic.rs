//! A monotone fit: the nearest values that never rise.

/// The weighted least-squares fit that never rises, by pooling neighbours that do.
///
/// Ayer, Brunk, Ewing, Reid and Silverman (1955), Annals of Mathematical Statistics 26, 641–647 (PAVA). Weights are above zero.
pub fn falling_fit(values: &[f64], weights: &[f64]) -> Vec<f64> {
    // Blocks of (mean, weight, how many values).
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (value, weight) in values.iter().zip(weights) {
        blocks.push((*value, *weight, 1));
        while let [.., (before, w, m), (last, v, n)] = blocks[..] {
            if before >= last {
                break;
            }
            blocks.truncate(blocks.len() - 2);
            let weight = w + v;
            blocks.push(((before * w + last * v) / weight, weight, m + n));
        }
    }
    blocks.into_iter().flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What R's `isoreg` gives for the negated values.
    #[test]
    fn neighbours_that_rise_are_pooled() {
        assert_eq!(falling_fit(&[1.0, 0.5, 0.7, 0.0], &[1.0; 4]), [1.0, 0.6, 0.6, 0.0]);
        assert_eq!(falling_fit(&[0.0, 1.0], &[1.0, 3.0]), [0.75, 0.75]);
        assert_eq!(falling_fit(&[1.0, 0.8], &[5.0, 5.0]), [1.0, 0.8]);
        assert!(falling_fit(&[], &[]).is_empty());
    }

    proptest! {
        #[test]
        fn it_never_rises_and_keeps_the_mean(values in prop::collection::vec(0.0f64..1.0, 1..12)) {
            let weights: Vec<f64> = (0..values.len()).map(|at| 1.0 + (at % 3) as f64).collect();
            let fit = falling_fit(&values, &weights);
            prop_assert!(fit.windows(2).all(|pair| pair[0] >= pair[1] - 1e-12));
            let mean = |of: &[f64]| of.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>();
            prop_assert!((mean(&fit) - mean(&values)).abs() < 1e-9);
        }
    }
}
