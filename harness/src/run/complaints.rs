//! What nodes say in their logs of faults that they met themselves: evidence beside a recovery that
//! did not come.

use std::{fs, path::Path};

use crate::cluster::Cluster;

/// The last complaint of each node, one sentence with the node's id.
pub(super) fn of(cluster: &Cluster) -> Vec<String> {
    let nodes = cluster.plan().nodes.values();
    let complaint = |node: &crate::cluster::NodePlan| {
        let said = cluster.target().complaint(&last_output(&node.folder)?)?;
        Some(format!("node {} logged: {said}", node.id))
    };
    nodes.filter_map(complaint).collect()
}

/// The standard output of a node's last process.
fn last_output(folder: &Path) -> Option<String> {
    let path = |life: u32| folder.join(format!("stdout.{life}.log"));
    let last = (0..).take_while(|life| path(*life).is_file()).last()?;
    let bytes = fs::read(path(last)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::last_output;

    #[test]
    fn the_last_process_is_heard() {
        let folder = TempDir::new().unwrap();
        assert_eq!(last_output(folder.path()), None);
        for life in 0..12 {
            fs::write(folder.path().join(format!("stdout.{life}.log")), life.to_string()).unwrap();
        }
        assert_eq!(last_output(folder.path()).as_deref(), Some("11"));
    }
}
