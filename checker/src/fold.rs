//! What judging the keys of one part leaves: enough to make the verdict of it and all other parts.

use std::panic::{AssertUnwindSafe, catch_unwind};

use highwater_history::{Key, event::Acks, verdict::Counts};
use serde::{Deserialize, Serialize};

use crate::{
    across::Facts,
    claim::{self, Entry, Judge},
    coverage::{ActiveKeys, by_acks},
    finding::{Findings, Room},
    index::{Digest, KeyId, Unfit},
    measured::Measured,
    parallel,
    part::Part,
    view::{KeyView, RunView},
    whole,
};

/// One part, judged.
pub(crate) struct JudgedPart {
    /// What was counted.
    pub tally: Tally,
    /// The chosen claims, in order.
    pub claims: Vec<ClaimOfPart>,
}

/// What was counted and noted beside the claims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Which part.
    pub part: Part,
    /// Of which history.
    pub digest: Digest,
    /// Why the history cannot be judged.
    pub unfit: Option<Unfit>,
    /// Notes for the verdict; the same in every part.
    pub notes: Vec<String>,
    /// Operations of the whole history; records of this part's keys.
    pub counts: Counts,
    /// Records that an ok poll returned.
    pub ok_read: u64,
    /// Records that were sent, by acks level.
    pub sent_by_acks: Vec<(Acks, u64)>,
    /// Records that were acknowledged, by acks level.
    pub acknowledged_by_acks: Vec<(Acks, u64)>,
    /// How many keys something happened to.
    pub active: ActiveKeys,
    /// How often leadership moved, over the keys of all parts.
    pub leader_changes: u64,
    /// The names of this part's keys, in order.
    pub keys: Vec<Key>,
    /// What was measured of this part's keys.
    pub measured: Measured,
    /// What evidence of this part's keys is missing.
    pub missing: Vec<(KeyId, String)>,
}

/// What a claim found in one part.
pub(crate) struct ClaimOfPart {
    /// Its name.
    pub name: String,
    /// Whether it panicked.
    pub crashed: bool,
    /// What it found of the run, then of each key; those of which it found something.
    pub findings: Vec<(Option<KeyId>, Findings)>,
    /// What it gathered to look across keys.
    pub facts: Option<Facts>,
}

impl JudgedPart {
    /// Judges the keys of a part.
    pub(crate) fn of(
        run: &RunView<'_>,
        keys: &[KeyView<'_>],
        (chosen, unfit): (&[String], Option<Unfit>),
        notes: Vec<String>,
    ) -> Self {
        let judge = |name: &String| match unfit {
            None => ClaimOfPart::judge(name, run, keys),
            Some(_) => ClaimOfPart::none(name),
        };
        let claims = parallel::each(chosen, judge);
        let tally = Tally::of(run, keys, unfit, notes);
        Self { tally, claims }
    }
}

impl Tally {
    pub(crate) fn of(
        run: &RunView<'_>,
        keys: &[KeyView<'_>],
        unfit: Option<Unfit>,
        notes: Vec<String>,
    ) -> Self {
        let by_acks = by_acks(keys);
        Self {
            part: run.index.part,
            digest: run.index.digest,
            unfit,
            notes,
            counts: run.index.counts,
            ok_read: run.index.ok_read,
            sent_by_acks: by_acks.sent.into_iter().collect(),
            acknowledged_by_acks: by_acks.acknowledged.into_iter().collect(),
            active: ActiveKeys::of(keys),
            leader_changes: run.leadership.leader_changes(run.index),
            keys: keys.iter().map(|view| view.key.key.clone()).collect(),
            measured: Measured::of(run, keys),
            missing: whole::without_final_log(run, keys),
        }
    }
}

impl ClaimOfPart {
    fn none(name: &str) -> Self {
        Self { name: name.to_owned(), crashed: false, findings: Vec::new(), facts: None }
    }

    /// Asks one claim; its panic is its own.
    fn judge(name: &str, run: &RunView<'_>, keys: &[KeyView<'_>]) -> Self {
        let entry = claim::entry(name).expect("claims are chosen among those that there are");
        Self::judge_entry(name, entry, run, keys)
    }

    pub(crate) fn judge_entry(
        name: &str,
        entry: &Entry,
        run: &RunView<'_>,
        keys: &[KeyView<'_>],
    ) -> Self {
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let mut of_part = Self::none(name);
            of_part.ask(entry, run, keys);
            of_part
        }));
        judged.unwrap_or_else(|_| Self { crashed: true, ..Self::none(name) })
    }

    fn ask(&mut self, entry: &Entry, run: &RunView<'_>, keys: &[KeyView<'_>]) {
        let mut room = Room::default();
        let nothing_there = !entry.of_history && !entry.needs.iter().any(|need| run.has(*need));
        if nothing_there && run.index.part.is_first() {
            let mut found = Findings::default();
            found.not_applicable("nothing is there of what it needs beside the history");
            self.take(None, found, &mut room);
        }
        match entry.judge {
            Judge::Key(judge) => self.ask_keys(judge, keys, &mut room),
            Judge::RunAndKeys(of_run, judge) => {
                if run.index.part.is_first() {
                    let mut found = Findings::default();
                    of_run(run, &mut found);
                    self.take(None, found, &mut room);
                }
                self.ask_keys(judge, keys, &mut room);
            }
            Judge::Across(across) => self.facts = Some((across.gather)(run, keys)),
        }
    }

    fn ask_keys(
        &mut self,
        judge: fn(&KeyView<'_>, &mut Findings),
        keys: &[KeyView<'_>],
        room: &mut Room,
    ) {
        for view in keys {
            let mut found = Findings::default();
            judge(view, &mut found);
            self.take(Some(view.id), found, room);
        }
    }

    /// Keeps what was found; details that no verdict will have room for are only counted.
    fn take(&mut self, of: Option<KeyId>, mut found: Findings, room: &mut Room) {
        found.fit(room);
        if found != Findings::default() {
            self.findings.push((of, found));
        }
    }
}
