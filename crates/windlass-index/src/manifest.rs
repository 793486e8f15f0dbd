//! Contents of package manifests: pure, from the path and the beginning of the file.

mod cargo;
mod content;
mod go;
mod jvm;
mod native;
mod npm;
mod python;
mod targets;
mod toml;

use content::MAX_ENTRIES;
pub(crate) use content::Manifest;
pub use content::{ManifestKind, Purpose};

/// Maximum length of a name, path or command, in bytes.
const MAX_TEXT_BYTES: usize = 200;

/// Reads the beginning of a manifest. Text that is no such manifest has little or no content.
pub(crate) fn read(kind: ManifestKind, file: &str, head: &str) -> Manifest {
    let head = head.strip_prefix('\u{feff}').unwrap_or(head);
    let mut manifest = match kind {
        ManifestKind::Cargo => cargo::read(head),
        ManifestKind::Npm => npm::read(head),
        ManifestKind::Composer => npm::read_composer(head),
        ManifestKind::Python => python::read(file, head),
        ManifestKind::Go => go::read(head),
        ManifestKind::Maven => jvm::read_maven(head),
        ManifestKind::Gradle => jvm::read_gradle(head),
        ManifestKind::CMake => native::read_cmake(head),
        ManifestKind::Dotnet => native::read_dotnet(file, head),
        ManifestKind::Ruby => targets::read_gemfile(head),
        ManifestKind::Make => targets::read("make", head),
        ManifestKind::Just => targets::read("just", head),
    };
    let fits = |text: &str| !text.is_empty() && text.len() <= MAX_TEXT_BYTES && !text.contains(char::is_control);
    manifest.name = manifest.name.filter(|name| fits(name));
    manifest.dependencies.retain(|one| fits(&one.name) && one.folder.as_deref().is_none_or(fits));
    manifest.commands.retain(|one| fits(&one.command));
    manifest.entry_points.retain(|one| fits(one));
    manifest.dependencies.truncate(MAX_ENTRIES);
    manifest.commands.truncate(MAX_ENTRIES);
    manifest.entry_points.truncate(MAX_ENTRIES);
    manifest
}

#[cfg(test)]
mod tests;
