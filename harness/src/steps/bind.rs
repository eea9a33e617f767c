//! Puts what is known when a step begins into its fault's parameters.

use std::collections::BTreeMap;

use serde_json::Value;

use super::when::Known;

/// Replaces `"$name"` by what the name stands for and key labels at `of` by the broker's names.
///
/// # Errors
/// When a name is not bound or nothing was observed for it.
pub fn fill(
    with: &Value,
    names: &BTreeMap<String, Known>,
    topic_of: &dyn Fn(&str) -> Option<String>,
) -> Result<Value, String> {
    Ok(match with {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => names
                .get(name)
                .ok_or_else(|| format!("`${name}` is not bound by any step before"))?
                .to_json()
                .ok_or_else(|| format!("nothing was observed for `${name}`"))?,
            None => match text.parse::<crate::nemesis::Partition>() {
                Ok(key) => match topic_of(&key.topic) {
                    Some(topic) => Value::from(format!("{topic}-{}", key.index)),
                    None => with.clone(),
                },
                Err(_) => with.clone(),
            },
        },
        Value::Array(items) => Value::Array(
            items.iter().map(|item| fill(item, names, topic_of)).collect::<Result<_, _>>()?,
        ),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, item)| Ok((name.clone(), fill(item, names, topic_of)?)))
                .collect::<Result<_, String>>()?,
        ),
        other => other.clone(),
    })
}

/// Parameters with a sample value for every name, to see before the run whether the fault takes
/// them.
pub fn sample(with: &Value) -> Value {
    match with {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::String(text) if text.starts_with('$') => Value::from(stand_in(text)),
        Value::Array(items) => Value::Array(items.iter().map(sample).collect()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, item)| (name.clone(), sample(item)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// A number for a name: the same for the same name, another for another, and no node's id.
fn stand_in(name: &str) -> i32 {
    let mixed =
        name.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    (1 << 29) | (mixed % (1 << 29)) as i32
}
