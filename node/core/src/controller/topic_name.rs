//! Which names a topic may have.

use crate::error::{ErrorCode, Refusal};
use crate::metadata::Image;

/// The longest legal name, in characters.
const MAX_LEN: usize = 249;

/// The name of the metadata log, which is no topic that anyone may create.
const METADATA_TOPIC: &str = "__cluster_metadata";

/// Checks a name on its own: it becomes the name of a folder.
pub fn check_topic_name(name: &str) -> Result<(), Refusal> {
    let refuse = |text: String| Err(Refusal::new(ErrorCode::InvalidTopicException, text));
    if name.is_empty() {
        return refuse("a topic name must not be empty".to_owned());
    }
    if name == "." || name == ".." {
        return refuse("a topic cannot be named \".\" or \"..\"".to_owned());
    }
    if name.chars().count() > MAX_LEN {
        return refuse(format!("a topic name has at most {MAX_LEN} characters"));
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if let Some(bad) = name.chars().find(|c| !legal(*c)) {
        let text = format!("a topic name holds letters, digits, '.', '_' and '-', not {bad:?}");
        return refuse(text);
    }
    Ok(())
}

/// Checks a name against those that exist: names that differ in '.' and '_' only would share the
/// name of their metrics.
pub(super) fn check_new_topic_name(name: &str, image: &Image) -> Result<(), Refusal> {
    check_topic_name(name)?;
    if name == METADATA_TOPIC {
        let text = format!("{METADATA_TOPIC} is the metadata log");
        return Err(Refusal::new(ErrorCode::InvalidTopicException, text));
    }
    if image.topic_ids.contains_key(name) {
        let text = format!("a topic {name} exists already");
        return Err(Refusal::new(ErrorCode::TopicAlreadyExists, text));
    }
    if !name.contains(['.', '_']) {
        return Ok(());
    }
    let plain = |name: &str| name.replace('.', "_");
    let wanted = plain(name);
    match image.topic_ids.keys().find(|known| plain(known) == wanted) {
        Some(known) => {
            let text = format!("{name} differs from the topic {known} in '.' and '_' only");
            Err(Refusal::new(ErrorCode::InvalidTopicException, text))
        }
        None => Ok(()),
    }
}
