//! Fetch: records of partitions, for clients and followers.

use crate::fetch::serve;

entry!(Fetch, Broker, serve);
