//! Kafka's wire protocol behind one door, with a length guard.
