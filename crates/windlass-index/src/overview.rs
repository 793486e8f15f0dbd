//! Overview of a project in tables, made from the tree and its manifests. Pure.

use crate::important::{framework_of, is_entry_point, is_important};
use crate::language::language_of;
use crate::manifest::{Manifest, ManifestKind, Purpose};
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use windlass_types::path::normalized;

/// Maximum number of rows of one table.
const MAX_ROWS: usize = 500;
/// Maximum number of rows of the tables of files.
const MAX_FILE_ROWS: usize = 60;

/// Overview of a project. All paths are below its root, with parts between slashes, and all tables have the most
/// important rows first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Overview {
    /// Number of files that are not ignored.
    pub files: usize,
    /// Number of folders with these files.
    pub folders: usize,
    /// `true` if the whole project was read. A project of more than 200,000 files is not.
    pub is_complete: bool,
    /// Languages, those of most files first.
    pub languages: Vec<LanguageShare>,
    /// Packages, those nearest to the root first.
    pub packages: Vec<Package>,
    /// Commands that test, build, check, format and start the project.
    pub commands: Vec<ProjectCommand>,
    /// Frameworks that packages use, with their manifests.
    pub frameworks: Vec<Framework>,
    /// Entry points of programs.
    pub entry_points: Vec<String>,
    /// Files about the whole project: readme, continuous integration, configuration.
    pub important: Vec<String>,
    /// Folders that are ignored, or that hold generated files.
    pub ignored: Vec<String>,
}

/// Share of a language in a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LanguageShare {
    /// Name of the language.
    pub language: String,
    /// Number of files.
    pub files: usize,
    /// Share of all files with a language, in per cent, rounded down.
    pub percent: u8,
}

/// A package of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Package {
    /// Name of the package.
    pub name: String,
    /// Kind of its manifest.
    pub kind: ManifestKind,
    /// Path of its manifest.
    pub manifest: String,
    /// Manifests of the packages of the same repository that it uses.
    pub uses: Vec<String>,
}

/// A command of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProjectCommand {
    /// Purpose of the command.
    pub purpose: Purpose,
    /// Command line, to be run in the folder of the manifest.
    pub command: String,
    /// Manifest of the command.
    pub manifest: String,
    /// `true` if the manifest states the command. Otherwise it is usual for such manifests, like `cargo test`.
    pub is_stated: bool,
}

/// A framework that a package uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Framework {
    /// Name of the framework.
    pub name: String,
    /// First manifest that names it.
    pub manifest: String,
}

/// A manifest that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    pub(crate) path: String,
    pub(crate) kind: ManifestKind,
    pub(crate) manifest: Manifest,
}

impl Overview {
    /// Makes the tables of a tree.
    pub(crate) fn of(tree: &Tree, manifests: &[&Known]) -> Self {
        let mut overview = Self {
            files: tree.count(),
            folders: tree.folders.len(),
            is_complete: tree.is_complete,
            languages: languages(tree),
            packages: packages(manifests),
            commands: commands(manifests),
            frameworks: frameworks(manifests),
            ..Self::default()
        };
        let stated = stated_entry_points(manifests);
        for (folder, name) in tree.files() {
            if overview.important.len() >= MAX_FILE_ROWS && overview.entry_points.len() >= MAX_FILE_ROWS {
                break;
            }
            let path = folder.path_of(name);
            if overview.entry_points.len() < MAX_FILE_ROWS && (is_entry_point(&path) || stated.contains(&path)) {
                overview.entry_points.push(path);
            } else if overview.important.len() < MAX_FILE_ROWS && is_important(&path) {
                overview.important.push(path);
            }
        }
        // Readmes come first; hidden files, which are for programs, come last.
        overview
            .important
            .sort_by_key(|path| (!path.to_ascii_uppercase().starts_with("README"), path.starts_with('.')));
        let left_out = tree.folders.iter().flat_map(|folder| folder.left_out.iter().map(|name| folder.path_of(name)));
        overview.ignored = left_out.take(MAX_FILE_ROWS).collect();
        overview
    }

    /// Removes entries from files, or with names of files, for which the function is false. It is called with paths
    /// below the root.
    #[must_use]
    pub fn readable(mut self, may_read: impl Fn(&str) -> bool) -> Self {
        self.packages.retain(|package| may_read(&package.manifest));
        for package in &mut self.packages {
            package.uses.retain(|manifest| may_read(manifest));
        }
        self.commands.retain(|command| may_read(&command.manifest));
        self.frameworks.retain(|framework| may_read(&framework.manifest));
        for paths in [&mut self.entry_points, &mut self.important, &mut self.ignored] {
            paths.retain(|path| may_read(path));
        }
        self
    }
}

