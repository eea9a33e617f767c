//! Dumps of a run folder: as many as the input has, instead of the last ones.

use highwater_history::dumps::DumpBatch;

use super::{
    evidence::{self, DUMPS},
    folder::several,
};

/// Reads them, and judges a run with them.
pub fn run(bytes: &[u8]) {
    let folder = evidence::folder();
    for (dump, (name, _)) in several(bytes).iter().zip(DUMPS.iter().rev()) {
        if let Some(dump) = evidence::lines::<DumpBatch>(dump) {
            for batch in &dump.lines {
                let most = (batch.end() - batch.base_offset).max(0) as usize;
                assert!(batch.records().count() <= most, "more records than offsets");
            }
        }
        folder.write(&format!("dumps/{name}"), dump);
    }
    evidence::judge(&folder);
}
