//! The notation. One line is one operation or one piece of evidence; times rise by 1 ms a line.
//!
//! ```text
//! S x a ok@0            send value a (a letter or a number) to key x, acknowledged at 0;
//!                       ok@? is an offset untold; info, info@0, fail; a process of its own
//! 3: S x a ok@0 n2      the same by process 3, answered by node 2
//! 3: S x a@1 b@3 ok     one operation that sends two records
//!   keys=k,l               the keys of its records, parallel to its sends
//!   tries=1:TIMEOUT,1:NONE id=7.0.5      its attempts (node:code) and its identity
//! P 9 x[0:a 1:b/3] y[?:c] info           poll of process 9; a/3 read under leader epoch 3;
//!                       ?: offset untold; `corrupt=x@5`, `misplaced=x@6`; `rebalanced=x`
//! T 4 S x a@1 P x[0:b] ok                a transaction; commit is ok, abort is fail
//! C 9 g.3 x=5 ok         process 9 commits 5 of key x for group g in generation 3 (or `g`);
//!                       `unheard`: info, and its completion says nothing
//! F 9 g x=5 y=- ok       process 9 asks which offsets group g has committed: 5 of x, none of y
//! E 9 x=5                process 9 asks where key x ends
//! A 9 x y, U 9 x, A! 9 x                 assign, subscribe, the same from the beginning
//! ~ T 4 ...              an operation that ends only after the next one
//! tell [CLAIM]          the verdict tells each finding in full [and what came of a claim]
//! promise acks=1        what the user says
//! within lag=5ms recovery=1s unavailable=1s   what the user says that waits may take
//! run acks=1            a manifest with promises for the run; `topic x ...` for one topic
//! floor acknowledged 5  a floor of the manifest's workload
//! open 3,4 acks=1 idempotence=false pid=7.0 txid=t    a session of processes 3 and 4; the final
//!                       reader's has role=final-read
//! leader x 2 [unclean]  an election in the metadata log, epoch one higher each time; -1: nobody;
//!                       `leader t-0,t-1 2` elects for two partitions of a topic at once
//! meanwhile x 2 [unclean]                one while the next operation is under way, before its
//!                       attempts; `config ...` and `wait ...` likewise
//! quorum-epoch 3        the metadata log goes on under this epoch of its quorum
//! metadata-cut          the metadata log goes on where its file ends
//! told-leader x 2 1 [by=3] [isr=1,2] [pe=5]    a sample: node 2 leads under epoch 1, as itself or
//!                       node 3 says, with this ISR (else 1,2,3) and partition epoch
//! change x [leader=2] [isr=1,2] [elr=3] [replicas=1,2] [recovering] [recovered] [at-once]
//!                       a change of a partition in the metadata log, 20 ms after the line before
//!                       and before the next, or `at-once`; `isr=` is nobody
//! broker 2 registered   in the metadata log: registered (and fenced), fenced, unfenced, stopping
//! feature NAME 1        a feature's level in the metadata log
//! config x NAME VALUE   a topic's setting in the metadata log
//! block 1000            a block of producer ids below 1000 in the metadata log
//! silent 2              a sample: node 2 did not answer
//! wait 500              so many ms pass
//! lag-limit 1000        the manifest's lag limit in ms
//! compacted x, retained x    the manifest has topic x, which is compacted or deletes old records
//! acted cut 1,2 0 500 [1->2]    a fault on these nodes from and to these ms, with the links of its
//!                       proof
//! log x 1 [hw=3] [from=1] [epochs=0:0,3:5] 0:a/0 1:b/0#7.0.5 2:!
//!                       the final dump of the leader, node 1; # identity, ! unreadable;
//!                       0:a~ a damaged batch, 1-3:~ one of which nothing can be read
//! follower x 2 ...      the final dump of another replica
//! dump x 2 ...          a dump of an earlier moment
//!                       hw=? where the dump does not tell its high watermark
//! isr x 1,2             who was in sync at the end
//! sample x 2 1 [leads=0] [follows=0] [start=1] [lso=1] [leo=3]      the high watermark (or ?)
//!                       that a replica told at this time, as leader or follower of epoch 0, with
//!                       log start, LSO and LEO
//! without dumps,metadata                the manifest: the target gives none of these
//! leads x 1             who led at the end, where no log says so
//! read-to x 3           how far the final reader came; without it, to the end
//! stuck x hw text       recovery failed for this reason, 100 ms over its limit
//! lag [ms]              the harness was late for its first 300 ms, or so many
//! limit max-recovery 100 250             a limit in ms, and what it took
//! assert broken text    what the schedule asserts: held, broken, undecided
//! expect anomalies.duplicate >=1 <=2      what it expects of a count of the verdict
//! crash 2 signal 6      node 2 ended by itself
//! ended interrupted     how the run ended
//! struck power-loss 1,2 1:x-0:7 2:x-0:0      a fault that cost nodes data: bytes by partition
//! fault kill 2 [from=NS]    what the nemesis did to node 2; `fault heal 2 fault=pause` ended it
//! ```

