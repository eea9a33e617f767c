//! Records that were acknowledged are there after every kind of end.

use bytes::Bytes;
use highwater_broker::log::batch::{BatchBuilder, Batches};
use highwater_broker::wire::messages::UnregisterBrokerRequest;

use crate::client::Client;
use crate::nodes::{Setup, wait_for};

fn batch(value: &str) -> Bytes {
    BatchBuilder::new().record(1_700_000_000_000, None, Some(value.as_bytes()), &[]).build()
}

/// Every value in the partition, and nothing else.
fn values(client: &mut Client, topic: &str) -> Vec<String> {
    let mut values = Vec::new();
    loop {
        let bytes = client.fetch(topic, values.len() as i64);
        let batches = Batches::new(bytes).map(Result::unwrap);
        let before = values.len();
        for batch in batches {
            batch.check_crc().unwrap();
            for record in batch.records(1 << 20).unwrap().map(Result::unwrap) {
                let value = record.value.unwrap();
                values.push(String::from_utf8(value.to_vec()).unwrap());
            }
        }
        if values.len() == before {
            return values;
        }
    }
}

#[test]
fn acknowledged_records_survive_kill_and_stop() {
    let setup = Setup::new();
    let node = setup.start();
    let mut client = Client::connect(setup.port);
    assert_eq!(client.create("t"), 0);
    for at in 0..20 {
        assert_eq!(client.produce("t", batch(&at.to_string())), (0, at));
    }
    node.kill();
    let node = setup.start();
    let mut client = Client::connect(setup.port);
    let wanted: Vec<String> = (0..20).map(|at| at.to_string()).collect();
    assert_eq!(values(&mut client, "t"), wanted);
    assert_eq!(client.produce("t", batch("20")), (0, 20));
    assert_eq!(node.stop(), Some(0));
    let _node = setup.start();
    assert_eq!(values(&mut Client::connect(setup.port), "t").len(), 21);
}

#[test]
fn a_torn_tail_is_cut_and_the_log_says_so() {
    let setup = Setup::new();
    let node = setup.start();
    let mut client = Client::connect(setup.port);
    client.create("t");
    client.produce("t", batch("whole"));
    client.produce("t", batch("torn"));
    node.kill();
    let path = setup.log_dir().join("t-0/00000000000000000000.log");
    let content = std::fs::read(&path).unwrap();
    std::fs::write(&path, &content[..content.len() - 3]).unwrap();
    let _node = setup.start();
    assert_eq!(values(&mut Client::connect(setup.port), "t"), ["whole"]);
    let log = setup.log();
    let recovered = log.lines().find(|line| line.contains("\"event\":\"recovered\"")).unwrap();
    assert!(recovered.contains("\"partition\":\"t-0\",\"log_end\":1,"), "{recovered}");
}

#[test]
fn rule_76_a_log_without_a_partition_is_kept_aside() {
    let setup = Setup::new();
    let node = setup.start();
    let mut client = Client::connect(setup.port);
    client.create("t");
    client.produce("t", batch("kept"));
    assert_eq!(node.stop(), Some(0));
    let dir = |name: &str| setup.log_dir().join(name);
    std::fs::rename(dir("t-0"), dir("gone-0")).unwrap();
    let node = setup.start();
    let aside = wait_for("the stray is set aside", || {
        let entries = std::fs::read_dir(setup.log_dir()).unwrap().flatten();
        entries.map(|e| e.path()).find(|path| path.to_string_lossy().ends_with("-stray"))
    });
    assert!(!dir("gone-0").exists() && aside.join("00000000000000000000.log").exists());
    wait_for("it is logged", || setup.log().contains("stray-set-aside").then_some(()));
    assert_eq!(node.stop(), Some(0));
    assert_eq!(setup.start().stop(), Some(0));
    assert!(aside.exists(), "it is nobody's but an operator's");
}

#[test]
fn names_that_would_leave_the_log_directory_are_refused() {
    let setup = Setup::new();
    let _node = setup.start();
    let mut client = Client::connect(setup.port);
    for name in ["../../x", "", "..", "a/b", ".", "a b", &"x".repeat(250)] {
        // INVALID_TOPIC_EXCEPTION
        assert_eq!(client.create(name), 17, "{name:?}");
    }
    assert_eq!(client.create("fine"), 0);
    assert!(!setup.log_dir().join("../x").exists());
}

#[test]
fn a_broker_that_was_taken_out_says_so_and_stops_when_told_to() {
    let setup = Setup::new();
    let node = setup.start();
    let request = UnregisterBrokerRequest::default().with_broker_id(1.into());
    assert_eq!(Client::connect(setup.port).call(0, request).error_code, 0);
    let told = "\"event\":\"heartbeat-refused\",\"why\":\"STALE_BROKER_EPOCH\"";
    wait_for("the refusal is logged", || setup.log().contains(told).then_some(()));
    assert_eq!(node.stop(), Some(0));
    assert_eq!(setup.log().matches("\"event\":\"registered\"").count(), 1);
    assert_eq!(setup.start().stop(), Some(0), "started again, it registers");
}
