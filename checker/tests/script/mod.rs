//! Cases in a short notation: parsed, judged, and rendered with their verdicts.

mod cluster;
mod evidence;
mod parse;

use std::{collections::BTreeSet, fmt::Write};

use highwater_checker::{Evidence, Options, check};
use highwater_history::{Verdict, verdict::Finding};

/// One case of a file.
pub struct Case<'a> {
    /// Everything up to the line `----`, comments too.
    pub script: &'a str,
    /// What follows it.
    pub verdict: &'a str,
}

const RULER: &str = "\n----\n";

/// The cases of a file; each begins with a line `== name`.
pub fn cases(text: &str) -> Vec<Case<'_>> {
    let starts: Vec<usize> = text
        .match_indices("== ")
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text[..*at].ends_with('\n'))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let bodies = starts.iter().zip(ends).map(|(start, end)| &text[*start..end]);
    bodies
        .map(|body| match body.split_once(RULER) {
            Some((script, verdict)) => Case { script, verdict },
            None => Case { script: body.trim_end(), verdict: "" },
        })
        .collect()
}

/// The file as it should be: every case with the verdict that it gets.
pub fn judge_file(text: &str) -> Result<String, String> {
    let mut out = text[..text.find("== ").unwrap_or(text.len())].to_owned();
    for case in cases(text) {
        let name = case.script.lines().next().unwrap_or_default();
        let verdict = judge(case.script).map_err(|why| format!("{name}: {why}"))?;
        if !out.is_empty() {
            out.truncate(out.trim_end().len());
            out += "\n\n";
        }
        write!(out, "{}{RULER}{verdict}", case.script).expect("a string takes any text");
    }
    Ok(out)
}

fn judge(script: &str) -> Result<String, String> {
    let verdict = verdict_of(script)?;
    let mut out = render(&verdict);
    let wanted = script.lines().find_map(|line| line.strip_prefix("tell"));
    for claim in verdict.claims.iter().filter(|_| wanted.is_some()) {
        claim.findings.iter().for_each(|finding| tell(finding, &mut out));
        if wanted.map(str::trim) == Some(&claim.claim) {
            let (name, verdict) = (&claim.claim, claim.verdict.as_str());
            writeln!(out, "claim {name} is {verdict}").expect("a string takes any text");
        }
    }
    Ok(out)
}

/// All of a finding, in a line.
fn tell(finding: &Finding, out: &mut String) {
    let key = finding.key.as_ref().map_or("no key", |key| key.as_str());
    write!(out, "told {} {key}", finding.anomaly).expect("a string takes any text");
    if let Some(value) = finding.value {
        write!(out, " value {value}").expect("as above");
    }
    if let Some(offset) = finding.offset {
        write!(out, " at {offset}").expect("as above");
    }
    let events: Vec<_> = finding.events.iter().map(u64::to_string).collect();
    write!(out, " by {}, events {}: {}", finding.evidence, events.join(" "), finding.why)
        .expect("as above");
    if let Some(by) = &finding.fulfilled_by {
        write!(out, " [{by}]").expect("as above");
    }
    out.push('\n');
}

/// The verdict on a script, whose first line is its name.
pub fn verdict_of(script: &str) -> Result<Verdict, String> {
    let (evidence, options) = evidence_of(script)?;
    check(&evidence, &options).map_err(|error| error.to_string())
}

/// What a script builds, and how it is to be judged.
pub fn evidence_of(script: &str) -> Result<(Evidence, Options), String> {
    Ok(parse::parse(script)?.finish())
}

fn render(verdict: &Verdict) -> String {
    let mut out = format!("{}\n", verdict.verdict.as_str());
    let findings: Vec<&Finding> = verdict.claims.iter().flat_map(|c| &c.findings).collect();
    for (name, count) in &verdict.anomalies {
        let of = findings.iter().filter(|f| f.anomaly == *name && f.clause.is_none());
        let rules: BTreeSet<u16> = of.map(|finding| finding.rule).collect();
        writeln!(out, "{name} {count} rule {}", join(&rules)).expect("a string takes any text");
    }
    for (name, count) in &verdict.permitted {
        let of = findings.iter().filter(|finding| finding.anomaly == *name);
        let clauses: BTreeSet<&str> = of.filter_map(|f| f.clause.as_deref()).collect();
        writeln!(out, "permitted {name} {count} by {}", join(&clauses)).expect("as above");
    }
    if verdict.anomalies.is_empty() && verdict.exit != 0 {
        writeln!(out, "because {}", verdict.reason).expect("as above");
    }
    out
}

fn join<T: ToString>(items: &BTreeSet<T>) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// The first lines that differ.
pub fn difference(is: &str, should_be: &str) -> String {
    let mut lines = is.lines().zip(should_be.lines()).enumerate();
    match lines.find(|(_, (a, b))| a != b) {
        Some((nth, (a, b))) => format!("line {}: file says {a:?}, verdict is {b:?}", nth + 1),
        None => "one is longer".to_owned(),
    }
}
