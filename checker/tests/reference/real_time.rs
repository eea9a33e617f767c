//! The classes about what was sent or read before something began. All but those of one process are
//! permitted on a bare history, which does not say that one clock timed all processes.

use super::{
    facts::Facts,
    history::{Operation, Send},
    tally::{Promised, Tally},
};

/// A record of a certain operation is acknowledged in the past whose acknowledgement names an
/// offset below one that its own process had read in an ok operation before.
pub fn ack_in_the_past(facts: &Facts, _: &Promised) -> Tally {
    let certain = facts.all_sends().filter(|(op, _)| facts.is_certain(op));
    certain.filter(|(op, send)| had_read_higher(facts, op, send)).map(|_| false).collect()
}

fn had_read_higher(facts: &Facts, op: &Operation, send: &Send) -> bool {
    let Some(at) = send.ack else { return false };
    let own = facts.operations.iter().filter(|other| other.process == op.process);
    let before = own.filter(|other| other.is_ok() && other.ended_before(op));
    let mut reads = before.flat_map(|other| &other.reads);
    reads.any(|read| read.key == send.key && read.offset > Some(at))
}

/// A record that is not in that past is sent to the past whose acknowledgement names an offset
/// below one that another process had been told of before its operation began.
pub fn send_to_the_past(facts: &Facts, promised: &Promised) -> Tally {
    let certain = facts.all_sends().filter(|(op, _)| facts.is_certain(op));
    let rest = certain.filter(|(op, send)| !had_read_higher(facts, op, send));
    let past = rest.filter(|(op, send)| {
        let others = facts.operations.iter().filter(|other| other.process != op.process);
        let mut before = others.filter(|other| other.is_ok() && other.ended_before(op));
        before.any(|other| was_told_of_higher(other, send, promised))
    });
    past.map(|_| true).collect()
}

/// Whether an operation was told of an offset above that of a send: by a poll, or as the place of
/// its own record, which is committed at `acks=all` only.
fn was_told_of_higher(other: &Operation, send: &Send, promised: &Promised) -> bool {
    let Some(at) = send.ack else { return false };
    let mut reads = other.reads.iter().filter(|read| read.key == send.key);
    let mut sends = other.sends.iter().filter(|sent| sent.key == send.key);
    reads.any(|read| read.offset > Some(at))
        || !promised.weak_acks && sends.any(|sent| sent.ack > Some(at))
}

/// A record is read from the future that an operation of any outcome returned which had ended
/// before the record's operation began.
pub fn read_of_the_future(facts: &Facts, _: &Promised) -> Tally {
    let early = facts.all_sends().filter(|(op, send)| {
        let mut readers = facts.all_reads().filter(|(reader, _)| reader.ended_before(op));
        readers.any(|(_, read)| (&read.key, read.value) == (&send.key, send.value))
    });
    early.map(|_| true).collect()
}
