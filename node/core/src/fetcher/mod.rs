//! The follower's side of replication: what to fetch from which leader.
