//! Part files: a judged part of a history, written by one process and merged by another.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use highwater_history::{
    FormatError, Manifest, Outcome, Verdict,
    format::{Document, write_packed},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    claim::{self, Judge},
    cli::VERSION,
    evidence::{Evidence, History},
    finding::Findings,
    fold::{ClaimOfPart, JudgedPart, Tally},
    index::KeyId,
    judge::{CheckError, Options, chosen_claims, judge_part},
    merge,
    part::Part,
};

/// What a part file holds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Shard {
    format: u64,
    kind: String,
    /// The version of the program that judged: parts of different ones are not merged.
    program: String,
    options: Options,
    /// The history's file as it was; none of a stream.
    source: Option<Source>,
    evidence: Beside,
    tally: Tally,
    claims: Vec<ClaimFile>,
}

/// What a file looks like without reading it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Source {
    bytes: u64,
    /// Since 1970.
    modified_ns: u64,
}

/// The evidence of a run that concerns no key, and how much there was of the rest.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Beside {
    manifest: Option<Manifest>,
    outcome: Option<Outcome>,
    incomplete: Vec<String>,
    samples: usize,
    dumps: usize,
    metadata: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct ClaimFile {
    claim: String,
    crashed: bool,
    findings: Vec<(Option<KeyId>, Findings)>,
    /// None where the claim gathers none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<Box<RawValue>>,
}

impl Document for Shard {
    const WHAT: &'static str = "part";
    const FORMAT: u64 = 1;
}

/// Why parts are not those of one history.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A file is no part file.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Parts are not there.
    #[error("of {of} parts these are missing: {missing}; judge them with --shard")]
    Missing {
        /// Of how many.
        of: u32,
        /// Which.
        missing: String,
    },
    /// Two files do not belong together.
    #[error("{} and {} {how}", one.display(), other.display())]
    Apart {
        /// A file.
        one: PathBuf,
        /// Another.
        other: PathBuf,
        /// What keeps them apart.
        how: &'static str,
    },
    /// A part of another program.
    #[error(
        "{}: written by version {found} of this program, which is {VERSION}; judge the part again",
        file.display()
    )]
    Program {
        /// The file.
        file: PathBuf,
        /// The version that wrote it.
        found: String,
    },
}

const KIND: &str = "shard";

impl Shard {
    /// Judges the keys of a part.
    pub fn judge(evidence: &Evidence, options: &Options, part: Part) -> Result<Self, CheckError> {
        let source = Source::of(evidence);
        let JudgedPart { tally, claims } = judge_part(evidence, options, part)?;
        Ok(Self {
            format: Self::FORMAT,
            kind: KIND.to_owned(),
            program: VERSION.to_owned(),
            options: options.clone(),
            source,
            evidence: Beside::of(evidence),
            tally,
            claims: claims.into_iter().map(ClaimFile::of).collect(),
        })
    }

    /// Reads a part file.
    pub fn load(file: &Path) -> Result<Self, FormatError> {
        let shard = Self::read(file)?;
        if shard.kind == KIND {
            return Ok(shard);
        }
        let why = format!("field `kind`: {:?}, expected {KIND:?}", shard.kind);
        Err(FormatError::document(file, why))
    }

    /// Writes a part file, packed by its name, as a whole or not at all.
    pub fn save(&self, file: &Path) -> Result<(), FormatError> {
        write_packed(self, file)
    }

    /// Which part it is.
    pub fn part(&self) -> Part {
        self.tally.part
    }

    /// How many keys it judged.
    pub fn keys(&self) -> usize {
        self.tally.keys.len()
    }

    /// Whether it says only what the judgement of one part of so many keys can say.
    fn fits(&self, keys: usize) -> Result<(), String> {
        let Self { tally, claims, .. } = self;
        let wrong = |field: &str, why: &str| Err(format!("field `{field}`: {why}"));
        let owns = |key: KeyId| (key as usize) < keys && tally.part.owns(key);
        let own = KeyId::try_from(keys).ok().map(|keys| (0..keys).filter(|key| owns(*key)).count());
        if own != Some(tally.keys.len()) {
            return wrong("tally.keys", "another number of keys than this part of all keys has");
        }
        if !tally.measured.keys().all(owns) || !tally.missing.iter().all(|(key, _)| owns(*key)) {
            return wrong("tally", "a key that this part does not have");
        }
        let of_claims = claims.iter().map(|claim| &claim.claim);
        let evidence = Evidence { manifest: self.evidence.manifest.clone(), ..Evidence::default() };
        let chosen = chosen_claims(&evidence, &self.options).map_err(|error| error.to_string())?;
        if !of_claims.eq(&chosen) {
            return wrong("claims", "other claims than its options and its manifest name");
        }
        for ClaimFile { claim, findings, .. } in claims {
            let known = claim::entry(claim).map_or(&[][..], |entry| entry.anomalies);
            for (key, found) in findings {
                if !key.is_none_or(owns) {
                    return wrong(
                        "claims",
                        &format!("{claim}: a key that this part does not have"),
                    );
                }
                let mut counted = found.anomalies.keys().chain(found.permitted.keys());
                if let Some(other) = counted.find(|name| !known.contains(&name.as_str())) {
                    return wrong("claims", &format!("{claim} never finds {other:?}"));
                }
            }
        }
        Ok(())
    }

