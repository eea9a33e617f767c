//! A directed link: from whom bytes flow to whom.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cluster::NodeId;

/// One end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Endpoint {
    /// A node of the cluster.
    Node(NodeId),
    /// All clients together.
    Clients,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => write!(f, "{node}"),
            Self::Clients => write!(f, "clients"),
        }
    }
}

/// The direction in which bytes flow between two ends, whichever of them opened the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    /// Who sends the bytes.
    pub from: Endpoint,
    /// Who receives them.
    pub to: Endpoint,
}

impl Link {
    /// The link between two nodes.
    #[must_use]
    pub fn nodes(from: NodeId, to: NodeId) -> Self {
        Self { from: Endpoint::Node(from), to: Endpoint::Node(to) }
    }

    /// The link from the clients to a node.
    #[must_use]
    pub fn to_node(node: NodeId) -> Self {
        Self { from: Endpoint::Clients, to: Endpoint::Node(node) }
    }

    /// The link in the other direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}
