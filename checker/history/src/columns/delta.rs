//! Numbers as differences from the one before: small where a column rises steadily.

/// Turns numbers into differences and back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delta(i64);

impl Delta {
    /// What a number is above the last one.
    pub(super) fn of(&mut self, number: i64) -> i64 {
        number.wrapping_sub(std::mem::replace(&mut self.0, number))
    }

    /// After a number.
    pub(super) fn at(number: i64) -> Self {
        Self(number)
    }

    /// The number that stands so much above the last one.
    pub(super) fn add(&mut self, above: i64) -> i64 {
        self.0 = self.0.wrapping_add(above);
        self.0
    }
}
