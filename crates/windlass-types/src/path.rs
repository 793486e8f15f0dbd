//! Paths by their text alone: no file system is asked, and no link is followed.
//!
//! Rules, settings and tools compare paths in this form, so there is one of it.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`. Each `..` takes away the name before it; at the root, or before the first name, it
/// disappears.
///
/// The system walks such a path differently if a name before a `..` is a link. To open the target of a path,
/// ask the file system instead.
#[must_use]
pub fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// A path that starts at `base` unless it is absolute already, [`normalized`].
#[must_use]
pub fn absolute(base: &Path, path: &Path) -> PathBuf {
    let joined = joined(base, path);
    if is_written_plainly(&joined) && !has_parent(&joined) { joined } else { normalized(&joined) }
}

/// The same as [`Path::join`]. It is allocated once, at the length that it needs.
#[must_use]
pub fn joined(base: &Path, path: &Path) -> PathBuf {
    let length = base.as_os_str().len().saturating_add(path.as_os_str().len()).saturating_add(1);
    let mut joined = PathBuf::with_capacity(if path.is_absolute() { path.as_os_str().len() } else { length });
    if !path.is_absolute() {
        joined.push(base);
    }
    joined.push(path);
    joined
}

/// Returns `true` if a path is absolute and has no `.`, no two slashes in a row and none at its end, so that joining
/// its components gives the same text. `false` for some paths of Windows of which that is true.
#[must_use]
pub fn is_written_plainly(path: &Path) -> bool {
    if cfg!(windows) {
        return false;
    }
    let names = path.as_os_str().as_encoded_bytes().strip_prefix(b"/");
    names.is_some_and(|names| names.split(|byte| *byte == b'/').all(|name| !matches!(name, b"" | b".")))
}

/// Returns `true` if a path contains `..`: it may leave the directory that it seems to be in.
#[must_use]
pub fn has_parent(path: &Path) -> bool {
    // Hardly any path has two dots, and searching for them is faster than splitting a path.
    let dots = path.as_os_str().as_encoded_bytes().windows(2).any(|pair| pair == b"..");
    dots && path.components().any(|component| component == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_go_by_text() {
        for (path, expected) in [
            ("a/./b/../c", "/w/a/c"),
            ("../../../x", "/x"),
            ("/a/../../b", "/b"),
            ("/a//b/", "/a/b"),
            ("", "/w"),
            ("a/..", "/w"),
            ("..", "/"),
        ] {
            assert_eq!(absolute(Path::new("/w"), Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_relative_path_stays_one() {
        for (path, expected) in [("./a/../b/.", "b"), ("../a", "a"), ("a/..", ""), ("..", "")] {
            assert_eq!(normalized(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn what_is_written_plainly_is_what_its_components_make() {
        for (path, expected) in [
            ("/a/b", true),
            ("/a/../b", true),
            ("/.a/b.", true),
            ("/", false),
            ("a/b", false),
            ("/a/", false),
            ("/a//b", false),
            ("//a", false),
            ("/./a", false),
            ("/a/.", false),
        ] {
            assert_eq!(is_written_plainly(Path::new(path)), expected && cfg!(unix), "{path}");
        }
    }

    #[test]
    fn only_whole_names_are_parents() {
        for (path, expected) in [("/a/../b", true), ("..", true), ("/a/..b/c..", false), ("/a/./b", false)] {
            assert_eq!(has_parent(Path::new(path)), expected, "{path}");
        }
    }
}
