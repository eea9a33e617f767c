//! Logs of the verifiable tools: what is told, what is left open, what is refused.

use std::{fs, path::PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Told, read};

const STARTED: &str = "{\"timestamp\":1000,\"name\":\"startup_complete\"}\n";
const STOPPED: &str = "{\"timestamp\":9000,\"name\":\"shutdown_complete\"}\n";

/// Reads logs with these texts.
fn told(logs: &[&str]) -> Result<Told, String> {
    let folder = TempDir::new().expect("a folder");
    let file = |(nth, text): (usize, &&str)| {
        let file = folder.path().join(format!("{nth}.log"));
        fs::write(&file, text).expect("a temporary file can be written");
        file
    };
    let files: Vec<PathBuf> = logs.iter().enumerate().map(file).collect();
    read(&files).map_err(|error| error.to_string())
}

fn history(logs: &[&str]) -> Told {
    told(logs).expect("the logs are read")
}

fn refusal(logs: &[&str]) -> String {
    told(logs).err().expect("the logs are refused")
}

/// What clients did, as `[process, type, f, value]`.
fn did(told: &Told) -> Vec<Value> {
    let events = told.events().map(|event| serde_json::to_value(event).expect("JSON"));
    let clients = events.filter(|event| event["process"].is_u64());
    clients.map(|e| json!([e["process"], e["type"], e["f"], e["value"]])).collect()
}

/// How sends ended, as `[type, micro-operation]`.
fn sends(told: &Told) -> Vec<Value> {
    let ended = did(told).into_iter().filter(|event| event[2] == "send" && event[1] != "invoke");
    ended.map(|event| json!([event[1], event[3][0]])).collect()
}

fn notes(told: &Told) -> String {
    told.notes().collect::<Vec<_>>().join("\n")
}

/// A producer's line: a value that was acknowledged at an offset of t-0.
fn acked(value: &str, offset: i64) -> String {
    let line = json!({"timestamp": 2000, "name": "producer_send_success", "key": null,
                      "value": value, "topic": "t", "partition": 0, "offset": offset});
    format!("{line}\n")
}

fn failed(value: &str, exception: &str, message: &str) -> String {
    let exception = format!("class org.apache.kafka.common.errors.{exception}");
    let line = json!({"timestamp": 2000, "name": "producer_send_error", "topic": "t", "key": "k",
                      "value": value, "exception": exception, "message": message});
    format!("{line}\n")
}

fn assigned(name: &str, partitions: &[i32]) -> String {
    let partitions: Vec<_> =
        partitions.iter().map(|nth| json!({"topic": "t", "partition": nth})).collect();
    format!("{}\n", json!({"timestamp": 1500, "name": name, "partitions": partitions}))
}

/// A consumer's lines: one poll of t-0 that returns values from an offset on.
fn polled(from: i64, values: &[&str]) -> String {
    let mut text = String::new();
    for (offset, value) in (from..).zip(values) {
        let line = json!({"timestamp": 3000, "name": "record_data", "key": null, "value": value,
                          "topic": "t", "partition": 0, "offset": offset});
        text += &format!("{line}\n");
    }
    text + &counted(values.len())
}

fn counted(count: usize) -> String {
    let of_key = json!({"topic": "t", "partition": 0, "count": count, "minOffset": 0,
                        "maxOffset": 0});
    let line = json!({"timestamp": 3000, "name": "records_consumed", "count": count,
                      "partitions": if count > 0 { vec![of_key] } else { vec![] }});
    format!("{line}\n")
}

fn log(lines: &[String]) -> String {
    STARTED.to_owned() + &lines.concat() + STOPPED
}

