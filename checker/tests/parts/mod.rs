//! Judges evidence by parts, as several processes would.

use highwater_checker::{
    Evidence, Options, Verdict, check,
    part::Part,
    shard::{Shard, merge},
    text,
};

/// Numbers of parts to try.
pub const PARTS: [u32; 4] = [1, 2, 3, 7];

/// Judges by so many parts, each written and read again.
pub fn judged_by(of: u32, evidence: &Evidence, options: &Options) -> Verdict {
    let judge = |nth| {
        let part = Part::new(nth, of).expect("there is such a part");
        let shard = Shard::judge(evidence, options, part).expect("it is judged");
        let text = serde_json::to_string(&shard).expect("a part is JSON");
        (format!("part {nth}").into(), serde_json::from_str(&text).expect("as it was written"))
    };
    let shards = (0..of).rev().map(judge).collect();
    merge(shards).unwrap_or_else(|error| panic!("they are merged: {error}"))
}

/// Holds the verdicts by parts to that of one process, byte by byte, and gives that.
pub fn agrees(evidence: &Evidence, options: &Options) -> Result<Verdict, String> {
    let one = check(evidence, options).map_err(|error| error.to_string())?;
    let json = |verdict: &Verdict| serde_json::to_string(verdict).expect("a verdict is JSON");
    for of in PARTS {
        let by_parts = judged_by(of, evidence, options);
        if json(&one) != json(&by_parts) {
            return Err(format!("by {of} parts\n{}\nby one\n{}", json(&by_parts), json(&one)));
        }
        if text::of(&one) != text::of(&by_parts) {
            return Err(format!("by {of} parts\n{}", text::of(&by_parts)));
        }
    }
    Ok(one)
}
