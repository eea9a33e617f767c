//! Starts nodes in folders and on ports of their own.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const BINARY: &str = env!("CARGO_BIN_EXE_highwater-node");
const PATIENCE: Duration = Duration::from_secs(20);

/// A configured node: broker and controller in one process.
pub struct Setup {
    folder: tempfile::TempDir,
    pub port: u16,
    controller_port: u16,
    /// Lines that are added to its properties.
    pub more: String,
}

/// A running node; killed when it is dropped.
pub struct Running {
    child: Child,
    pub ready_line: String,
}

impl Setup {
    pub fn new() -> Setup {
        let (port, controller_port) = (free_port(), free_port());
        let folder = tempfile::tempdir().unwrap();
        Setup { folder, port, controller_port, more: String::new() }
    }

    pub fn log_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn properties(&self) -> String {
        format!(
            "process.roles=broker,controller\nnode.id=1\ncluster.id=test\n\
             controller.quorum.voters=1@127.0.0.1:{controller}\n\
             controller.listener.names=CONTROLLER\n\
             listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
             broker.session.timeout.ms=500\nbroker.heartbeat.interval.ms=100\n\
             log.dirs={dir}\n{more}\n",
            controller = self.controller_port,
            port = self.port,
            dir = self.log_dir().display(),
            more = self.more,
        )
    }

    /// Writes the properties and gives the command that starts the node.
    pub fn command(&self) -> Command {
        let file = self.folder.path().join("server.properties");
        std::fs::write(&file, self.properties()).unwrap();
        let mut command = Command::new(BINARY);
        command.arg(file).stdin(Stdio::null());
        command
    }

    /// Starts the node and waits until it serves.
    pub fn start(&self) -> Running {
        let log = std::fs::File::create(self.folder.path().join("err.log")).unwrap();
        self.start_with(log)
    }

    /// Starts the node with something else than a file to take its log.
    pub fn start_with(&self, log: impl Into<Stdio>) -> Running {
        let mut child = self.command().stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut ready_line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready_line).unwrap();
        let errors = std::fs::read_to_string(self.folder.path().join("err.log"));
        assert!(!ready_line.is_empty(), "{}", errors.unwrap_or_default());
        Running { child, ready_line }
    }

    /// Runs the node to its end, which should come soon.
    pub fn fail(&self) -> Output {
        self.command().output().unwrap()
    }

    /// The node's log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("err.log")).unwrap()
    }
}

impl Running {
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM; gives the exit status.
    pub fn stop(mut self) -> Option<i32> {
        let pid = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        let child = &mut self.child;
        let status = wait_for("the node ends", || child.try_wait().unwrap());
        status.code()
    }

    /// Memory in use, in bytes.
    pub fn resident_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kilobytes * 1024
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tries again until there is something, for a bounded time.
pub fn wait_for<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < end, "{what}: not in time");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
