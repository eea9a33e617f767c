//! Looks into pages: nesting of tags, attributes, the text that a reader sees.

use std::{env, fs, path::Path};

/// Elements that have no end tag.
const VOID: [&str; 2] = ["meta", "br"];

/// Checks that each tag is closed in order. Text and attributes are escaped by then, so `<` and `>`
/// only stand around tags, outside of style and script.
pub fn check_nesting(html: &str) -> Result<(), String> {
    let mut open = Vec::new();
    for tag in tags(html) {
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            match open.pop() {
                Some(last) if last == name => {}
                last => return Err(format!("</{name}> closes {last:?}")),
            }
        } else if !VOID.contains(&name) && !tag.starts_with('!') {
            open.push(name);
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("never closed: {open:?}")) }
}

/// The values of an attribute, in order.
pub fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    let of_tag = |tag: &'a str| {
        let rest = &tag[tag.find(&start)? + start.len()..];
        Some(&rest[..rest.find('"')?])
    };
    tags(html).filter_map(of_tag).collect()
}

/// What a reader sees, one element a line; style, script, drawings and the footer are left out.
pub fn text(html: &str) -> String {
    let mut out = String::new();
    let mut hidden = 0_usize;
    for piece in html.split('<') {
        let Some((tag, text)) = piece.split_once('>') else { continue };
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        if ["style", "script", "svg", "footer", "head"].contains(&name) {
            hidden = if tag.starts_with('/') { hidden - 1 } else { hidden + 1 };
        }
        let text = text.trim();
        if hidden == 0 && !text.is_empty() {
            let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
            out += &text.replace("&quot;", "\"");
            let inline = ["a", "/a", "span", "/span", "td", "th", "dt"].contains(&name);
            out.push(if inline { '\t' } else { '\n' });
        }
        if name == "tr" && hidden == 0 && !out.ends_with('\n') {
            out.push('\n');
        }
    }
    out.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Compares with `testdata/NAME.txt`; `UPDATE=1` rewrites it.
pub fn check_golden(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/{name}.txt"));
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, text).unwrap();
    }
    let wanted = fs::read_to_string(&file).unwrap_or_default();
    assert!(text == wanted, "{} differs; look, then rewrite it with UPDATE=1", file.display());
}

/// The tags of a page, without their brackets; what stands in style and script is skipped.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).filter_map(|piece| piece.split_once('>')).map(|(tag, _)| tag)
}
