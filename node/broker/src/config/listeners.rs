//! `listeners`, `advertised.listeners` and `controller.quorum.voters`: addresses, read together.

use std::collections::BTreeMap;

use highwater_node_core::types::BrokerId;

use super::{ConfigError, ListenerConfig, NodeConfig};

/// Where a listener without a host is bound: nothing is open to others unless told so.
const LOOPBACK: &str = "127.0.0.1";
const PLAINTEXT: &str = "PLAINTEXT";

/// The values of the properties that are read together.
pub(super) struct Addresses<'a> {
    pub(super) listeners: &'a str,
    pub(super) advertised: Option<&'a str>,
    pub(super) controller_names: &'a str,
    pub(super) protocol_map: &'a str,
    /// True when the file itself has a protocol map.
    pub(super) protocol_map_is_set: bool,
    pub(super) voters: &'a str,
}

impl Addresses<'_> {
    /// Checks them and puts them into the node's settings.
    pub(super) fn apply(&self, node: &mut NodeConfig) -> Result<(), ConfigError> {
        let advertised = parse_all("advertised.listeners", self.advertised.unwrap_or_default())?;
        node.controller_listeners = entries(self.controller_names).map(str::to_owned).collect();
        for (name, host, port) in parse_all("listeners", self.listeners)? {
            self.check_protocol(&name, node)?;
            let told = advertised.iter().find(|(told, _, _)| *told == name);
            let host = if host.is_empty() { LOOPBACK.to_owned() } else { host };
            let (advertised_host, advertised_port) = match told {
                Some((_, host, port)) => (host.clone(), *port),
                None => (host.clone(), port),
            };
            node.listeners.push(ListenerConfig {
                name,
                host,
                port,
                advertised_host,
                advertised_port,
            });
        }
        node.voters = parse_voters(self.voters)?;
        self.check(node, &advertised)
    }

    /// Every listener must speak plaintext: nothing else is built in.
    fn check_protocol(&self, name: &str, node: &NodeConfig) -> Result<(), ConfigError> {
        let reason = match self.protocol_of(name, node) {
            Some(PLAINTEXT) => return Ok(()),
            Some(other) => {
                format!("but listener {name} speaks {other}: only PLAINTEXT is supported")
            }
            None => format!("but listener.security.protocol.map does not say what {name} speaks"),
        };
        Err(ConfigError::value("listeners", self.listeners, reason))
    }

    /// What a listener speaks; none when nothing says it. As in Kafka, names are mapped in upper
    /// case, and controllers' listeners speak plaintext where the file has no map of its own.
    fn protocol_of(&self, name: &str, node: &NodeConfig) -> Option<&str> {
        let mapped = entries(self.protocol_map).filter_map(|entry| entry.split_once(':'));
        let mut same = mapped.filter(|(listener, _)| listener.eq_ignore_ascii_case(name));
        let implied = !self.protocol_map_is_set && node.is_controller_listener(name);
        same.next_back().map(|(_, protocol)| protocol).or(implied.then_some(PLAINTEXT))
    }

    /// A controller serves all of `controller.listener.names`; a broker dials the first of them,
    /// and the protocol map must know each (as in Kafka).
    fn check_controller_names(&self, node: &NodeConfig) -> Result<(), ConfigError> {
        let has = |name: &str| node.listeners.iter().any(|listener| listener.name == name);
        let names = &node.controller_listeners;
        let first = names.first().map(|name| (name, self.protocol_of(name, node)));
        let unmapped = names.iter().find(|name| self.protocol_of(name, node).is_none());
        let reason = match (first, names.iter().find(|name| !has(name)), unmapped) {
            (None, ..) => "but a name is needed".to_owned(),
            (_, Some(name), _) if node.is_controller => format!("but listeners has no {name}"),
            (_, _, Some(name)) => {
                format!("but listener.security.protocol.map does not say what {name} speaks")
            }
            (Some((name, Some(other))), ..) if other != PLAINTEXT => {
                format!("but listener {name} speaks {other}: only PLAINTEXT is supported")
            }
            _ => return Ok(()),
        };
        Err(ConfigError::value("controller.listener.names", self.controller_names, reason))
    }

    fn check(&self, node: &NodeConfig, advertised: &[Address]) -> Result<(), ConfigError> {
        let has = |name: &str| node.listeners.iter().any(|listener| listener.name == name);
        let refused = |reason: String| ConfigError::value("listeners", self.listeners, reason);
        if let Some((name, _, _)) = advertised.iter().find(|(name, _, _)| !has(name)) {
            let text = self.advertised.unwrap_or_default();
            let reason = format!("but listeners has no {name}");
            return Err(ConfigError::value("advertised.listeners", text, reason));
        }
        let for_controllers = |name: &str| node.is_controller_listener(name);
        let name = &node.inter_broker_listener;
        if node.is_broker && (!has(name) || for_controllers(name)) {
            let reason =
                format!("but inter.broker.listener.name needs a listener {name} for brokers");
            return Err(refused(reason));
        }
        if let Some(listener) = node.listeners.iter().find(|l| for_controllers(&l.name))
            && !node.is_controller
        {
            let name = &listener.name;
            return Err(refused(format!("but {name} is for controllers, and this node is none")));
        }
        if let Some(listener) = node.listeners.iter().find(|l| !for_controllers(&l.name))
            && !node.is_broker
        {
            let name = &listener.name;
            return Err(refused(format!("but {name} is for brokers, and this node is none")));
        }
        self.check_controller_names(node)?;
        if node.is_controller && !node.voters.contains_key(&node.node_id) {
            let reason = format!("but controller {} is not among them", node.node_id);
            return Err(ConfigError::value("controller.quorum.voters", self.voters, reason));
        }
        if node.is_controller && node.voters.len() > 1 {
            let reason =
                "but this node cannot elect a leader among several yet: name one".to_owned();
            return Err(ConfigError::value("controller.quorum.voters", self.voters, reason));
        }
        Ok(())
    }
}

