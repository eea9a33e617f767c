//! The table of field kinds that the guard walks: Kafka's schemas, reduced to how bytes follow.
//!
//! `schema/messages.txt` is written by `schema/generate.py`, which says what its notation means.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::messages::ApiKey;

/// All messages, read once.
static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(TEXT));

const TEXT: &str = include_str!("../../schema/messages.txt");

/// How the bytes of one value follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// So many bytes.
    Fixed(usize),
    /// A length, then text.
    Text,
    /// A length, then bytes; also records.
    Bytes,
    /// A count, then as many values.
    Array(Box<Kind>),
    /// Fields.
    Struct {
        /// True when a byte before it says whether it is there.
        nullable: bool,
        /// Its fields, those with a tag last.
        fields: Vec<Field>,
    },
}

/// One field of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) kind: Kind,
    /// The first and the last version that have it.
    pub(crate) versions: (i16, i16),
    pub(crate) tag: Option<u32>,
}

/// One request, response or record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The first version with compact lengths and tagged fields.
    pub(crate) flexible_from: i16,
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, Default)]
struct Table {
    requests: BTreeMap<i16, Message>,
    responses: BTreeMap<i16, Message>,
    data: BTreeMap<&'static str, Message>,
}

/// The schema of an API's request.
pub(crate) fn request(api: ApiKey) -> &'static Message {
    TABLE.requests.get(&(api as i16)).expect("the table has every API of the codec library")
}

/// The schema of an API's response.
pub(crate) fn response(api: ApiKey) -> &'static Message {
    TABLE.responses.get(&(api as i16)).expect("the table has every API of the codec library")
}

/// The schema of a message that is neither.
pub(crate) fn data(name: &str) -> &'static Message {
    TABLE.data.get(name).expect("the table has every control record")
}

impl Field {
    pub(crate) fn is_in(&self, version: i16) -> bool {
        self.versions.0 <= version && version <= self.versions.1
    }
}

impl Table {
    fn parse(text: &'static str) -> Table {
        let mut table = Table::default();
        for line in text.lines() {
            let mut words = line.splitn(5, ' ');
            let mut next = || words.next().unwrap_or_default();
            let (what, key, name, flexible, fields) = (next(), next(), next(), next(), next());
            let message = Message {
                flexible_from: flexible.parse().unwrap_or(i16::MAX),
                fields: Notation { rest: fields }.fields(),
            };
            let key = || key.parse().expect("a request or response has a key");
            match what {
                "request" => table.requests.insert(key(), message),
                "response" => table.responses.insert(key(), message),
                _ => table.data.insert(name, message),
            };
        }
        table
    }
}

/// A reader of the notation. The table is ours and tests read it whole: a mistake in it panics.
struct Notation<'a> {
    rest: &'a str,
}

impl Notation<'_> {
    /// Fields up to the end or a closing brace.
    fn fields(&mut self) -> Vec<Field> {
        let mut fields = Vec::new();
        while !self.rest.is_empty() && !self.take("}") {
            fields.push(self.field());
            self.take(" ");
        }
        fields
    }

    fn field(&mut self) -> Field {
        let (_name, rest) = self.rest.split_once(':').expect("a field has a name and a kind");
        self.rest = rest;
        let kind = self.kind();
        let versions = if self.take("@") { self.versions() } else { (0, i16::MAX) };
        let tag = self.take("#").then(|| self.number().expect("a tag is a number") as u32);
        Field { kind, versions, tag }
    }

    fn kind(&mut self) -> Kind {
        if self.take("[") {
            let item = self.kind();
            assert!(self.take("]"), "an array ends");
            Kind::Array(Box::new(item))
        } else if self.take("?{") {
            Kind::Struct { nullable: true, fields: self.fields() }
        } else if self.take("{") {
            Kind::Struct { nullable: false, fields: self.fields() }
        } else if self.take("str") {
            Kind::Text
        } else if self.take("bytes") {
            Kind::Bytes
        } else {
            Kind::Fixed(self.number().expect("a kind is known") as usize)
        }
    }

    fn versions(&mut self) -> (i16, i16) {
        let from = self.number().expect("a range begins with a version");
        if !self.take("-") {
            return (from, from);
        }
        (from, self.number().unwrap_or(i16::MAX))
    }

    fn number(&mut self) -> Option<i16> {
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().ok()
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}
