//! What only the shell needs to know: sockets and memory.

use super::NodeConfig;

/// Everything that a `server.properties` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What the node decides by.
    pub node: NodeConfig,
    /// What the shell does I/O by.
    pub shell: ShellConfig,
}

/// The shell's settings, named as in Kafka.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellConfig {
    /// `socket.request.max.bytes`: a larger frame closes its connection.
    pub request_max_bytes: usize,
    /// `queued.max.request.bytes`: bytes of requests in memory above which no more are read; none
    /// for no limit.
    pub queued_max_request_bytes: Option<usize>,
    /// `socket.listen.backlog.size`.
    pub listen_backlog: u32,
    /// `socket.connection.setup.timeout.ms`: how long a connection to a peer may take.
    pub connection_setup_timeout_ms: u64,
}

impl Default for ShellConfig {
    /// Kafka's defaults.
    fn default() -> ShellConfig {
        ShellConfig {
            request_max_bytes: 100 << 20,
            queued_max_request_bytes: None,
            listen_backlog: 50,
            connection_setup_timeout_ms: 10_000,
        }
    }
}
