//! Acks levels as series of a chart.

use highwater_history::event::Acks;

/// The acks level that a send was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Every in-sync replica.
    All,
    /// The leader only.
    One,
    /// No answer.
    Zero,
    /// The history does not say.
    Unsaid,
}

impl Level {
    /// How the page names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::All => "acks=all",
            Self::One => "acks=1",
            Self::Zero => "acks=0",
            Self::Unsaid => "acks not said",
        }
    }

    /// The CSS class of its lines.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::All => "acks-all",
            Self::One => "acks-one",
            Self::Zero => "acks-zero",
            Self::Unsaid => "acks-other",
        }
    }
}

impl From<Option<Acks>> for Level {
    fn from(acks: Option<Acks>) -> Self {
        match acks {
            Some(Acks::All) => Self::All,
            Some(Acks::One) => Self::One,
            Some(Acks::Zero) => Self::Zero,
            None => Self::Unsaid,
        }
    }
}
