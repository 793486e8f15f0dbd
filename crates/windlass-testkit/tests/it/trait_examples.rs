//! Each public trait of the library has an example of its implementation or use.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose traits programs do not reach through the facade.
const OTHERS: [&str; 3] = ["windlass-cli", "windlass-protocol", "windlass-testkit"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Returns the public traits of a file whose documentation has no listing.
fn without_example(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = line.strip_prefix("pub trait ") else { continue };
        // Up to the end of the previous item.
        let above = lines[..at].iter().rev().take_while(|line| !line.is_empty() && !matches!(**line, "}" | "};"));
        if !above.into_iter().any(|line| line.starts_with("/// ```")) {
            found.push(name.split([':', '<', ' ', '{']).next().unwrap_or(name));
        }
    }
    found
}

#[test]
fn a_trait_without_a_listing_is_found() {
    assert_eq!(
        without_example("/// A.\n/// ```\npub trait A {}\n\n/// B.\n#[async_trait]\npub trait B: Send {"),
        ["B"]
    );
}

#[test]
fn each_public_trait_has_an_example() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let (mut seen, mut missing) = (0, Vec::new());
    for folder in fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()) {
        if OTHERS.iter().any(|other| folder.ends_with(other)) || !folder.join("src").is_dir() {
            continue;
        }
        for path in sources(&folder.join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            seen += text.matches("pub trait ").count();
            let names = without_example(&text).into_iter().filter(|name| *name != "Sealed");
            missing.extend(names.map(|name| format!("{name} in {}", path.display())));
        }
    }
    assert!(seen > 20, "{seen}");
    assert!(missing.is_empty(), "{missing:#?}");
}
