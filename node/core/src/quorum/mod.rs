//! The metadata quorum: who may append to the metadata log and what is committed.
