//! Intensity: the share of characters that a noise generator touches.

use crate::text::complaint::Complaint;

/// Refuses shares that are no shares.
pub(super) fn check(min: f64, max: f64) -> Result<(), Complaint> {
    for (key, share) in [("intensity_min", min), ("intensity_max", max)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(Complaint::new(format!("`{key}` is {share}"))
                .hint("give a share of the characters from 0 to 1"));
        }
    }
    if min > max {
        return Err(Complaint::new(format!(
            "`intensity_min` ({min}) is greater than `intensity_max` ({max})"
        ))
        .hint("swap the two values"));
    }
    Ok(())
}

/// The smallest and the greatest number of characters whose share of `chars` lies in the range.
///
/// The quotient itself is compared, because that is what a reader of the record will compute.
pub(super) fn counts(chars: usize, min: f64, max: f64) -> (usize, usize) {
    let share = |count: usize| count as f64 / chars as f64;
    let mut least = (min * chars as f64) as usize;
    while least > 0 && share(least - 1) >= min {
        least -= 1;
    }
    while share(least) < min {
        least += 1;
    }
    let mut most = (max * chars as f64) as usize + 1;
    while most > 0 && share(most) > max {
        most -= 1;
    }
    (least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_the_extreme_ones_inside_the_range() {
        for chars in 1..200usize {
            for (min, max) in [(0.0, 0.0), (0.05, 0.2), (0.1, 0.1), (0.3, 0.7), (1.0, 1.0), (0.07, 0.35)] {
                let fits = |count: &usize| (min..=max).contains(&(*count as f64 / chars as f64));
                let fitting: Vec<usize> = (0..=chars).filter(fits).collect();
                let (least, most) = counts(chars, min, max);
                assert_eq!((least..=most).collect::<Vec<_>>(), fitting, "{chars} {min} {max}");
            }
        }
    }

    #[test]
    fn shares_that_are_none_are_refused() {
        assert!(check(0.05, 0.2).is_ok());
        for (min, max) in [(-0.1, 0.2), (0.1, 1.1), (f64::NAN, 0.1), (0.1, f64::NAN), (0.2, 0.1)] {
            assert!(check(min, max).is_err(), "{min} {max}");
        }
    }
}
