//! Settings that permit nothing by themselves: their clauses ask for an event on record.

use crate::{
    leadership::Source,
    view::{KeyView, RunView},
    what_if::{
        Lacking,
        search::{Search, is_legal, is_undecided, reports},
        settings::{FLUSH, MIN_ISR, Settings, UNCLEAN},
    },
};

/// Anomalies that the loss of records excuses.
const OF_LOSS: [&str; 16] = [
    "group-skip",
    "inconsistent-offsets",
    "int-nonmonotonic-poll",
    "int-nonmonotonic-send",
    "int-poll-skip",
    "lost-write",
    "nonmonotonic-poll",
    "nonmonotonic-send",
    "phantom-read",
    "poll-skip",
    "reread-mismatch",
    "reset-skip",
    "send-to-the-past",
    "split-brain-write",
    "torn-transaction",
    "unseen",
];

/// What the evidence tells of elections and lost data.
pub(super) struct OnRecord {
    unclean: usize,
    tells_of_elections: bool,
    losses: usize,
    is_bare: bool,
}

impl OnRecord {
    /// Counts them.
    pub(super) fn of(run: &RunView<'_>, keys: &[KeyView<'_>]) -> Self {
        let elections = keys.iter().flat_map(|view| view.elections);
        Self {
            unclean: elections.filter(|election| election.unclean).count(),
            tells_of_elections: run.leadership.source() == Source::Metadata,
            losses: run.losses.len(),
            is_bare: run.evidence.is_bare(),
        }
    }

    fn elections(&self) -> String {
        match (self.unclean, self.tells_of_elections) {
            (0, true) => "none is".to_owned(),
            (0, false) => "no whole metadata log tells of any".to_owned(),
            (some, _) => format!("the {some} that are do not explain all of it"),
        }
    }

    fn losses(&self) -> String {
        match self.losses {
            0 => "none is".to_owned(),
            some => format!("the {some} that are do not explain all of it"),
        }
    }
}

/// What each setting lacks to permit an anomaly alone.
pub(super) fn of(
    settings: &Settings,
    search: &Search,
    on_record: &OnRecord,
    anomaly: &str,
) -> Vec<Lacking> {
    let of_setting = |(setting, clause, wanted, known): (usize, &'static str, &str, String)| {
        let change = settings.alone(setting)?;
        let verdict = search.verdict(&change)?;
        if is_legal(verdict, Some(anomaly)) {
            return None;
        }
        let of_anomaly = verdict.claims.iter().filter(|claim| reports(claim, anomaly));
        let undecided = of_anomaly.filter(|claim| is_undecided(claim));
        let undecided = undecided.filter_map(|claim| claim.reason.as_deref()).next();
        let event = match undecided {
            Some(why) => format!("{wanted}; not decided: {why}"),
            None => format!("{wanted}; {known}"),
        };
        Some(Lacking { promises: settings.changed(&change), clause, event })
    };
    // Of a history alone a phantom is what nobody sent: that no loss excuses.
    let is_unsent = anomaly == "phantom-read" && on_record.is_bare;
    if is_unsent || !OF_LOSS.contains(&anomaly) {
        return Vec::new();
    }
    let wanted = [
        (UNCLEAN, "c.1.1", "an unclean election on record that cut it", on_record.elections()),
        (
            MIN_ISR,
            "c.1.2",
            "power losses or wipes on record of so many replicas that held it",
            on_record.losses(),
        ),
        (FLUSH, "c.1.2", "power losses on record of the replicas that held it", on_record.losses()),
    ];
    wanted.into_iter().filter_map(of_setting).collect()
}