use highwater_history::{
    EventValue, Key, Offset, Value,
    event::{
        Ack, Attempt, Attempts, BatchId, EpochRun, Event, EventKind, Function, MicroOp,
        PayloadError, PayloadFault, ReadRecord, Rebalance,
    },
};

use super::evidence::World;

/// Why a line cannot be read.
type Parsed<T> = Result<T, String>;

/// Reads a script.
pub fn parse(script: &str) -> Parsed<World> {
    let mut world = World::default();
    for line in script.lines().skip(1) {
        let line = line.split(" # ").next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        parse_line(&mut world, line).map_err(|why| format!("{line:?}: {why}"))?;
    }
    Ok(world)
}

fn parse_line(world: &mut World, line: &str) -> Parsed<()> {
    let line = match line.strip_prefix("~ ") {
        Some(rest) => {
            world.next_overlaps = true;
            rest
        }
        None => line,
    };
    let (process, rest) = match line.split_once(": ") {
        Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            (Some(number.parse().map_err(|_| "no process")?), rest)
        }
        _ => (None, line),
    };
    let words = words(rest);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (&command, args) = words.split_first().ok_or("an empty line")?;
    match (command, args) {
        ("S", args) => {
            let process = process.unwrap_or_else(|| world.fresh_process());
            send(world, process, args)
        }
        ("P", [process, args @ ..]) => operation(world, number(process)?, Function::Poll, args),
        ("T", [process, args @ ..]) => operation(world, number(process)?, Function::Txn, args),
        ("C", [process, group, rest @ ..]) => commit(world, number(process)?, group, rest),
        ("F", [process, group, rest @ ..]) => {
            asked_offsets(world, number(process)?, (Function::Committed, Some(group)), rest)
        }
        ("E", [process, rest @ ..]) => {
            asked_offsets(world, number(process)?, (Function::EndOffsets, None), rest)
        }
        ("A" | "A!" | "U" | "U!", [process, keys @ ..]) => {
            assign(world, number(process)?, command, keys)
        }
        _ => world.evidence_line(command, args),
    }
}

/// Splits at blanks, but not within brackets.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0;
    for c in line.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ' ' if depth == 0 => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        words.last_mut().expect("there is always a word").push(c);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A send: its key, its values, its outcome, and what stands beside it.
fn send(world: &mut World, process: u64, args: &[&str]) -> Parsed<()> {
    let (key, args) = args.split_first().ok_or("a send needs a key")?;
    let mut of_send = vec!["S", key];
    of_send.extend(args);
    operation(world, process, Function::Send, &of_send)
}

/// An operation of micro-operations, then its outcome and what stands beside it.
fn operation(world: &mut World, process: u64, f: Function, args: &[&str]) -> Parsed<()> {
    let mut asked = Vec::new();
    let mut got: Vec<MicroOp> = Vec::new();
    let mut done = world.event(process, EventKind::Ok, f.clone());
    let mut key: Option<Key> = None;
    for &word in args {
        match word {
            "S" => key = Some(Key::from("")),
            "P" => key = None,
            _ if key.as_ref().is_some_and(|key| key.is_empty()) => key = Some(Key::from(word)),
            _ if outcome(word, &mut done, &mut got)? || beside(word, &mut done)? => {}
            _ if word.contains('[') => {
                let (micro, runs) = poll(word)?;
                asked.push(MicroOp::Poll { records: None });
                got.push(micro);
                if let Some(runs) = runs {
                    done.leader_epochs.get_or_insert_default().push(runs);
                }
            }
            _ => {
                let key = key.clone().ok_or("a value without S")?;
                let (text, ack) = word.split_once('@').map_or((word, Ack::None), |(v, o)| {
                    (v, o.parse().map_or(Ack::Unknown, Ack::At))
                });
                let value = value(text)?;
                asked.push(MicroOp::Send { key: key.clone(), value, ack: Ack::None });
                got.push(MicroOp::Send { key, value, ack });
            }
        }
    }
    if asked.is_empty() && f == Function::Poll {
        asked.push(MicroOp::Poll { records: None });
    }
    let mut invoke = world.event(process, EventKind::Invoke, f).with_value(EventValue::Ops(asked));
    invoke.extra = done.extra.clone();
    world.push(invoke);
    let waited = world.pass_meanwhile()?;
    if let Some(Attempts::List(attempts)) = &mut done.attempts {
        attempts.iter_mut().for_each(|attempt| attempt.at += waited);
    }
    world.complete(done.with_value(EventValue::Ops(got)));
    Ok(())
}

