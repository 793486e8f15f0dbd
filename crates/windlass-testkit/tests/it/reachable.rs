//! Names that programs use are reachable through the modules of the facade, not only through `windlass::crates`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Returns the names in all `pub use` of a file: for `pub use a::{B, c as d};` these are `B` and `d`.
fn exported(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in text.split("pub use ").skip(1) {
        let Some((statement, _)) = statement.split_once(';') else { continue };
        let list = statement.split_once('{').map_or(statement, |(_, list)| list.trim_end().trim_end_matches('}'));
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let name = item.rsplit(" as ").next().unwrap_or(item);
            names.insert(name.rsplit("::").next().unwrap_or(name).to_owned());
        }
    }
    names
}

fn facade() -> BTreeSet<String> {
    let modules = ["event", "hook", "mcp", "permission", "project", "provider", "session", "store", "testing", "tool"];
    let read = |module| fs::read_to_string(crates().join(format!("windlass/src/{module}.rs"))).unwrap();
    modules.into_iter().flat_map(|module| exported(&read(module))).collect()
}

#[test]
fn names_are_read_from_lists_and_single_uses() {
    let names = exported("pub use a::{B, c as d,\n    e::F};\npub use g::H;\nuse i::J;");
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["B", "F", "H", "d"]);
}

/// The data of windlass is in the signatures of all ports.
#[test]
fn all_data_types_are_in_a_module_of_the_facade() {
    let types = fs::read_to_string(crates().join("windlass-types/src/lib.rs")).unwrap();
    let facade = facade();
    let missing: Vec<_> = exported(&types).into_iter().filter(|name| !facade.contains(name)).collect();
    assert!(missing.is_empty(), "in no module of the facade: {missing:?}");
}

/// A port that is exported whole also exports all names of its signatures.
#[test]
fn ports_are_exported_whole() {
    for (module, port) in [("tool", "windlass_tool"), ("hook", "windlass_hook"), ("store", "windlass_session")] {
        let text = fs::read_to_string(crates().join(format!("windlass/src/{module}.rs"))).unwrap();
        assert!(text.contains(&format!("pub use {port}::*;")), "{module} does not export {port}");
    }
}

/// The root is for names that nine of ten programs use. Everything else is in the module of its part.
#[test]
fn the_root_is_small() {
    let root = exported(&fs::read_to_string(crates().join("windlass/src/lib.rs")).unwrap());
    // Names that `crates` re-exports under other names are not part of the root.
    let names: Vec<_> = root.iter().filter(|name| !crates().join(format!("windlass-{name}")).is_dir()).collect();
    assert!(names.len() <= 60, "{} names at the root: {names:?}", names.len());
    assert!(names.iter().any(|name| *name == "query"), "{names:?}");
}

#[test]
fn programs_of_the_examples_need_no_internal_paths() {
    let examples = crates().join("../examples");
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains("windlass::crates"), "{} names internal crates", path.display());
        }
    }
}
