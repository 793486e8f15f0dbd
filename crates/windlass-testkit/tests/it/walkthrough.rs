//! References of the documents to the code are valid.

use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Returns the links of a page: the shown text and the target.
fn links(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split('[').skip(1).filter_map(|rest| {
        let (shown, rest) = rest.split_once("](")?;
        let (target, _) = rest.split_once(')')?;
        (!shown.contains(['\n', ']']) && !target.contains("://")).then_some((shown, target))
    })
}

/// `true` if a file defines an item, a method or a variant of this name.
fn defines(source: &str, name: &str) -> bool {
    source.lines().map(str::trim).any(|line| {
        let words: Vec<&str> =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
        let keyword = |word: &str| ["fn", "struct", "enum", "trait", "type", "mod"].contains(&word);
        let is_item = words.windows(2).any(|pair| matches!(pair, [first, second] if keyword(first) && *second == name));
        let is_variant = name.starts_with(char::is_uppercase) && words.first() == Some(&name) && !line.contains("::");
        is_item || is_variant
    })
}

#[test]
fn what_the_pages_lead_to_is_there() {
    let mut found = Vec::new();
    pages(&docs(), &mut found);
    let (mut files, mut names) = (0, 0);
    for page in found {
        let text = std::fs::read_to_string(&page).unwrap();
        for (shown, target) in links(&text) {
            let (file, _) = target.split_once('#').unwrap_or((target, ""));
            if file.is_empty() {
                continue;
            }
            let path = page.parent().unwrap().join(file);
            assert!(path.exists(), "{}: {target} is not there", page.display());
            files += 1;
            let Some(name) = shown.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else { continue };
            if !file.ends_with(".rs") || name.ends_with(".rs") {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let name = name.rsplit("::").next().unwrap();
            assert!(defines(&source, name), "{}: {file} has no `{name}`", page.display());
            names += 1;
        }
    }
    assert!(files > 80 && names > 50, "{files} links to files, {names} to names");
}

#[test]
fn the_architecture_follows_one_prompt_and_one_write() {
    let text = std::fs::read_to_string(docs().join("architecture.md")).unwrap();
    for section in ["### One prompt\n", "### One Write\n"] {
        let (_, section) = text.split_once(section).unwrap();
        let (section, _) = section.split_once("\n##").unwrap();
        // At most a page.
        assert!((20..60).contains(&section.lines().count()), "{}", section.lines().count());
        assert!(links(section).count() > 15);
    }
}

/// The index of the guide, and its summary for a book, list each page.
#[test]
fn the_guide_lists_each_of_its_pages() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(&guide).unwrap() {
        pages.push(entry.unwrap().file_name().into_string().unwrap());
    }
    assert!(pages.len() > 10, "{pages:?}");
    for index in ["README.md", "SUMMARY.md"] {
        let text = std::fs::read_to_string(guide.join(index)).unwrap();
        for page in pages.iter().filter(|page| !matches!(page.as_str(), "README.md" | "SUMMARY.md")) {
            assert!(text.contains(&format!("]({page})")), "{index} does not list {page}");
        }
    }
}
