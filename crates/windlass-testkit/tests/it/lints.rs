//! Lints hold everywhere, and code that the compiler cannot check is in one crate.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::budgets::{code, crates, sources};

/// The crate that has unsafe code, its files, and the number of blocks in each. The reason is given at each block.
const UNSAFE: (&str, [(&str, usize); 3]) =
    ("windlass-process", [("keeper/keeper.rs", 8), ("src/spawn.rs", 3), ("src/unix.rs", 1)]);

/// Returns the lines of a manifest's section, without comments.
fn section(manifest: &str, name: &str) -> Vec<String> {
    let behind = manifest.split(&format!("\n[{name}]\n")).nth(1).unwrap_or_else(|| panic!("no section {name}"));
    let lines = behind.lines().take_while(|line| !line.starts_with('['));
    lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

fn manifest(folder: &Path) -> String {
    fs::read_to_string(folder.join("Cargo.toml")).unwrap()
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    let workspace = manifest(&crates().join(".."));
    let forbidden = "unsafe_code = \"forbid\"";
    assert!(section(&workspace, "workspace.lints.rust").iter().any(|line| line == forbidden));
    // Neither is published; they have fewer lints of their own.
    for folder in ["benches", "examples"] {
        let manifest = manifest(&crates().join("..").join(folder));
        assert!(section(&manifest, "lints.rust").iter().any(|line| line == forbidden), "{folder}");
    }
    for folder in fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path()) {
        let manifest = manifest(&folder);
        if folder.file_name().unwrap() != UNSAFE.0 {
            assert_eq!(section(&manifest, "lints"), ["workspace = true"], "{}", folder.display());
            continue;
        }
        for part in ["rust", "clippy"] {
            let of_workspace = section(&workspace, &format!("workspace.lints.{part}"));
            let but_one = of_workspace.iter().map(|line| line.replace(forbidden, "unsafe_code = \"deny\""));
            assert_eq!(section(&manifest, &format!("lints.{part}")), but_one.collect::<Vec<_>>());
        }
    }
}

/// The tools reach files and programs through ports alone: their crate depends on nothing that has others, and clippy
/// refuses those of the standard library, without an exception.
#[test]
fn tools_have_no_way_around_the_ports() {
    let workspace = fs::read_to_string(crates().join("../clippy.toml")).unwrap();
    let tools = crates().join("windlass-builtin-tools");
    let own = fs::read_to_string(tools.join("clippy.toml")).unwrap();
    for line in workspace.lines().filter(|line| !line.starts_with(']')) {
        assert!(own.lines().any(|own| own == line), "clippy.toml of windlass-builtin-tools lacks {line}");
    }
    for banned in ["std::fs::read", "std::fs::File::open", "std::path::Path::is_file", "std::process::Command::new"] {
        assert!(own.contains(&format!("path = \"{banned}\"")), "{banned}");
    }
    let manifest = manifest(&tools);
    let dependencies = section(&manifest, "dependencies");
    for banned in ["rustix", "windlass-process", "windlass-local", "tempfile"] {
        assert!(!dependencies.iter().any(|line| line.starts_with(banned)), "{banned}");
    }
    let tokio = dependencies.iter().find(|line| line.starts_with("tokio ")).unwrap();
    assert!(
        !["fs", "net", "process", "full"].iter().any(|feature| tokio.contains(&format!("\"{feature}\""))),
        "{tokio}"
    );
    for file in sources(&tools.join("src")) {
        let allowed = code(&fs::read_to_string(&file).unwrap()).matches("clippy::disallowed_methods").count();
        let clocks = ["lib.rs", "place.rs", "port_search.rs"].iter().any(|name| file.ends_with(name));
        assert!(allowed == 0 || clocks, "{}", file.display());
    }
}

#[test]
fn the_unsafe_blocks_are_known() {
    let folder = crates().join(UNSAFE.0);
    let mut blocks = BTreeMap::new();
    for file in ["keeper", "src", "tests"].iter().flat_map(|part| sources(&folder.join(part))) {
        let text = fs::read_to_string(&file).unwrap();
        let found = code(&text).matches("unsafe {").count();
        // Each block says why it is sound, and no function is unsafe as a whole.
        assert_eq!(text.matches("// SAFETY: ").count(), found, "{}", file.display());
        assert!(!code(&text).contains("unsafe fn"), "{}", file.display());
        if found > 0 {
            blocks.insert(file.strip_prefix(&folder).unwrap().to_owned(), found);
        }
    }
    assert_eq!(blocks, BTreeMap::from(UNSAFE.1.map(|(file, count)| (file.into(), count))));
}
