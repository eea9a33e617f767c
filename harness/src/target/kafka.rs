//! Apache Kafka, one Java process per node; `kafka:VERSION` for another version than 4.3.1.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use serde_json::{Value, json};

use super::{
    BoxFuture, Capabilities, Command, Entry, Needs, Ready, Target, TargetError, TargetOptions,
    Training,
};
use crate::{
    cluster::{ClusterPlan, NodePlan, server_properties},
    kafka::{Archive, Java, Libs},
};

/// The plug-in.
pub const ENTRY: Entry = Entry { capabilities: Capabilities::ALL, open, lacks };

const CONFIGURATION: &str = "server.properties";
const LOGGING: &str = "log4j2.properties";
const BROKER: &str = "kafka.Kafka";
const FORMATTER: &str = "kafka.tools.StorageTool";

/// How a controller begins to say that it gives up its leadership.
const FAULT: &str = "Encountered quorum controller fault";

/// The feature whose level decides what a replica that left the ISR is worth (rule 30).
const ELR: &str = "eligible.leader.replicas.version";

fn open(options: &TargetOptions) -> Result<Box<dyn Target>, TargetError> {
    let libs = Libs::find(options.version.as_deref())?;
    let java = Java::find()?;
    let archive = Archive::of(&libs, &java);
    // As our node, which has no ELR: what an experiment shows is the same on both.
    let mut features = BTreeMap::from([(ELR.to_owned(), "0".to_owned())]);
    features.extend(options.features.clone());
    Ok(Box::new(KafkaTarget { libs, java, archive, features, draft: None }))
}

fn lacks(needs: &Needs<'_>) -> Option<String> {
    let mutant = needs.mutants.first()?;
    Some(format!("mutant {mutant}: only target node has known bugs to switch on"))
}

#[derive(Debug)]
struct KafkaTarget {
    libs: Libs,
    java: Java,
    archive: Archive,
    features: BTreeMap<String, String>,
    /// Where a process writes the archive when it ends; `None` when it uses the archive instead.
    draft: Option<PathBuf>,
}

impl KafkaTarget {
    fn java(&self, class: &str, flags: &[String]) -> Vec<String> {
        self.java.arguments(&self.libs, flags, class)
    }

    fn write_configuration(&self, plan: &ClusterPlan, node: &NodePlan) -> io::Result<()> {
        fs::create_dir_all(&node.log_dir)?;
        fs::write(node.folder.join(LOGGING), logging())?;
        // Of two lines with one key the later one counts.
        let text = small_cluster(plan) + &server_properties(plan, node);
        fs::write(node.folder.join(CONFIGURATION), text)
    }

    async fn format(&self, plan: &ClusterPlan, node: &NodePlan) -> Result<(), TargetError> {
        let mut command = tokio::process::Command::new(&self.java.program);
        command.args(self.java(FORMATTER, &self.archive.use_flags()));
        command.args(["format", "--ignore-formatted", "-t", &plan.cluster_id, "-c"]);
        command.arg(node.folder.join(CONFIGURATION));
        for (feature, level) in &self.features {
            command.args(["--feature", &format!("{feature}={level}")]);
        }
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.map_err(|source| {
            let program = self.java.program.display();
            TargetError::Failed(format!("cannot start {program}: {source}"))
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stderr, output.stdout].concat();
        Err(TargetError::Refused(complaint(&String::from_utf8_lossy(&said))))
    }
}

impl Target for KafkaTarget {
    fn describe(&self) -> Value {
        json!({
            "name": "kafka",
            "version": self.libs.version,
            "java": self.java.version,
            "features": self.features,
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn prepare<'a>(
        &'a self,
        plan: &'a ClusterPlan,
        node: &'a NodePlan,
    ) -> BoxFuture<'a, Result<(), TargetError>> {
        Box::pin(async move {
            let path = node.folder.clone();
            self.write_configuration(plan, node)
                .map_err(|source| TargetError::File { path, source })?;
            self.format(plan, node).await
        })
    }

    fn training(&self, folder: &Path) -> Option<Training> {
        if self.archive.is_there() {
            return None;
        }
        let (archive, draft) = (self.archive.clone(), folder.join("draft.jsa"));
        let (libs, java, features) = (self.libs.clone(), self.java.clone(), self.features.clone());
        let learner =
            Self { libs, java, features, archive: archive.clone(), draft: Some(draft.clone()) };
        let keep = move || {
            archive.keep(&draft).map_err(|source| TargetError::File { path: draft, source })
        };
        Some(Training { target: Arc::new(learner), keep: Box::new(keep) })
    }

    fn complaint(&self, log: &str) -> Option<String> {
        let line = log.lines().rfind(|line| line.contains(FAULT))?;
        Some(line[line.find(FAULT)?..].to_owned())
    }

    fn command(&self, _plan: &ClusterPlan, node: &NodePlan) -> Command {
        let mut flags = match &self.draft {
            Some(draft) => Archive::make_flags(draft),
            None => self.archive.use_flags(),
        };
        let logging = node.folder.join(LOGGING);
        flags.push(format!("-Dlog4j2.configurationFile={}", logging.display()));
        let mut arguments = self.java(BROKER, &flags);
        arguments.push(node.folder.join(CONFIGURATION).display().to_string());
        Command { program: self.java.program.clone(), arguments, environment: Vec::new() }
    }

    fn ready(&self) -> Ready {
        Ready::Protocol
    }
}

/// Settings that fit a small cluster which starts often; what a run says comes after them.
fn small_cluster(plan: &ClusterPlan) -> String {
    let copies = plan.brokers().count().min(3);
    let in_sync = copies.min(2);
    let lines = [
        ("group.initial.rebalance.delay.ms", 0),
        ("num.io.threads", 4),
        ("num.network.threads", 2),
        ("num.recovery.threads.per.data.dir", 1),
        ("offsets.topic.num.partitions", 3),
        ("offsets.topic.replication.factor", copies),
        ("transaction.state.log.min.isr", in_sync),
        ("transaction.state.log.num.partitions", 3),
        ("transaction.state.log.replication.factor", copies),
    ];
    let mut text = String::new();
    for (key, value) in lines {
        writeln!(text, "{key}={value}").expect("writing into a string cannot fail");
    }
    text
}

/// Everything to standard output, which the run folder keeps.
fn logging() -> &'static str {
    "status=error\n\
     appender.out.type=Console\n\
     appender.out.name=OUT\n\
     appender.out.layout.type=PatternLayout\n\
     appender.out.layout.pattern=[%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}] %p %m (%c)%n\n\
     rootLogger.level=info\n\
     rootLogger.appenderRef.out.ref=OUT\n"
}

/// The sentence in what the formatter printed: what an exception says, else its last line.
fn complaint(said: &str) -> String {
    let of_exception = said.lines().find_map(|line| {
        let (class, sentence) = line.split_once("Exception: ")?;
        (!class.contains(' ') || class.starts_with("Exception in")).then_some(sentence)
    });
    let last = || said.lines().rfind(|line| !line.trim().is_empty());
    of_exception.or_else(last).unwrap_or("the formatter said nothing").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn the_formatter_s_sentence_is_found() {
        let thrown = "Exception in thread \"main\" org.apache.kafka.common.config.ConfigException: \
                      Invalid value x for configuration num.io.threads\n\tat kafka.Kafka\n";
        assert_eq!(complaint(thrown), "Invalid value x for configuration num.io.threads");
        assert_eq!(complaint("usage: ...\nNo such feature\n\n"), "No such feature");
        assert_eq!(complaint(""), "the formatter said nothing");
    }
}
