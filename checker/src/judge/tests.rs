//! Claims that crash, choices of claims, and findings beyond the cap.

use highwater_history::{
    Event, EventValue, Promise, Verdict,
    event::{Ack, EventKind, Function, MicroOp, Process},
    outcome::{Crash, Ended, Outcome},
    verdict::{Finding, Judgement, Validity},
};

use super::{CheckError, Options, check};
use crate::{
    Evidence, History,
    across::Whole,
    claim::{Decides, Entry, Judge},
    finding::{Findings, Permission},
    fold::{ClaimOfPart, Tally},
    index::Index,
    leadership::Leadership,
    limits::Limits,
    merge::{self, decide},
    part::Part,
    registry::Registry,
    told::Sayings,
    view::RunView,
};

fn entry(judge: Judge) -> Entry {
    Entry {
        rules: &[1],
        clauses: &[],
        evidence: &[],
        anomalies: &["a"],
        needs: &[],
        of_history: true,
        decides: Decides::AtTheEnd,
        judge,
    }
}

fn judged(entry: &Entry) -> highwater_history::verdict::ClaimVerdict {
    let evidence = Evidence::default();
    let (index, leadership) = (Index::default(), Leadership::default());
    let (registry, sayings) = (Registry::default(), Sayings::default());
    let said = Promise::default();
    let run = RunView {
        evidence: &evidence,
        index: &index,
        leadership: &leadership,
        registry: &registry,
        losses: &[],
        sayings: &sayings,
        said: &said,
        limits: Limits::default(),
        is_cut: false,
    };
    let of_part = ClaimOfPart::judge_entry("lost-write", entry, &run, &run.keys());
    let whole = Whole { evidence: &evidence, keys: Vec::new() };
    decide(&whole, &Tally::of(&run, &[], None, Vec::new()), vec![of_part]).0
}

