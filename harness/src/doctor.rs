//! What this machine allows, and what will be skipped because of it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use nix::sys::statvfs::statvfs;
use rustix::process::{PidfdFlags, Resource, getpid, getrlimit, pidfd_open};
use serde::Serialize;

use crate::{
    disk::{LIBRARY, find_library},
    ports::PortPool,
    target::find_node_binary,
};

/// A run with many clients opens this many files and sockets.
const FILES_WANTED: u64 = 4_096;
/// A full run with its logs and dumps fits in this many bytes.
const DISK_WANTED: u64 = 2 << 30;
/// Three brokers and a controller take so many: two for each of their listeners.
const PORTS_WANTED: usize = 14;
/// Clients, three brokers and the harness want at least this many.
const CORES_WANTED: usize = 2;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// Whether it is there.
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// What is skipped or suffers without it.
    pub skipped: &'static str,
}

/// Looks at everything; run folders are taken to lie under the working directory.
#[must_use]
pub fn examine() -> Vec<Check> {
    vec![
        cores(),
        disk(),
        open_files(),
        ports(),
        callers(),
        pidfd(),
        node_binary(),
        shim(),
        java(),
        program("ip", "the network-namespace tier"),
        program("nft", "the network-namespace tier"),
        namespaces(),
        faketime(),
    ]
}

fn cores() -> Check {
    let count = thread::available_parallelism().map_or(1, usize::from);
    let skipped = "clients compete with brokers, and latencies say little";
    Check { name: "cores", ok: count >= CORES_WANTED, found: count.to_string(), skipped }
}

fn disk() -> Check {
    let free = statvfs(".").map(|stat| stat.blocks_available() * stat.fragment_size());
    let skipped = "a long run may end for want of space";
    match free {
        Ok(free) => {
            let found = format!("{} MiB free here", free >> 20);
            Check { name: "disk", ok: free >= DISK_WANTED, found, skipped }
        }
        Err(error) => Check { name: "disk", ok: false, found: error.to_string(), skipped },
    }
}

fn open_files() -> Check {
    let limit = getrlimit(Resource::Nofile);
    let [soft, hard] = [limit.current, limit.maximum].map(|most| most.unwrap_or(u64::MAX));
    let found = format!("{soft} (at most {hard})");
    let skipped = "runs with many clients";
    Check { name: "open files", ok: soft >= FILES_WANTED, found, skipped }
}

fn ports() -> Check {
    let mut pool = PortPool::new();
    let taken: Result<Vec<u16>, _> = (0..PORTS_WANTED).map(|_| pool.take()).collect();
    let (ok, found) = match taken {
        Ok(ports) => (true, format!("{PORTS_WANTED} free ones from {} on", ports[0])),
        Err(error) => (false, error.to_string()),
    };
    Check { name: "ports", ok, found, skipped: "every run" }
}

fn callers() -> Check {
    let ok = fs::read("/proc/net/tcp").is_ok() && fs::read_dir("/proc/self/fd").is_ok();
    let found = if ok { "/proc says who calls" } else { "/proc is not readable" }.to_owned();
    Check { name: "proc", ok, found, skipped: "cuts between nodes" }
}

fn pidfd() -> Check {
    let opened = pidfd_open(getpid(), PidfdFlags::empty());
    let (ok, found) = match opened {
        Ok(_) => (true, "signals reach exactly the process that is meant".to_owned()),
        Err(error) => (false, error.to_string()),
    };
    Check { name: "pidfd", ok, found, skipped: "every fault on processes (Linux 5.3 has it)" }
}

fn node_binary() -> Check {
    let (ok, found) = match find_node_binary() {
        Ok(path) => (true, path.display().to_string()),
        Err(error) => (false, error.to_string()),
    };
    Check { name: "highwater-node", ok, found, skipped: "the target node" }
}

fn shim() -> Check {
    let (ok, found) = match find_library() {
        Ok(path) => (true, path.display().to_string()),
        Err(error) => (false, error.to_string()),
    };
    Check { name: LIBRARY, ok, found, skipped: "power-loss, slow-disk and disk-error" }
}

fn java() -> Check {
    let found = in_path("java").and_then(|java| first_line(Command::new(java).arg("-version")));
    let ok = found.is_some();
    let found = found.unwrap_or_else(|| "no java in PATH".to_owned());
    Check { name: "java", ok, found, skipped: "the target kafka" }
}

fn program(name: &'static str, skipped: &'static str) -> Check {
    let path = in_path(name);
    let ok = path.is_some();
    let found = path.map_or_else(|| "not in PATH".to_owned(), |path| path.display().to_string());
    Check { name, ok, found, skipped }
}

fn namespaces() -> Check {
    let mut try_one = Command::new("unshare");
    try_one.args(["--user", "--map-root-user", "--net", "true"]);
    let ran = try_one.stdin(Stdio::null()).stderr(Stdio::null()).status();
    let ok = ran.is_ok_and(|status| status.success());
    let found = if ok { "user and network namespaces" } else { "unshare is refused" }.to_owned();
    Check { name: "namespaces", ok, found, skipped: "the network-namespace tier" }
}

fn faketime() -> Check {
    let folders = ["/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
    let names = folders.map(|folder| Path::new(folder).join("faketime/libfaketime.so.1"));
    let path = names.into_iter().find(|path| path.is_file());
    let ok = path.is_some();
    let found = path.map_or_else(|| "not installed".to_owned(), |path| path.display().to_string());
    Check { name: "libfaketime", ok, found, skipped: "clock faults on targets other than node" }
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The first line that a program prints, on either stream.
fn first_line(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_says_what_it_found_and_what_depends_on_it() {
        let checks = examine();
        assert!(checks.iter().all(|check| !check.found.is_empty() && !check.skipped.is_empty()));
        let names: Vec<&str> = checks.iter().map(|check| check.name).collect();
        for wanted in ["java", "nft", "namespaces", "libfaketime", "highwater-node", "disk"] {
            assert!(names.contains(&wanted), "{wanted} is not examined");
        }
    }
}
