//! From a record's list of fields to its type, its writer and its reader.

use super::RecordError;
use crate::varint;

/// What the fields of one kind of record can do.
pub(super) trait RecordBody: Sized {
    /// Its number in the log.
    const KEY: u32;
    /// Kafka's name for it.
    const NAME: &'static str;
    /// The highest version that we know.
    const MAX_VERSION: u32;

    /// The lowest version that can express this record.
    fn version(&self) -> u32;

    /// Appends the fields of this version.
    fn put(&self, version: u32, out: &mut Vec<u8>);

    /// Reads the fields of this version.
    fn get(version: u32, bytes: &mut &[u8]) -> Result<Self, RecordError>;

    /// Reads the fields, if the version is known.
    fn read(version: u32, bytes: &mut &[u8]) -> Result<Self, RecordError> {
        if version > Self::MAX_VERSION {
            return Err(RecordError::Version { key: Self::KEY, version });
        }
        Self::get(version, bytes)
    }
}

/// Appends a block of tagged fields, given in ascending order of their tags.
pub(super) fn put_tagged(fields: &[(u32, Vec<u8>)], out: &mut Vec<u8>) {
    debug_assert!(fields.is_sorted_by_key(|(tag, _)| *tag), "tags ascend");
    varint::put(out, fields.len() as u32);
    for (tag, value) in fields {
        varint::put(out, *tag);
        varint::put(out, value.len() as u32);
        out.extend_from_slice(value);
    }
}

/// Reads a block of tagged fields; each is handed over with its tag.
pub(super) fn get_tagged(
    bytes: &mut &[u8],
    mut each: impl FnMut(u32, &[u8]) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let count = varint::get(bytes).ok_or(RecordError::Truncated)?;
    for _ in 0..count {
        let tag = varint::get(bytes).ok_or(RecordError::Truncated)?;
        let length = varint::get(bytes).ok_or(RecordError::Truncated)? as usize;
        let (value, rest) = bytes.split_at_checked(length).ok_or(RecordError::Truncated)?;
        *bytes = rest;
        each(tag, value)?;
    }
    Ok(())
}

/// Declares a record: `Name = key, "KAFKA_NAME", up to version { fields } tagged { fields }`.
///
/// Each field names the version that brought it; a tagged one also its tag and its default, with
/// which it is left out. `version()` is the lowest that brings all fields that differ from theirs.
macro_rules! record {
    (
        $(#[$doc:meta])*
        $name:ident = $key:literal, $kafka:literal, up to $max:literal {
            $($(#[$fdoc:meta])* $field:ident: $ty:ty, since $since:literal;)*
        } tagged {
            $($(#[$tdoc:meta])* $tfield:ident: $tty:ty = $default:expr, tag $tag:literal,
                since $tsince:literal;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $ty,)*
            $($(#[$tdoc])* pub $tfield: $tty,)*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: Default::default(),)* $($tfield: $default,)* }
            }
        }

        #[allow(unused_comparisons, unused_variables, unused_mut)] // where a record has few fields
        impl RecordBody for $name {
            const KEY: u32 = $key;
            const NAME: &'static str = $kafka;
            const MAX_VERSION: u32 = $max;

            fn version(&self) -> u32 {
                let default = $name::default();
                let mut version = 0;
                $(if self.$field != default.$field { version = version.max($since); })*
                $(if self.$tfield != default.$tfield { version = version.max($tsince); })*
                version
            }

            fn put(&self, version: u32, out: &mut Vec<u8>) {
                $(if version >= $since { self.$field.put(out); })*
                let default = $name::default();
                let mut tagged = Vec::new();
                $(if self.$tfield != default.$tfield {
                    debug_assert!(version >= $tsince, "a record's version brings its fields");
                    let mut value = Vec::new();
                    self.$tfield.put(&mut value);
                    tagged.push(($tag, value));
                })*
                put_tagged(&tagged, out);
            }

            fn get(version: u32, bytes: &mut &[u8]) -> Result<$name, RecordError> {
                let mut record = $name::default();
                $(if version >= $since { record.$field = Field::get(bytes)?; })*
                get_tagged(bytes, |tag, mut value| {
                    match tag {
                        $($tag => record.$tfield = Field::get(&mut value)?,)*
                        _ => {}
                    }
                    Ok(())
                })?;
                Ok(record)
            }
        }
    };
}

/// Declares a structure within a record; it has no tagged fields.
macro_rules! part {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty;)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $ty,)*
        }

        impl Field for $name {
            const MIN_LEN: usize = 1 $(+ <$ty as Field>::MIN_LEN)*;

            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
                put_tagged(&[], out);
            }

            fn get(bytes: &mut &[u8]) -> Result<$name, RecordError> {
                let part = $name { $($field: Field::get(bytes)?,)* };
                get_tagged(bytes, |_, _| Ok(()))?;
                Ok(part)
            }
        }
    };
}

pub(super) use {part, record};
