//! Where a process's standard output goes: to a file, with its lines watched for the ready line.

use std::path::Path;

use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::ChildStdout,
    sync::watch,
};

/// Copies `stdout` into `path` until it ends and reports the first line that begins with `wanted`.
pub(super) async fn tee(
    stdout: ChildStdout,
    path: Box<Path>,
    wanted: &'static str,
    ready: watch::Sender<Option<String>>,
) -> std::io::Result<()> {
    let mut file = File::create(&path).await?;
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await? {
        file.write_all(line.as_bytes()).await?;
        file.write_all(b"\n").await?;
        file.flush().await?;
        if line.starts_with(wanted) && ready.borrow().is_none() {
            ready.send_replace(Some(line));
        }
    }
    Ok(())
}
