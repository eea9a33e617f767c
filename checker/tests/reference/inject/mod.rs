//! Puts anomalies of one class into a valid history, and says what has to be counted.

mod field;
mod groups;
mod orders;
mod records;
mod together;

use std::collections::BTreeMap;

pub use field::Field;

use super::judge::Counts;

/// What has to be counted: the anomalies, and what is permitted beyond what was before.
#[derive(Debug, Default)]
pub struct Expected {
    pub anomalies: BTreeMap<&'static str, u64>,
    pub permitted: BTreeMap<&'static str, u64>,
}

impl Expected {
    /// The anomalies as a verdict counts them.
    pub fn counts(&self) -> Counts {
        self.anomalies.iter().map(|(class, n)| ((*class).to_owned(), *n)).collect()
    }

    /// So many anomalies of one class and nothing else.
    fn only(class: &'static str, n: usize) -> Self {
        Self { anomalies: [(class, n as u64)].into(), ..Self::default() }
    }

    /// So many permitted findings of one class.
    fn permitted(class: &'static str, n: usize) -> Self {
        Self { permitted: [(class, n as u64)].into(), ..Self::default() }
    }

    fn and(mut self, class: &'static str, n: usize) -> Self {
        if n > 0 {
            self.anomalies.insert(class, n as u64);
        }
        self
    }
}

/// Puts so many anomalies of its class into a history; none where it has no place for them.
pub type Injector = fn(&mut Field, usize) -> Option<Expected>;

/// Every class that a bare history can show.
pub const INJECTORS: &[(&str, Injector)] = &[
    ("lost-write", records::lose),
    ("duplicate", records::repeat),
    ("inconsistent-offsets", records::give_offset_twice),
    ("unseen", records::hide),
    ("G1a", records::show_aborted),
    ("precommitted-read", records::read_own),
    ("phantom-read", records::make_up),
    ("nonmonotonic-send", orders::send_back),
    ("int-nonmonotonic-send", orders::send_back_within),
    ("int-send-skip", orders::send_skipping_within),
    ("nonmonotonic-poll", orders::poll_back),
    ("int-nonmonotonic-poll", orders::poll_back_within),
    ("int-nonmonotonic-poll", orders::repeat_within),
    ("poll-skip", orders::skip),
    ("int-poll-skip", orders::skip_within),
    ("int-poll-skip", orders::drop_within),
    ("torn-transaction", records::tear),
    ("reread-mismatch", together::change_on_reread),
    ("reset-skip", orders::begin_late),
    ("successor-mismatch", orders::go_on_otherwise),
    ("ack-in-the-past", together::send_below_what_was_read),
    ("offset-regression", groups::forget_commit),
    ("latest-regression", orders::end_earlier),
    ("send-to-the-past", together::send_to_the_past),
    ("read-of-the-future", together::read_ahead),
    ("stale-commit", groups::commit_late),
    ("group-skip", groups::pass_over),
    ("key-on-two-partitions", groups::send_elsewhere),
    ("G0", together::write_in_a_circle),
    ("G1c", together::read_in_a_circle),
    ("G1c-process", together::read_then_send),
];
