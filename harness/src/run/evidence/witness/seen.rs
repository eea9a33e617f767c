//! What the proxies saw of answers, read only as far as the comparison has come: a long run has
//! more of them than fit into memory.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use highwater_history::FormatError;
use highwater_workloads::{Catalog, outcome};

use crate::proxy::Witnessed;

const PRODUCE: i16 = 0;
const FETCH: i16 = 1;

/// The lines of one proxy's file.
pub(super) type WitnessLines = Box<dyn Iterator<Item = Result<Witnessed, FormatError>>>;

/// An answer, as a client tells of it and as a proxy saw it. `N` is what names are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer<N> {
    /// To a send: who was answered, the key, the code and the base offset.
    Sent(N, N, N, i64),
    /// To a poll: who was answered, the key and the last offset.
    Polled(N, N, i64),
    /// One that could not be read: who got it.
    Unreadable(N),
}

/// Numbers for clients, keys and codes.
#[derive(Debug, Default)]
struct Names(BTreeMap<String, u32>);

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let number = self.0.len() as u32;
        self.0.insert(name.to_owned(), number);
        number
    }

    fn numbered(&mut self, answer: Answer<&str>) -> Answer<u32> {
        match answer {
            Answer::Sent(client, key, code, offset) => {
                Answer::Sent(self.number(client), self.number(key), self.number(code), offset)
            }
            Answer::Polled(client, key, last) => {
                Answer::Polled(self.number(client), self.number(key), last)
            }
            Answer::Unreadable(client) => Answer::Unreadable(self.number(client)),
        }
    }
}

/// One proxy's answers.
struct Proxy {
    lines: WitnessLines,
    /// Answers that were read and that no client told of yet.
    untold: BTreeMap<Answer<u32>, u32>,
}

impl Proxy {
    fn take(&mut self, answer: &Answer<u32>) -> bool {
        let Some(count) = self.untold.get_mut(answer) else { return false };
        *count -= 1;
        if *count == 0 {
            self.untold.remove(answer);
        }
        true
    }
}

/// Every answer that the proxies saw, each to be taken once.
pub(super) struct Seen<'a> {
    catalog: &'a Catalog,
    names: Names,
    proxies: BTreeMap<i32, Proxy>,
}

impl fmt::Debug for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen").field("proxies", &self.proxies.keys()).finish_non_exhaustive()
    }
}

impl<'a> Seen<'a> {
    /// What these proxies, by their nodes, saw of the keys of a run.
    pub(super) fn new(catalog: &'a Catalog, proxies: BTreeMap<i32, WitnessLines>) -> Seen<'a> {
        let proxy = |(node, lines)| (node, Proxy { lines, untold: BTreeMap::new() });
        Seen { catalog, names: Names::default(), proxies: proxies.into_iter().map(proxy).collect() }
    }

    /// Takes an answer out, if the proxy of `node` saw it and it was not taken yet. Both sides are
    /// in the order of time, so what is read ahead is little, but for an answer that is not there.
    ///
    /// # Errors
    /// When the proxy's file cannot be read.
    pub(super) fn take(&mut self, node: i32, answer: Answer<&str>) -> Result<bool, FormatError> {
        let Some(proxy) = self.proxies.get_mut(&node) else { return Ok(false) };
        let wanted = self.names.numbered(answer);
        while !proxy.take(&wanted) {
            let Some(line) = proxy.lines.next() else { return Ok(false) };
            for answer in answers(&line?, self.catalog) {
                *proxy.untold.entry(self.names.numbered(answer)).or_default() += 1;
            }
        }
        Ok(true)
    }

    /// How many answers are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.proxies.values().map(|proxy| proxy.untold.len()).sum()
    }
}

/// The answers in one line that a client may tell of.
fn answers<'l>(line: &'l Witnessed, catalog: &'l Catalog) -> Vec<Answer<&'l str>> {
    let client = &*line.client_id;
    if line.unreadable.is_some() {
        return vec![Answer::Unreadable(client)];
    }
    let each = line.partitions.iter().filter_map(|partition| {
        let by_id = partition.topic.parse().ok();
        let key = by_id
            .and_then(|id| catalog.by_id(id, partition.partition))
            .or_else(|| catalog.by_name(&partition.topic, partition.partition))?;
        let key = catalog.name(key);
        match line.api {
            PRODUCE => {
                let code = outcome::row(partition.code).name;
                // A refusal after the append may bear the offset; a client does not tell it.
                let offset = if partition.code == 0 { partition.offset } else { -1 };
                Some(Answer::Sent(client, key, code, offset))
            }
            FETCH if partition.code == 0 && partition.last_offset >= 0 => {
                Some(Answer::Polled(client, key, partition.last_offset))
            }
            _ => None,
        }
    });
    each.collect()
}

/// The lines of a proxy's file.
///
/// # Errors
/// When it cannot be opened; the lines say themselves what is wrong with them.
pub(super) fn lines_of(path: &Path) -> Result<WitnessLines, FormatError> {
    let path = path.to_owned();
    let file = File::open(&path).map_err(|source| FormatError::io(&path, source))?;
    Ok(Box::new(BufReader::new(file).lines().map(move |line| {
        let line = line.map_err(|source| FormatError::io(&path, source))?;
        serde_json::from_str(&line).map_err(|error| FormatError::document(&path, error.to_string()))
    })))
}
