//! Rows of partitions, put together by topic.

use std::collections::BTreeMap;

/// The rows of each topic, topics in the order in which they first come.
pub(crate) fn by_topic<'a, T>(rows: impl Iterator<Item = (&'a str, T)>) -> Vec<(&'a str, Vec<T>)> {
    let mut places = BTreeMap::new();
    let mut topics: Vec<(&str, Vec<T>)> = Vec::new();
    for (topic, row) in rows {
        let place = *places.entry(topic).or_insert(topics.len());
        if place == topics.len() {
            topics.push((topic, Vec::new()));
        }
        topics[place].1.push(row);
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::by_topic;

    #[test]
    fn topics_stand_where_they_first_came() {
        let rows = [("b", 1), ("a", 2), ("b", 3)];
        assert_eq!(by_topic(rows.into_iter()), [("b", vec![1, 3]), ("a", vec![2])]);
    }
}
