//! Connections between processes: in order within one, with delays, cuts and resets between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use highwater_broker::ConnId;

/// A process on the network: brokers 1 to 3, controller 9, clients from 101 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub i32);

/// One connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PipeId(pub u64);

/// One end of a connection: 0 opened it, 1 was called.
pub type Side = usize;

/// What travels.
#[derive(Clone, Debug)]
pub enum Payload {
    /// The connection is being opened.
    Open { listener: &'static str },
    /// Whether it was.
    Opened(bool),
    /// One frame.
    Frame(Bytes),
    /// The other end is gone.
    Closed,
}

/// Who holds an end, in which run of its process, under which number.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub place: Place,
    pub run: u64,
    pub conn: ConnId,
}

/// One connection and what is under way on it, by the side that it goes to.
#[derive(Debug)]
pub struct Pipe {
    pub ends: [End; 2],
    pub coming: [VecDeque<Payload>; 2],
    /// Deliveries that came due while the way was cut.
    pub parked: [usize; 2],
    /// When the last delivery to each side is due: nothing overtakes it.
    pub last_due: [u64; 2],
    /// True once it was reset: frames that are under way are lost.
    pub lost: bool,
}

/// All connections, and which ways are cut.
#[derive(Debug, Default)]
pub struct Net {
    pub pipes: BTreeMap<PipeId, Pipe>,
    next_pipe: u64,
    /// (from, to), one entry for each cut that is on.
    cuts: Vec<(Place, Place)>,
    /// Places whose traffic is slow.
    pub slow: BTreeSet<Place>,
}

impl Net {
    pub fn add(&mut self, from: End, to: Place) -> PipeId {
        let id = PipeId(self.next_pipe);
        self.next_pipe += 1;
        let unknown = End { place: to, run: 0, conn: ConnId(u64::MAX) };
        let pipe = Pipe {
            ends: [from, unknown],
            coming: [VecDeque::new(), VecDeque::new()],
            parked: [0, 0],
            last_due: [0, 0],
            lost: false,
        };
        self.pipes.insert(id, pipe);
        id
    }

    pub fn cut(&mut self, from: Place, to: Place) {
        self.cuts.push((from, to));
    }

    pub fn heal(&mut self, from: Place, to: Place) {
        if let Some(at) = self.cuts.iter().position(|cut| *cut == (from, to)) {
            self.cuts.remove(at);
        }
    }

    /// Whether what goes to this side of the pipe is held back.
    pub fn is_cut(&self, pipe: PipeId, to: Side) -> bool {
        let ends = &self.pipes[&pipe].ends;
        self.cuts.contains(&(ends[1 - to].place, ends[to].place))
    }

    pub fn heal_all(&mut self) {
        self.cuts.clear();
    }
}
