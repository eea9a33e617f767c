//! The class-data archive of one set of jars on one Java: with it a broker starts in a third of the
//! time.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use super::{Java, Libs, cache};

/// Where the archive of these jars is, or will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    path: PathBuf,
}

impl Archive {
    /// The archive of `libs` for `java`; another set of files has another one.
    #[must_use]
    pub fn of(libs: &Libs, java: &Java) -> Self {
        let mut hasher = DefaultHasher::new();
        (&java.version, libs.class_path()).hash(&mut hasher);
        for jar in &libs.jars {
            fs::metadata(jar).and_then(|meta| meta.modified()).ok().hash(&mut hasher);
        }
        let name = format!("{}-{:016x}.jsa", libs.version, hasher.finish());
        Self { path: cache().join(name) }
    }

    /// Whether it was made already.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.path.is_file()
    }

    /// The flags with which a process uses it. A process that cannot use it starts without.
    #[must_use]
    pub fn use_flags(&self) -> Vec<String> {
        if !self.is_there() {
            return Vec::new();
        }
        vec![format!("-XX:SharedArchiveFile={}", self.path.display()), "-Xlog:disable".to_owned()]
    }

    /// The flags with which a process writes one to `draft` when it ends in order.
    #[must_use]
    pub fn make_flags(draft: &Path) -> Vec<String> {
        vec![format!("-XX:ArchiveClassesAtExit={}", draft.display()), "-Xlog:disable".to_owned()]
    }

    /// Keeps what a process wrote to `draft`.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub fn keep(&self, draft: &Path) -> io::Result<()> {
        let beside = self.path.with_extension(std::process::id().to_string());
        fs::create_dir_all(cache())?;
        fs::copy(draft, &beside)?;
        fs::rename(beside, &self.path)
    }
}
