//! The report is well-formed whatever the verdict says.

use highwater_history::verdict::Counts;
use proptest::{collection::vec, prelude::*, sample::select};
use quick_junit::Report;
use serde_json::json;

use super::*;

/// Texts with what XML has no place for, and what it has its own use for, more often than chance.
fn text() -> impl Strategy<Value = String> {
    let strange = "\0\u{8}\u{b}\u{c}\u{1b}\u{7f}\u{85}\u{d7ff}\u{e000}\u{fffd}\u{fffe}\u{ffff}\
                   \u{10000}\u{1fffe}\t\n\r<>&\"'] -!";
    let strange: Vec<char> = strange.chars().collect();
    let one = prop_oneof![any::<char>(), select(strange)];
    vec(one, 0..12).prop_map(String::from_iter)
}

/// A verdict that puts its texts wherever the report has a place for them.
fn verdict((judged, of_claim): (&str, &str), texts: &[String]) -> Verdict {
    let [claim, title, reason, why, assertion, seen, reproduce] = texts else {
        panic!("seven texts");
    };
    let verdict = json!({
        "format": 1, "verdict": judged, "exit": 0, "reason": reason, "anomalies": {},
        "permitted": {}, "metrics": {}, "counts": Counts::default(), "faults": [],
        "notes": [], "reproduce": reproduce,
        "claims": [{
            "claim": claim, "title": title, "rules": [2], "verdict": of_claim, "reason": reason,
            "anomalies": {(why): 1}, "permitted": {(why): 1}, "clauses": {},
            "findings": [{
                "anomaly": claim, "key": "t-0", "rule": 2, "evidence": why, "events": [],
                "why": why,
            }],
        }],
        "coverage": [{"floor": claim, "wanted": 2, "got": 1}],
        "assertions": [{"claim": assertion, "held": false, "seen": seen},
                       {"claim": assertion, "held": null, "seen": seen, "reason": reason}],
    });
    serde_json::from_value(verdict).expect("it is a verdict")
}

proptest! {
    #[test]
    fn a_report_is_well_formed_whatever_the_verdict_says(
        judged in select(vec!["valid", "invalid", "unknown", "vacuous"]),
        of_claim in select(vec!["valid", "permitted-only", "not-applicable", "unknown", "invalid"]),
        texts in vec(text(), 7),
    ) {
        let xml = xml(&verdict((judged, of_claim), &texts)).unwrap();
        // XML 1.0, production 2.
        let allowed = |c: char| {
            matches!(u32::from(c), 0x9 | 0xa | 0xd | 0x20..=0xd7ff | 0xe000..=0xfffd
                | 0x10000..=0x10ffff)
        };
        prop_assert_eq!(xml.chars().find(|c| !allowed(*c)), None);
        prop_assert!(!xml.contains("&#"), "a reference may name what has no place");
        let read = Report::deserialize_from_str(&xml);
        prop_assert!(read.is_ok(), "{:?} of {}", read, xml);
    }
}
