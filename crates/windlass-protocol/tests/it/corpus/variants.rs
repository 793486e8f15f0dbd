//! Declarations in the sources.

use std::collections::BTreeSet;
use std::path::Path;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of an enum's variants, in a file of `windlass-types`.
pub(crate) fn of(file: &str, name: &str) -> BTreeSet<String> {
    let source = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../windlass-types/src").join(file));
    let body = source.split_once(&format!("pub enum {name} {{\n")).unwrap_or_else(|| panic!("no {name} in {file}")).1;
    let body = body.split_once("\n}").unwrap().0;
    let indented =
        |line: &str| line.strip_prefix("    ").filter(|rest| rest.starts_with(char::is_uppercase)).map(ident);
    body.lines().filter_map(indented).collect()
}

/// The name that a text begins with.
pub(crate) fn ident(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The types and subtypes of frames that files of this crate name: what stands in
/// `kind: "…"`, `subtype: "…"` and `self.system(at, "…"`.
pub(crate) fn frames(files: &[&str]) -> BTreeSet<String> {
    let marks = ["kind: \"", "subtype: \"", "self.system(at, \"", "Self::error(turns, \""];
    // Parts of frames that have a type of their own.
    let parts = ["message", "content_block_stop", "message_stop"];
    let sources = files.iter().map(|file| read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)));
    let mut found = BTreeSet::new();
    for source in sources {
        for mark in marks {
            found.extend(source.split(mark).skip(1).map(ident));
        }
    }
    found.retain(|name| !name.is_empty() && !parts.contains(&name.as_str()));
    found
}