#[test]
fn a_producer_and_a_consumer_are_one_history() {
    let committed = "{\"timestamp\":3001,\"name\":\"offsets_committed\",\"offsets\":\
                     [{\"topic\":\"t\",\"partition\":0,\"offset\":2}],\"success\":true}\n";
    let producer = log(&[acked("0", 0), acked("1", 1)]);
    let consumer =
        log(&[assigned("partitions_assigned", &[0]), polled(0, &["0", "1"]), committed.to_owned()]);
    let told = history(&[&producer, &consumer]);
    assert_eq!(
        did(&told),
        [
            json!([0, "invoke", "assign", ["t-0"]]),
            json!([1, "invoke", "send", [["send", "t-0", 0]]]),
            json!([2, "invoke", "send", [["send", "t-0", 1]]]),
            json!([0, "ok", "assign", ["t-0"]]),
            json!([0, "invoke", "poll", [["poll"]]]),
            json!([1, "ok", "send", [["send", "t-0", [0, 0]]]]),
            json!([2, "ok", "send", [["send", "t-0", [1, 1]]]]),
            json!([0, "ok", "poll", [["poll", {"t-0": [[0, 0], [1, 1]]}]]]),
            json!([0, "invoke", "commit", {"t-0": 2}]),
            json!([0, "ok", "commit", {"t-0": 2}]),
        ]
    );
    assert!(!told.is_cut);
    let indexes = told.events().map(|event| event.index);
    assert!(indexes.eq(0..told.events().count() as u64));
}

#[test]
fn an_error_is_unknown_unless_nothing_had_left() {
    let producer = log(&[
        failed("0", "NetworkException", "Disconnected from node 1"),
        failed("1", "TimeoutException", "Topic t not present in metadata after 60000 ms."),
        failed("2", "NetworkException", "Disconnected from node 1"),
        acked("3", 2),
    ]);
    let consumer = log(&[polled(0, &["0", "1", "3"])]);
    let told = history(&[&producer, &consumer]);
    assert_eq!(
        sends(&told),
        [
            json!(["info", ["send", "t-0", 0]]),
            json!(["fail", ["send", "t-0", 1]]),
            json!(["ok", ["send", "t-0", [2, 3]]]),
        ],
        "nobody tells the partition of the one that was not read"
    );
    assert!(notes(&told).contains("1 sends ended with an error that names no partition"));
    let errors = told.events().filter_map(|event| event.error).map(|error| error.code);
    assert_eq!(errors.collect::<Vec<_>>(), ["NetworkException", "TimeoutException"]);
}

#[test]
fn what_a_killed_producer_had_in_flight_is_unknown_and_no_phantom() {
    let consumer = log(&[polled(0, &["0", "7"])]);
    let whole = log(&[acked("0", 0)]);
    let summary = "{\"timestamp\":9001,\"name\":\"tool_data\",\"sent\":2,\"acked\":2,\
                   \"target_throughput\":-1,\"avg_throughput\":9.5}\n";
    let killed = whole.replace(STOPPED, "");
    let cut_within_a_line = whole.clone() + "{\"timest";
    for cut in [killed, cut_within_a_line, whole.clone() + summary] {
        let told = history(&[&cut, &consumer]);
        assert_eq!(
            sends(&told),
            [json!(["ok", ["send", "t-0", [0, 0]]]), json!(["info", ["send", "t-0", 7]])],
            "{cut}"
        );
        assert!(notes(&told).contains("1 records were read that a producer had sent"));
    }
    let told = history(&[&whole, &consumer]);
    assert_eq!(sends(&told).len(), 1, "the producer tells of all its sends: nobody sent 7");
    assert!(format!("{:?}", did(&told)).contains("Number(7)"), "and it stands in the poll");
}