fn of_run(judge: fn(&RunView<'_>, &mut Findings)) -> Judge {
    Judge::RunAndKeys(judge, |_, _| {})
}

#[test]
fn a_claim_that_panics_is_unknown() {
    let verdict = judged(&entry(of_run(|_, _| panic!("planted"))));
    assert_eq!(verdict.verdict, Judgement::Unknown);
    assert_eq!(verdict.reason.as_deref(), Some("the claim itself crashed"));
    assert!(!verdict.rules.is_empty(), "it is still named with its rules");
}

/// A lost record, and another that was read.
fn a_loss() -> Evidence {
    let lines = r#"
{"index":0,"time":1,"process":1,"type":"invoke","f":"send","value":[["send","x",1]]}
{"index":1,"time":2,"process":1,"type":"ok","f":"send","value":[["send","x",[0,1]]]}
{"index":2,"time":3,"process":1,"type":"invoke","f":"send","value":[["send","x",2]]}
{"index":3,"time":4,"process":1,"type":"ok","f":"send","value":[["send","x",[1,2]]]}
{"index":4,"time":5,"process":2,"type":"invoke","f":"poll","value":[["poll"]]}
{"index":5,"time":6,"process":2,"type":"ok","f":"poll","value":[["poll",{"x":[[1,2]]}]]}"#;
    let events = lines.trim().lines().map(|line| serde_json::from_str(line).expect("an event"));
    Evidence::of_events(events.collect())
}

/// Judges with a panic planted in one claim.
fn judged_with_a_panic_in(planted: &str) -> Verdict {
    let (evidence, options) = (a_loss(), Options::default());
    let mut part = super::judge_part(&evidence, &options, Part::WHOLE).expect("it is judged");
    let (index, ..) = super::read_history(&evidence, Part::WHOLE).expect("it is read");
    let panics = entry(Judge::Key(|_, _| panic!("planted")));
    let crashed = super::viewed(&evidence, &options, (&index, false), |run, keys| {
        ClaimOfPart::judge_entry(planted, &panics, run, keys)
    });
    let of_claim = part.claims.iter_mut().find(|claim| claim.name == planted);
    *of_claim.expect("the claim was judged") = crashed;
    merge::verdict(&evidence, &options, vec![part])
}

#[test]
fn a_claim_that_panics_is_unknown_and_the_others_report() {
    let verdict = judged_with_a_panic_in("duplicate");
    let of = |name: &str| verdict.claims.iter().find(|claim| claim.claim == name).expect(name);
    assert_eq!(of("duplicate").verdict, Judgement::Unknown);
    assert_eq!(of("lost-write").anomalies["lost-write"], 1);
    assert_eq!(of("unseen").anomalies["unseen"], 1);
    assert_eq!(of("inconsistent-offsets").verdict, Judgement::Valid);
    assert_eq!(verdict.verdict, Validity::Invalid, "a violation is one, whatever crashed");
}

#[test]
fn what_a_claim_would_have_found_is_missing_where_it_panics() {
    let verdict = judged_with_a_panic_in("lost-write");
    assert!(!verdict.anomalies.contains_key("lost-write"));
    assert_eq!(verdict.anomalies["unseen"], 1);
}

#[test]
fn a_violation_outweighs_what_could_not_be_decided() {
    let verdict = judged(&entry(of_run(|_, findings| {
        findings.undecided("half of it".to_owned());
        findings.violation("a", Finding::default);
    })));
    assert_eq!(verdict.verdict, Judgement::Invalid);
}

#[test]
fn counts_stay_exact_beyond_the_cap() {
    let verdict = judged(&entry(of_run(|_, findings| {
        for _ in 0..120 {
            findings.violation("a", Finding::default);
            findings.permit("b", Permission::new("c.9", "a test"), Finding::default);
        }
    })));
    assert_eq!(verdict.anomalies["a"], 120);
    assert_eq!(verdict.permitted["b"], 120);
    assert_eq!(verdict.clauses["c.9"], 120);
    assert_eq!(verdict.findings.len() as u64 + verdict.findings_left_out, 240);
    assert!(verdict.findings_left_out > 0);
}

#[test]
fn merging_findings_adds_counts_and_caps_details() {
    let some = |n: u64| {
        let mut findings = Findings::default();
        for _ in 0..n {
            findings.violation("a", Finding::default);
        }
        findings
    };
    let mut sum = some(30);
    sum.merge(some(40));
    assert_eq!(sum.anomalies["a"], 70);
    assert_eq!(sum.violations.len() as u64 + sum.left_out, 70);
}

#[test]
fn an_unknown_claim_is_refused_by_name() {
    let options = Options { claims: Some(vec!["lost-rights".to_owned()]), ..Options::default() };
    let error = check(&Evidence::default(), &options).expect_err("it is refused");
    assert!(matches!(error, CheckError::UnknownClaim(name) if name == "lost-rights"));
}

#[test]
fn only_the_chosen_claims_are_judged() {
    let options = Options { claims: Some(vec!["duplicate".to_owned()]), ..Options::default() };
    let verdict = check(&Evidence::default(), &options).expect("it is judged");
    let names: Vec<_> = verdict.claims.iter().map(|claim| claim.claim.as_str()).collect();
    assert_eq!(names, ["duplicate"]);
}

#[test]
fn an_unfit_history_leaves_every_claim_unknown() {
    let invoke = |index, process| {
        let value =
            EventValue::Ops(vec![MicroOp::Send { key: "x".into(), value: 1, ack: Ack::None }]);
        let mut event =
            Event::new(index, Process::Client(process), EventKind::Invoke, Function::Send);
        event.index = index;
        event.with_value(value)
    };
    let evidence = Evidence::of_events(vec![invoke(0, 1), invoke(1, 2)]);
    let verdict = check(&evidence, &Options::default()).expect("it is judged");
    assert_eq!((verdict.verdict, verdict.exit), (Validity::Unknown, 2));
    assert!(verdict.claims.iter().all(|claim| claim.verdict == Judgement::Unknown));
    assert!(verdict.reason.contains("line 2: value 1 is sent to x a second time"));
}

#[test]
fn a_node_that_ended_by_itself_is_noted() {
    let mut outcome = Outcome::new(Ended::Complete, 0);
    outcome.crashes.push(Crash { node: 2, incarnation: 3, ended: "signal 6".to_owned() });
    let evidence = Evidence { outcome: Some(outcome), ..Evidence::default() };
    let verdict = check(&evidence, &Options::default()).expect("it is judged");
    let note = "node 2 ended by itself (signal 6); its output: nodes/2/stderr.3.log";
    assert!(verdict.notes.iter().any(|told| told == note), "{:?}", verdict.notes);
}

/// An operation that nobody understands may have sent what was read: that is no phantom.
#[test]
fn what_an_unknown_operation_names_as_sent_is_no_phantom() {
    let mut evidence = a_loss();
    let History::Events(events) = &mut evidence.history else { panic!("it is in memory") };
    let told = |line: &str| serde_json::from_str::<Event>(line).expect("an event");
    let lines = r#"
{"index":6,"time":7,"process":3,"type":"invoke","f":"produce","value":[["send","x",9]]}
{"index":7,"time":8,"process":3,"type":"ok","f":"produce","value":null}
{"index":8,"time":9,"process":2,"type":"invoke","f":"poll","value":[["poll"]]}
{"index":9,"time":10,"process":2,"type":"ok","f":"poll","value":[["poll",{"x":[[2,9]]}]]}"#;
    events.extend(lines.trim().lines().map(told));
    let options = Options { claims: Some(vec!["phantom-read".to_owned()]), ..Options::default() };
    let verdict = check(&evidence, &options).expect("it is judged");
    assert_eq!(verdict.claims[0].verdict, Judgement::Unknown, "{verdict:?}");
    assert!(verdict.anomalies.is_empty());
}
