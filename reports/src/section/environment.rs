//! The environment: what the manifest says was run, on what, with which settings.

use highwater_history::{
    Manifest,
    manifest::{Node, Topic},
};
use maud::{Markup, html};

use super::Entry;
use crate::{
    Run,
    parts::{facts, folded, json_text, table},
    text::{bytes, duration},
};

/// The section.
pub const ENTRY: Entry = Entry { order: 100, title: "Environment", render };

/// The most topics that are listed.
const TOPICS: usize = 50;
/// The longest JSON text that is shown.
const JSON_BYTES: usize = 64 << 10;
const NS_PER_MS: u64 = 1_000_000;

fn render(run: &Run) -> Option<Markup> {
    let manifest = run.manifest.as_ref()?;
    let promises = serde_json::to_value(&manifest.promises).unwrap_or_default();
    Some(html! {
        h2 { "Environment" }
        (facts(&[
            ("Run", Some(manifest.run.clone())),
            ("Command", Some(manifest.command.join(" "))),
            ("Seed", Some(manifest.seed.to_string())),
            ("Commit", Some(manifest.commit.clone())),
            ("Target", Some(format!("{} {}", manifest.target.name, manifest.target.version))),
            ("Mutants", some_list(&manifest.target.mutants)),
            ("Timing", Some(timing_text(manifest))),
            ("Workload", Some(manifest.workload.name.clone())),
            ("Payload", manifest.workload.value_bytes.map(bytes)),
            ("Claims", some_list(&manifest.claims)),
            ("Machine", Some(machine_text(manifest))),
        ]))
        (topics(&manifest.target.topics))
        (folded("Promises", &clipped(&json_text(&promises))))
        (folded("Workload options", &clipped(&json_text(&manifest.workload.options))))
        @if !manifest.schedule.is_null() {
            (folded("Planned schedule", &clipped(&json_text(&manifest.schedule))))
        }
        @for node in &manifest.target.nodes {
            (folded(&node_title(node), &clipped(&properties(node))))
        }
    })
}

fn timing_text(manifest: &Manifest) -> String {
    let timing = &manifest.timing;
    let [session, heartbeat, lag] = [timing.session_ms, timing.heartbeat_ms, timing.lag_limit_ms]
        .map(|ms| duration(ms * NS_PER_MS));
    format!("{}: session {session}, heartbeat {heartbeat}, lag limit {lag}", timing.profile)
}

fn machine_text(manifest: &Manifest) -> String {
    let machine = &manifest.machine;
    format!("{}, {} processors, {}", machine.system, machine.cpus, bytes(machine.memory_bytes))
}

fn some_list(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| names.join(", "))
}

fn topics(topics: &[Topic]) -> Markup {
    if topics.is_empty() {
        return html! {};
    }
    let heads = [("", "Topic"), ("num", "Partitions"), ("", "Assignment"), ("", "Settings")];
    let rows = html! {
        @for topic in topics.iter().take(TOPICS) {
            tr {
                th scope="row" { (topic.name) }
                td class="num" { (topic.assignment.len()) }
                td { (assignment_text(topic)) }
                td class="mono" { (settings_text(topic)) }
            }
        }
    };
    table("wide", "Topics as created; replicas in assignment order", &heads, &rows)
}

fn assignment_text(topic: &Topic) -> String {
    const LISTED: usize = 24;
    let replicas = |nodes: &Vec<i32>| {
        format!("[{}]", nodes.iter().map(i32::to_string).collect::<Vec<_>>().join(" "))
    };
    let mut text = topic.assignment.iter().take(LISTED).map(replicas).collect::<Vec<_>>().join(" ");
    if topic.assignment.len() > LISTED {
        text += " …";
    }
    text
}

fn settings_text(topic: &Topic) -> String {
    topic
        .configs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn node_title(node: &Node) -> String {
    format!("Node {} ({}): properties", node.id, node.roles.join(", "))
}

fn properties(node: &Node) -> String {
    node.properties.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}

/// Text that is not longer than the page can bear.
fn clipped(text: &str) -> String {
    match text.len() > JSON_BYTES {
        true => format!(
            "{}\n… the rest is in manifest.json",
            &text[..text.floor_char_boundary(JSON_BYTES)]
        ),
        false => text.to_owned(),
    }
}
