//! The mark of a clean stop, with the broker epoch that the next incarnation proves it with.

use serde::{Deserialize, Serialize};

/// Its name in the log directory.
pub const FILE: &str = ".kafka_cleanshutdown";

/// What the file says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    version: i32,
    broker_epoch: i64,
}

/// Stands for a node that has no broker epoch.
const NO_EPOCH: i64 = -1;

/// The file's content.
pub fn format(broker_epoch: Option<i64>) -> String {
    let content = Content { version: 0, broker_epoch: broker_epoch.unwrap_or(NO_EPOCH) };
    serde_json::to_string(&content).expect("two numbers can be written as JSON")
}

/// The broker epoch that the file names. A file that does not parse still marks a clean stop, but
/// proves nothing to the controller.
pub fn parse(text: &str) -> Option<i64> {
    let content: Content = serde_json::from_str(text).ok()?;
    Some(content.broker_epoch).filter(|epoch| *epoch != NO_EPOCH)
}
