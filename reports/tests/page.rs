//! The page: well-formed, self-contained, escaped, bounded, and saying what it should.

#![allow(clippy::unwrap_used, reason = "what a test cannot do fails it")]

mod fixture;
mod markup;

use std::fs;

use fixture::{
    Folder,
    chaos::{self, Lcg},
    parts::finding,
    place, plain,
};
use highwater_history::{RunFolder, event::Acks};
use highwater_reports::ReportError;

const MIB: usize = 1 << 20;

fn page(name: &str, folder: &Folder) -> String {
    let folder = folder.write(&place(name));
    highwater_reports::render(&folder).unwrap();
    fs::read_to_string(folder.report_path()).unwrap()
}

/// The page of every kind of run, by name.
fn pages(of: &str) -> Vec<(&'static str, String)> {
    let folders = [
        ("valid", plain::valid()),
        ("unknown", plain::unknown()),
        ("vacuous", plain::vacuous()),
        ("not-as-asserted", plain::not_as_asserted()),
        ("hostile", plain::hostile()),
        ("invalid", chaos::invalid(20)),
    ];
    folders.map(|(name, folder)| (name, page(&format!("{of}-{name}"), &folder))).into()
}

#[test]
fn what_the_schedule_asserts_is_told_with_what_was_seen() {
    let html = page("asserted", &plain::not_as_asserted());
    for text in ["it comes back", "did not hold", "the harness itself was late then"] {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn every_page_is_well_formed_and_its_links_lead_somewhere() {
    for (name, html) in pages("formed") {
        markup::check_nesting(&html).unwrap_or_else(|why| panic!("{name}: {why}"));
        let ids = markup::attributes(&html, "id");
        for (i, id) in ids.iter().enumerate() {
            assert!(!ids[..i].contains(id), "{name}: the id {id} stands twice");
        }
        for link in markup::attributes(&html, "href") {
            let id = link.strip_prefix('#').unwrap_or_else(|| panic!("{name}: {link} leads away"));
            assert!(ids.contains(&id), "{name}: nothing at {link}");
        }
    }
}

/// A killed harness leaves files cut; what is whole is shown.
#[test]
fn files_that_nobody_completed_do_not_stop_a_report() {
    let folder = chaos::invalid(20).write(&place("cut"));
    let dumps = folder.dumps_path();
    let some = fs::read_dir(&dumps).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&some).unwrap();
    fs::create_dir(dumps.join("more")).unwrap();
    fs::write(dumps.join("more").join("cut.jsonl.zst"), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(dumps.join("empty.jsonl.zst"), "").unwrap();
    fs::write(folder.samples_path(), "").unwrap();
    fs::write(folder.metadata_path(), "").unwrap();
    highwater_reports::render(&folder).unwrap();
    assert!(folder.report_path().exists());
}

#[test]
fn no_page_asks_for_another_file() {
    for (name, html) in pages("self-contained") {
        assert_eq!(markup::attributes(&html, "src"), [""; 0], "{name}");
        for loads in ["url(", "@import", "<link", "fetch(", "import("] {
            assert!(!html.contains(loads), "{name} holds {loads}");
        }
    }
}

#[test]
fn texts_of_others_stay_text() {
    let html = page("escaped", &plain::hostile());
    assert_eq!(html.matches("<script").count(), 1, "only our own script");
    assert!(!html.contains("<img"));
    assert!(html.contains("&lt;script&gt;alert("));
}

#[test]
fn pages_read_as_they_should() {
    for (name, html) in pages("golden") {
        markup::check_golden(name, &markup::text(&html));
    }
}

#[test]
fn the_verdict_comes_before_everything_else() {
    let text = markup::text(&page("first", &chaos::invalid(20)));
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is missing"));
    let order =
        ["seed 17", "invalid", "2 acknowledged", "highwater run", "operations", "c.2 acks=1"];
    assert!(order.map(at).is_sorted());
    assert!(at("c.2 acks=1") < at("value 478 at offset 478"));
}

#[test]
fn an_unjudged_folder_is_refused_with_what_to_do() {
    let folder = Folder { verdict: None, ..plain::valid() }.write(&place("unjudged"));
    let error = highwater_reports::render(&folder).unwrap_err();
    assert!(matches!(error, ReportError::NotJudged(_)));
    assert!(error.to_string().contains("highwater check"), "{error}");
    assert!(!folder.report_path().exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = plain::valid().write(&place("unwritable"));
    fs::create_dir(folder.report_path()).unwrap();
    let error = highwater_reports::render(&folder).unwrap_err();
    assert!(error.to_string().contains("report.html"), "{error}");
}

/// A run whose every list is long.
fn huge(per_second: u64) -> Folder {
    let mut folder = chaos::invalid(per_second);
    let verdict = folder.verdict.as_mut().unwrap();
    let mut random = Lcg(5);
    for claim in &mut verdict.claims {
        let found = (0..500).map(|n| {
            let at = random.below(folder.events.len() as u64);
            finding("lost-write", "t-all-0", n, n, &[at])
        });
        claim.findings.extend(found);
    }
    verdict.faults = (0..600).map(|n| verdict.faults[n % 8].clone()).collect();
    let partitions = &mut folder.outcome.as_mut().unwrap().partitions;
    let one = partitions.values().next().unwrap().clone();
    partitions.extend((0..1_000).map(|n| (format!("p-{n}").as_str().into(), one.clone())));
    folder
}

#[test]
fn a_page_does_not_grow_with_the_run() {
    let small = page("huge-small", &huge(20));
    let large = page("huge-large", &huge(400));
    assert!(large.len() < 3 * MIB, "{} bytes", large.len());
    let grown = large.len() as f64 / small.len() as f64;
    assert!(grown < 1.1, "twenty times the operations gave {grown} times the page");
}

#[test]
fn a_history_alone_has_a_page_too() {
    let mut folder = chaos::invalid(20);
    folder.manifest = None;
    folder.outcome = None;
    folder.metadata = Vec::new();
    folder.dumps = Vec::new();
    let text = markup::text(&page("bare", &folder));
    assert!(text.contains("a history without a manifest"));
    assert!(text.contains("Nothing was recorded of who led which partition."));
    assert!(text.contains(&format!("acks={}", Acks::All.as_str())));
}

#[test]
fn a_damaged_file_is_named() {
    let folder: RunFolder = plain::valid().write(&place("damaged"));
    fs::write(folder.history_path(), "{\"index\":0}\n{}\n").unwrap();
    let error = highwater_reports::render(&folder).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("history.jsonl") && text.contains("line 1"), "{text}");
}
