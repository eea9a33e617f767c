//! Apache Kafka's jars, the Java that runs them, and what makes its start short.

mod archive;
mod fetch;
mod java;
mod libs;

pub use archive::Archive;
pub use java::Java;
pub use libs::Libs;

/// The version that `--target kafka` means when no folder of jars is named.
pub const DEFAULT_VERSION: &str = "4.3.1";

/// Names a folder that holds Kafka's jars, so that nothing is fetched.
pub const LIBS_VARIABLE: &str = "HIGHWATER_KAFKA_LIBS";

use std::{env, path::PathBuf};

/// Where jars and archives are kept between runs: `$XDG_CACHE_HOME/highwater/kafka`, or the same
/// below `~/.cache`; the temporary folder when there is no home.
fn cache() -> PathBuf {
    let named =
        |variable: &str| env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
    let caches = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    caches.unwrap_or_else(env::temp_dir).join("highwater").join("kafka")
}
