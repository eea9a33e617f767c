//! Amounts and latencies by time, in a bounded number of bins however long the run is.

use std::ops::AddAssign;

use hdrhistogram::Histogram;
use highwater_history::TimeNs;

/// The most bins that are kept; with one more, neighbours are joined and bins get twice as wide.
const MOST_BINS: usize = 240;
/// Width of a bin at first.
const FIRST_WIDTH_NS: TimeNs = 125_000_000;

/// Values of one kind by time.
#[derive(Clone)]
pub(crate) struct Bins<T> {
    width_ns: TimeNs,
    bins: Vec<T>,
}

impl<T> Default for Bins<T> {
    fn default() -> Self {
        Self { width_ns: FIRST_WIDTH_NS, bins: Vec::new() }
    }
}

impl<T: Default + for<'a> AddAssign<&'a T>> Bins<T> {
    /// The bin that an instant falls into.
    pub(crate) fn at(&mut self, ns: TimeNs) -> &mut T {
        while ns / self.width_ns >= MOST_BINS as u64 {
            self.widen();
        }
        let bin = (ns / self.width_ns) as usize;
        if bin >= self.bins.len() {
            self.bins.resize_with(bin + 1, T::default);
        }
        &mut self.bins[bin]
    }

    /// All bins together.
    pub(crate) fn total(&self) -> T {
        let mut total = T::default();
        for bin in &self.bins {
            total += bin;
        }
        total
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        let bins = std::mem::take(&mut self.bins);
        for (i, bin) in bins.into_iter().enumerate() {
            match i % 2 {
                0 => self.bins.push(bin),
                _ => *self.bins.last_mut().expect("an even bin came before") += &bin,
            }
        }
    }
}

impl<T> Bins<T> {
    /// Width of a bin, nanoseconds.
    pub(crate) fn width_ns(&self) -> TimeNs {
        self.width_ns
    }

    /// The middle of each bin and what is in it, in order of time.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TimeNs, &T)> {
        let middle = move |i: usize| i as u64 * self.width_ns + self.width_ns / 2;
        self.bins.iter().enumerate().map(move |(i, bin)| (middle(i), bin))
    }
}

/// How many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount(pub u64);

impl AddAssign<&Self> for Amount {
    fn add_assign(&mut self, other: &Self) {
        self.0 += other.0;
    }
}

/// Latencies in microseconds to two digits; holds nothing until the first one comes.
#[derive(Clone, Default)]
pub(crate) struct Micros(Option<Histogram<u32>>);

impl Micros {
    /// Counts a latency given in nanoseconds.
    pub(crate) fn record(&mut self, ns: TimeNs) {
        let histogram = self.0.get_or_insert_with(empty_histogram);
        histogram.record((ns / 1_000).max(1)).expect("a resizable histogram takes every value");
    }

    /// How many latencies were counted.
    pub(crate) fn len(&self) -> u64 {
        self.0.as_ref().map_or(0, Histogram::len)
    }

    /// The latency, nanoseconds, that the given part (0 to 1) of all do not exceed.
    pub(crate) fn quantile_ns(&self, part: f64) -> Option<TimeNs> {
        self.0.as_ref().map(|histogram| histogram.value_at_quantile(part) * 1_000)
    }

    /// The longest latency, nanoseconds.
    pub(crate) fn max_ns(&self) -> Option<TimeNs> {
        self.0.as_ref().map(|histogram| histogram.max() * 1_000)
    }
}

impl AddAssign<&Self> for Micros {
    fn add_assign(&mut self, other: &Self) {
        if let Some(other) = &other.0 {
            let histogram = self.0.get_or_insert_with(empty_histogram);
            histogram.add(other).expect("a resizable histogram takes another one");
        }
    }
}

fn empty_histogram() -> Histogram<u32> {
    const SIGNIFICANT_DIGITS: u8 = 2;
    let mut histogram = Histogram::new(SIGNIFICANT_DIGITS).expect("two digits are allowed");
    histogram.auto(true);
    histogram
}
