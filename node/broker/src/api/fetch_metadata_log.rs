//! Fetch on a controller's listener: the metadata log, for brokers and other controllers.

use crate::controller::fetch::serve;

entry!(Fetch, Controller, serve);
