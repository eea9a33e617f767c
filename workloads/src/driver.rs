//! The clients' sockets and clock: the one file here that knows tokio.
