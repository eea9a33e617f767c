//! The shapes of Jepsen's Kafka workload, one by one.

use super::*;

/// An operation with what stands first in each, and our line of it.
fn op(rest: &str) -> String {
    format!("{{:index 7, :time 9, :process 3, {rest}}}")
}

fn is_read_as(cases: &[(&str, &str)]) {
    for (edn, json) in cases {
        let wanted = format!("{{\"index\":7,\"time\":9,\"process\":3,{json}}}");
        assert_eq!(lines(&op(edn)), [wanted], "{edn}");
    }
}

#[test]
fn sends_polls_and_transactions() {
    is_read_as(&[
        (
            ":type :invoke, :f :send, :value [[:send 11 641]]",
            r#""type":"invoke","f":"send","value":[["send","t-11",641]]"#,
        ),
        (
            ":type :ok, :f :send, :value [[:send 1 [537 641]] [:send 0 [nil -4]]]",
            r#""type":"ok","f":"send","value":[["send","t-1",[537,641]],["send","t-0",[null,-4]]]"#,
        ),
        (
            ":type :info, :f :txn, :value [[:poll] [:send :x 2] [:poll nil]]",
            r#""type":"info","f":"txn","value":[["poll"],["send","x",2],["poll"]]"#,
        ),
        (
            ":type :ok, :f :poll, :value ([:poll {2 [[5 9] [7 1]], \"y\" ()}])",
            r#""type":"ok","f":"poll","value":[["poll",{"t-2":[[5,9],[7,1]],"y":[]}]]"#,
        ),
        (
            ":type :fail, :f :poll, :value nil, :poll-ms 1000",
            r#""type":"fail","f":"poll","poll-ms":1000"#,
        ),
    ]);
}

