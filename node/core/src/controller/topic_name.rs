//! Which names a topic may have.

use std::collections::BTreeMap;

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

/// The names that new topics must differ from in more than '.' and '_': they would share the name
/// of their metrics.
pub(super) struct SimilarNames(BTreeMap<String, String>);

impl SimilarNames {
    /// Those of all topics.
    pub(super) fn of(image: &Image) -> SimilarNames {
        let mut names = SimilarNames(BTreeMap::new());
        for name in image.topic_ids.keys() {
            names.add(name);
        }
        names
    }

    /// One more topic.
    pub(super) fn add(&mut self, name: &str) {
        if let Some(plain) = plain(name) {
            self.0.insert(plain, name.to_owned());
        }
    }

    fn find(&self, name: &str) -> Option<&String> {
        self.0.get(&plain(name)?)
    }
}

/// What metrics make of a name; `None` for one that they leave as it is.
fn plain(name: &str) -> Option<String> {
    name.contains(['.', '_']).then(|| name.replace('.', "_"))
}

/// Checks a name against those that exist.
pub(super) fn check_new_topic_name(
    name: &str,
    image: &Image,
    similar: &SimilarNames,
) -> Result<(), Refusal> {
    check_topic_name(name)?;
    if name == METADATA_TOPIC {
        let text = format!("{METADATA_TOPIC} is the metadata log");
        return Err(Refusal::new(ErrorCode::InvalidRequest, text));
    }
    if image.topic_ids.contains_key(name) {
        let text = format!("a topic {name} exists already");
        return Err(Refusal::new(ErrorCode::TopicAlreadyExists, text));
    }
    match similar.find(name) {
        Some(known) => {
            let text = format!("{name} differs from the topic {known} in '.' and '_' only");
            Err(Refusal::new(ErrorCode::InvalidTopicException, text))
        }
        None => Ok(()),
    }
}
