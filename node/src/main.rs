//! A Kafka-compatible broker whose replication follows Apache Kafka 4.x.

fn main() {}
