//! Places of the marks on an axis: round numbers, few of them.

/// Round marks from 0 to at least `max`, at most about `wanted` of them, at 1, 2 or 5 times a power
/// of ten. The last mark is the axis's end.
pub(crate) fn linear_ticks(max: f64, wanted: usize) -> Vec<f64> {
    debug_assert!(wanted > 0, "an axis has marks");
    let max = if max > 0.0 { max } else { 1.0 };
    let rough = max / wanted as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough * 0.999_999)
        .expect("ten times the power is at least the rough step");
    let steps = (max / step).ceil() as usize;
    (0..=steps.max(1)).map(|i| i as f64 * step).collect()
}

/// Powers of ten that enclose `min..=max`, both above 0.
pub(crate) fn log_ticks(min: f64, max: f64) -> Vec<f64> {
    debug_assert!(min > 0.0, "a logarithm needs a number above 0");
    let first = min.log10().floor() as i32;
    let last = (max.log10().ceil() as i32).max(first + 1);
    (first..=last).map(|power| 10f64.powi(power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_marks_are_round_and_reach_the_maximum() {
        assert_eq!(linear_ticks(60.0, 6), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        assert_eq!(linear_ticks(7.0, 4), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(linear_ticks(0.0, 4).first(), Some(&0.0));
        assert!(*linear_ticks(0.0, 4).last().expect("marks") >= 1.0);
    }

    #[test]
    fn log_marks_enclose_the_range() {
        assert_eq!(log_ticks(3.0, 250.0), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(log_ticks(1.0, 1.0), [1.0, 10.0]);
    }
}
