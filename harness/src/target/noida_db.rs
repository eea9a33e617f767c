//! noida-db, a development server of one process that speaks Kafka's protocol beside others.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    BoxFuture, Capabilities, Command, Entry, Needs, Ready, Target, TargetError, TargetOptions,
};
use crate::cluster::{ClusterPlan, Listener, NodePlan};

/// The plug-in.
pub const ENTRY: Entry = Entry { capabilities: Capabilities::ONE_BROKER, open, lacks };

/// Names the binary where it is not found by itself.
pub const BINARY_VARIABLE: &str = "HIGHWATER_NOIDA_DB";

const BINARY: &str = "noida-db";
/// The binary's place in the Python package.
const IN_PACKAGE: &str = "noida_db/noida-db";
/// The virtual environment of this project's own tests, beside the folder of the executable.
const TEST_ENVIRONMENT: &str = "venv/bin/noida-db";

fn open(_options: &TargetOptions) -> Result<Box<dyn Target>, TargetError> {
    let binary = find_binary()?;
    let version = version_of(&binary)?;
    Ok(Box::new(NoidaDb { binary, version }))
}

fn lacks(needs: &Needs<'_>) -> Option<String> {
    if let Some(version) = needs.version {
        let why = "its version is that of the binary that is there; write noida-db";
        return Some(format!("target noida-db:{version}: {why}"));
    }
    if let Some(mutant) = needs.mutants.first() {
        return Some(format!("mutant {mutant}: only target node has known bugs to switch on"));
    }
    let (feature, level) = needs.features.iter().find(|(_, level)| *level != "0")?;
    Some(format!("feature {feature}={level}: target noida-db has no feature levels"))
}

/// Finds the binary: the variable, else `PATH`, else the environment of this project's tests.
fn find_binary() -> Result<PathBuf, TargetError> {
    if let Some(named) = env::var_os(BINARY_VARIABLE) {
        let named = PathBuf::from(named);
        let why =
            || format!("{BINARY_VARIABLE} is {}, and there is no such program", named.display());
        return native(&named).ok_or_else(|| missing(why()));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|folder| folder.join(BINARY));
    let own = env::current_exe().unwrap_or_default();
    let beside = own.ancestors().nth(2).unwrap_or(Path::new(".")).join(TEST_ENVIRONMENT);
    in_path.chain([beside.clone()]).find_map(|found| native(&found)).ok_or_else(|| {
        let looked = format!("it is neither on PATH nor {}", beside.display());
        let install = "install it (`pip install noida-db==0.2.3`)";
        missing(format!("{looked}; {install}, or set {BINARY_VARIABLE}"))
    })
}

/// The binary itself, also where the package's script is named: that one waits for it as a child,
/// so that it would not be the process that is killed.
fn native(found: &Path) -> Option<PathBuf> {
    if !found.is_file() {
        return None;
    }
    if !is_script(found).ok()? {
        return Some(found.to_owned());
    }
    let libraries = found.parent()?.parent()?.join("lib");
    let pythons = fs::read_dir(libraries).ok()?.filter_map(Result::ok);
    let packages = pythons.flat_map(|python| {
        ["site-packages", "dist-packages"].map(|folder| python.path().join(folder))
    });
    packages.map(|packages| packages.join(IN_PACKAGE)).find(|binary| binary.is_file())
}

fn is_script(file: &Path) -> io::Result<bool> {
    let mut begin = [0; 2];
    io::Read::read_exact(&mut fs::File::open(file)?, &mut begin)?;
    Ok(begin == *b"#!")
}

fn missing(advice: String) -> TargetError {
    TargetError::Missing { what: format!("binary `{BINARY}`"), advice }
}

/// What the binary says of itself, such as `0.2.3`.
fn version_of(binary: &Path) -> Result<String, TargetError> {
    let asked = std::process::Command::new(binary).arg("version").output();
    let said = asked.map_err(|source| {
        TargetError::Failed(format!("cannot start {}: {source}", binary.display()))
    })?;
    let said = String::from_utf8_lossy(&said.stdout);
    Ok(said.split_whitespace().last().unwrap_or_default().to_owned())
}

#[derive(Debug)]
struct NoidaDb {
    binary: PathBuf,
    version: String,
}

impl Target for NoidaDb {
    fn describe(&self) -> Value {
        json!({"name": "noida-db", "version": self.version, "binary": self.binary})
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ONE_BROKER
    }

    fn prepare<'a>(
        &'a self,
        _plan: &'a ClusterPlan,
        node: &'a NodePlan,
    ) -> BoxFuture<'a, Result<(), TargetError>> {
        Box::pin(async move {
            let path = node.log_dir.clone();
            fs::create_dir_all(&path).map_err(|source| TargetError::File { path, source })
        })
    }

    fn command(&self, _plan: &ClusterPlan, node: &NodePlan) -> Command {
        let address = node.place(Listener::Client).expect("a broker has clients").real;
        let (port, folder) = (address.port().to_string(), node.log_dir.display().to_string());
        let arguments = ["start", "--only", "kafka", "--kafka-port", &port, "--data-dir", &folder];
        Command {
            program: self.binary.clone(),
            arguments: arguments.map(str::to_owned).to_vec(),
            environment: Vec::new(),
        }
    }

    fn ready(&self) -> Ready {
        Ready::Protocol
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::{cluster::ControllerPlacement, ports::PortPool};

    fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn the_binary_is_found_behind_the_script_of_its_package() {
        let folder = TempDir::new().unwrap();
        let script = file(folder.path(), "bin/noida-db", "#!/usr/bin/python3\n");
        assert_eq!(native(&script), None, "a script without its package starts nothing");
        let packaged = "lib/python3.11/site-packages/noida_db/noida-db";
        let binary = file(folder.path(), packaged, "\u{7f}ELF");
        assert_eq!(native(&script), Some(binary.clone()));
        assert_eq!(native(&binary), Some(binary));
        assert_eq!(native(&folder.path().join("none")), None);
    }

    #[test]
    fn it_listens_where_clients_are_sent_and_writes_into_its_log_directory() {
        let folder = TempDir::new().unwrap();
        let (none, mut ports) = (ControllerPlacement::None, PortPool::new());
        let plan = ClusterPlan::new(folder.path(), "c", 1, none, &mut ports).unwrap();
        let plan = plan.without_proxies();
        let [node] = &plan.brokers().collect::<Vec<_>>()[..] else { panic!("one broker") };
        let target = NoidaDb { binary: "noida-db".into(), version: String::new() };
        let arguments = target.command(&plan, node).arguments.join(" ");
        let port = plan.bootstrap()[&node.id].port();
        assert!(arguments.contains(&format!("--kafka-port {port} ")), "{arguments}");
        assert!(arguments.ends_with(&format!("--data-dir {}", node.log_dir.display())));
        assert_eq!(plan.bootstrap(), plan.direct());
    }
}
