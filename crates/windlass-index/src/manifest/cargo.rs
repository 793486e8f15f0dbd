//! `Cargo.toml`.

use super::content::{Manifest, Purpose};
use super::toml;

pub(super) fn read(head: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut is_manifest = false;
    for entry in toml::entries(head) {
        let table = entry.table.as_str();
        is_manifest |= matches!(table, "package" | "workspace");
        match (table, entry.key.as_str()) {
            ("package", "name") => manifest.name = toml::string(&entry.value),
            ("bin" | "lib", "path") => manifest.entry_points.extend(toml::string(&entry.value)),
            _ => read_dependency(&mut manifest, table, &entry.key, &entry.value),
        }
    }
    if is_manifest {
        manifest.usually(Purpose::Test, "cargo test");
        manifest.usually(Purpose::Build, "cargo build");
        manifest.usually(Purpose::Lint, "cargo clippy");
    }
    manifest
}

/// Reads a key of a dependency table: `a = "1"`, `a.workspace = true`, `a = { path = "../a" }`, or `path` of
/// `[dependencies.a]`. Tables of the whole workspace belong to no package.
fn read_dependency(manifest: &mut Manifest, table: &str, key: &str, value: &str) {
    const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let is_table = |name: &str| !name.starts_with("workspace.") && TABLES.iter().any(|known| name.ends_with(known));
    if is_table(table) {
        let name = key.split('.').next().unwrap_or(key);
        let folder = if key.ends_with(".path") { toml::string(value) } else { toml::inline(value, "path") };
        manifest.add_dependency(toml::inline(value, "package").as_deref().unwrap_or(name), folder);
    } else if let Some((parent, name)) = table.rsplit_once('.').filter(|(parent, _)| is_table(parent)) {
        let _ = parent;
        manifest.add_dependency(name, None);
        if key == "path"
            && let Some(known) = manifest.dependencies.iter_mut().find(|known| known.name == name)
        {
            known.folder = toml::string(value);
        }
    }
}