#[test]
fn assignments_crashes_and_what_is_printed_to_debug() {
    is_read_as(&[
        (
            ":type :ok, :f :assign, :value (0 1), :seek-to-beginning? true",
            r#""type":"ok","f":"assign","value":["t-0","t-1"],"seek-to-beginning?":true"#,
        ),
        (
            ":type :ok, :f :subscribe, :value [3 2], :unseen {3 {:sent 4}}",
            r#""type":"ok","f":"subscribe","value":["t-3","t-2"],"unseen":{"3":{"sent":4}}"#,
        ),
        (":type :invoke, :f :assign, :value nil", r#""type":"invoke","f":"assign""#),
        (":type :info, :f :crash, :value nil", r#""type":"info","f":"crash""#),
        (
            ":type :ok, :f :debug-topic-partitions, :value {:topics #{a}, 3 \\b}",
            r#""type":"ok","f":"debug-topic-partitions","value":{"3":"b","topics":["a"]}"#,
        ),
        (
            ":type :ok, :f :poll, :rebalance-log [{:keys [0], :fn :lost} {:keys nil}]",
            r#""type":"ok","f":"poll","rebalance-log":[{"keys":["t-0"],"fn":"lost"},{"keys":[]}]"#,
        ),
    ]);
}

#[test]
fn errors_are_codes() {
    is_read_as(&[
        (":type :fail, :f :send, :error nil", r#""type":"fail","f":"send""#),
        (
            ":type :fail, :f :send, :error :timeout",
            r#""type":"fail","f":"send","error":{"code":"timeout"}"#,
        ),
        (
            ":type :info, :f :send, :error [:fenced \"x \\u0041\\f\" 1/2]",
            r#""type":"info","f":"send","error":{"code":"fenced","said":["x A\f","1/2"]}"#,
        ),
        (
            ":type :info, :f :send, :error {:code :a, :b [1.5 2N 3M]}",
            r#""type":"info","f":"send","error":{"code":"a","b":[1.5,2,3.0]}"#,
        ),
    ]);
}

#[test]
fn the_nemesis_says_what_it_likes() {
    let edn = r##"{:type :info, :f :start-partition, :process :nemesis, :time 5, :index 2,
        :value [:isolated {"n1" #{"n2"}, [:n 1] #object[Foo 0x1f "Foo@1"]} #"a\d" ##Inf #'a/b]}"##;
    let json = concat!(
        r#"{"index":2,"time":5,"process":"nemesis","type":"info","f":"start-partition","value":"#,
        r###"["isolated",{"[n 1]":["Foo","0x1f","Foo@1"],"n1":["n2"]},"a\\d","##Inf","#'a/b"]}"###
    );
    assert_eq!(lines(edn), [json]);
}

/// A client's node is a name there and a number here.
#[test]
fn a_field_that_has_the_name_of_one_of_ours_is_kept_beside_it() {
    is_read_as(&[(
        ":type :ok, :f :poll, :node \"n1\", :highwater/node 2, :id :x, :highwater/other 1",
        r#""type":"ok","f":"poll","node":2,"highwater/other":1,"jepsen/id":"x","jepsen/node":"n1""#,
    )]);
}

#[test]
fn a_history_is_a_row_of_operations_or_one_list_of_them() {
    let ops = [":type :invoke, :f :poll", ":type :ok, :f :poll"].map(op);
    let wanted = lines(&ops.join("\n"));
    assert_eq!(wanted.len(), 2);
    for text in [
        ops.join(""),
        format!(";; [{{\n{} , #_{{:a \"}}\"}} #_ #_ [] \\] {} ;", ops[0], ops[1]),
        format!("[{} {}]", ops[0], ops[1]),
        format!("#jepsen.history.DenseHistory ({}\n;)\n {} #_{{}})\n", ops[0], ops[1]),
        format!("#jepsen.history.Op{} #jepsen.history.Op\n{}", ops[0], ops[1]),
        format!("{} {}", ops[0].replace(":f", "#_ :g ;}\n :f"), ops[1].replace(":ok", "\"ok\"")),
    ] {
        assert_eq!(lines(&text), wanted, "{text}");
    }
    for empty in ["", " ; nothing", "[]", "#_{:a 1}", "\n#jepsen.history.DenseHistory[]"] {
        assert_eq!(lines(empty), [""; 0], "{empty}");
    }
}

/// Operations that nobody numbered are in the order of the file, also by time.
#[test]
fn a_missing_index_or_time_is_the_position() {
    let text =
        "{:type :invoke :process 1 :f :poll} {:index -1, :time nil, :type :ok :process 1 :f :poll}";
    let (events, _) = read(text).expect("the history is read");
    let places: Vec<_> = events.iter().map(|event| (event.index, event.time)).collect();
    assert_eq!(places, [(0, 0), (1, 1)]);
}

#[test]
fn a_refusal_names_line_and_field() {
    let in_op = |rest: &str| format!("{}\n\n{}", op(":type :ok, :f :poll"), op(rest));
    for (rest, why) in [
        (":type :yes, :f :poll", "field `type`: unknown type \"yes\", expected :invoke, :ok"),
        (":f :poll", "field `type`: missing"),
        (":type :ok, :f :poll, :f :send", "field `f`: stands twice"),
        (":type :ok, :f :poll, :a 1, \"a\" 2", "field `a`: stands twice"),
        (":type :ok, :f :poll, :value 1", "field `value`: expected a list of micro-operations"),
        (":type :ok, :f :poll, :value [[:post 1]]", "field `value`: unknown micro-operation"),
        (
            ":type :ok, :f :send, :value [[:send 0 :a]]",
            "field `value`: the value of a record must be a whole number, not :a",
        ),
        (
            ":type :ok, :f :poll, :value [[:poll {0 [[1 nil]]}]]",
            "field `value`: the value of a record must be a whole number, not nil",
        ),
        (
            ":type :ok, :f :poll, :value [[:poll {0 [[-1 4]]}]]",
            "field `value`: -1 is no offset, which lies between 0 and 2^60",
        ),
        (":type :ok, :f :poll, :value [[:poll {0 [] \"t-0\" []}]]", "`t-0` stands twice"),
        (":type :ok, :f :send, :value [[:send 0]]", "field `value`: a micro-operation is [:send"),
        (":type :ok, :f :send, :value [[:send -1 0]]", "expected a key, a number or a name"),
        (":type :ok, :f :send, :highwater/node :n1", "field `node`: invalid type"),
        (":type :ok, :f", "the last key of a map lacks its value"),
        (":type :ok, :f [}", "`}` closes what is not open"),
        (":type 1x", "`1x` is no number"),
        (":type \"\\q\"", "`\\q` is no escape of a string"),
    ] {
        let said = refusal(&in_op(rest));
        assert!(said.starts_with("h.edn: line 3: ") && said.contains(why), "{rest}: {said}");
    }
    let late = refusal(&in_op(":type :ok,\n:f\n#()"));
    assert!(late.starts_with("h.edn: line 5: `#` names no tag"), "{late}");
    for (text, line, why) in [
        ("\n:a", 2, "an operation was expected, a map such as {:index 0, ...}"),
        ("[[1]]", 1, "an operation was expected"),
        ("#{1}", 1, "an operation was expected"),
        ("[]\n{}", 2, "something follows the end of the list of operations"),
    ] {
        let said = refusal(text);
        assert!(said.starts_with(&format!("h.edn: line {line}: {why}")), "{text}: {said}");
    }
}
