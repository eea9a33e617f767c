//! Reading and replacing a whole small file.

use bytes::Bytes;

use crate::disk::{Disk, DiskError, DiskErrorKind, OpenMode};

/// The file's content; none if it does not exist.
pub(crate) fn read<D: Disk>(disk: &mut D, path: &str) -> Result<Option<Bytes>, DiskError> {
    let file = match disk.open(path, OpenMode::Existing) {
        Ok(file) => file,
        Err(error) if error.kind == DiskErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = disk.length(&file)? as usize;
    disk.read(&file, 0, length).map(Some)
}

/// Replaces the file as a whole: readers see the old or the new content. With `durable` that also
/// holds after a power loss, and the new content is what is left when this returns.
pub(crate) fn replace<D: Disk>(
    disk: &mut D,
    path: &str,
    content: &[u8],
    durable: bool,
) -> Result<(), DiskError> {
    let temporary = format!("{path}.tmp");
    let file = disk.open(&temporary, OpenMode::Empty)?;
    disk.append(&file, content)?;
    if durable {
        disk.sync(&file)?;
    }
    disk.rename(&temporary, path)?;
    if durable {
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        disk.sync_dir(dir)?;
    }
    Ok(())
}
