//! How a figure spreads over runs.

use serde::{Deserialize, Serialize};

/// A figure over several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Over how many runs.
    pub n: u64,
    /// The smallest.
    pub min: f64,
    /// The median; of an even number the mean of the middle two.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// The sum.
    pub total: f64,
}

impl Spread {
    /// The spread of these figures; all zero when there is none.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Spread {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (figures.first(), figures.last()) else {
            return Spread::default();
        };
        let (low, high) = ((figures.len() - 1) / 2, figures.len() / 2);
        Spread {
            n: figures.len() as u64,
            min: *min,
            median: f64::midpoint(figures[low], figures[high]),
            max: *max,
            total: figures.iter().sum(),
        }
    }

    /// Whether some figure can be of both.
    pub fn overlaps(&self, other: &Spread) -> bool {
        self.min <= other.max && other.min <= self.max
    }

    /// The same in another unit.
    #[must_use]
    pub fn times(&self, factor: f64) -> Spread {
        Spread {
            n: self.n,
            min: self.min * factor,
            median: self.median * factor,
            max: self.max * factor,
            total: self.total * factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn the_median_stands_between_the_middle_two() {
        assert_eq!(Spread::of([]), Spread::default());
        let spread = Spread::of([4.0, 1.0, 3.0, 10.0]);
        assert_eq!((spread.n, spread.min, spread.median, spread.max), (4, 1.0, 3.5, 10.0));
        assert_eq!(Spread::of([2.0]).median, 2.0);
    }

    #[test]
    fn spreads_overlap_where_they_share_a_figure() {
        let spread = |min: f64, max: f64| Spread::of([min, max]);
        assert!(spread(1.0, 3.0).overlaps(&spread(3.0, 4.0)));
        assert!(spread(2.0, 2.5).overlaps(&spread(1.0, 4.0)));
        assert!(!spread(1.0, 2.0).overlaps(&spread(3.0, 4.0)));
    }
}
