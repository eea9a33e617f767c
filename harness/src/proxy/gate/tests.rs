//! How far bytes may go under each rule.
