//! Finds the jars of one Kafka version: a folder that the user names, or the cache.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use super::{DEFAULT_VERSION, LIBS_VARIABLE, cache, fetch};
use crate::target::TargetError;

/// The server's own jar bears the version in its name.
const SERVER_JAR: &str = "kafka_2.13-";

/// The jars of one Kafka version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Libs {
    /// Kafka's version.
    pub version: String,
    /// Every jar, in order of name: the class path.
    pub jars: Vec<PathBuf>,
}

impl Libs {
    /// The jars of `wanted`, or of [`DEFAULT_VERSION`]; fetched when they are not there yet.
    ///
    /// # Errors
    /// One sentence: what is missing and how to get it.
    pub fn find(wanted: Option<&str>) -> Result<Self, TargetError> {
        if let Some(wanted) = wanted.filter(|wanted| !is_version(wanted)) {
            let why = format!("kafka:{wanted}: write a version such as kafka:{DEFAULT_VERSION}");
            return Err(TargetError::Refused(why));
        }
        if let Some(folder) = named(env::var_os(LIBS_VARIABLE)) {
            return Self::named_by_user(&folder, wanted);
        }
        let version = wanted.unwrap_or(DEFAULT_VERSION);
        let folder = cache().join(version);
        if !folder.is_dir() {
            fetch::into(version, &folder)?;
        }
        Self::in_folder(&folder).ok_or_else(|| TargetError::Missing {
            what: format!("Apache Kafka {version}"),
            advice: format!("remove {} to have it fetched again", folder.display()),
        })
    }

    fn named_by_user(folder: &Path, wanted: Option<&str>) -> Result<Self, TargetError> {
        let missing =
            |advice: String| TargetError::Missing { what: "Apache Kafka".to_owned(), advice };
        let found = Self::in_folder(folder).ok_or_else(|| {
            let named = folder.display();
            missing(format!(
                "{LIBS_VARIABLE} is {named}, where there is no {SERVER_JAR}VERSION.jar"
            ))
        })?;
        match wanted {
            Some(wanted) if wanted != found.version => Err(missing(format!(
                "{LIBS_VARIABLE} is {} with version {}, and {wanted} was asked for; unset it to \
                 have {wanted} fetched",
                folder.display(),
                found.version
            ))),
            _ => Ok(found),
        }
    }

    fn in_folder(folder: &Path) -> Option<Self> {
        let entries = fs::read_dir(folder).ok()?;
        let mut jars: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|suffix| suffix == "jar"))
            .collect();
        jars.sort();
        let version = jars.iter().find_map(|jar| {
            let stem = jar.file_stem()?.to_str()?;
            Some(stem.strip_prefix(SERVER_JAR)?.to_owned())
        })?;
        Some(Self { version, jars })
    }

    /// The class path as `java -cp` takes it.
    #[must_use]
    pub fn class_path(&self) -> String {
        let each: Vec<_> = self.jars.iter().map(|jar| jar.display().to_string()).collect();
        each.join(":")
    }
}

/// The folder that the variable names; an empty one names none.
fn named(variable: Option<OsString>) -> Option<PathBuf> {
    variable.filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Whether this may be a version: it becomes the name of a folder in the cache.
fn is_version(text: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(known)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::{Libs, named};

    #[test]
    fn what_is_no_version_is_refused_before_anything_is_looked_for() {
        for wanted in ["", ".", "..", "4.3.1/../x", "-4"] {
            let why = Libs::find(Some(wanted)).unwrap_err().to_string();
            assert_eq!(why, format!("kafka:{wanted}: write a version such as kafka:4.3.1"));
        }
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        assert_eq!(named(Some("".into())), None);
        assert_eq!(named(Some("jars".into())), Some("jars".into()));
    }

    #[test]
    fn a_folder_of_jars_says_its_version_and_another_is_refused() {
        let folder = TempDir::new().unwrap();
        let why = Libs::named_by_user(folder.path(), None).unwrap_err().to_string();
        assert!(why.contains("there is no kafka_2.13-VERSION.jar"), "{why}");
        for jar in ["b.jar", "kafka_2.13-4.3.1.jar", "a.jar", "notes.txt"] {
            fs::write(folder.path().join(jar), "").unwrap();
        }
        let libs = Libs::named_by_user(folder.path(), Some("4.3.1")).unwrap();
        assert_eq!((libs.version.as_str(), libs.jars.len()), ("4.3.1", 3));
        let first = folder.path().join("a.jar").display().to_string();
        assert!(libs.class_path().starts_with(&format!("{first}:")));
        let why = Libs::named_by_user(folder.path(), Some("4.0.0")).unwrap_err().to_string();
        assert!(why.contains("with version 4.3.1, and 4.0.0 was asked for"), "{why}");
    }
}