    /// Whether this program would judge the part to be this again, as far as that can be told
    /// without reading the history: its file has the size and the time that it had.
    pub fn is_of(&self, evidence: &Evidence, options: &Options, part: Part) -> bool {
        let same = (VERSION, options, part, &Beside::of(evidence))
            == (&self.program, &self.options, self.tally.part, &self.evidence);
        same && self.source.is_some() && self.source == Source::of(evidence)
    }
}

impl Source {
    fn of(evidence: &Evidence) -> Option<Self> {
        let History::File(file) = &evidence.history else { return None };
        let meta = file.path.metadata().ok().filter(|_| !file.is_stream)?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { bytes: meta.len(), modified_ns: since.as_nanos() as u64 })
    }
}

impl Beside {
    fn of(evidence: &Evidence) -> Self {
        Self {
            manifest: evidence.manifest.clone(),
            outcome: evidence.outcome.clone(),
            incomplete: evidence.incomplete.clone(),
            samples: evidence.samples.len(),
            dumps: evidence.dumps.len(),
            metadata: evidence.metadata.len(),
        }
    }
}

impl ClaimFile {
    fn of(claim: ClaimOfPart) -> Self {
        let ClaimOfPart { name, crashed, findings, facts } = claim;
        let facts = facts.map(|facts| facts.to_json().expect("facts are plain JSON"));
        Self { claim: name, crashed, findings, facts }
    }

    fn into_claim(self) -> Result<ClaimOfPart, String> {
        let Self { claim, crashed, findings, facts } = self;
        let entry = claim::entry(&claim).expect("its claims are those that its options name");
        let facts = match (entry.judge, facts) {
            (Judge::Across(across), Some(facts)) => Some(
                (across.read)(facts.get()).map_err(|error| format!("facts of {claim}: {error}"))?,
            ),
            _ => None,
        };
        Ok(ClaimOfPart { name: claim, crashed, findings, facts })
    }
}

/// The verdict of all part files of a history, in any order.
pub fn merge_files(files: &[PathBuf]) -> Result<Verdict, MergeError> {
    let load = |file: &PathBuf| Shard::load(file).map(|shard| (file.clone(), shard));
    merge(files.iter().map(load).collect::<Result<_, _>>()?)
}

/// The verdict of all parts of a history, in any order, with the files in which they stand.
pub fn merge(mut shards: Vec<(PathBuf, Shard)>) -> Result<Verdict, MergeError> {
    shards.sort_by_key(|(_, shard)| shard.tally.part);
    check(&shards)?;
    let keys = shards.iter().map(|(_, shard)| shard.keys()).sum();
    for (file, shard) in &shards {
        shard.fits(keys).map_err(|why| FormatError::document(file, why))?;
    }
    let mut parts = Vec::new();
    let mut first = None;
    for (file, shard) in shards {
        let claims = shard.claims.into_iter().map(ClaimFile::into_claim);
        let claims = claims.collect::<Result<_, _>>();
        let claims = claims.map_err(|why| FormatError::document(&file, why))?;
        parts.push(JudgedPart { tally: shard.tally, claims });
        first.get_or_insert((shard.evidence, shard.options));
    }
    let (beside, options) = first.expect("no part of all parts is missing");
    let Beside { manifest, outcome, incomplete, .. } = beside;
    let evidence = Evidence { manifest, outcome, incomplete, ..Evidence::default() };
    Ok(merge::verdict(&evidence, &options, parts))
}

/// Whether these are all parts of one judgement.
fn check(shards: &[(PathBuf, Shard)]) -> Result<(), MergeError> {
    for (file, shard) in shards {
        if shard.program != VERSION {
            return Err(MergeError::Program { file: file.clone(), found: shard.program.clone() });
        }
    }
    for pair in shards.windows(2) {
        let [(one, a), (other, b)] = pair else { continue };
        if let Some(how) = apart(a, b) {
            return Err(MergeError::Apart { one: one.clone(), other: other.clone(), how });
        }
    }
    let of = shards.first().map_or(1, |(_, shard)| shard.tally.part.of());
    // They are parts of as many, and each is another.
    let more = u64::from(of) - shards.len() as u64;
    if more == 0 {
        return Ok(());
    }
    let there: BTreeSet<u32> = shards.iter().map(|(_, shard)| shard.part().nth()).collect();
    let missing = (0..of).filter(|nth| !there.contains(nth)).take(MISSING_NAMED);
    let mut missing: Vec<String> = missing.map(|nth| format!("{nth}/{of}")).collect();
    if more > missing.len() as u64 {
        missing.push(format!("{} more", more - missing.len() as u64));
    }
    Err(MergeError::Missing { of, missing: missing.join(", ") })
}

/// How many missing parts a message names.
const MISSING_NAMED: usize = 100;

/// What keeps two parts apart.
fn apart(one: &Shard, other: &Shard) -> Option<&'static str> {
    let (a, b) = (&one.tally, &other.tally);
    if a.part.of() != b.part.of() {
        Some("are parts of another number of parts")
    } else if a.part == b.part {
        Some("are the same part")
    } else if a.digest != b.digest {
        Some("are parts of different histories")
    } else if one.evidence != other.evidence {
        Some("are parts of runs with different evidence")
    } else if one.options != other.options {
        Some("were judged by other options")
    } else {
        None
    }
}