/// What lies before, between and behind what consumers read may be there or not.
#[test]
fn acknowledgements_where_nobody_could_read_stand_without_offset() {
    let values = ["0", "1", "2", "3", "4", "5"];
    let producer = log(&values.map(|value| acked(value, value.parse().expect("a number"))));
    let consumer = log(&[
        assigned("partitions_assigned", &[0]),
        polled(1, &["1"]),
        assigned("partitions_revoked", &[0]),
        assigned("partitions_assigned", &[0]),
        polled(3, &["3", "4"]),
    ]);
    let told = history(&[&producer, &consumer]);
    let offsets: Vec<_> = sends(&told).iter().map(|send| send[1][2][0].clone()).collect();
    assert_eq!(offsets, [json!(null), json!(1), json!(null), json!(3), json!(4), json!(null)]);
    assert!(told.is_cut);
    assert!(notes(&told).contains("3 acknowledged records stand where no consumer"));
    // One assignment from its first record to its last, and what it passed over is judged.
    let consumer = log(&[polled(0, &["0"]), polled(5, &["5"])]);
    let told = history(&[&producer, &consumer]);
    assert!(sends(&told).iter().all(|send| send[1][2][0].is_i64()) && !told.is_cut);
}

#[test]
fn a_consumer_that_is_not_verbose_tells_no_records() {
    let producer = log(&[acked("0", 0)]);
    let consumer = log(&[assigned("partitions_assigned", &[0]), counted(1)]);
    let told = history(&[&producer, &consumer]);
    assert!(notes(&told).contains("run VerifiableConsumer with --verbose"));
    assert!(told.is_cut && did(&told).iter().all(|event| event[2] != "poll"));
}

#[test]
fn records_of_others_are_left_out() {
    let producer = log(&[acked("1.0", 1)]);
    let consumer = log(&[polled(0, &["hello", "1.0", "2.0"])]);
    let told = history(&[&producer, &consumer]);
    let polls: Vec<_> = did(&told).into_iter().filter(|event| event[2] == "poll").collect();
    assert_eq!(polls[1][3], json!([["poll", {"t-0": [[1, 0]]}]]));
    assert!(notes(&told).contains("2 records were read that no producer of these logs sends"));
}

#[test]
fn a_producer_without_offsets_had_acks_0() {
    let told = history(&[&log(&[acked("0", -1), acked("1", -1)])]);
    let opened = told.events().find_map(|event| {
        let event = serde_json::to_value(event).expect("JSON");
        (event["f"] == "open").then(|| event["value"].clone())
    });
    let opened = opened.expect("the producer");
    assert_eq!((&opened["acks"], &opened["processes"]), (&json!("0"), &json!([0, 1])));
    let told = history(&[&log(&[acked("0", -1), acked("1", 4)])]);
    assert!(!format!("{:?}", told.events().collect::<Vec<_>>()).contains("Zero"));
}

#[test]
fn keys_and_prefixes_stand_beside_the_value() {
    let producers = [acked("1.3", 0).replace("\"key\":null", "\"key\":\"k\""), acked("4.3", 1)];
    let [first, second] = producers.map(|line| log(&[line]));
    let told = history(&[&first, &second]);
    let invoked: Vec<_> = told.events().filter(|e| !e.extra.is_empty()).collect();
    assert_eq!(invoked[0].extra["record_keys"], json!(["k"]));
    assert_eq!(invoked[0].extra["text"], "1.3");
    assert_eq!(sends(&told)[1], json!(["ok", ["send", "t-0", [null, 7]]]));
    assert!(notes(&told).contains("values are N times 2 and 0 for 1.N, 1 for 4.N"));
}

