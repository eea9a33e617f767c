//! Numbers, sizes and run times as a person reads them.

/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;
/// Nanoseconds in a second.
pub(crate) const NS_PER_S: f64 = 1e9;

/// A count with thousands separators: `1,234,567`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, which takes an `s` unless there is exactly one.
pub(crate) fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A duration in nanoseconds with three significant digits and the unit that suits it.
pub(crate) fn duration(ns: u64) -> String {
    let ns = ns as f64;
    if ns >= 100.0 * NS_PER_S {
        format!("{:.0} s", ns / NS_PER_S)
    } else if ns >= NS_PER_S {
        format!("{} s", significant(ns / NS_PER_S))
    } else if ns >= NS_PER_MS {
        format!("{} ms", significant(ns / NS_PER_MS))
    } else if ns >= 1e3 {
        format!("{} µs", significant(ns / 1e3))
    } else {
        format!("{ns:.0} ns")
    }
}

/// An instant of the run in seconds with milliseconds: `12.345 s`.
pub(crate) fn instant(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / NS_PER_S)
}

/// Bytes with a binary unit: `1.5 KiB`.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut size = n as f64 / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    format!("{} {unit}", significant(size))
}

/// A number of at most three significant digits, without trailing zeros.
pub(crate) fn significant(x: f64) -> String {
    let text = if x >= 100.0 {
        format!("{x:.0}")
    } else if x >= 10.0 {
        format!("{x:.1}")
    } else {
        format!("{x:.2}")
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A rate on an axis, short: `1.2k`.
pub(crate) fn short(x: f64) -> String {
    if x >= 1e6 {
        format!("{}M", significant(x / 1e6))
    } else if x >= 1e3 {
        format!("{}k", significant(x / 1e3))
    } else {
        significant(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_separators() {
        let texts = [0, 999, 1_000, 1_234_567].map(count);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "record"), "1 record");
        assert_eq!(counted(2, "record"), "2 records");
    }

    #[test]
    fn durations_take_the_unit_that_suits_them() {
        let texts = [17, 1_500, 2_345_678, 99_949_999_999, 123_000_000_000].map(duration);
        assert_eq!(texts, ["17 ns", "1.5 µs", "2.35 ms", "99.9 s", "123 s"]);
    }

    #[test]
    fn sizes_and_rates_are_short() {
        let sizes = [0, 1023, 1024, 1_572_864].map(bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1 KiB", "1.5 MiB"]);
        let rates = [0.0, 12.0, 1_200.0, 3_000_000.0].map(short);
        assert_eq!(rates, ["0", "12", "1.2k", "3M"]);
    }
}
