//! A verdict as a short text for a terminal.

use std::{borrow::Cow, fmt::Write};

use highwater_history::{
    Verdict,
    outcome::Assertion,
    verdict::{AnomalyCounts, Finding},
};

/// Findings shown.
const SHOWN: usize = 5;

/// The verdict, its reason, counts, and the first findings.
pub fn of(verdict: &Verdict) -> String {
    let mut text = String::new();
    write_text(&mut text, verdict).expect("a string takes any text");
    text
}

/// A text in one line without what moves a cursor or sets a colour: names come from histories.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(escaped).collect())
}

fn write_text(text: &mut String, verdict: &Verdict) -> std::fmt::Result {
    writeln!(text, "{}: {}", verdict.verdict.as_str(), plain(&verdict.reason))?;
    let counts = &verdict.counts;
    writeln!(
        text,
        "  {} operations ({} ok, {} fail, {} info); {} records sent, {} acknowledged, {} read",
        counts.ops,
        counts.ok,
        counts.fail,
        counts.info,
        counts.sent,
        counts.acknowledged,
        counts.read
    )?;
    write_counts(text, "violations", &verdict.anomalies)?;
    write_counts(text, "permitted", &verdict.permitted)?;
    let violations = || verdict.numbered().filter(|(.., finding)| finding.clause.is_none());
    for (number, _, finding) in violations().take(SHOWN) {
        write_finding(text, number, finding)?;
    }
    write_numbers(text, violations().count(), verdict.numbered().count())?;
    for assertion in verdict.assertions.iter().filter(|one| one.held != Some(true)) {
        write_assertion(text, assertion)?;
    }
    for note in &verdict.notes {
        writeln!(text, "  note: {}", plain(note))?;
    }
    if let Some(command) = verdict.reproduce.as_ref().filter(|_| verdict.exit != 0) {
        writeln!(text, "  repeat: {command}")?;
    }
    Ok(())
}

fn write_counts(text: &mut String, title: &str, counts: &AnomalyCounts) -> std::fmt::Result {
    if counts.is_empty() {
        return Ok(());
    }
    let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    writeln!(text, "  {title}: {}", counts.join(", "))
}

/// Which numbers `--explain` takes.
fn write_numbers(text: &mut String, violations: usize, all: usize) -> std::fmt::Result {
    match (violations, all - violations) {
        (_, 0) if violations <= SHOWN => Ok(()),
        (_, 0) => writeln!(text, "  listed with --json and told by --explain: 1 to {all}"),
        (0, _) => writeln!(text, "  permitted ones told by --explain: 1 to {all}"),
        (last, _) => writeln!(
            text,
            "  told by --explain: violations 1 to {last}, permitted ones {} to {all}",
            last + 1
        ),
    }
}

fn write_assertion(text: &mut String, assertion: &Assertion) -> std::fmt::Result {
    let Assertion { claim, held, reason, .. } = assertion;
    let word = if held.is_some() { "did not hold" } else { "could not be decided" };
    let reason = reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
    writeln!(text, "  schedule: {word}: {}{}", plain(claim), plain(&reason))
}

fn write_finding(text: &mut String, number: usize, finding: &Finding) -> std::fmt::Result {
    write!(text, "  {number}. ")?;
    write_name(text, finding)?;
    writeln!(text, ": {}; events {:?}", plain(&finding.why), finding.events)
}

/// What was found where.
pub(crate) fn write_name(text: &mut String, finding: &Finding) -> std::fmt::Result {
    write!(text, "{} (rule {})", finding.anomaly, finding.rule)?;
    if let Some(key) = &finding.key {
        write!(text, " {}", plain(key.as_str()))?;
    }
    if let Some(value) = finding.value {
        write!(text, " value {value}")?;
    }
    if let Some(offset) = finding.offset {
        write!(text, " at {offset}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_a_history_names_moves_no_cursor() {
        assert_eq!(plain("orders-0 é"), "orders-0 é");
        let forged = plain("\u{1b}[31mred\u{7}\n1. a finding\0");
        assert_eq!(forged, "\\u{1b}[31mred\\u{7}\\n1. a finding\\u{0}");
    }
}
