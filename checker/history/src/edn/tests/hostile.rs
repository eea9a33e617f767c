//! Input that nobody printed: it is refused or read, and costs no more than its length.

use proptest::{collection::vec, prelude::*, sample::Index};

use super::*;
use crate::edn::parse::MAX_DEPTH;

const HISTORY: &str = concat!(
    "[#jepsen.history.Op{:index 0, :time 5, :type :invoke, :process 0, :f :txn, :value ",
    "[[:send 3 1] [:poll]]}\n ; a comment }\n",
    "{:index 1, :time 6, :type :ok, :process 0, :f :txn, :value [[:send 3 [0 1]] ",
    "[:poll {3 [[0 1] [nil 2]], \"x\" []}]], :error [:a \"b\\n\\\"\"] #_ {:c \\{} :n -1.5e3}\n",
    "{:index 2, :time 7, :type :info, :process :nemesis, :f :kill, :value {\"é\" #{1N}}}]\n",
);

#[test]
fn nesting_is_limited_before_it_costs_a_stack() {
    const MANY: usize = 300_000;
    for open in ["[", "{", "(", "#{", "#a ", "#_ ", "{:a ", "{{} "] {
        let text = format!("{{:x {}", open.repeat(MANY));
        let (_, cut) = read(&text).unwrap_or_default();
        assert_eq!(cut, None, "{open}: what is too deep is refused");
        let text = open.repeat(MANY);
        assert!(read(&text).is_ok_and(|(events, _)| events.is_empty()) || read(&text).is_err());
    }
    let nested = |levels: usize| {
        let value = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        format!("{{:type :info, :process :nemesis, :f :kill, :value {value}}}")
    };
    let line = lines(&nested(MAX_DEPTH - 1)).remove(0);
    serde_json::from_str::<Event>(&line).expect("what is just not too deep is read as JSON");
    let why = refusal(&nested(MAX_DEPTH));
    assert!(why.contains("it nests deeper than 127 levels"), "{why}");
}

/// Maps as keys of maps: were each quoted within the next, the name would double with each level.
#[test]
fn a_name_within_a_name_does_not_explode() {
    let name = format!("{}\"\\\"\"{}", "{".repeat(100), " 1}".repeat(100));
    let text = format!("{{:type :info, :process :nemesis, :f :kill, :value {{{name} 2}}}}");
    assert!(lines(&text)[0].len() < 1000);
}

#[test]
fn an_operation_without_end_is_refused() {
    for endless in ["{\"", "{:a [1 ", "{ ;"] {
        let text = endless.to_owned() + &"1 ".repeat(9 << 20);
        assert_eq!(refusal(&text), "h.edn: line 1: an operation is longer than 16 MiB");
    }
    let token = format!("#_{}", "a".repeat(17 << 20));
    assert_eq!(refusal(&token), "h.edn: line 1: an operation is longer than 16 MiB");
}

#[test]
fn an_operation_of_too_many_values_is_refused() {
    for small in ["{1 1}", "[1]", "()", "1 ", "#_1 "] {
        let text = format!("{{:x [{}]}}", small.repeat(1_000_000));
        assert_eq!(refusal(&text), "h.edn: line 1: an operation holds more than 1000000 values");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let why = read(b"{:a 1}\n{:a \xff}").expect_err("it is refused");
    assert!(why.contains("line 1: field `process`: missing"), "{why}");
    let why = read(b"\n{:a \xff}").expect_err("it is refused");
    assert_eq!(why, "h.edn: line 2: it is no text: byte 5 is not UTF-8");
}

/// A killed writer leaves any part of a file: of a character, of a number, of a string.
#[test]
fn a_history_cut_anywhere_is_read_up_to_there() {
    let row = HISTORY.trim_start_matches('[').replace("}]\n", "}\n");
    for (text, is_list) in [(HISTORY, true), (&row, false)] {
        let (whole, cut) = read(text).expect("the history is read");
        assert_eq!((whole.len(), cut), (3, None));
        for end in 1..text.len() - 1 {
            let (events, cut) =
                read(&text.as_bytes()[..end]).unwrap_or_else(|why| panic!("{end}: {why}"));
            assert_eq!(events, whole[..events.len()], "cut at {end}");
            let last = text.as_bytes()[..end].rsplit(|byte| *byte == b'\n').next();
            let last = last.expect("there is a last line");
            let is_between = b" ;".starts_with(last)
                || last.starts_with(b" ;")
                || text.as_bytes().get(end) == Some(&b'\n');
            assert_eq!(cut.is_some(), is_list || !is_between, "cut at {end}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = read(bytes);
    }

    #[test]
    fn no_signs_of_edn_make_reading_panic(text in "[\\[\\](){}#_\";:\\\\ \na1,-]{0,80}") {
        let _ = read(format!("{{{text}}}"));
        let _ = read(text);
    }

    /// Bytes of a history are changed, left out and doubled; it is read or refused, and the same
    /// whatever pieces it comes in.
    #[test]
    fn no_change_of_a_history_makes_reading_panic(
        changes in vec((any::<Index>(), 0..4_u8, any::<u8>(), any::<Index>()), 1..6),
        chunk in 1..50_usize,
    ) {
        let mut bytes = HISTORY.as_bytes().to_vec();
        for (at, change, byte, to) in changes {
            let (at, to) = (at.index(bytes.len()), to.index(bytes.len()));
            match change {
                0 => bytes[at] = byte,
                1 => bytes[at] = b"[]{}()\"\\;#_: "[usize::from(byte) % 13],
                2 => drop(bytes.drain(at.min(to)..at.max(to))),
                _ => bytes.extend_from_within(at.min(to)..at.max(to)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let whole = read(&bytes);
        prop_assert_eq!(&whole, &read_in_chunks(&bytes, chunk));
        for event in whole.iter().flat_map(|(events, _)| events) {
            let line = serde_json::to_string(event).expect("an event is JSON");
            prop_assert!(serde_json::from_str::<Event>(&line).is_ok(), "{}", line);
            let (again, _) = read(written(event, Keys::Texts)).expect("what is written is read");
            prop_assert_eq!(&again[0], event);
        }
    }
}
