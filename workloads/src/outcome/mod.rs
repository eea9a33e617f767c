//! Decides ok, fail or info from what one attempt, or several of one batch, came to.

mod table;
#[cfg(test)]
mod tests;

pub use highwater_history::event::Acks;
pub use table::{Row, TABLE};

/// The number of an acks level in a Produce request.
pub fn acks_number(acks: Acks) -> i16 {
    match acks {
        Acks::Zero => 0,
        Acks::One => 1,
        Acks::All => -1,
    }
}

/// What an error code says of a batch, before acks level and attempt are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It is in the log.
    Yes,
    /// It is not, and never will be, in the log by this attempt.
    No,
    /// As `No` at acks 0 and 1; at acks=all it may come from the waiting room, after the append.
    NoBelowAll,
    /// As `No` for a batch sent for the first time; of a repeat it says nothing (rule 42).
    NoIfFirst,
    /// It may be in the log, now or later.
    Unknown,
}

/// How an operation ended, in Jepsen's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It happened.
    Ok,
    /// It did not happen.
    Fail,
    /// Nobody knows.
    Info,
}

/// The row of a code; a number that Kafka does not define is treated as `UNKNOWN_SERVER_ERROR`.
pub fn row(code: i16) -> &'static Row {
    let at = usize::try_from(i32::from(code) + 1).ok().filter(|at| *at < TABLE.len()).unwrap_or(0);
    &TABLE[at]
}

/// Outcome of one Produce attempt that was answered with `code` (rule 40).
pub fn produce(code: i16, acks: Acks, first_attempt: bool) -> Outcome {
    match row(code).produce {
        Class::Yes => Outcome::Ok,
        Class::No => Outcome::Fail,
        Class::NoBelowAll if acks != Acks::All => Outcome::Fail,
        Class::NoIfFirst if first_attempt => Outcome::Fail,
        Class::NoBelowAll | Class::NoIfFirst | Class::Unknown => Outcome::Info,
    }
}

/// Outcome of a read that was answered with `code`: a read has no effect, so doubt is impossible.
pub fn read(code: i16) -> Outcome {
    if code == 0 { Outcome::Ok } else { Outcome::Fail }
}

/// Outcome over all attempts of one batch identity: one yes decides, one doubt outweighs every no.
///
/// No attempt at all is a fail: nothing left the client.
pub fn overall(attempts: impl IntoIterator<Item = Outcome>) -> Outcome {
    attempts.into_iter().fold(Outcome::Fail, |sum, next| match (sum, next) {
        (Outcome::Ok, _) | (_, Outcome::Ok) => Outcome::Ok,
        (Outcome::Info, _) | (_, Outcome::Info) => Outcome::Info,
        _ => Outcome::Fail,
    })
}
