//! Directories that a command line names by variables and commands, and those of its search path.

use super::LineDirectories;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The directories that a line puts into the search path.
pub(super) fn search_path(line: &str) -> Vec<&str> {
    let is_name = |before: &str| before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let places = line.match_indices("PATH=").filter(|(at, _)| !line.get(..*at).is_some_and(is_name));
    let values = places.filter_map(|(at, name)| {
        let value = line.get(at.saturating_add(name.len())..)?.trim_start_matches(['"', '\'']);
        value.split(|c: char| c.is_whitespace() || "\"';&|".contains(c)).next()
    });
    let directories = values.flat_map(|value| value.split(':'));
    directories.filter(|directory| !directory.is_empty() && !directory.contains('$')).collect()
}

/// A text in a line that means a directory, and the mark that replaces it while the line is read.
pub(super) struct KnownDirectory {
    /// Variables, without `$`.
    variables: &'static [&'static str],
    /// Commands whose output is the directory.
    commands: &'static [&'static str],
    pub(super) mark: &'static str,
    pub(super) of: fn(&LineDirectories<'_>) -> Option<PathBuf>,
}

pub(super) const KNOWN_DIRECTORIES: &[KnownDirectory] = &[
    KnownDirectory {
        variables: &["CLAUDE_PROJECT_DIR", "WINDLASS_PROJECT_DIR"],
        commands: &["git rev-parse --show-toplevel"],
        mark: "/@project@",
        of: |directories| Some(directories.project.to_path_buf()),
    },
    KnownDirectory {
        variables: &["CLAUDE_PLUGIN_ROOT", "WINDLASS_PLUGIN_ROOT"],
        commands: &[],
        mark: "/@plugin@",
        of: |directories| directories.plugin.map(Path::to_path_buf),
    },
    KnownDirectory {
        variables: &["PWD"],
        commands: &["pwd"],
        mark: "/@cwd@",
        of: |directories| Some(directories.cwd.to_path_buf()),
    },
    KnownDirectory {
        variables: &["HOME"],
        commands: &[],
        mark: "/@home@",
        of: |directories| directories.home.map(Path::to_path_buf),
    },
];

/// Returns the line with marks in the places of known directories, so that its words can be read.
pub(super) fn mark_directories(line: &str) -> Cow<'_, str> {
    if !line.contains(['$', '`']) {
        return Cow::Borrowed(line);
    }
    let mut marked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['$', '`']) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        marked.push_str(before);
        match KNOWN_DIRECTORIES.iter().find_map(|known| Some((known, known.end_in(from)?))) {
            Some((known, after)) => {
                marked.push_str(known.mark);
                rest = after;
            }
            None => {
                let mut chars = from.chars();
                marked.extend(chars.next());
                rest = chars.as_str();
            }
        }
    }
    marked.push_str(rest);
    Cow::Owned(marked)
}

impl KnownDirectory {
    /// Returns the text behind the directory, if a text begins with it.
    fn end_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let variable = |name: &&str| {
            let plain = text.strip_prefix('$').and_then(|text| text.strip_prefix(*name));
            let plain = plain.filter(|after| !after.starts_with(is_name));
            let braced = || {
                let after = text.strip_prefix("${")?.strip_prefix(*name)?;
                // `${NAME:-.}` and `${NAME%/}` are the directory wherever it is set.
                let (operator, rest) = after.split_once('}')?;
                (operator.is_empty() || operator.starts_with([':', '-', '%'])).then_some(rest)
            };
            plain.or_else(braced)
        };
        let command = |line: &&str| {
            let inner = text.strip_prefix("$(").and_then(|text| text.split_once(')'));
            let inner = inner.or_else(|| text.strip_prefix('`').and_then(|text| text.split_once('`')));
            inner.filter(|(inner, _)| inner.trim() == *line).map(|(_, rest)| rest)
        };
        self.variables.iter().find_map(variable).or_else(|| self.commands.iter().find_map(command))
    }
}
