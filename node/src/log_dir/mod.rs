//! The log directory before the node uses it: whose it is, formatting, one process at a time.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use highwater_broker::config::NodeConfig;
use highwater_broker::log::file::meta_properties::{self, MetaProperties};
use nix::fcntl::{Flock, FlockArg};

use crate::failure::Failure;

/// The version of what this node keeps in a log directory.
const FORMAT: u32 = 1;
/// Present in a directory that was made for a node with mutants; names them.
const MUTANTS_FILE: &str = "highwater.mutants";
/// As in Kafka: held for as long as the process lives.
const LOCK_FILE: &str = ".lock";

/// A log directory that this process alone uses.
#[derive(Debug)]
pub struct LogDir {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub meta: MetaProperties,
    _lock: Flock<File>,
}

/// Opens the node's log directory; formats it first when it is empty and the cluster's id is known.
pub fn open(config: &NodeConfig, mutants: &[String]) -> Result<LogDir, Failure> {
    let path = create(config)?;
    let lock = lock(&path)?;
    let meta = match read_meta(&path)? {
        Some(meta) => {
            check(config, &path, &meta)?;
            check_mutants(&path, mutants)?;
            meta
        }
        None => format(config, mutants, &path)?,
    };
    Ok(LogDir { path, meta, _lock: lock })
}

/// Formats an empty log directory; one that is formatted already is an error.
pub fn format_new(config: &NodeConfig, mutants: &[String]) -> Result<MetaProperties, Failure> {
    let path = create(config)?;
    let _lock = lock(&path)?;
    match read_meta(&path)? {
        Some(_) => Err(Failure::cannot_serve(format!("{} is formatted already", path.display()))),
        None => format(config, mutants, &path),
    }
}

fn create(config: &NodeConfig) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(&config.log_dir);
    let created = fs::create_dir_all(&path);
    created.map_err(|error| broken("create", &path, &error))?;
    Ok(path)
}

fn lock(path: &Path) -> Result<Flock<File>, Failure> {
    let file = File::options().create(true).truncate(false).write(true).open(path.join(LOCK_FILE));
    let file = file.map_err(|error| broken("write to", path, &error))?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|_| {
        let path = path.display();
        Failure::cannot_serve(format!(
            "another process uses the log directory {path}: stop it first"
        ))
    })
}

fn read_meta(path: &Path) -> Result<Option<MetaProperties>, Failure> {
    match fs::read_to_string(path.join(meta_properties::FILE)) {
        Ok(text) => MetaProperties::parse(&text).map(Some).map_err(|error| {
            Failure::cannot_serve(format!("{} cannot be used: {error}", path.display()))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(broken("read", path, &error)),
    }
}

/// Refuses what another node, cluster, program or version made.
fn check(config: &NodeConfig, path: &Path, meta: &MetaProperties) -> Result<(), Failure> {
    let refused = |why: String| Err(Failure::cannot_serve(format!("{} {why}", path.display())));
    match meta.highwater_format {
        None => {
            let why = "was formatted by Apache Kafka: start this node with a directory of its own";
            return refused(why.to_owned());
        }
        Some(FORMAT) => {}
        Some(newer) => {
            return refused(format!(
                "has format {newer} of a newer version; this one reads {FORMAT}"
            ));
        }
    }
    if meta.node_id != config.node_id.0 {
        let (theirs, ours) = (meta.node_id, config.node_id);
        return refused(format!("belongs to node {theirs}, and node.id is {ours}"));
    }
    if !config.cluster_id.is_empty() && meta.cluster_id != config.cluster_id {
        let (theirs, ours) = (&meta.cluster_id, &config.cluster_id);
        return refused(format!("belongs to cluster {theirs}, and cluster.id is {ours}"));
    }
    Ok(())
}

/// A mutated node must not touch data that anyone relies on.
fn check_mutants(path: &Path, mutants: &[String]) -> Result<(), Failure> {
    if mutants.is_empty() || path.join(MUTANTS_FILE).exists() {
        return Ok(());
    }
    let path = path.display();
    let why = "was not made with --mutant: start a mutated node with a directory of its own";
    Err(Failure::cannot_serve(format!("{path} {why}")))
}

fn format(config: &NodeConfig, mutants: &[String], path: &Path) -> Result<MetaProperties, Failure> {
    check_empty(path)?;
    if config.cluster_id.is_empty() {
        let path = path.display();
        let what_to_do = "set cluster.id or --cluster-id";
        return Err(Failure::usage(format!("{path} is not formatted: {what_to_do}")));
    }
    let meta = MetaProperties {
        cluster_id: config.cluster_id.clone(),
        node_id: config.node_id.0,
        directory_id: Some(random_id().map_err(|error| broken("format", path, &error))?),
        highwater_format: Some(FORMAT),
    };
    if !mutants.is_empty() {
        let names = mutants.join("\n") + "\n";
        write(path, MUTANTS_FILE, &names)?;
    }
    // Last, because it makes the directory a formatted one.
    write(path, meta_properties::FILE, &meta.format())?;
    Ok(meta)
}

fn check_empty(path: &Path) -> Result<(), Failure> {
    let entries = fs::read_dir(path).map_err(|error| broken("list", path, &error))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = [LOCK_FILE, "lost+found", MUTANTS_FILE, &format!("{}.tmp", meta_properties::FILE)]
        .map(str::to_owned);
    match names.into_iter().find(|name| !ours.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::cannot_serve(format!(
            "{} holds {name} but no meta.properties: it is no log directory of this node",
            path.display()
        ))),
    }
}

/// Replaces a file durably.
fn write(path: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let temporary = path.join(format!("{name}.tmp"));
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path.join(name)))
        .and_then(|()| File::open(path)?.sync_all());
    written.map_err(|error| broken("format", path, &error))
}

/// 128 random bits.
pub fn random_id() -> std::io::Result<u128> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u128::from_be_bytes(bytes))
}

fn broken(action: &str, path: &Path, error: &std::io::Error) -> Failure {
    let path = path.display();
    Failure::cannot_serve(format!("cannot {action} the log directory {path}: {error}"))
}

#[cfg(test)]
mod tests;
