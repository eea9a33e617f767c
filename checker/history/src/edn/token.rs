//! What single tokens of EDN are: where they end, numbers, strings' escapes.

use std::borrow::Cow;

use super::parse::Edn;

/// Whether a byte stands between forms.
pub(super) const fn is_blank(byte: u8) -> bool {
    byte <= b' ' || byte == b','
}

/// Whether a byte ends a token.
pub(super) fn ends_token(byte: u8) -> bool {
    ENDS_TOKEN[usize::from(byte)]
}

/// Looked up, since every byte of a history is asked.
static ENDS_TOKEN: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        ends[byte] = is_blank(byte as u8)
            || matches!(byte as u8, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b';');
        byte += 1;
    }
    ends
};

/// The number that a token is, as far as 64 bits hold it; what they do not is its text.
pub(super) fn number(word: &str) -> Option<Edn<'_>> {
    let whole = word.strip_suffix('N').unwrap_or(word);
    if let Ok(number) = whole.parse() {
        return Some(Edn::Int(number));
    }
    if let Ok(number) = whole.parse() {
        return Some(Edn::Big(number));
    }
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = word.trim_start_matches(['+', '-']);
    // So Clojure prints where an object is.
    if unsigned.starts_with("0x") {
        return Some(Edn::Text(word.into()));
    }
    if unsigned.split_once('/').is_some_and(|(over, under)| is_digits(over) && is_digits(under)) {
        return Some(Edn::Text(word.into()));
    }
    let number: f64 = whole.strip_suffix('M').unwrap_or(whole).parse().ok()?;
    Some(if number.is_finite() { Edn::Float(number) } else { Edn::Text(word.into()) })
}

/// A string without its escapes, which are those that Clojure prints or reads; or the wrong one.
pub(super) fn unescaped(raw: &str) -> Result<String, String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let escape = after.chars().next().unwrap_or(' ');
        rest = &after[escape.len_utf8().min(after.len())..];
        text.push(match escape {
            't' => '\t',
            'r' => '\r',
            'n' => '\n',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '\\' | '"' => escape,
            'u' => {
                let digits = rest.get(..4).ok_or("u")?;
                rest = &rest[4..];
                let code = u32::from_str_radix(digits, 16).map_err(|_| format!("u{digits}"))?;
                // Half of a pair stands for no character.
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => return Err(other.to_string()),
        });
    }
    text.push_str(rest);
    Ok(text)
}

/// As much of a text as a message shows.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}
