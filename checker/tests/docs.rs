//! Pages that are made from the source, or name what the tests cover, stay true.

use std::{collections::BTreeSet, fmt::Write, fs, path::PathBuf};

use highwater_checker::{
    claim::{Need, TABLE},
    shard::Shard,
};

fn path(relative: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(relative)
}

fn read(relative: &str) -> String {
    fs::read_to_string(path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
}

const START: &str =
    "<!-- claims: written by `UPDATE=1 cargo test -p highwater-checker --test docs` -->\n";
const END: &str = "<!-- end of claims -->";

fn claims_table() -> String {
    let mut table = String::from(
        "| claim | what it claims | rules | evidence | anomalies | needs beside the history |\n\
         |---|---|---|---|---|---|\n",
    );
    for (name, title, entry) in TABLE {
        let clauses = entry.clauses.iter().map(|clause| (*clause).to_owned());
        let rules: Vec<_> = entry.rules.iter().map(u16::to_string).chain(clauses).collect();
        let needs: Vec<_> = entry
            .needs
            .iter()
            .map(|need| match need {
                Need::Dumps => "dumps",
                Need::Elections => "elections",
                Need::Samples => "samples",
                Need::Outcome => "outcome",
            })
            .collect();
        writeln!(
            table,
            "| {name} | {title} | {} | {} | {} | {} |",
            rules.join(", "),
            entry.evidence.join(", "),
            entry.anomalies.join(", "),
            needs.join(", "),
        )
        .expect("a string takes any text");
    }
    table
}

#[test]
fn guarantees_lists_every_claim_as_its_file_says() {
    let page = read("docs/guarantees.md");
    let (before, rest) = page.split_once(START).expect("the page has the table's start");
    let (_, after) = rest.split_once(END).expect("the page has the table's end");
    let should_be = format!("{before}{START}\n{}\n{END}{after}", claims_table());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path("docs/guarantees.md"), &should_be).expect("the page can be written");
    } else {
        assert!(page == should_be, "docs/guarantees.md differs from the claims: UPDATE=1 rewrites");
    }
}

/// Words like J7 or R29.
fn cases_in(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| {
            word.strip_prefix(['J', 'R'])
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
        .map(str::to_owned)
        .collect()
}

/// The first cell of every row of a table.
fn first_cells(table: &str) -> String {
    let rows = table.lines().filter_map(|line| line.strip_prefix("| "));
    rows.filter_map(|row| row.split(" |").next()).collect::<Vec<_>>().join(" ")
}

#[test]
fn cases_names_what_is_covered_and_what_waits() {
    let page = read("docs/cases.md");
    let (covered, waiting) = page.split_once("## Waiting").expect("the page has two tables");
    let covered = cases_in(&first_cells(covered));
    let waiting = cases_in(&first_cells(waiting));
    let names = |file: &str| {
        let text = read(file);
        let titles: Vec<_> =
            text.lines().filter(|line| line.starts_with("== ")).map(str::to_owned).collect();
        titles.join(" ")
    };
    let mut tested = cases_in(&names("checker/testdata/jepsen.txt"));
    tested.extend(cases_in(&names("checker/testdata/field.txt")));
    let unit_tests = read("checker/src/index/tests.rs");
    tested.extend(
        ["J1", "J2"]
            .into_iter()
            .filter(|j| unit_tests.contains(&format!("/// {j}: ")))
            .map(str::to_owned),
    );
    assert_eq!(covered, tested);
    assert!(covered.is_disjoint(&waiting), "a case is covered or waits");
}

/// What stands between each pair of marks.
fn between(text: &str, mark: char) -> Vec<&str> {
    text.split(mark).skip(1).step_by(2).collect()
}

/// Whoever writes a history has to name these faults as the judgement does.
#[test]
fn formats_names_the_faults_that_cost_data() {
    let page = read("docs/formats.md");
    let (_, told) = page.split_once("Faults that may cost a node").expect("the page tells");
    let (told, _) = told.split_once('.').expect("a sentence");
    let source = read("checker/src/data_loss.rs");
    let (_, judged) = source.split_once("const DATA_LOSS").expect("the source has the list");
    let (judged, _) =
        judged.split_once(';').and_then(|(_, list)| list.split_once(';')).expect("a list");
    assert_eq!(between(told, '`'), between(judged, '"'));
}

#[test]
fn formats_shows_a_part_file() {
    let page = read("docs/formats.md");
    let (_, example) = page.split_once("```json part\n").expect("the page shows one");
    let (example, _) = example.split_once("```").expect("the example ends");
    let shard: Shard = serde_json::from_str(example).expect("it is a part");
    let written = serde_json::to_value(&shard).expect("a part is JSON");
    let shown: serde_json::Value = serde_json::from_str(example).expect("JSON");
    assert_eq!(written, shown);
}

#[test]
fn every_claim_names_rules_of_the_contract_and_evidence() {
    for (name, title, entry) in TABLE {
        assert!(title.ends_with('.'), "{name}: {title:?} is a sentence");
        assert!(entry.rules.is_sorted() && entry.rules.iter().all(|rule| (1..=87).contains(rule)));
        assert!(
            !entry.rules.is_empty() && !entry.evidence.is_empty() && !entry.anomalies.is_empty()
        );
        assert!(entry.clauses.iter().all(|clause| clause.starts_with("c.")), "{name}");
        for evidence in entry.evidence {
            let number: u8 = evidence.strip_prefix('D').expect("D").parse().expect("a number");
            assert!((1..=19).contains(&number), "{name}: {evidence}");
        }
    }
}
