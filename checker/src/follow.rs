//! Judges a history while somebody writes it: what is certain before its end, again and again.

use std::{
    ops::ControlFlow::{self, Break, Continue},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use highwater_history::{
    FormatError, Verdict, columns::Columns, follow::Follower, reader::HistoryFile,
    verdict::Judgement,
};

use crate::{
    claim::{self, Decides},
    evidence::{Evidence, History},
    fold::JudgedPart,
    index::{Builder, Unfit},
    judge::{CheckError, Options, Read, chosen_claims, viewed},
    merge, whole,
};

/// A history that is looked at costs at most as much as it did to wait for more of it, and is not
/// looked at more often than this.
const LEAST_WAIT: Duration = Duration::from_millis(50);

/// Why a history is followed no more.
pub(crate) enum Followed<'a> {
    /// A violation is certain, whatever comes: the verdict so far.
    Stopped(Box<Verdict>),
    /// Nobody writes it any more, or nothing more can be judged.
    Ended(Box<Read<'a>>),
}

/// What comes of a history.
enum Came {
    Events(Columns),
    /// No more: the line from which on it is missing.
    End(Option<u64>),
    Wrong(FormatError),
}

/// Follows the history until a claim is violated for certain, or to its end.
///
/// Only claims whose violations are final are asked before the end, by history and manifest alone:
/// evidence of the nodes comes late, and what permits something may be in what is not there yet.
///
/// # Errors
/// When the history cannot be read as one, or a claim is unknown.
pub(crate) fn follow<'a>(
    evidence: &'a Evidence,
    options: &Options,
) -> Result<Followed<'a>, CheckError> {
    let History::File(file) = &evidence.history else { unreachable!("a file is followed") };
    let mut watch = Watch::new(evidence, options)?;
    let came = read(file)?;
    let ended = loop {
        if let Break(ended) = watch.take(&came)? {
            break ended;
        }
    };
    let read = match ended {
        Ended::Violated(verdict) => return Ok(Followed::Stopped(verdict)),
        Ended::Unfit(unfit) => (watch.builder.finish(), Some(unfit), None),
        Ended::Whole(dropped) => (watch.builder.finish(), None, dropped),
    };
    Ok(Followed::Ended(Box::new(Read::of_history(evidence, options, read)?)))
}

/// Reads on a thread of its own, which waits where nothing is to be read; it ends with the history,
/// or once nobody takes what it reads.
fn read(file: &HistoryFile) -> Result<Receiver<Came>, FormatError> {
    let mut follower = Follower::open(file)?;
    let (send, came) = channel();
    thread::spawn(move || {
        let ended = match give(&mut follower, &send) {
            Ok(()) => Came::End(follower.dropped_line()),
            Err(error) => Came::Wrong(error),
        };
        // Nobody may want to know any more.
        let _ = send.send(ended);
    });
    Ok(came)
}

fn give(follower: &mut Follower, send: &Sender<Came>) -> Result<(), FormatError> {
    loop {
        let mut columns = Columns::default();
        let goes_on = follower.next(&mut columns)?;
        if !goes_on || send.send(Came::Events(columns)).is_err() {
            return Ok(());
        }
    }
}

enum Ended {
    Violated(Box<Verdict>),
    Unfit(Unfit),
    Whole(Option<u64>),
}

/// What was seen so far.
struct Watch<'a> {
    evidence: &'a Evidence,
    options: Options,
    final_claims: Vec<String>,
    builder: Builder<'a>,
    /// Whether something came since it was looked at.
    is_new: bool,
    look_at: Instant,
}

impl<'a> Watch<'a> {
    fn new(evidence: &'a Evidence, options: &Options) -> Result<Self, CheckError> {
        let is_final = |name: &String| {
            claim::entry(name).is_some_and(|entry| entry.decides == Decides::BeforeTheEnd)
        };
        let mut final_claims = chosen_claims(evidence, options)?;
        final_claims.retain(is_final);
        let promises = evidence.manifest.as_ref().map(|manifest| &manifest.promises);
        Ok(Self {
            evidence,
            options: options.clone(),
            final_claims,
            builder: Builder::new(promises),
            is_new: false,
            look_at: Instant::now(),
        })
    }

