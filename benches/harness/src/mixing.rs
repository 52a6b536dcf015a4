//! How well an epoch is shuffled, measured from the order records came in.

/// Two views of one order: displacement alone hides poor mixing (interleaved files move records far without mixing them).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixing {
    /// Mean distance between a record's place in the file and in the epoch, as part of the set: 1/3 for a random permutation.
    pub displacement: f64,
    /// Mean number of classes in [`WINDOW`] consecutive records of a set sorted into [`CLASSES`] classes.
    pub classes: f64,
    /// The same for a random permutation.
    pub classes_ideal: f64,
    /// Part of the neighbours in the epoch that are neighbours in the file too, in order; a permutation keeps 1 of n.
    pub neighbours_kept: f64,
}

/// Records looked at together.
pub const WINDOW: usize = 128;
/// Classes the set is thought to be sorted into.
pub const CLASSES: u64 = 1000;

impl Mixing {
    /// Of `order`, which holds record numbers below `records`.
    pub fn of(order: &[u64], records: u64) -> Mixing {
        let n = records.max(1) as f64;
        let moved: f64 = order.iter().enumerate().map(|(p, id)| (p as f64 - *id as f64).abs()).sum();
        let class = |id: u64| (u128::from(id) * u128::from(CLASSES) / u128::from(records.max(1))) as u64;
        let windows: Vec<f64> = order
            .chunks_exact(WINDOW)
            .map(|window| {
                let mut classes: Vec<u64> = window.iter().map(|id| class(*id)).collect();
                classes.sort_unstable();
                classes.dedup();
                classes.len() as f64
            })
            .collect();
        let kept = order.windows(2).filter(|pair| pair[0].checked_add(1) == Some(pair[1])).count();
        let classes = CLASSES as f64;
        Mixing {
            displacement: moved / n / (order.len().max(1) as f64),
            classes: windows.iter().sum::<f64>() / windows.len().max(1) as f64,
            classes_ideal: classes * (1.0 - (1.0 - 1.0 / classes).powi(WINDOW as i32)),
            neighbours_kept: kept as f64 / order.len().saturating_sub(1).max(1) as f64,
        }
    }

    /// The figures by the names they have in results.
    pub fn figures(&self) -> [(&'static str, f64); 4] {
        [
            ("displacement_percent", self.displacement * 100.0),
            ("classes_in_128", self.classes),
            ("classes_in_128_ideal", self.classes_ideal),
            ("neighbours_kept_percent", self.neighbours_kept * 100.0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::random::Random;

    #[test]
    fn file_order_is_not_mixed_and_strides_are_not_a_shuffle() {
        let n = 100_000;
        let sequential: Vec<u64> = (0..n).collect();
        let in_order = Mixing::of(&sequential, n);
        assert_eq!(in_order.displacement, 0.0);
        assert_eq!(in_order.neighbours_kept, 1.0);
        assert!(in_order.classes < 3.0);
        // Reversed halves: far displaced, as poorly mixed as before.
        let swapped: Vec<u64> = (n / 2..n).chain(0..n / 2).collect();
        let far = Mixing::of(&swapped, n);
        assert!(far.displacement > 0.3 && far.classes < 3.0);
    }

    #[test]
    fn a_well_mixed_order_reaches_the_ideal() {
        let n = 100_000u64;
        let mut order: Vec<u64> = (0..n).collect();
        order.sort_by_key(|id| Random::new(*id).bits());
        let mixing = Mixing::of(&order, n);
        assert!((mixing.displacement - 1.0 / 3.0).abs() < 0.01, "{mixing:?}");
        assert!((mixing.classes - mixing.classes_ideal).abs() < 1.5, "{mixing:?}");
    }
}