fn languages(tree: &Tree) -> Vec<LanguageShare> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for language in tree.files().filter_map(|(_, name)| language_of(name)) {
        *counts.entry(language).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let mut shares: Vec<LanguageShare> = counts
        .into_iter()
        .map(|(language, files)| {
            let percent = files.saturating_mul(100).checked_div(total).unwrap_or_default();
            LanguageShare { language: language.to_owned(), files, percent: u8::try_from(percent).unwrap_or(100) }
        })
        .collect();
    shares.sort_by(|a, b| b.files.cmp(&a.files).then_with(|| a.language.cmp(&b.language)));
    shares
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Path below the root for a path in a manifest. `None` if it leads out.
fn path_below_root(manifest: &str, path_in_manifest: &str) -> Option<String> {
    let path = normalized(&std::path::Path::new("/r").join(folder_of(manifest)).join(path_in_manifest));
    let path = path.strip_prefix("/r").ok()?;
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

fn packages(manifests: &[&Known]) -> Vec<Package> {
    let named = manifests.iter().filter(|known| known.manifest.name.is_some()).take(MAX_ROWS);
    let named: Vec<&&Known> = named.collect();
    let by_name: BTreeMap<(ManifestKind, &str), &str> = named
        .iter()
        .rev()
        .filter_map(|known| Some(((known.kind, known.manifest.name.as_deref()?), known.path.as_str())))
        .collect();
    let by_folder: BTreeMap<(ManifestKind, &str), &str> =
        named.iter().map(|known| ((known.kind, folder_of(&known.path)), known.path.as_str())).collect();
    let uses = |known: &Known| {
        let used = known.manifest.dependencies.iter().filter_map(|dependency| {
            let folder = dependency.folder.as_deref().and_then(|folder| path_below_root(&known.path, folder));
            let by_path = folder.as_deref().and_then(|folder| by_folder.get(&(known.kind, folder)).copied());
            let with_same_name = || by_name.get(&(known.kind, dependency.name.as_str())).copied();
            by_path.or_else(with_same_name).map(str::to_owned)
        });
        let used: BTreeSet<String> = used.filter(|path| *path != known.path).collect();
        used.into_iter().collect()
    };
    let package = |known: &&&Known| {
        let name = known.manifest.name.clone()?;
        Some(Package { name, kind: known.kind, manifest: known.path.clone(), uses: uses(known) })
    };
    named.iter().filter_map(package).collect()
}

/// Commands: stated ones of the root, then usual ones of the root, then stated ones of the folders below. A usual
/// command that is already listed is left out: at the root it covers the packages below.
fn commands(manifests: &[&Known]) -> Vec<ProjectCommand> {
    let candidates = manifests.iter().flat_map(|known| {
        known.manifest.commands.iter().map(|entry| ProjectCommand {
            purpose: entry.purpose,
            command: entry.command.clone(),
            manifest: known.path.clone(),
            is_stated: entry.is_stated,
        })
    });
    let mut found: Vec<ProjectCommand> = Vec::new();
    for command in candidates {
        let is_listed = found.iter().any(|known| {
            known.command == command.command && (!command.is_stated || known.manifest == command.manifest)
        });
        if !is_listed {
            found.push(command);
        }
    }
    let depth = |command: &ProjectCommand| command.manifest.matches('/').count();
    found.sort_by_key(|command| (depth(command) > 0, !command.is_stated, command.purpose, depth(command)));
    found.truncate(MAX_ROWS);
    found
}

fn frameworks(manifests: &[&Known]) -> Vec<Framework> {
    let mut found: Vec<Framework> = Vec::new();
    for known in manifests {
        for name in known.manifest.dependencies.iter().filter_map(|dependency| framework_of(&dependency.name)) {
            if !found.iter().any(|framework| framework.name == name) {
                found.push(Framework { name: name.to_owned(), manifest: known.path.clone() });
            }
        }
    }
    found
}

fn stated_entry_points(manifests: &[&Known]) -> BTreeSet<String> {
    let entry_points_of = |known: &Known| -> Vec<String> {
        known.manifest.entry_points.iter().filter_map(|path| path_below_root(&known.path, path)).collect()
    };
    manifests.iter().flat_map(|known| entry_points_of(known)).collect()
}

#[cfg(test)]
mod tests;
