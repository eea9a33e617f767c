//! Whether the beginning of a log may be deleted at all (c.1.5, rule 78).

use crate::{evidence::Evidence, index::KeyIndex};

/// Whether any setting asks for it: of the topic, of a broker, or one that was changed meanwhile;
/// also where no manifest says. Kafka's defaults keep records for a week, and any amount of them.
pub fn may_delete(evidence: &Evidence, key: &KeyIndex) -> bool {
    let Some(manifest) = &evidence.manifest else { return true };
    let topic = manifest.target.topics.iter().filter(|topic| topic.name == key.topic_name());
    let of_topic = topic.flat_map(|topic| topic.configs.keys());
    let of_brokers = manifest.target.nodes.iter().flat_map(|node| node.properties.keys());
    let changed = evidence.metadata.iter().filter_map(|record| record.fields.get("name")?.as_str());
    let mut names = of_topic.chain(of_brokers).map(String::as_str).chain(changed);
    names.any(|name| name.contains("retention") || name.ends_with("cleanup.policy"))
}
