//! `highwater-check --shard` and `merge` as programs: what they write, print and refuse.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use tempfile::TempDir;

/// Three keys are sent to and read; value 2 of the third is lost.
fn history(first: i64) -> String {
    let mut lines = Vec::new();
    let mut event = |process: u64, kind: &str, f: &str, value: String| {
        let at = lines.len();
        let when = format!(r#""index":{at},"time":{at},"process":{process}"#);
        lines.push(format!(r#"{{{when},"type":"{kind}","f":"{f}","value":[{value}]}}"#));
    };
    for key in 0..3 {
        for nth in 0..3 {
            let value = first + nth;
            event(1, "invoke", "send", format!(r#"["send","t-{key}",{value}]"#));
            event(1, "ok", "send", format!(r#"["send","t-{key}",[{nth},{value}]]"#));
        }
    }
    let all = format!("[0,{}],[1,{}],[2,{}]", first, first + 1, first + 2);
    let some = format!("[0,{}],[2,{}]", first, first + 2);
    event(2, "invoke", "poll", r#"["poll"]"#.to_owned());
    event(2, "ok", "poll", format!(r#"["poll",{{"t-0":[{all}],"t-1":[{all}],"t-2":[{some}]}}]"#));
    lines.join("\n") + "\n"
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(TempDir::new().expect("a temporary folder"));
        place.write("history.jsonl", &history(1));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a temporary file can be written");
    }

    fn check(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_highwater-check"))
            .args(args)
            .current_dir(self.0.path())
            .output()
            .expect("the program can be started")
    }

    fn part(&self, shard: &str, out: &str) -> Output {
        self.check(&["history.jsonl", "--shard", shard, "--out", out])
    }

    /// Parts 0 to 2 of three.
    fn parts(&self) -> [&'static str; 3] {
        let files = ["0.json", "1.json.zst", "2.json.gz"];
        for (nth, file) in files.iter().enumerate() {
            let judged = self.part(&format!("{nth}/3"), file);
            assert_eq!(judged.status.code(), Some(0), "{judged:?}");
        }
        files
    }

    /// The one sentence with which a merge is refused.
    fn refusal(&self, files: &[&str]) -> String {
        let merged = self.check(&[&["merge"], files].concat());
        assert_eq!(merged.status.code(), Some(64), "{merged:?}");
        assert!(merged.stdout.is_empty(), "{merged:?}");
        let said = String::from_utf8(merged.stderr).expect("text");
        assert_eq!(said.lines().count(), 1, "{said}");
        said.trim_end().to_owned()
    }
}

#[test]
fn merged_parts_say_what_one_process_says() {
    let place = Place::new();
    let files = place.parts();
    for json in [&[][..], &["--json"]] {
        let one = place.check(&[&["history.jsonl"], json].concat());
        let merged = place.check(&[&["merge"], &files[..], json].concat());
        assert_eq!(one.status.code(), Some(1), "{one:?}");
        assert_eq!(merged, one);
    }
}

#[test]
fn a_part_says_what_was_judged() {
    let place = Place::new();
    let said = place.part("1/2", "1.json");
    assert_eq!(
        String::from_utf8_lossy(&said.stdout),
        "part 1/2: judged 1 key, written to 1.json\n"
    );
}

#[test]
fn a_whole_part_is_kept_when_a_job_is_resumed() {
    let place = Place::new();
    let resume = |options: &[&str]| {
        let args = ["history.jsonl", "--shard", "0/2", "--out", "0.json", "--resume"];
        let said = place.check(&[&args, options].concat());
        assert_eq!(said.status.code(), Some(0), "{said:?}");
        String::from_utf8(said.stdout).expect("text")
    };
    assert!(resume(&[]).starts_with("part 0/2: judged 2 keys"));
    let text = fs::read_to_string(place.path("0.json")).expect("the part");
    assert_eq!(resume(&[]), "part 0/2 is there already: 0.json\n");
    place.write("0.json", &text[..text.len() / 2]);
    assert!(resume(&[]).starts_with("part 0/2: judged"), "half a part is judged again");
    assert_eq!(fs::read_to_string(place.path("0.json")).expect("the part"), text);
    assert!(resume(&["--promise", "acks=1"]).starts_with("part 0/2: judged"), "other options");
    assert!(resume(&[]).starts_with("part 0/2: judged"), "and back");
    assert_eq!(resume(&[]), "part 0/2 is there already: 0.json\n");
    place.write("history.jsonl", &history(5));
    assert!(resume(&[]).starts_with("part 0/2: judged"), "another history");
}

#[test]
fn a_part_of_a_run_with_other_evidence_is_judged_again() {
    let place = Place::new();
    fs::create_dir(place.path("run")).expect("a folder");
    place.write("run/history.jsonl", &history(1));
    let resume = || {
        let args = ["run", "--shard", "0/2", "--out", "0.json", "--resume"];
        String::from_utf8(place.check(&args).stdout).expect("text")
    };
    resume();
    assert_eq!(resume(), "part 0/2 is there already: 0.json\n");
    place.write("run/outcome.json", r#"{"format":1,"ended":"complete","at":9}"#);
    assert!(resume().starts_with("part 0/2: judged"), "an outcome came");
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let place = Place::new();
    let [zero, one, two] = place.parts();
    let missing =
        "highwater-check: of 3 parts these are missing: 0/3, 2/3; judge them with --shard";
    assert_eq!(place.refusal(&[one]), missing);
    let twice = place.refusal(&[zero, one, two, one]);
    assert!(twice.ends_with("1.json.zst and 1.json.zst are the same part"), "{twice}");
    place.part("1/4", "of-4.json");
    let refused = place.refusal(&[zero, "of-4.json", two]);
    assert!(refused.contains("are parts of another number of parts"), "{refused}");
    let args = ["history.jsonl", "--shard", "1/3", "--out", "acks.json", "--promise", "acks=1"];
    place.check(&args);
    let refused = place.refusal(&[zero, "acks.json", two]);
    assert!(refused.ends_with("0.json and acks.json were judged by other options"), "{refused}");
    place.write("history.jsonl", &history(2));
    place.part("1/3", "other.json");
    let refused = place.refusal(&[zero, "other.json", two]);
    assert!(refused.ends_with("are parts of different histories"), "{refused}");
}

#[test]
fn what_is_no_part_of_this_program_is_refused() {
    let place = Place::new();
    let [zero, one, two] = place.parts();
    let text = fs::read_to_string(place.path(zero)).expect("the part");
    for (from, to, told) in [
        ("\"program\":\"", "\"program\":\"0.0.", "old.json: written by version 0.0."),
        ("\"format\":1", "\"format\":2", "old.json: part format 2 is unknown"),
        ("\"kind\":\"shard\"", "\"kind\":\"verdict\"", "field `kind`: \"verdict\", expected"),
        ("\"crashed\":false,", "", "field `claims[0]`: missing field `crashed`"),
        ("\"claim\":\"corrupt", "\"claim\":\"polite", "other claims than its options"),
        ("\"keys\":[\"t-0\"]", "\"keys\":[]", "field `tally.keys`: another number of keys"),
        ("\"key\":0", "\"key\":7", "field `tally`: a key that this part does not have"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        place.write("old.json", &text.replacen(from, to, 1));
        let refused = place.refusal(&["old.json", one, two]);
        assert!(refused.contains(told), "{refused}");
    }
    let packed = fs::read(place.path(one)).expect("the part");
    fs::write(place.path("cut.zst"), &packed[..packed.len() - 9]).expect("it is written");
    let refused = place.refusal(&[zero, "cut.zst", two]);
    assert!(refused.contains("cut.zst: its packing is damaged"), "{refused}");
    let nowhere = place.part("0/1", "no/such/folder.json");
    assert_eq!(nowhere.status.code(), Some(64), "{nowhere:?}");
}

/// A part that judged less, or something else, is none of this judgement.
#[test]
fn a_part_of_other_claims_or_keys_is_refused() {
    let place = Place::new();
    let [zero, one, two] = place.parts();
    place.part("2/3", "plain.json");
    let text = fs::read_to_string(place.path("plain.json")).expect("the part");
    let mut part: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let whole = part.clone();
    let refused = |part: &serde_json::Value| {
        place.write("2.json", &part.to_string());
        place.refusal(&[zero, one, "2.json"])
    };
    part["claims"] = serde_json::json!([]);
    assert!(refused(&part).contains("other claims than its options and its manifest name"));
    part = whole.clone();
    let claims = part["claims"].as_array_mut().expect("a list");
    let again = claims[0].clone();
    claims.insert(0, again);
    assert!(refused(&part).contains("other claims than its options and its manifest name"));
    part = whole;
    let claims = part["claims"].as_array_mut().expect("a list");
    let lost = claims.iter_mut().find(|claim| claim["claim"] == "lost-write").expect("it is there");
    lost["findings"][0][0] = 1.into();
    assert!(refused(&part).contains("lost-write: a key that this part does not have"));
    let claims = part["claims"].as_array_mut().expect("a list");
    let lost = claims.iter_mut().find(|claim| claim["claim"] == "lost-write").expect("it is there");
    lost["findings"][0][0] = 2.into();
    lost["findings"][0][1]["anomalies"] = serde_json::json!({"zz": 3});
    assert!(refused(&part).contains("lost-write never finds \"zz\""));
    assert!(place.check(&["merge", zero, one, two]).stderr.is_empty());
}

#[test]
fn what_is_no_part_file_is_not_replaced() {
    let place = Place::new();
    let before = fs::read(place.path("history.jsonl")).expect("it is there");
    let args = ["history.jsonl", "--shard", "0/2", "--out", "history.jsonl", "--resume"];
    for args in [&args[..5], &args] {
        let refused = place.check(args);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(64), "{said}");
        assert!(said.contains("what is there is no part file, and would be replaced"), "{said}");
    }
    assert_eq!(fs::read(place.path("history.jsonl")).expect("it is there"), before);
}
