//! What the preload library and the harness agree on: variables, journal lines, the control file.

/// The folders that are watched, absolute, with colons between; everything else is left alone.
pub const ROOTS_VARIABLE: &str = "HIGHWATER_DISK_ROOTS";
/// The file to which what became durable is appended.
pub const JOURNAL_VARIABLE: &str = "HIGHWATER_DISK_JOURNAL";
/// The folder, on the file system of the roots, where replaced files are kept by another name.
pub const KEPT_VARIABLE: &str = "HIGHWATER_DISK_KEPT";
/// The file of [`SLOTS`] numbers of 64 bits through which a running process is told and asked.
pub const CONTROL_VARIABLE: &str = "HIGHWATER_DISK_CONTROL";

/// What every line of the journal ends with: one without it was cut short.
pub const END: &[u8] = b";\n";

/// The kinds of journal lines: the letter that a line begins with. Numbers are decimal; an inode is
/// always preceded by its device; names stand last.
pub mod letter {
    /// `P pid`: a process has begun; the line before it may be cut short.
    pub const PROCESS: u8 = b'P';
    /// `S device inode size`: the file's first `size` bytes are durable, and so is its name.
    pub const SYNCED: u8 = b'S';
    /// `D device inode`: the directory's entries are durable.
    pub const DIRECTORY: u8 = b'D';
    /// `T device inode size`: the file is about to be cut to `size` bytes.
    pub const TRUNCATED: u8 = b'T';
    /// `C device inode directory name`: a new file or directory.
    pub const CREATED: u8 = b'C';
    /// `L device inode directory name`: another name of a file.
    pub const LINKED: u8 = b'L';
    /// `R device inode from-directory to-directory replaced from-name/to-name`; `replaced` is the
    /// inode that had the new name, or 0.
    pub const RENAMED: u8 = b'R';
    /// `U device inode directory name`: a name is about to be removed.
    pub const UNLINKED: u8 = b'U';
    /// `M device inode`: the file is mapped for writing, so what is written cannot be seen.
    pub const MAPPED: u8 = b'M';
}

/// How many numbers the control file holds.
pub const SLOTS: usize = 16;

/// A number of the control file: its place, counted in numbers of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Slot {
    /// How long each write waits, in microseconds.
    WriteDelay = 0,
    /// How long each sync waits, in microseconds.
    SyncDelay = 1,
    /// The error number by which writes are refused; 0 for none.
    WriteError = 2,
    /// The error number by which syncs are refused; 0 for none.
    SyncError = 3,
    /// Counts the writes that had to wait.
    WritesDelayed = 4,
    /// Counts the syncs that had to wait.
    SyncsDelayed = 5,
    /// Counts the writes that were refused.
    WritesRefused = 6,
    /// Counts the syncs that were refused.
    SyncsRefused = 7,
    /// Counts the processes that have loaded the library with this file.
    Attached = 8,
    /// Counts the lines that could not be written into the journal: then it proves nothing.
    LinesLost = 9,
}