#[test]
fn what_is_no_such_log_is_refused_with_its_line() {
    let ok = acked("0", 0);
    let twice = [ok.clone(), ok.clone()];
    let both = STARTED.to_owned() + &ok + &counted(0);
    for (logs, words) in [
        (vec![log(&twice)], "0.log: line 3: field `value`: 0 is sent to t a"),
        (vec![log(&twice[..1]), log(&twice[..1])], "1.log: line 2: field `value`: 0 is sent"),
        (vec![both], "0.log: line 3: a consumer's event in a producer's log"),
        (vec![counted(0) + &ok], "0.log: it has lines of a producer and of a consumer"),
        (vec!["hello\n".to_owned()], "0.log: it has no line of a VerifiableProducer"),
        (vec![String::new()], "0.log: it has no line of a VerifiableProducer"),
        (
            vec![polled(0, &["0", "1"]) + &polled(2, &["2"]).replace("\"count\":1", "\"count\":9")],
            "0.log: line 5: it counts 9 records of t-0, 1 stand before it",
        ),
        (
            vec![polled(0, &["0"]) + &polled(1, &["1"]).replace("data\",\"off", "gone\",\"off")],
            "0.log: line 4: it counts 1 records of t-0, 0 stand before it",
        ),
        (
            vec![
                "{\"timestamp\":3001,\"name\":\"offsets_committed\",\"success\":true,\"offsets\":[\
                 {\"topic\":\"t\",\"partition\":0,\"offset\":1},\
                 {\"topic\":\"t\",\"partition\":0,\"offset\":2}]}\n"
                    .to_owned(),
            ],
            "0.log: line 1: field `offsets`: `t-0` stands twice",
        ),
        (vec![format!("{{\"half\n{ok}")], "0.log: line 1: "),
        (vec![ok.replace("\"offset\":0", "\"offset\":-7")], "0.log: line 1: -7 is no offset"),
        (vec![ok.replace("\"offset\":0", "\"offest\":0")], "0.log: line 1: "),
        (vec![ok.replace("\"0\"", "\"abc\"")], "field `value`: \"abc\", expected a number"),
    ] {
        let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
        let why = refusal(&logs);
        assert!(why.contains(words), "{words:?} is not in {why:?}");
    }
    assert!(read(&["/nowhere.log".into()]).is_err());
}

#[test]
fn other_lines_are_passed_over_and_told() {
    let odd = "Option --x has been deprecated\n\n{\"timestamp\":1,\"name\":\"new_thing\"}\n";
    let told = history(&[&(odd.to_owned() + &acked("0", 0))]);
    let notes = notes(&told);
    assert!(notes.contains("0.log: 1 line passed over that are no JSON"), "{notes}");
    assert!(notes.contains("0.log: 1 line passed over, \"new_thing\" is unknown"), "{notes}");
}

/// Time never runs back in a history, and no more than it can hold.
#[test]
fn clocks_that_were_set_are_borne() {
    let far = acked("1", 1).replace("2000", "18446744073709551615");
    let producer = STARTED.to_owned() + &acked("0", 0).replace("2000", "5") + &far;
    let consumer = STARTED.replace("1000", "700000") + &polled(0, &["0", "1"]);
    let told = history(&[&producer, &consumer]);
    let times: Vec<u64> = told.events().map(|event| event.time).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(sends(&told).len(), 2);
}

/// A small log must not make a history that fills the memory, nor a sum that overflows.
#[test]
fn hostile_logs_are_refused_or_read() {
    let mut growing = String::new();
    for nth in 0..3000 {
        growing += &assigned("partitions_assigned", &[nth]);
    }
    let why = refusal(&[&growing]);
    assert!(why.contains("name more than 4 million partitions in all"), "{why}");
    let huge = counted(1).replace("\"count\":1", &format!("\"count\":{}", u64::MAX));
    let told = history(&[&(acked("0", 0)), &(huge.clone() + &huge)]);
    assert!(notes(&told).contains(&format!("({})", u64::MAX)));
}

proptest! {
    /// Whatever is damaged is read or refused.
    #[test]
    fn damage_is_read_or_refused(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut: bool,
    ) {
        let producer = log(&[acked("0", 0), failed("1", "X", "y"), acked("2", 1)]);
        let consumer = log(&[
            assigned("partitions_assigned", &[0]), polled(0, &["0", "2"]), counted(0),
        ]);
        for of_consumer in [false, true] {
            let mut logs = [producer.clone().into_bytes(), consumer.clone().into_bytes()];
            let bytes = &mut logs[usize::from(of_consumer)];
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            let logs = logs.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            if let Ok(told) = told(&[&logs[0], &logs[1]]) {
                let times: Vec<u64> = told.events().map(|event| event.time).collect();
                prop_assert!(times.is_sorted());
            }
        }
    }
}
