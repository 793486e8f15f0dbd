//! Places outside of `.git` from which git takes its directory, configuration and hooks, as they are when a session
//! opens.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use windlass_permission::git::{HOOK_NAMES, config_places, gitdir_target};
use windlass_permission::{FileRole, LineDirectories, line_files};
use windlass_types::path::absolute;

/// Maximum number of bytes read from a file.
const MAX_BYTES: u64 = 256 * 1024;
/// Maximum number of configuration files that are read.
const MAX_CONFIGS: usize = 32;

/// Returns the paths that the repositories around these directories name, to be protected: hook directories, included
/// configurations, git directories under other names, and files of the working tree that the configuration runs. Runs
/// no program.
pub(crate) fn git_places(directories: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let mut places = BTreeSet::new();
    for directory in directories {
        let around = directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
        if let Some(tree) = around {
            Repository { tree, start: directory, home, places: &mut places, configs: BTreeSet::new() }.read();
        }
    }
    places.into_iter().collect()
}

/// A repository whose files are read.
struct Repository<'a> {
    /// Root of the working tree.
    tree: &'a Path,
    /// Working directory of the session.
    start: &'a Path,
    home: Option<&'a Path>,
    places: &'a mut BTreeSet<PathBuf>,
    configs: BTreeSet<PathBuf>,
}

impl Repository<'_> {
    fn read(&mut self) {
        let dot = self.tree.join(".git");
        let named = (!dot.is_dir()).then(|| text(&dot)).flatten();
        let directory = match named.as_deref().and_then(gitdir_target) {
            Some(target) => {
                let directory = absolute(self.tree, Path::new(target));
                self.places.insert(directory.clone());
                directory
            }
            None => dot,
        };
        let common = text(&directory.join("commondir")).map(|named| absolute(&directory, Path::new(named.trim())));
        self.places.extend(common.clone());
        let main_config = common.unwrap_or_else(|| directory.clone()).join("config");
        let of_user = self.home.iter().flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
        self.configs_from(of_user.collect(), |_| true);
        // A repository must not choose which outside files are opened.
        let tree = self.tree.to_path_buf();
        let is_inside = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(&tree));
        self.configs_from(vec![main_config, directory.join("config.worktree")], is_inside);
    }

    /// Reads configurations, and those of their includes that may be opened.
    fn configs_from(&mut self, mut open: Vec<PathBuf>, may_open: impl Fn(&Path) -> bool) {
        while let Some(config) = open.pop() {
            if self.configs.len() < MAX_CONFIGS && self.configs.insert(config.clone()) {
                open.extend(self.config(&config).into_iter().filter(|path| may_open(path)));
            }
        }
    }

    /// Reads a configuration, and returns its includes.
    fn config(&mut self, config: &Path) -> Vec<PathBuf> {
        let Some(bytes) = bytes(config) else { return Vec::new() };
        let places = config_places(&bytes);
        for hooks in &places.hooks {
            let hooks = self.placed(self.tree, hooks);
            // Protecting the whole workspace would leave nothing to work on.
            match self.start.starts_with(&hooks) {
                true => self.places.extend(HOOK_NAMES.iter().map(|name| hooks.join(name))),
                false => drop(self.places.insert(hooks)),
            }
        }
        let directories = LineDirectories { cwd: self.tree, project: self.tree, plugin: None, home: self.home };
        for value in &places.values {
            let files = line_files(value.trim_start_matches('!'), &directories).into_iter();
            let programs = files.filter(|file| file.role != FileRole::Operand && file.path.is_file());
            self.places.extend(programs.map(|file| file.path).filter(|path| path.starts_with(self.tree)));
        }
        let around = config.parent().unwrap_or(config);
        let included: Vec<PathBuf> = places.includes.iter().map(|path| self.placed(around, path)).collect();
        self.places.extend(included.iter().filter(|path| !path.is_dir()).cloned());
        included
    }

    /// Resolves a path as git does: relative to a base, or below the home.
    fn placed(&self, base: &Path, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.home) {
            (Some(below), Some(home)) => absolute(home, Path::new(below)),
            _ => absolute(base, Path::new(path)),
        }
    }
}

/// Content of a regular file, up to the limit. A pipe is not opened.
fn bytes(path: &Path) -> Option<Vec<u8>> {
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(bytes(path)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        for (file, text) in files {
            let path = base.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        (root, base)
    }

    fn found(base: &Path, start: &str) -> Vec<String> {
        let places = git_places(&[base.join(start)], Some(&base.join("home")));
        places.iter().map(|path| path.strip_prefix(base).unwrap().display().to_string()).collect()
    }

    #[test]
    fn places_of_hooks_and_configurations_are_found() {
        let (_root, base) = world(&[
            ("w/.git/config", "[core]\nhooksPath = tools/hooks\n[include]\npath = ../shared.cfg\n"),
            (
                "w/shared.cfg",
                "[include]\npath = deeper.cfg\n[filter \"x\"]\nclean = ./filter.sh %f\n[user]\nname = a/b\n",
            ),
            ("w/filter.sh", ""),
            ("w/sub/x", ""),
            ("home/.gitconfig", "[include]\npath = ~/more.cfg\n"),
        ]);
        let expected = ["home/more.cfg", "w/deeper.cfg", "w/filter.sh", "w/shared.cfg", "w/tools/hooks"];
        for start in ["w", "w/sub"] {
            assert_eq!(found(&base, start), expected, "{start}");
        }
    }

    #[test]
    fn a_repository_has_no_file_outside_of_it_opened() {
        let (_root, base) = world(&[
            ("w/.git/config", "[include]\npath = ../../out/first.cfg\n[include]\npath = ../link.cfg\n"),
            ("out/first.cfg", "[core]\nhooksPath = first\n"),
            ("out/second.cfg", "[core]\nhooksPath = second\n"),
        ]);
        #[cfg(unix)]
        std::os::unix::fs::symlink(base.join("out/second.cfg"), base.join("w/link.cfg")).unwrap();
        assert_eq!(found(&base, "w"), ["out/first.cfg", "w/link.cfg"]);
    }

    #[test]
    fn a_git_directory_is_found_before_it_is_complete() {
        let (_root, base) =
            world(&[("w/.git", "gitdir: meta\n"), ("v/.git", "gitdir: ../store\n"), ("store/commondir", "common")]);
        assert_eq!(found(&base, "w"), ["w/meta"]);
        assert_eq!(found(&base, "v"), ["store", "store/common"]);
    }

    #[test]
    fn a_directory_of_hooks_never_takes_the_workspace_away() {
        for path in [".", "..", "sub"] {
            let (_root, base) = world(&[("w/.git/config", &format!("[core]\nhooksPath = {path}\n")), ("w/sub/x", "")]);
            let places = found(&base, "w/sub");
            assert!(
                places.iter().any(|place| place.ends_with("/pre-commit") || place == "pre-commit"),
                "{path}: {places:?}"
            );
            assert!(!places.iter().any(|place| ["", "w", "w/sub"].contains(&place.as_str())), "{path}: {places:?}");
        }
    }

    #[test]
    fn configurations_that_include_each_other_end() {
        let (_root, base) =
            world(&[("w/.git/config", "[include]\npath = config\npath = ../a\n"), ("w/a", "[include]\npath = a\n")]);
        assert_eq!(found(&base, "w"), ["w/.git/config", "w/a"]);
        let (_root, base) = world(&[("w/x", "")]);
        assert_eq!(found(&base, "w"), Vec::<String>::new());
    }
}
