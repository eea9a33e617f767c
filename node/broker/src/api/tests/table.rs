//! The table of APIs as a whole.

use std::collections::BTreeSet;

use crate::api::{Listeners, TABLE};

#[test]
fn each_api_has_one_file_that_bears_its_name() {
    let mut seen = BTreeSet::new();
    for (name, summary, entry) in TABLE {
        assert!(seen.insert((entry.api as i16, entry.listeners as u8)), "{name} is there twice");
        let spelled = format!("{:?}", entry.api).to_lowercase();
        let file = name.replace('-', "");
        assert!(file.contains(&spelled), "{name} holds {:?}", entry.api);
        assert!(summary.ends_with('.') || summary.ends_with(','), "{name}: {summary}");
    }
}

#[test]
fn what_is_passed_on_can_be_refused() {
    for (name, _, entry) in TABLE {
        let forwarded = entry.listeners == Listeners::Forwarded;
        assert_eq!(forwarded, entry.refuse.is_some(), "{name}");
    }
}
