//! Why a finding cannot be, in the words of the contract, and what would have excused it.

use highwater_history::verdict::Finding;

use super::gather::Gathered;

/// What is said of one finding.
pub(super) struct Words {
    pub(super) why: String,
    pub(super) absent: Option<String>,
    pub(super) excuse: Option<String>,
}

/// What is said of one kind of anomaly.
struct Kind {
    anomaly: &'static str,
    /// The rule.
    why: &'static str,
    excuse: Excuse,
    /// What it is that is not there.
    absent: Option<Absent>,
}

/// What would have excused it.
#[derive(Clone, Copy)]
enum Excuse {
    /// The record may be gone.
    Loss,
    /// The record was read, and may be gone.
    ReadLoss,
    /// In other words.
    Other(&'static str),
    Nothing,
}

/// What nothing in the whole history shows.
#[derive(Clone, Copy)]
enum Absent {
    /// No poll returned the record.
    Poll,
    /// No poll that ended ok did.
    OkPoll,
    /// Nobody sent it.
    Send,
    /// In other words.
    Other(&'static str),
}

const LOSS: &str = "It would be legal after an allowed unclean election whose leader's log ended \
                    at or below the record (c.1.1), after power losses or wipes on as many \
                    replicas as min.insync.replicas asks (c.1.2), or on the last one in sync \
                    (c.1.3), or once the log's beginning was deleted past it (c.1.5); sent with \
                    acks=1 and never read, also after another broker was elected whose log ended \
                    there (c.2). Nothing on record is any of these.";
const READ_LOSS: &str = "It would be legal after an allowed unclean election whose leader's log \
                         ended at or below the record (c.1.1, c.3), or after power losses or wipes \
                         on as many replicas as min.insync.replicas asks (c.1.2, c.1.3), whatever \
                         acks level it was sent with (rule 59). Nothing on record is any of these.";
const ISOLATION: Excuse = Excuse::Other(
    "A reader at isolation.level=read_uncommitted may see that (c.6, rule 57); this one was \
     promised read_committed, or the send failed outside of a transaction.",
);
const IDEMPOTENCE: Excuse = Excuse::Other(
    "Without enable.idempotence a repeated request makes a second record, or overtakes the one \
     after it (c.2); with it only a copy under another identity, or one that an allowed unclean \
     election cut, is legal (c.6, c.1.1).",
);
const CLOCKS: Excuse = Excuse::Other(
    "Without one clock for all processes it would prove nothing; the manifest says that there was \
     one, and nothing on record lets the earlier record be gone by then.",
);
const NOT_GIVEN: Absent = Absent::Other(
    "That it was not given these records rests on its polls: none of them between the two returned \
     one.",
);

const fn kind(anomaly: &'static str, why: &'static str, excuse: Excuse) -> Kind {
    Kind { anomaly, why, excuse, absent: None }
}

const fn lacking(anomaly: &'static str, why: &'static str, excuse: Excuse, absent: Absent) -> Kind {
    Kind { anomaly, why, excuse, absent: Some(absent) }
}

const POLL_ORDER: &str = "A consumer that neither seeks, resets nor loses the partition reads \
                          strictly rising offsets (rule 60).";
const POLL_SKIP: &str = "A consumer that neither seeks, resets nor loses the partition misses no \
                         record that is in the log; only offsets that hold nothing may be passed \
                         over (rule 60).";
const SEND_ORDER: &str = "What one producer sends to a partition stands there in the order in \
                          which it was sent (rules 39, 41, 47).";
const CYCLE: &str = "A transaction reads nothing of one that has not committed yet (rule 48), so \
                     that no transactions can each come before the other.";

const KINDS: [Kind; 50] = [
    kind(
        "corrupt-payload",
        "A record comes back with the bytes that were sent (rule 2).",
        Excuse::Nothing,
    ),
    kind("misplaced", "A record comes back in the partition that it was sent to.", Excuse::Nothing),
    kind("G0", CYCLE, Excuse::Nothing),
    kind("G1c", CYCLE, ISOLATION),
    kind("G0-process", CYCLE, Excuse::Nothing),
    kind("G1c-process", CYCLE, ISOLATION),
    kind("G0-realtime", CYCLE, Excuse::Nothing),
    kind("G1c-realtime", CYCLE, ISOLATION),
    kind(
        "divergence",
        "What lies below the high watermark is the same on every replica: epoch, producer and \
         bytes of each batch (rules 2, 3).",
        Excuse::Other(
            "In dumps taken before the end, what an allowed unclean election or the loss of data \
             cut since may differ.",
        ),
    ),
    kind(
        "duplicate",
        "A batch that is sent again is recognised and not appended a second time: its record \
         stands at one offset (rules 42, 47).",
        IDEMPOTENCE,
    ),
    kind(
        "early-ack",
        "An acks=all write is acknowledged only once every in-sync replica has it and they are as \
         many as min.insync.replicas asks (rules 36, 37).",
        Excuse::Other("With acks=1 the leader alone answers (rule 36)."),
    ),
    kind(
        "epoch-regression",
        "What a broker knows of a partition never goes back to an older epoch (rules 25, 75).",
        Excuse::Nothing,
    ),
    kind(
        "G1a",
        "What definitely failed did not happen and never will: no consumer is given it (rules 40, \
         48).",
        ISOLATION,
    ),
    kind(
        "failed-yet-visible",
        "What definitely failed did not happen and never will: the log does not hold it (rule 40).",
        Excuse::Other("An unknown outcome, as after a timeout, may be resolved either way, once."),
    ),
    kind(
        "stale-commit",
        "Commits are accepted from the current generation only; one of an older generation fails \
         (rule 63).",
        CLOCKS,
    ),
    lacking(
        "group-skip",
        "A group may be given a record twice, but passes over none: what lies below its committed \
         offset was given to a member (rule 60).",
        Excuse::Loss,
        Absent::Other("No poll of any member returned it."),
    ),
    kind(
        "idempotence-broken",
        "Of each producer sequences follow on each other; an exact repeat is answered with its \
         first offset, a gap and an older epoch are refused (rules 41, 42).",
        Excuse::Other(
            "A broker that restarted remembers each producer's last batch only (rule 42), and a \
             producer of which nothing is known may begin anywhere (rule 44).",
        ),
    ),
    kind(
        "inconsistent-offsets",
        "One offset of a partition holds one value, for everybody and for ever (rules 2, 38).",
        Excuse::Loss,
    ),
    kind(
        "isr-illegal",
        "Members of the ISR are assigned, in service, led by one of them, and hold everything that \
         was committed (rules 21, 24, 26 to 29, 33).",
        Excuse::Other("A leader that was cut from its controller cannot know that its ISR shrank."),
    ),
    kind(
        "key-on-two-partitions",
        "Records with one key go to one partition of their topic, or they have no order (rule 39).",
        Excuse::Other("A topic that was given partitions has its keys elsewhere from then on."),
    ),
    kind(
        "lineage",
        "Along a log epochs never fall, one epoch has one leader, and one place of an epoch holds \
         one batch everywhere (rules 3, 5, 35).",
        Excuse::Nothing,
    ),
    lacking(
        "lost-write",
        "The offset in an acknowledgement is where the record is, for as long as it is retained \
         (rules 36, 38).",
        Excuse::Loss,
        Absent::Poll,
    ),
    kind(
        "metadata-divergence",
        "What brokers serve of a partition is what the committed metadata log says (rule 75).",
        Excuse::Nothing,
    ),
    kind("nonmonotonic-poll", POLL_ORDER, Excuse::ReadLoss),
    lacking("poll-skip", POLL_SKIP, Excuse::Loss, NOT_GIVEN),
    kind("int-nonmonotonic-poll", POLL_ORDER, Excuse::ReadLoss),
    lacking("int-poll-skip", POLL_SKIP, Excuse::Loss, NOT_GIVEN),
    kind("nonmonotonic-send", SEND_ORDER, IDEMPOTENCE),
    kind("int-nonmonotonic-send", SEND_ORDER, IDEMPOTENCE),
    kind("int-send-skip", SEND_ORDER, Excuse::Nothing),
    lacking(
        "not-recovered",
        "Once all faults are healed, the cluster serves every partition again within its limits \
         (rules 81, 82).",
        Excuse::Other(
            "Where the disks of all who were in sync are gone, a partition may stay without a \
             leader (c.3); and while the harness itself was late nobody can tell.",
        ),
        Absent::Other("It rests on what was not seen by the end of the limit."),
    ),
    kind(
        "too-slow-recovery",
        "The limit is the user's: so long and no longer (rule 82).",
        Excuse::Other("Time in which the harness itself was late does not count."),
    ),
    kind(
        "phantom-read",
        "A consumer is given only what is committed: what it read was sent, and stays where it was \
         read (rules 58, 59).",
        Excuse::ReadLoss,
    ),
    kind(
        "precommitted-read",
        "A reader at read_committed is given nothing of an open transaction, its own included \
         (rule 48).",
        ISOLATION,
    ),
    kind(
        "producer-id-reuse",
        "A producer id belongs to one session for the cluster's life, and its epoch never falls \
         (rules 41, 46).",
        Excuse::Other("Sessions with one transactional id share one producer id."),
    ),
    kind(
        "too-slow-read",
        "The limit that the user set for how late records are read was passed.",
        Excuse::Other("Where the harness itself was late, a limit that was passed says nothing."),
    ),
    kind(
        "ack-in-the-past",
        "What a process sends after it has read something stands above that (rule 39).",
        Excuse::ReadLoss,
    ),
    kind(
        "latest-regression",
        "Where a log ends for its readers never goes back: a new leader that does not know yet \
         refuses to answer, and what is stable stays so (rules 19, 56).",
        Excuse::ReadLoss,
    ),
    lacking(
        "offset-regression",
        "What a group has committed is what its last accepted commit says, also after its \
         coordinator failed (rules 62, 64, 67).",
        Excuse::Other(
            "For a moment after a failover an older offset is answered; it would be legal where \
             the offsets' partition lost it (c.1), or after it had expired (rule 66).",
        ),
        Absent::Other("That no later commit explains it rests on all commits of the group."),
    ),
    lacking(
        "successor-mismatch",
        "Consumers of a partition are given the same records in the same order (rule 60).",
        Excuse::Loss,
        Absent::Other("That nobody tells where one of them stands rests on all acknowledgements."),
    ),
    kind(
        "send-to-the-past",
        "What was sent after something had been acknowledged or read stands above it (rule 39).",
        CLOCKS,
    ),
    kind(
        "read-of-the-future",
        "Nothing is read before it is sent (rule 58).",
        Excuse::Other(
            "Without one clock for all processes it would prove nothing; the manifest says that \
             there was one.",
        ),
    ),
    kind(
        "reread-mismatch",
        "Who reads an offset again is given the same record (rules 2, 59).",
        Excuse::ReadLoss,
    ),
    lacking(
        "reset-skip",
        "A consumer that goes back to the beginning begins with the first record of the log \
         (rule 60).",
        Excuse::Loss,
        Absent::Other("That nothing lower was given to it after the reset rests on its polls."),
    ),
    kind(
        "split-brain-write",
        "Only the leader of an epoch accepts records, and only while its epoch lasts (rules 35, \
         36).",
        Excuse::Loss,
    ),
    lacking(
        "torn-transaction",
        "A transaction is decided once, for all its partitions: all of its records are there, or \
         none (rules 50, 55).",
        Excuse::Loss,
        Absent::Other("That a part is gone rests on logs or polls that went past its place."),
    ),
    lacking(
        "unseen",
        "What was acknowledged is readable by the end of a run that recovered (rules 38, 60, 81).",
        Excuse::Loss,
        Absent::OkPoll,
    ),
    kind(
        "watermark-order",
        "On every replica log start, LSO, high watermark and log end stand in this order (rule 6).",
        Excuse::Other("What cuts committed records moves all of them, one after the other."),
    ),
    kind(
        "watermark-regression",
        "While a leader's epoch lasts, its high watermark, log end and log start never fall \
         (rules 4, 18, 78).",
        Excuse::Nothing,
    ),
    kind(
        "watermark-stuck",
        "The high watermark moves on once every replica that it waits for is past it (rules 16, \
         20).",
        Excuse::Other(
            "It may stay while fewer replicas are in sync than min.insync.replicas asks.",
        ),
    ),
];

/// What is said of a finding; `has_log` tells whether its key's final log is known.
pub(super) fn of(finding: &Finding, gathered: &Gathered, has_log: bool) -> Words {
    let kind = KINDS.iter().find(|kind| kind.anomaly == finding.anomaly);
    let kind = kind.expect("every anomaly has its words");
    if let (Some(clause), Some(fulfilled_by)) = (&finding.clause, &finding.fulfilled_by) {
        let why = format!("The rule: {} {clause} permits it here: {fulfilled_by}.", kind.why);
        return Words { why, absent: kind.absent(finding, gathered, has_log), excuse: None };
    }
    let excuse = match kind.excuse {
        Excuse::Loss => LOSS.to_owned(),
        Excuse::ReadLoss if is_never_sent(finding, gathered) => {
            "No clause excuses a record that nobody sent.".to_owned()
        }
        Excuse::ReadLoss => READ_LOSS.to_owned(),
        Excuse::Other(words) => words.to_owned(),
        Excuse::Nothing => "No clause excuses it.".to_owned(),
    };
    Words {
        why: format!("That cannot be: {}", kind.why),
        absent: kind.absent(finding, gathered, has_log),
        excuse: Some(excuse),
    }
}

/// Whether nobody sent what was read: the finding would name the send.
fn is_never_sent(finding: &Finding, gathered: &Gathered) -> bool {
    finding.anomaly == "phantom-read" && !gathered.own.iter().any(|unit| unit.sends(finding))
}

impl Kind {
    fn absent(&self, finding: &Finding, gathered: &Gathered, has_log: bool) -> Option<String> {
        let key = finding.key.as_ref().map_or("its key", |key| key.as_str());
        let (polls, ok) = gathered.polls;
        let absent = match self.absent {
            None if is_never_sent(finding, gathered) => Absent::Send,
            absent => absent?,
        };
        Some(match absent {
            Absent::Poll if has_log => {
                "It rests on what is not there: the final log does not hold it.".to_owned()
            }
            Absent::Poll => {
                format!(
                    "It rests on what is not there: {polls} polls read {key}, none returned it."
                )
            }
            Absent::OkPoll => format!(
                "It rests on what is not there: {ok} polls read {key} and ended ok, none returned \
                 it."
            ),
            Absent::Send => format!(
                "It rests on what is not there: of {} operations in the history none sent it to \
                 {key}.",
                gathered.operations
            ),
            Absent::Other(words) => words.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::KINDS;
    use crate::claim::TABLE;

    #[test]
    fn every_anomaly_has_its_words_and_nothing_else_has() {
        let mut known: Vec<&str> =
            TABLE.iter().flat_map(|(.., entry)| entry.anomalies).copied().collect();
        let mut told: Vec<&str> = KINDS.iter().map(|kind| kind.anomaly).collect();
        known.sort_unstable();
        // One that several claims report says the same of all of them.
        known.dedup();
        told.sort_unstable();
        assert_eq!(told, known);
    }
}
