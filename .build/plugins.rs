// Turns a folder of plug-in files into a table: a plug-in is one file, and no list is edited.
//
// Included by the build scripts. For every `src/FOLDER/NAME.rs` but `mod.rs`, the file
// `OUT_DIR/FOLDER_table.rs` declares the module and a row of `TABLE`: name (the file's, with `-`
// for `_`), the file's first doc sentence, and its `ENTRY`. A file without an `ENTRY` does not
// compile.

use std::{env, fs, path::Path};

/// Writes the table of one plug-in folder; `folder` is relative to `src`.
fn plugin_table(folder: &str) {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let path = Path::new(&root).join("src").join(folder);
    println!("cargo::rerun-if-changed={}", path.display());
    let mut names: Vec<String> = fs::read_dir(&path)
        .expect("the plug-in folder can be listed")
        .map(|entry| entry.expect("a folder entry can be read").file_name())
        .filter_map(|name| name.to_str().and_then(|n| n.strip_suffix(".rs")).map(str::to_owned))
        .filter(|name| name != "mod" && name != "tests")
        .collect();
    names.sort();
    let mut modules = String::new();
    let mut rows = String::new();
    for name in &names {
        let file = path.join(format!("{name}.rs"));
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read_to_string(&file).expect("a plug-in file can be read");
        let summary = first_sentence(&text)
            .unwrap_or_else(|| panic!("{name}.rs: the first line must begin a `//!` sentence"));
        modules += &format!("#[path = {:?}]\npub mod {name};\n", file.display().to_string());
        rows += &format!("    ({:?}, {summary:?}, &{name}::ENTRY),\n", name.replace('_', "-"));
    }
    let table = format!(
        "{modules}\n/// Every plug-in of this folder by name, with its first doc sentence.\n\
         pub static TABLE: &[(&str, &str, &Entry)] = &[\n{rows}];\n"
    );
    let target = Path::new(&out).join(format!("{}_table.rs", folder.replace('/', "_")));
    fs::write(target, table).expect("the table can be written");
}

/// The doc lines that a file begins with, up to the one that ends a sentence.
fn first_sentence(text: &str) -> Option<String> {
    let mut sentence = Vec::new();
    for line in text.lines() {
        sentence.push(line.strip_prefix("//! ")?);
        if line.ends_with('.') {
            return Some(sentence.join(" "));
        }
    }
    None
}
