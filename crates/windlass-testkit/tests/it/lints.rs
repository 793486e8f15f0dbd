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
