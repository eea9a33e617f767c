//! Why the process ends with an error: one sentence and an exit status.

use std::fmt;

/// The exit status for a wrong option or a wrong configuration.
pub const USAGE: u8 = 64;
/// The exit status for everything else that keeps a node from serving.
pub const CANNOT_SERVE: u8 = 70;

/// An error that ends the process.
#[derive(Debug)]
pub struct Failure {
    /// One sentence: what, where, what to do.
    pub sentence: String,
    /// [`USAGE`] or [`CANNOT_SERVE`].
    pub status: u8,
}

impl Failure {
    /// The caller must change an option or the configuration.
    pub fn usage(sentence: impl fmt::Display) -> Failure {
        Failure { sentence: sentence.to_string(), status: USAGE }
    }

    /// The node cannot serve as things are.
    pub fn cannot_serve(sentence: impl fmt::Display) -> Failure {
        Failure { sentence: sentence.to_string(), status: CANNOT_SERVE }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
