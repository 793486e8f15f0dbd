//! Variables with which programs find other programs and code, without directories from which programs must not be
//! taken, and the lookup of programs. Needs the feature `system`.
//!
//! ```
//! # #[cfg(unix)]
//! # {
//! use windlass_tool::search_path::environment_outside;
//!
//! let given = [("PATH".into(), "/work/bin:node_modules/.bin:/bin".into())];
//! assert_eq!(environment_outside(&given, &["/work".into()]), [("PATH".into(), "/bin".into())]);
//! # }
//! ```

mod program;

pub use program::{find_bash, find_program};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use windlass_types::path::{has_parent, normalized};

/// Variables whose values are lists of directories or files that programs load code from.
const VARIABLES: &[&str] = &[
    "CLASSPATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "GEM_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERLLIB",
    "PYTHONPATH",
    "RUBYLIB",
];
/// Maximum number of links that are followed to the end of a path.
const MAX_LINKS: usize = 40;

/// `true` if a path is below one of the directories, by its name or with links followed, its own and those of the
/// directories.
///
/// Links with missing targets are also followed: the target can be created later.
#[must_use]
pub fn is_inside(path: &Path, directories: &[PathBuf]) -> bool {
    let forms = [normalized(path), resolved(path, MAX_LINKS)];
    directories.iter().any(|directory| {
        let real = resolved(directory, MAX_LINKS);
        forms.iter().any(|form| form.starts_with(directory) || form.starts_with(&real))
    })
}

/// Returns a search path without relative directories, those that contain `..`, and those [inside](is_inside) of
/// `directories`.
#[must_use]
pub fn search_path_outside(path: &OsStr, directories: &[PathBuf]) -> OsString {
    let is_outside = |folder: &PathBuf| folder.is_absolute() && !has_parent(folder) && !is_inside(folder, directories);
    std::env::join_paths(std::env::split_paths(path).filter(is_outside)).unwrap_or_default()
}

/// Returns the variables of programs, with every search path in them [outside](search_path_outside) of `directories`. A
/// search path without a directory left is dropped.
#[must_use]
pub fn environment_outside(given: &[(OsString, OsString)], directories: &[PathBuf]) -> Vec<(OsString, OsString)> {
    let outside = |(name, value): &(OsString, OsString)| {
        if !is_search_path(name) {
            return Some((name.clone(), value.clone()));
        }
        let value = search_path_outside(value, directories);
        (!value.is_empty()).then(|| (name.clone(), value))
    };
    given.iter().filter_map(outside).collect()
}

/// `true` if a variable is a list of places from which programs load code.
#[must_use]
pub fn is_search_path(name: &OsStr) -> bool {
    let same = |known: &&str| if cfg!(windows) { name.eq_ignore_ascii_case(known) } else { name == OsStr::new(known) };
    VARIABLES.iter().any(same)
}

/// Returns a path with the links of its existing part followed, and the rest by name.
fn resolved(path: &Path, links: usize) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return normalized(path) };
    let parent = resolved(parent, links);
    match path.read_link().ok().filter(|_| links > 0) {
        Some(target) => resolved(&parent.join(target), links - 1),
        None => parent.join(name),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_into_a_directory_lead_into_it() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir_all(at("work/bin")).unwrap();
        std::fs::create_dir_all(at("home/bin")).unwrap();
        symlink(at("work/bin"), at("home/linked")).unwrap();
        symlink("linked", at("home/twice")).unwrap();
        symlink(at("work/later/bin"), at("home/dangling")).unwrap();
        symlink("loop", at("home/loop")).unwrap();
        symlink(at("work"), at("alias")).unwrap();
        for (path, expected) in [
            ("work/bin", true),
            ("work", true),
            ("workshop/bin", false),
            ("home/linked", true),
            ("home/linked/tool", true),
            ("home/twice", true),
            ("home/dangling", true),
            ("home/dangling/x/y", true),
            ("home/bin/../linked", true),
            ("home/loop", false),
            ("home/bin", false),
            ("missing/bin", false),
            ("alias/bin", true),
        ] {
            assert_eq!(is_inside(&at(path), &[at("work")]), expected, "{path}");
            assert_eq!(is_inside(&at(path), &[at("alias")]), expected, "{path} of an alias");
        }
    }

    #[test]
    fn every_variable_that_leads_to_code_is_cleared() {
        for name in VARIABLES {
            let given = |value: &str| [(OsString::from(name), OsString::from(value))];
            let work = [PathBuf::from("/w")];
            assert_eq!(environment_outside(&given("/w/lib:rel:/lib:/x/../w"), &work), given("/lib"), "{name}");
            assert_eq!(environment_outside(&given("/w/lib:."), &work), [], "{name}");
        }
        let other = [(OsString::from("HOME"), OsString::from("/w"))];
        assert_eq!(environment_outside(&other, &["/w".into()]), other);
    }
}