    /// Takes what came, and looks at it when it is time.
    fn take(&mut self, came: &Receiver<Came>) -> Result<ControlFlow<Ended>, CheckError> {
        let next = match self.is_new {
            true => came.recv_timeout(self.look_at.saturating_duration_since(Instant::now())),
            false => came.recv().map_err(RecvTimeoutError::from),
        };
        match next {
            Ok(Came::Events(columns)) => {
                if let Err(unfit) = self.builder.observe(&columns) {
                    return Ok(Break(Ended::Unfit(unfit)));
                }
                self.is_new = true;
            }
            Ok(Came::End(dropped)) => return Ok(Break(Ended::Whole(dropped))),
            Ok(Came::Wrong(error)) => return Err(error.into()),
            Err(RecvTimeoutError::Timeout) => {}
            // What was read by then is no whole history.
            Err(RecvTimeoutError::Disconnected) => panic!("reading does not panic"),
        }
        if self.is_new && Instant::now() >= self.look_at {
            return self.look();
        }
        Ok(Continue(()))
    }

    fn look(&mut self) -> Result<ControlFlow<Ended>, CheckError> {
        let began = Instant::now();
        let verdict = self.judge()?;
        self.is_new = false;
        self.look_at = Instant::now() + began.elapsed().max(LEAST_WAIT);
        let is_violated = verdict.claims.iter().any(|claim| claim.verdict == Judgement::Invalid);
        Ok(if is_violated { Break(Ended::Violated(Box::new(verdict))) } else { Continue(()) })
    }

    /// The verdict of what was seen so far.
    fn judge(&mut self) -> Result<Verdict, CheckError> {
        let Self { evidence, options, final_claims, builder, .. } = self;
        let index = builder.so_far();
        whole::fits_manifest(evidence, index)?;
        let notes = vec![format!(
            "judged while it was written, after {} operations, and only by claims whose violations \
             are final",
            index.counts.ops
        )];
        let part = viewed(evidence, options, (index, true), |run, keys| {
            JudgedPart::of(run, keys, (final_claims, None), notes)
        });
        Ok(merge::verdict(evidence, options, vec![part]))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, ops::ControlFlow, path::Path};

    use highwater_history::{ahead::read_ahead, reader::HistoryReader};

    use super::*;
    use crate::{check, evidence::Instead};

    fn violated(verdict: &Verdict) -> BTreeSet<String> {
        let violated = verdict.claims.iter().filter(|claim| claim.verdict == Judgement::Invalid);
        violated.map(|claim| claim.claim.clone()).collect()
    }

    /// What is said of recorded runs while they last, with nothing but their manifests, is said of
    /// them at their end too: of none that kept its promises anything is.
    #[test]
    fn what_is_certain_before_the_end_of_a_run_is_certain_at_its_end() {
        const LOOKS: usize = 8;
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus");
        let mut looks = 0;
        for folder in fs::read_dir(corpus).expect("it is there").flatten() {
            let path = folder.path();
            let whole = Evidence::load(&path, &Instead::default()).expect("it is a run");
            let at_end = violated(&check(&whole, &Options::default()).expect("it is judged"));
            let History::File(file) = &whole.history else { panic!("it has a history") };
            let manifest = Some(path.join("manifest.json"));
            let instead = Instead { manifest, dumps: None };
            let evidence = Evidence::load_file(file.clone(), &instead).expect("it is a manifest");
            let mut watch = Watch::new(&evidence, &Options::default()).expect("claims are known");
            let reader = HistoryReader::open(file).expect("it is a history");
            let mut blocks = Vec::new();
            let read = read_ahead(reader, |columns| {
                blocks.push(columns.clone());
                ControlFlow::<()>::Continue(())
            });
            read.expect("it is whole");
            let step = blocks.len().div_ceil(LOOKS);
            for some in blocks.chunks(step) {
                some.iter().for_each(|columns| watch.builder.observe(columns).expect("it is fit"));
                let now = violated(&watch.judge().expect("it is judged"));
                assert!(now.is_subset(&at_end), "{}: {now:?}, then {at_end:?}", path.display());
                looks += 1;
            }
        }
        assert!(looks > 26, "{looks} looks");
    }
}
