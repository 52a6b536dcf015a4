//! Medians with their range, and when not to believe them.

/// Median, smallest and largest of some runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The middle value; of an even number the mean of the middle two.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Number of values.
    pub runs: usize,
}

/// A range wider than this part of the median makes a row noisy.
pub const NOISY_SPREAD: f64 = 0.15;
/// Other programs that kept more than this many cores busy (median over the runs) make a row noisy.
pub const NOISY_LOAD_CORES: f64 = 0.25;

impl Summary {
    /// Of the finite values; `None` when there is none.
    pub fn of(values: &[f64]) -> Option<Summary> {
        let mut values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() {
            0 => return None,
            n if n % 2 == 1 => values[middle],
            _ => (values[middle - 1] + values[middle]) / 2.0,
        };
        Some(Summary { median, min: values[0], max: values[values.len() - 1], runs: values.len() })
    }

    /// Range over median; 0 for one run.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.max - self.min) / self.median.abs() }
    }
}

/// Why a row should not be trusted, if so: its runs lie too far apart, or the machine was busy with other work.
pub fn noise(figure: &Summary, other_load_cores: Option<&Summary>) -> Option<String> {
    let mut reasons = Vec::new();
    if figure.spread() > NOISY_SPREAD {
        reasons.push(format!("runs {:.0} % apart", figure.spread() * 100.0));
    }
    if let Some(load) = other_load_cores.filter(|load| load.median > NOISY_LOAD_CORES) {
        reasons.push(format!("{:.1} cores busy with other work", load.median));
    }
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_and_ignores_nan() {
        let summary = Summary::of(&[5.0, f64::NAN, 1.0, 3.0]).unwrap();
        assert_eq!(summary, Summary { median: 3.0, min: 1.0, max: 5.0, runs: 3 });
        assert_eq!(Summary::of(&[1.0, 2.0, 4.0, 9.0]).unwrap().median, 3.0);
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn runs_far_apart_or_a_busy_machine_are_called_noisy() {
        let steady = Summary::of(&[100.0, 101.0, 99.0]).unwrap();
        let idle = Summary::of(&[0.01, 0.0, 0.02]).unwrap();
        let busy = Summary::of(&[0.9, 1.0, 0.1]).unwrap();
        assert_eq!(noise(&steady, Some(&idle)), None);
        assert!(noise(&steady, Some(&busy)).unwrap().contains("0.9 cores"));
        let wild = Summary::of(&[100.0, 50.0, 120.0]).unwrap();
        assert!(noise(&wild, Some(&idle)).unwrap().contains("70 % apart"));
    }
}
