//! What if, as text for a terminal.

use std::fmt::{self, Write};

use highwater_history::Promise;

use super::{Alternative, Lacking, OfAnomaly, WhatIf};

impl WhatIf {
    /// What stands below the text of the verdict.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("a string takes any text");
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let promised = settings(&self.promised).join(", ");
        writeln!(text, "what if less had been promised than {promised}:")?;
        for alternative in &self.whole {
            let Alternative { verdict, reason, .. } = alternative;
            let why = if verdict.exit() == 0 { String::new() } else { format!(" ({reason})") };
            let with = settings(&alternative.promises).join(" and ");
            writeln!(text, "  the whole: {}{why} with {with}", verdict.as_str())?;
        }
        if self.whole.is_empty() {
            let why = match self.anomalies.is_empty() {
                true => "nothing is violated as it is",
                false => "no settings make all of it legal",
            };
            writeln!(text, "  the whole: {why} ({} combinations judged)", self.judged)?;
        }
        self.anomalies.iter().try_for_each(|anomaly| write_anomaly(text, anomaly))?;
        self.write_lacking(text)
    }

    /// What is lacking for one anomaly is mostly lacking for others too.
    fn write_lacking(&self, text: &mut String) -> fmt::Result {
        let mut told: Vec<(&Lacking, Vec<&str>)> = Vec::new();
        for OfAnomaly { anomaly, lacking, .. } in &self.anomalies {
            for setting in lacking {
                match told.iter_mut().find(|(known, _)| *known == setting) {
                    Some((_, anomalies)) => anomalies.push(anomaly),
                    None => told.push((setting, vec![anomaly])),
                }
            }
        }
        told.into_iter().try_for_each(|(Lacking { promises, clause, event }, anomalies)| {
            let name = settings(promises).join(" and ");
            let anomalies = anomalies.join(", ");
            writeln!(text, "  {name} alone permits none of {anomalies}: {clause} asks for {event}")
        })
    }
}

fn write_anomaly(text: &mut String, of: &OfAnomaly) -> fmt::Result {
    let OfAnomaly { anomaly, count, alternatives, lacking: _ } = of;
    for alternative in alternatives {
        let clauses: Vec<&str> = alternative.clauses.iter().map(String::as_str).collect();
        let with = settings(&alternative.promises).join(" and ");
        writeln!(text, "  {anomaly} {count}: legal with {with} ({})", clauses.join(", "))?;
    }
    match alternatives.is_empty() {
        true => writeln!(text, "  {anomaly} {count}: no settings excuse it"),
        false => Ok(()),
    }
}

/// Settings as `--promise` takes them.
fn settings(promise: &Promise) -> Vec<String> {
    let promise = serde_json::to_value(promise).expect("a promise is plain JSON");
    let settings = promise.as_object().into_iter().flatten();
    let settings = settings.map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name}={text}"),
        None => format!("{name}={value}"),
    });
    settings.collect()
}
