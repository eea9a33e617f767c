//! Rule 40, code by code.

use super::{Acks, Class, Outcome, TABLE, overall, produce, read, row};

const DEFINITE_NO: &[&str] = &[
    "CORRUPT_MESSAGE",
    "MESSAGE_TOO_LARGE",
    "RECORD_LIST_TOO_LARGE",
    "NOT_ENOUGH_REPLICAS",
    "INVALID_REQUIRED_ACKS",
    "TOPIC_AUTHORIZATION_FAILED",
    "GROUP_AUTHORIZATION_FAILED",
    "CLUSTER_AUTHORIZATION_FAILED",
    "INVALID_PRODUCER_EPOCH",
    "INVALID_TXN_STATE",
    "INVALID_PRODUCER_ID_MAPPING",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
    "INVALID_RECORD",
];
const YES: &[&str] = &["NONE", "DUPLICATE_SEQUENCE_NUMBER"];

fn code(name: &str) -> i16 {
    TABLE.iter().find(|row| row.name == name).expect("a name of the table").code
}

#[test]
fn codes_are_dense_from_minus_one() {
    for (at, row) in TABLE.iter().enumerate() {
        assert_eq!(row.code, at as i16 - 1, "{}", row.name);
    }
}

#[test]
fn rule_40_classes_of_every_code() {
    for entry in TABLE {
        let all = produce(entry.code, Acks::All, true);
        let one = produce(entry.code, Acks::One, true);
        let (want_all, want_one) = match entry.name {
            name if YES.contains(&name) => (Outcome::Ok, Outcome::Ok),
            name if DEFINITE_NO.contains(&name) => (Outcome::Fail, Outcome::Fail),
            "OUT_OF_ORDER_SEQUENCE_NUMBER" => (Outcome::Fail, Outcome::Fail),
            "UNKNOWN_TOPIC_OR_PARTITION" | "UNKNOWN_TOPIC_ID" => (Outcome::Info, Outcome::Fail),
            _ => (Outcome::Info, Outcome::Info),
        };
        assert_eq!((all, one), (want_all, want_one), "{}", entry.name);
    }
}

#[test]
fn rule_40_out_of_order_is_doubt_for_a_repeat() {
    let code = code("OUT_OF_ORDER_SEQUENCE_NUMBER");
    assert_eq!(produce(code, Acks::All, true), Outcome::Fail);
    assert_eq!(produce(code, Acks::All, false), Outcome::Info);
}

#[test]
fn rule_40_a_no_on_the_last_attempt_does_not_clear_an_earlier_doubt() {
    assert_eq!(overall([Outcome::Info, Outcome::Fail]), Outcome::Info);
    assert_eq!(overall([Outcome::Info, Outcome::Ok]), Outcome::Ok);
    assert_eq!(overall([Outcome::Fail, Outcome::Fail]), Outcome::Fail);
    assert_eq!(overall([]), Outcome::Fail);
}

#[test]
fn reads_are_never_in_doubt() {
    for entry in TABLE {
        let want = if entry.name == "NONE" { Outcome::Ok } else { Outcome::Fail };
        assert_eq!(read(entry.code), want);
    }
}

#[test]
fn an_undefined_code_is_doubt() {
    for undefined in [-2, 134, i16::MAX - 1, i16::MIN] {
        assert_eq!(row(undefined).produce, Class::Unknown);
        assert_eq!(produce(undefined, Acks::All, true), Outcome::Info);
    }
}
