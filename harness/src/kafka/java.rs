//! The Java that runs Kafka, and how its command lines begin.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::Libs;
use crate::target::TargetError;

/// Kafka 4 brokers need this or a newer one.
const OLDEST: u32 = 17;

/// Kafka's own variables for the flags of its processes, with what serves a test: small heaps, and
/// no long compilation while four processes share a machine.
const FLAGS: [(&str, &str); 2] = [
    ("KAFKA_HEAP_OPTS", "-Xms128m -Xmx512m"),
    ("KAFKA_JVM_PERFORMANCE_OPTS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
];

/// A Java runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Java {
    /// The launcher.
    pub program: PathBuf,
    /// What it says of its version, one line.
    pub version: String,
}

impl Java {
    /// Finds Java: below `JAVA_HOME`, else on the path.
    ///
    /// # Errors
    /// One sentence: none there, or too old.
    pub fn find() -> Result<Self, TargetError> {
        let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
        let program = home.filter(|java| java.is_file()).unwrap_or_else(|| "java".into());
        let output = Command::new(&program).arg("-version").stdin(Stdio::null()).output();
        let output = output.map_err(|error| missing(format!("install Java {OLDEST} ({error})")))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let version = said.lines().find(|line| line.contains(" version ")).unwrap_or_default();
        match major(version) {
            Some(major) if major >= OLDEST => Ok(Self { program, version: version.to_owned() }),
            Some(_) => Err(missing(format!("{} is `{version}`", program.display()))),
            None => Err(missing(format!("{} says no version", program.display()))),
        }
    }

    /// The arguments that run `class` of these jars, up to the class's name.
    #[must_use]
    pub fn arguments(&self, libs: &Libs, flags: &[String], class: &str) -> Vec<String> {
        let mut arguments = Vec::new();
        for (variable, usual) in FLAGS {
            let text = env::var(variable).unwrap_or_else(|_| usual.to_owned());
            arguments.extend(text.split_whitespace().map(str::to_owned));
        }
        arguments.extend_from_slice(flags);
        arguments.extend(["-cp".to_owned(), libs.class_path(), class.to_owned()]);
        arguments
    }
}

fn missing(advice: String) -> TargetError {
    TargetError::Missing { what: format!("Java {OLDEST} or newer"), advice }
}

/// The first number of `openjdk version "17.0.15" 2025-04-15`.
fn major(version: &str) -> Option<u32> {
    let quoted = version.split('"').nth(1)?;
    quoted.split(['.', '-']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn versions_are_read_from_what_java_says() {
        assert_eq!(major("openjdk version \"17.0.15\" 2025-04-15"), Some(17));
        assert_eq!(major("openjdk version \"25-ea\" 2025-09-16"), Some(25));
        assert_eq!(major("java version \"1.8.0_392\""), Some(1));
        assert_eq!(major(""), None);
    }
}
