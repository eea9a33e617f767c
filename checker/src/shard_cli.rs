//! The options of `highwater-check` that judge a history by parts, and merge the parts.

use std::path::{Path, PathBuf};

use clap::Args;
use highwater_history::Verdict;

use crate::{
    cli::{CheckArgs, shown},
    part::Part,
    shard::{Shard, merge_files},
};

/// Which part to judge, and where to.
#[derive(Args, Clone, Debug)]
pub struct ShardArgs {
    /// Judge only the keys of this part of so many, as in 0/8, and write what it found to a part
    /// file; the command merge makes the verdict of all parts.
    #[arg(long, value_name = "I/N", requires = "out")]
    #[arg(conflicts_with_all = ["json", "explain", "what_if", "follow"])]
    shard: Option<Part>,
    /// The part file; packed when its name ends in .zst or .gz.
    #[arg(long, value_name = "PART", requires = "shard")]
    out: Option<PathBuf>,
    /// Do nothing where the part file is there already: whole, by these options and this version,
    /// of a history whose file has not changed.
    #[arg(long, requires = "shard")]
    resume: bool,
}

/// The parts to merge.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// Every part file of one history, in any order.
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,
    /// Print exactly the verdict, as JSON.
    #[arg(long)]
    json: bool,
}

impl ShardArgs {
    /// Judges the part that was asked for, if one was, and says what came of it. Errors are the
    /// user's: bad option or bad file.
    pub fn run(&self, args: &CheckArgs) -> Option<anyhow::Result<String>> {
        let (part, out) = (self.shard?, self.out.as_ref()?);
        Some(self.judge(args, part, out))
    }

    fn judge(&self, args: &CheckArgs, part: Part, out: &Path) -> anyhow::Result<String> {
        let options = args.options()?;
        let evidence = args.evidence()?;
        let is_whole = |shard: Shard| shard.is_of(&evidence, &options, part);
        if self.resume && Shard::load(out).is_ok_and(is_whole) {
            return Ok(format!("part {part} is there already: {}\n", out.display()));
        }
        // A job that was killed may have left half a part, which its next attempt replaces.
        let is_part = || self.resume || Shard::load(out).is_ok();
        if out.is_file() && (evidence.history.is_in(out) || !is_part()) {
            let name = out.display();
            anyhow::bail!("--out {name}: what is there is no part file, and would be replaced");
        }
        let shard = Shard::judge(&evidence, &options, part)?;
        shard.save(out)?;
        let keys = shard.keys();
        let what = if keys == 1 { "key" } else { "keys" };
        Ok(format!("part {part}: judged {keys} {what}, written to {}\n", out.display()))
    }
}

impl MergeArgs {
    /// The verdict, and how it is told. Errors are the user's: parts that are not those of one
    /// history.
    pub fn run(&self) -> anyhow::Result<(Verdict, String)> {
        let verdict = merge_files(&self.parts)?;
        let shown = shown(&verdict, self.json)?;
        Ok((verdict, shown))
    }
}
