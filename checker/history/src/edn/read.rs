//! An operation of a Jepsen history as an event.
//!
//! Fields of ours that Jepsen does not have are keywords in the namespace `highwater`. A field of
//! Jepsen's, or of a client's, that has the name of one of those is kept under `jepsen/NAME`.

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_json::Value;

use super::{
    json::{field_name, to_json},
    parse::Edn,
    token::shortened,
    value::{count, key, keys, list, name, offset, ops, pairs},
};
use crate::{
    event::{
        Event, EventError, EventKind, EventValue, Function, Process, Rebalance, value::ValueOf,
    },
    unique::TWICE,
};

/// The namespace of fields that are ours.
pub(super) const OURS: &str = "highwater/";
/// The namespace of fields that have the name of one of ours and are not.
pub(super) const THEIRS: &str = "jepsen/";
/// Fields of ours that Jepsen does not have.
pub(super) const NAMES: [&str; 7] =
    ["node", "errors", "attempts", "id", "leader_epochs", "payload_errors", "intended"];

/// What an event needs, as far as it has been read.
#[derive(Default)]
struct Head<'a> {
    index: Option<u64>,
    time: Option<u64>,
    process: Option<Process>,
    kind: Option<EventKind>,
    f: Option<Function>,
    /// Its shape is decided by process and function, which may stand behind it.
    value: Option<Edn<'a>>,
    seek_to_beginning: Option<bool>,
}

/// The event that a form says. One without an index or a time has its position for that.
pub(super) fn event(form: Edn<'_>, position: u64) -> Result<Event, String> {
    let Edn::Map(fields) = form else {
        return Err("an operation was expected, a map such as {:index 0, ...}".to_owned());
    };
    let mut head = Head::default();
    let mut event = Event::new(0, Process::Harness, EventKind::Info, Function::Open);
    for (name, said) in fields {
        let ours = match &name {
            Edn::Word(name) => name.strip_prefix(OURS).filter(|name| NAMES.contains(name)),
            _ => None,
        };
        let at_field = |name: &str, why| format!("field `{}`: {why}", shortened(name));
        match ours {
            Some(name) => our_field(&mut event, name, said).map_err(|why| at_field(name, why))?,
            None => {
                let name = field_name(name);
                field(&mut head, &mut event, &name, said).map_err(|why| at_field(&name, why))?;
            }
        }
    }
    finish(head, event, position)
}

fn field<'a>(
    head: &mut Head<'a>,
    event: &mut Event,
    name: &str,
    said: Edn<'a>,
) -> Result<(), String> {
    match name {
        "index" => once(&mut head.index, position(&said)?),
        "time" => once(&mut head.time, position(&said)?),
        "process" => once(&mut head.process, Some(process(&said)?)),
        "type" => once(&mut head.kind, Some(kind(&said)?)),
        "f" => once(&mut head.f, Some(Function::from(self::name(&said)?.as_str()))),
        "value" => once(&mut head.value, Some(said)),
        "error" => once(&mut event.error, error(said)?),
        "rebalance-log" => once(&mut event.rebalance_log, rebalances(said)?),
        "seek-to-beginning?" => once(
            &mut head.seek_to_beginning,
            match said {
                Edn::Nil => None,
                Edn::Bool(is) => Some(is),
                _ => return Err("expected true or false".to_owned()),
            },
        ),
        _ => {
            let name = match NAMES.contains(&name) {
                true => format!("{THEIRS}{name}"),
                false => name.to_owned(),
            };
            if event.extra.contains_key(&name) {
                return Err(TWICE.to_owned());
            }
            event.extra.insert(name, to_json(said)?);
            Ok(())
        }
    }
}

fn our_field(event: &mut Event, name: &str, said: Edn<'_>) -> Result<(), String> {
    match name {
        "node" => once(&mut event.node, Some(of_json(said)?)),
        "errors" => once(&mut event.errors, Some(of_json(said)?)),
        "attempts" => once(&mut event.attempts, Some(of_json(said)?)),
        "id" => once(&mut event.id, Some(of_json(said)?)),
        "leader_epochs" => {
            let runs = pairs(&said, |runs| of_json(runs.clone()))?;
            once(&mut event.leader_epochs, Some(runs))
        }
        "payload_errors" => once(&mut event.payload_errors, Some(of_json(said)?)),
        _ => once(&mut event.intended, Some(count(&said)?)),
    }
}

fn of_json<T: DeserializeOwned>(said: Edn<'_>) -> Result<T, String> {
    serde_json::from_value(to_json(said)?).map_err(|error| error.to_string())
}

/// Keeps what a field says, unless it stood there before.
fn once<T>(field: &mut Option<T>, said: Option<T>) -> Result<(), String> {
    if field.is_some() {
        return Err(TWICE.to_owned());
    }
    *field = said;
    Ok(())
}

