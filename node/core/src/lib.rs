//! The pure state machines of replication and of the controller.
