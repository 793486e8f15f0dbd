//! `go.mod`.

use super::content::{Manifest, Purpose};

pub(super) fn read(head: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut block = "";
    for line in head.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line == ")" {
            block = "";
            continue;
        }
        let (verb, rest) = if block.is_empty() { line.split_once(' ').unwrap_or((line, "")) } else { (block, line) };
        let rest = rest.trim();
        if rest == "(" {
            block = match verb {
                "require" => "require",
                "replace" => "replace",
                _ => "other",
            };
            continue;
        }
        match verb {
            "module" => manifest.name = Some(rest.trim_matches('"').to_owned()),
            "require" => {
                if let Some(name) = rest.split_whitespace().next() {
                    manifest.add_dependency(name, None);
                }
            }
            "replace" => {
                if let Some((from, to)) = rest.split_once("=>")
                    && let (Some(name), Some(to)) = (from.split_whitespace().next(), to.split_whitespace().next())
                    && to.starts_with('.')
                {
                    manifest.dependencies.retain(|known| known.name != name);
                    manifest.add_dependency(name, Some(to.to_owned()));
                }
            }
            _ => {}
        }
    }
    if manifest.name.is_some() {
        manifest.usually(Purpose::Test, "go test ./...");
        manifest.usually(Purpose::Build, "go build ./...");
        manifest.usually(Purpose::Lint, "go vet ./...");
    }
    manifest
}