/// An index or time; Jepsen has nil or -1 where it knows none.
fn position(said: &Edn<'_>) -> Result<Option<u64>, String> {
    match said {
        Edn::Nil | Edn::Int(-1) => Ok(None),
        said => count(said).map(Some),
    }
}

fn process(said: &Edn<'_>) -> Result<Process, String> {
    if let Edn::Int(_) | Edn::Big(_) = said {
        return count(said).map(Process::Client);
    }
    let name = name(said)?;
    Ok(match name.as_str() {
        "nemesis" => Process::Nemesis,
        "harness" => Process::Harness,
        _ => Process::Other(name),
    })
}

fn kind(said: &Edn<'_>) -> Result<EventKind, String> {
    Ok(match name(said)?.as_str() {
        "invoke" => EventKind::Invoke,
        "ok" => EventKind::Ok,
        "fail" => EventKind::Fail,
        "info" => EventKind::Info,
        other => {
            let other = shortened(other);
            return Err(format!("unknown type {other:?}, expected :invoke, :ok, :fail or :info"));
        }
    })
}

/// An error is a code, a list whose first is the code, or a map with `:code`.
fn error(said: Edn<'_>) -> Result<Option<EventError>, String> {
    const REST: &str = "said";
    let code = |said: &Edn<'_>| match said {
        Edn::Word(name) => Some(EventError::code(*name)),
        Edn::Text(text) => Some(EventError::code(text.as_ref())),
        _ => None,
    };
    match said {
        Edn::Nil => Ok(None),
        Edn::List(mut parts) if parts.first().is_some_and(|first| code(first).is_some()) => {
            let rest = parts.split_off(1);
            let mut error = code(&parts[0]).expect("the first part is a code");
            error.extra.insert(REST.to_owned(), to_json(Edn::List(rest))?);
            Ok(Some(error))
        }
        said => match code(&said) {
            Some(error) => Ok(Some(error)),
            None => of_json(said).map(Some),
        },
    }
}

fn rebalances(said: Edn<'_>) -> Result<Option<Vec<Rebalance>>, String> {
    if said == Edn::Nil {
        return Ok(None);
    }
    let Edn::List(moves) = said else { return list(&said, "rebalances").map(|_| None) };
    let moves = moves.into_iter().map(rebalance).collect::<Result<_, _>>()?;
    Ok(Some(moves))
}

fn rebalance(moved: Edn<'_>) -> Result<Rebalance, String> {
    let Edn::Map(fields) = moved else {
        return Err("a rebalance is a map with :keys".to_owned());
    };
    let (named, rest) =
        fields.into_iter().partition::<Vec<_>, _>(|(name, _)| matches!(name, Edn::Word("keys")));
    let [(_, moved)] = named.as_slice() else {
        return Err("a rebalance names its :keys once".to_owned());
    };
    let keys = match moved {
        Edn::Nil => Vec::new(),
        moved => list(moved, "keys")?.iter().map(key).collect::<Result<_, _>>()?,
    };
    match to_json(Edn::Map(rest))? {
        Value::Object(extra) => Ok(Rebalance { keys, extra }),
        _ => unreachable!("a map is a JSON object"),
    }
}

fn finish(head: Head<'_>, mut event: Event, position: u64) -> Result<Event, String> {
    let missing = |name| format!("field `{name}`: missing");
    event.index = head.index.unwrap_or(position);
    event.time = head.time.unwrap_or(position);
    event.process = head.process.ok_or_else(|| missing("process"))?;
    event.kind = head.kind.ok_or_else(|| missing("type"))?;
    event.f = head.f.ok_or_else(|| missing("f"))?;
    event.seek_to_beginning = head.seek_to_beginning.unwrap_or(false);
    event.value = match head.value {
        None | Some(Edn::Nil) => EventValue::None,
        Some(said) => {
            value(&event.process, &event.f, said).map_err(|why| format!("field `value`: {why}"))?
        }
    };
    Ok(event)
}

fn value(process: &Process, f: &Function, said: Edn<'_>) -> Result<EventValue, String> {
    let is_client = matches!(process, Process::Client(_));
    match f {
        Function::Send | Function::Poll | Function::Txn if is_client => {
            ops(&said).map(EventValue::Ops)
        }
        Function::Assign | Function::Subscribe if is_client => keys(&said).map(EventValue::Keys),
        Function::Committed | Function::EndOffsets if is_client => match said {
            Edn::Map(_) => pairs(&said, offset).map(EventValue::Offsets),
            _ => keys(&said).map(EventValue::Keys),
        },
        Function::Commit if is_client => pairs(&said, offset).map(EventValue::Offsets),
        _ => ValueOf { process, f }.deserialize(to_json(said)?).map_err(|error| error.to_string()),
    }
}