/// Name, host and port.
type Address = (String, String, u16);

fn entries(list: &str) -> impl DoubleEndedIterator<Item = &str> {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

fn parse_all(property: &str, list: &str) -> Result<Vec<Address>, ConfigError> {
    let mut addresses: Vec<Address> = Vec::new();
    for entry in entries(list) {
        let address = parse_address(entry).ok_or_else(|| {
            ConfigError::value(property, list, format!("but {entry} is not NAME://host:port"))
        })?;
        if addresses.iter().any(|(name, _, _)| *name == address.0) {
            let reason = format!("which names listener {} twice", address.0);
            return Err(ConfigError::value(property, list, reason));
        }
        addresses.push(address);
    }
    Ok(addresses)
}

fn parse_address(entry: &str) -> Option<Address> {
    let (name, address) = entry.split_once("://")?;
    let (host, port) = parse_host_port(address)?;
    (!name.is_empty()).then(|| (name.to_uppercase(), host.to_owned(), port))
}

/// A host, maybe empty or in brackets, and a port.
fn parse_host_port(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Some((bare, port.parse().ok()?))
}

fn parse_voters(list: &str) -> Result<BTreeMap<BrokerId, String>, ConfigError> {
    let voter = |entry: &str| {
        let (id, address) = entry.split_once('@')?;
        let (host, _) = parse_host_port(address)?;
        let id = id.parse().ok().filter(|id| *id >= 0)?;
        (!host.is_empty()).then(|| (BrokerId(id), address.to_owned()))
    };
    let mut voters = BTreeMap::new();
    for entry in entries(list) {
        let refused = |reason| ConfigError::value("controller.quorum.voters", list, reason);
        let (id, address) =
            voter(entry).ok_or_else(|| refused(format!("but {entry} is not id@host:port")))?;
        if voters.insert(id, address).is_some() {
            return Err(refused(format!("which names voter {id} twice")));
        }
    }
    if voters.is_empty() {
        let what_to_do = "name the controllers, each as id@host:port";
        return Err(ConfigError::Missing { name: "controller.quorum.voters", what_to_do });
    }
    Ok(voters)
}
