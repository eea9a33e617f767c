//! The features that this node can work at, as it tells controllers and clients.

/// One feature and the levels that we implement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Kafka's name.
    pub name: &'static str,
    /// The lowest level; 0 is off.
    pub min: i16,
    /// The highest level.
    pub max: i16,
}

/// The lowest and highest `metadata.version` that we can read: Kafka 3.3-IV3 to 4.3-IV0.
pub const METADATA_VERSION: Feature = Feature { name: "metadata.version", min: 7, max: 30 };

/// All of them.
pub const SUPPORTED: &[Feature] = &[METADATA_VERSION];
