//! A mean whose values come in clusters: repetitions of a case are not independent, so cases are what is counted.

/// Sums from which the mean and its cluster-robust standard error follow, in constant memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Clusters {
    /// The open cluster: its sum and its size.
    open: (f64, f64),
    clusters: u64,
    sum: f64,
    size: f64,
    sum_squared: f64,
    sum_times_size: f64,
    size_squared: f64,
}

/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

impl Clusters {
    /// Takes a value of the open cluster.
    pub(super) fn push(&mut self, value: f64) {
        self.open.0 += value;
        self.open.1 += 1.0;
    }

    /// Closes the open cluster; one without values does not count.
    pub(super) fn close(&mut self) {
        let (sum, size) = std::mem::take(&mut self.open);
        if size == 0.0 {
            return;
        }
        self.clusters += 1;
        self.sum += sum;
        self.size += size;
        self.sum_squared += sum * sum;
        self.sum_times_size += sum * size;
        self.size_squared += size * size;
    }

    pub(super) fn clusters(&self) -> u64 {
        self.clusters
    }

    pub(super) fn count(&self) -> u64 {
        self.size as u64
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.size > 0.0).then(|| self.sum / self.size)
    }

    /// The linearised standard error of a ratio mean, with the usual C/(C-1) correction; none below two clusters.
    pub(super) fn standard_error(&self) -> Option<f64> {
        let mean = self.mean()?;
        let clusters = self.clusters as f64;
        if self.clusters < 2 {
            return None;
        }
        let spread = self.sum_squared - 2.0 * mean * self.sum_times_size + mean * mean * self.size_squared;
        Some((spread.max(0.0) * clusters / (clusters - 1.0)).sqrt() / self.size)
    }

    /// The 95 % interval by the normal approximation, within the range that scores have.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let (mean, error) = (self.mean()?, self.standard_error()?);
        Some(((mean - Z * error).max(0.0), (mean + Z * error).min(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook form, over all clusters at once.
    fn direct(groups: &[Vec<f64>]) -> (f64, f64) {
        let count: f64 = groups.iter().map(|group| group.len() as f64).sum();
        let mean = groups.iter().flatten().sum::<f64>() / count;
        let residuals = groups.iter().map(|group| group.iter().map(|x| x - mean).sum::<f64>().powi(2));
        let clusters = groups.len() as f64;
        (mean, (residuals.sum::<f64>() * clusters / (clusters - 1.0)).sqrt() / count)
    }

    #[test]
    fn streaming_sums_give_the_textbook_error() {
        let groups = vec![vec![1.0, 0.0, 1.0], vec![1.0, 1.0], vec![0.0, 0.0, 0.0, 1.0], vec![0.5]];
        let mut clusters = Clusters::default();
        for group in &groups {
            group.iter().for_each(|value| clusters.push(*value));
            clusters.close();
            clusters.close();
        }
        let (mean, error) = direct(&groups);
        assert!((clusters.mean().unwrap() - mean).abs() < 1e-12);
        assert!((clusters.standard_error().unwrap() - error).abs() < 1e-12);
        assert_eq!((clusters.clusters(), clusters.count()), (4, 10));
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!(Clusters::default().mean(), None);
        let mut one = Clusters::default();
        one.push(1.0);
        one.close();
        assert_eq!((one.mean(), one.standard_error()), (Some(1.0), None));
    }
}
