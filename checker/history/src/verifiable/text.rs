//! The values that VerifiableProducer sends: `17`, or `2.17` with `--value-prefix 2`.

use std::collections::BTreeSet;

use crate::types::Value;

/// What a value's text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text {
    pub prefix: Prefix,
    pub number: i64,
}

/// A producer's prefix, if it has one.
pub(super) type Prefix = Option<i32>;

impl Text {
    /// The highest number that is read; nobody sends as many.
    const MAX_NUMBER: i64 = 1 << 40;

    /// What a text says, if a producer may have sent it.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (prefix, number) = match text.split_once('.') {
            Some((prefix, number)) => (Some(prefix.parse().ok()?), number),
            None => (None, text),
        };
        let said = Self { prefix, number: number.parse().ok()? };
        // As the producer writes it and no other way: 07 is not 7.
        let is_its = (0..Self::MAX_NUMBER).contains(&said.number) && said.to_string() == text;
        is_its.then_some(said)
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.prefix {
            Some(prefix) => write!(f, "{prefix}.{}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// Gives every text a value of its own: the numbers of several producers take turns, so that the
/// values stay dense.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    prefixes: Vec<Prefix>,
}

impl Numbering {
    pub(super) fn of(prefixes: BTreeSet<Prefix>) -> Self {
        Self { prefixes: prefixes.into_iter().collect() }
    }

    /// The value of a text; none of one whose prefix no producer has.
    pub(super) fn value(&self, text: Text) -> Option<Value> {
        let turn = self.prefixes.binary_search(&text.prefix).ok()? as i64;
        let producers = self.prefixes.len() as i64;
        text.number.checked_mul(producers)?.checked_add(turn)
    }

    /// One sentence on values that are not what was sent.
    pub(super) fn note(&self) -> Option<String> {
        if self.prefixes == [None] || self.prefixes.is_empty() {
            return None;
        }
        let turns = self.prefixes.iter().enumerate().map(|(turn, prefix)| match prefix {
            Some(prefix) => format!("{turn} for {prefix}.N"),
            None => format!("{turn} for N"),
        });
        let turns: Vec<String> = turns.collect();
        let producers = self.prefixes.len();
        Some(format!("values are N times {producers} and {}", turns.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_the_producer_writes_and_nothing_else() {
        for (text, prefix, number) in
            [("0", None, 0), ("17", None, 17), ("2.0", Some(2), 0), ("-1.5", Some(-1), 5)]
        {
            assert_eq!(Text::of(text), Some(Text { prefix, number }));
        }
        for text in ["", "x", "07", "+7", "-7", "1.", ".1", "1.2.3", "1.07", "9999999999999"] {
            assert_eq!(Text::of(text), None, "{text}");
        }
    }

    #[test]
    fn values_of_several_producers_are_dense() {
        let numbering = Numbering::of(BTreeSet::from([Some(1), Some(7)]));
        let values = ["1.0", "7.0", "1.1", "7.1"].map(|text| {
            numbering.value(Text::of(text).expect("a producer's text")).expect("its prefix")
        });
        assert_eq!(values, [0, 1, 2, 3]);
        assert_eq!(numbering.value(Text { prefix: None, number: 1 }), None);
        assert_eq!(Numbering::of(BTreeSet::from([None])).note(), None);
    }
}
