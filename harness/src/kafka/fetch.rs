//! Fetches Kafka's jars once, through Maven, from the registry that Maven is set up with.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{LIBS_VARIABLE, cache};
use crate::target::TargetError;

/// What a broker with its tools needs at run time; `VERSION` stands for Kafka's version.
const POM: &str = include_str!("pom.xml");

/// Fetches the jars of `version` into `folder`, which is there afterwards with all of them or not
/// at all.
///
/// # Errors
/// One sentence: Maven is missing, or the last thing that it complained of.
pub(super) fn into(version: &str, folder: &Path) -> Result<(), TargetError> {
    let scratch = cache().join(format!("fetching-{version}-{}", std::process::id()));
    let fetched = fetch(version, &scratch);
    let moved = fetched.and_then(|jars| fs::rename(&jars, folder).map_err(cannot(folder)));
    // What cannot be removed there is no harm to a run.
    let _left = fs::remove_dir_all(&scratch);
    match moved {
        // Another run was quicker.
        Err(_) if folder.is_dir() => Ok(()),
        moved => moved,
    }
}

fn fetch(version: &str, scratch: &Path) -> Result<PathBuf, TargetError> {
    crate::stderr::line(format_args!("highwater: fetching Apache Kafka {version}, once (54 MB)"));
    let (pom, jars) = (scratch.join("pom.xml"), scratch.join("jars"));
    fs::create_dir_all(&jars)
        .and_then(|()| fs::write(&pom, POM.replace("VERSION", version)))
        .map_err(cannot(scratch))?;
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "-f"]).arg(&pom).arg("dependency:copy-dependencies");
    maven.args(["-DincludeScope=runtime", &format!("-DoutputDirectory={}", jars.display())]);
    let output = maven.stdin(Stdio::null()).output().map_err(|error| {
        missing(version, &format!("Maven (`mvn`) fetches it and did not start ({error})"))
    })?;
    if output.status.success() {
        return Ok(jars);
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Err(missing(version, complaint(&said)))
}

fn missing(version: &str, why: &str) -> TargetError {
    let what = format!("Apache Kafka {version}");
    let advice = format!("{why}; or set {LIBS_VARIABLE} to a folder with its jars");
    TargetError::Missing { what, advice }
}

/// What Maven says first of what went wrong, without its markers.
fn complaint(said: &str) -> &str {
    // A terminal's colours may stand before the marker.
    let mut complaints =
        said.lines().filter_map(|line| Some(line.split_once("[ERROR] ")?.1.trim()));
    let first = complaints.find(|said| !said.is_empty());
    let first = first.unwrap_or("Maven failed and said nothing");
    first.split(" -> [Help").next().unwrap_or(first)
}

fn cannot(path: &Path) -> impl FnOnce(io::Error) -> TargetError {
    let path = path.to_owned();
    move |source| TargetError::File { path, source }
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn maven_s_first_complaint_is_the_reason() {
        let said = "[WARNING] w\n\u{1b}[0m[ERROR] \n[ERROR] Failed: no jar -> [Help 1]\n\
                    [ERROR] \n[ERROR] To see";
        assert_eq!(complaint(said), "Failed: no jar");
        assert_eq!(complaint(""), "Maven failed and said nothing");
    }
}
