//! What of a run folder nobody needs once the verdict is that all is well.

use std::{fs, io, path::Path};

/// Where a node's folder has its log directories, and what was kept of files that it replaced.
const DATA: [&str; 2] = ["data", "disk/kept"];

/// Removes the log directories of a run's nodes: its dumps hold every batch, and who looks into a
/// replica itself looks for a broken promise.
///
/// # Errors
/// When one cannot be removed.
pub fn drop_data(run: &Path) -> io::Result<()> {
    for node in fs::read_dir(run.join("nodes"))? {
        let node = node?.path();
        for data in DATA.map(|name| node.join(name)) {
            if data.is_dir() {
                fs::remove_dir_all(data)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_brokers_go_and_their_output_stays() {
        let run = tempfile::TempDir::new().unwrap();
        let node = run.path().join("nodes/1");
        fs::create_dir_all(node.join("data/t-0")).unwrap();
        fs::write(node.join("data/t-0/00000000000000000000.log"), b"batches").unwrap();
        fs::write(node.join("stdout.0.log"), b"ready").unwrap();
        fs::write(run.path().join("nodes/proxy-1.jsonl"), b"").unwrap();
        drop_data(run.path()).unwrap();
        assert!(!node.join("data").exists());
        assert!(
            node.join("stdout.0.log").exists() && run.path().join("nodes/proxy-1.jsonl").exists()
        );
        drop_data(run.path()).unwrap();
    }
}
