//! Exit statuses.

use std::process::{ExitCode, Termination};

use crate::run::Failure;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Every promise was kept.
    Valid,
    /// A promise was broken.
    Invalid,
    /// Not decidable.
    Unknown,
    /// Too little happened.
    Vacuous,
    /// A wrong option or file.
    Usage,
    /// The harness failed, not the target.
    Harness,
    /// Interrupted, after healing.
    Interrupted,
}

impl Exit {
    /// The number that a shell sees.
    #[must_use]
    pub fn status(self) -> u8 {
        match self {
            Exit::Valid => 0,
            Exit::Invalid => 1,
            Exit::Unknown => 2,
            Exit::Vacuous => 3,
            Exit::Usage => 64,
            Exit::Harness => 70,
            Exit::Interrupted => 130,
        }
    }

    /// The exit of a verdict's status.
    #[must_use]
    pub fn of_status(status: u8) -> Exit {
        match status {
            0 => Exit::Valid,
            1 => Exit::Invalid,
            2 => Exit::Unknown,
            3 => Exit::Vacuous,
            64 => Exit::Usage,
            _ => Exit::Harness,
        }
    }

    /// Of many runs the worst decides, in the order 1, 70, 2, 3, 0; what ends all runs comes first.
    #[must_use]
    pub fn worse(self, other: Exit) -> Exit {
        let order = [
            Exit::Interrupted,
            Exit::Usage,
            Exit::Invalid,
            Exit::Harness,
            Exit::Unknown,
            Exit::Vacuous,
            Exit::Valid,
        ];
        order.into_iter().find(|exit| [self, other].contains(exit)).expect("every exit is ordered")
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Exit {
        match failure {
            Failure::Usage(_) => Exit::Usage,
            Failure::Harness(_) => Exit::Harness,
            Failure::Interrupted => Exit::Interrupted,
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.status())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_worst_of_many_runs_is_1_then_70_then_2_then_3() {
        let worst = |all: &[Exit]| all.iter().fold(Exit::Valid, |sum, exit| sum.worse(*exit));
        assert_eq!(worst(&[]), Exit::Valid);
        assert_eq!(worst(&[Exit::Valid, Exit::Vacuous]), Exit::Vacuous);
        assert_eq!(worst(&[Exit::Vacuous, Exit::Unknown]), Exit::Unknown);
        assert_eq!(worst(&[Exit::Harness, Exit::Unknown]), Exit::Harness);
        assert_eq!(worst(&[Exit::Harness, Exit::Invalid, Exit::Valid]), Exit::Invalid);
    }
}
