//! Kafka's text form of a 128-bit id: URL-safe base64 of its bytes, 22 characters.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The id's text.
pub fn format(id: u128) -> String {
    URL_SAFE_NO_PAD.encode(id.to_be_bytes())
}

/// The id that a text stands for.
pub fn parse(text: &str) -> Option<u128> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    Some(u128::from_be_bytes(bytes.try_into().ok()?))
}