/// The outcome; an offset with it belongs to the last send.
fn outcome(word: &str, done: &mut Event, got: &mut [MicroOp]) -> Parsed<bool> {
    let (name, offset) = word.split_once('@').map_or((word, None), |(name, at)| (name, Some(at)));
    done.kind = match name {
        "ok" | "commit" => EventKind::Ok,
        "fail" | "abort" => EventKind::Fail,
        "info" => EventKind::Info,
        _ => return Ok(false),
    };
    if let (Some(offset), Some(MicroOp::Send { ack, .. })) = (offset, got.last_mut()) {
        *ack = offset.parse().map_or(Ack::Unknown, Ack::At);
    }
    Ok(true)
}

/// What stands beside the value of a completion.
fn beside(word: &str, done: &mut Event) -> Parsed<bool> {
    if let Some(node) = word.strip_prefix('n').and_then(|node| node.parse().ok()) {
        done.node = Some(node);
        return Ok(true);
    }
    let Some((name, text)) = word.split_once('=') else { return Ok(false) };
    match name {
        "tries" if text == "hidden" => done.attempts = Some(Attempts::Hidden),
        "tries" => done.attempts = Some(attempts(text, done.time)?),
        "id" => done.id = Some(identity(text)?),
        "keys" => {
            let keys: Vec<&str> = text.split(',').collect();
            done.extra.insert("record_keys".to_owned(), keys.into());
        }
        "rebalanced" => {
            let moved = Rebalance { keys: vec![Key::from(text)], extra: Default::default() };
            done.rebalance_log = Some(vec![moved]);
        }
        "corrupt" | "misplaced" => {
            let (key, offset) = text.split_once('@').ok_or("KEY@OFFSET is needed")?;
            done.payload_errors.get_or_insert_default().push(PayloadError {
                key: Key::from(key),
                offset: number(offset)?,
                fault: if name == "corrupt" {
                    PayloadFault::Corrupt
                } else {
                    PayloadFault::Misplaced
                },
                value: None,
                found_key: None,
                detail: None,
            });
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Attempts are two lines apart and end with their operation: a fault on the line before the
/// operation falls between the first and the second of two.
const BETWEEN_TRIES_NS: u64 = 2_000_000;

fn attempts(text: &str, end: u64) -> Parsed<Attempts> {
    let tries: Vec<&str> = text.split(',').collect();
    let first = end.saturating_sub(tries.len() as u64 * BETWEEN_TRIES_NS);
    let parsed = tries.iter().enumerate().map(|(nth, attempt)| {
        let (node, code) = attempt.split_once(':').ok_or("NODE:CODE is needed")?;
        let at = first + nth as u64 * BETWEEN_TRIES_NS;
        Ok(Attempt { node: number(node)?, at, took: 50_000, code: code.to_owned() })
    });
    parsed.collect::<Parsed<_>>().map(Attempts::List)
}

/// `producer.epoch.sequence`.
pub fn identity(text: &str) -> Parsed<BatchId> {
    let parts: Vec<i64> = text.split('.').map(number).collect::<Parsed<_>>()?;
    let [producer_id, epoch, sequence] = parts[..] else { return Err("an id is P.E.S".into()) };
    Ok(BatchId { producer_id, producer_epoch: epoch as i16, sequence: sequence as i32 })
}

type Poll = (MicroOp, Option<(Key, Vec<EpochRun>)>);

/// `x[0:a 1:b/3]`.
fn poll(word: &str) -> Parsed<Poll> {
    let (key, rest) = word.split_once('[').ok_or("KEY[...] is needed")?;
    let body = rest.strip_suffix(']').ok_or("a bracket is not closed")?;
    let (mut records, mut epochs) = (Vec::new(), Vec::new());
    for read in body.split_whitespace() {
        let (offset, text) = read.split_once(':').ok_or("OFFSET:VALUE is needed")?;
        let offset: Option<Offset> = offset.parse().ok();
        let (text, epoch) = text.split_once('/').map_or((text, None), |(v, e)| (v, Some(e)));
        records.push(ReadRecord(offset, value(text)?));
        if let (Some(epoch), Some(offset)) = (epoch, offset) {
            epochs.push(EpochRun(offset, number(epoch)?));
        }
    }
    let key = Key::from(key);
    let runs = (!epochs.is_empty()).then(|| (key.clone(), epochs));
    Ok((MicroOp::Poll { records: Some(vec![(key, records)]) }, runs))
}

fn commit(world: &mut World, process: u64, group: &str, words: &[&str]) -> Parsed<()> {
    let mut done = world.event(process, EventKind::Ok, Function::Commit);
    let mut offsets = Vec::new();
    let mut unheard = false;
    for &word in words {
        if word == "unheard" {
            (unheard, done.kind) = (true, EventKind::Info);
        } else if let Some((key, offset)) = word.split_once('=') {
            offsets.push((Key::from(key), number(offset)?));
        } else if !outcome(word, &mut done, &mut [])? {
            return Err(format!("unknown part {word} of a commit"));
        }
    }
    let (group, generation) = group.split_once('.').map_or((group, None), |(g, n)| (g, Some(n)));
    let mut invoke = world.event(process, EventKind::Invoke, Function::Commit);
    for event in [&mut invoke, &mut done] {
        event.extra.insert("group".to_owned(), group.into());
        if let Some(generation) = generation {
            event.extra.insert("generation".to_owned(), number::<i64>(generation)?.into());
        }
    }
    let offsets = EventValue::Offsets(offsets);
    let told = if unheard { EventValue::None } else { offsets.clone() };
    world.push(invoke.with_value(offsets));
    world.complete(done.with_value(told));
    Ok(())
}

/// A question for offsets: `KEY=OFFSET` of each key that was asked for, `-` where none was told.
fn asked_offsets(
    world: &mut World,
    process: u64,
    (f, group): (Function, Option<&str>),
    words: &[&str],
) -> Parsed<()> {
    let mut done = world.event(process, EventKind::Ok, f.clone());
    let (mut keys, mut offsets) = (Vec::new(), Vec::new());
    for &word in words {
        if let Some((key, offset)) = word.split_once('=') {
            keys.push(Key::from(key));
            if offset != "-" {
                offsets.push((Key::from(key), number(offset)?));
            }
        } else if !outcome(word, &mut done, &mut [])? {
            return Err(format!("unknown part {word} of a question"));
        }
    }
    let mut invoke = world.event(process, EventKind::Invoke, f);
    if let Some(group) = group {
        invoke.extra.insert("group".to_owned(), group.into());
    }
    let answer = match done.kind {
        EventKind::Ok => EventValue::Offsets(offsets),
        _ => EventValue::None,
    };
    world.push(invoke.with_value(EventValue::Keys(keys)));
    world.complete(done.with_value(answer));
    Ok(())
}

fn assign(world: &mut World, process: u64, command: &str, words: &[&str]) -> Parsed<()> {
    let f = if command.starts_with('A') { Function::Assign } else { Function::Subscribe };
    let mut done = world.event(process, EventKind::Ok, f.clone());
    let mut keys = Vec::new();
    for word in words {
        if !outcome(word, &mut done, &mut [])? {
            keys.push(Key::from(*word));
        }
    }
    let mut invoke = world.event(process, EventKind::Invoke, f);
    invoke.seek_to_beginning = command.ends_with('!');
    done.seek_to_beginning = invoke.seek_to_beginning;
    world.push(invoke.with_value(EventValue::Keys(keys.clone())));
    world.push(done.with_value(EventValue::Keys(keys)));
    Ok(())
}

/// A value: a number, or a letter for 1, 2, 3, ...
pub fn value(text: &str) -> Parsed<Value> {
    match text.as_bytes() {
        [letter @ b'a'..=b'z'] => Ok(Value::from(letter - b'a' + 1)),
        _ => number(text),
    }
}

/// Any number.
pub fn number<T: std::str::FromStr>(text: &str) -> Parsed<T> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}
