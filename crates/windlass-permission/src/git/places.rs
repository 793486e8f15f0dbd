//! Places that a repository's own files name: where git looks for its directory, its configuration and its hooks.
//!
//! The content there decides which programs git runs, so these places are protected like `.git` itself. The reader is
//! lenient: a place that git itself would not use costs a permission request, and never grants a right.

/// Maximum number of bytes of a file that is read.
const MAX_FILE: usize = 256 * 1024;

/// Names of hooks that git runs.
pub const HOOK_NAMES: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Places that a configuration of git names, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigPlaces {
    /// Directories of hooks (`core.hooksPath`), relative to the working tree.
    pub hooks: Vec<String>,
    /// Further configuration files (`include.path`, `includeIf.….path`), relative to the file that names them.
    pub includes: Vec<String>,
    /// Values of other keys. Those that name a program may name a file of the working tree.
    pub values: Vec<String>,
}

/// Returns the directory that the file `.git` of a working tree names (`gitdir: …`), as written.
#[must_use]
pub fn gitdir_target(text: &str) -> Option<&str> {
    let target = text.trim_start_matches('\u{feff}').trim_start().strip_prefix("gitdir:")?;
    let target = target.lines().next().unwrap_or_default().trim();
    (!target.is_empty()).then_some(target)
}

/// Returns the places that a configuration names. Empty if it cannot be read as text.
#[must_use]
pub fn config_places(bytes: &[u8]) -> ConfigPlaces {
    let mut places = ConfigPlaces::default();
    let Some(Ok(text)) = bytes.get(..bytes.len().min(MAX_FILE)).map(std::str::from_utf8) else { return places };
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = String::new();
    for line in joined.lines() {
        let mut line = line.trim();
        if let Some((name, behind)) = section_of(line) {
            (section, line) = (name, behind);
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim().to_ascii_lowercase(), plain_value(value));
        if value.is_empty() || key.starts_with(['#', ';']) {
            continue;
        }
        match (section.as_str(), key.as_str()) {
            ("core", "hookspath") => places.hooks.push(value),
            ("include" | "includeif", "path") => places.includes.push(value),
            _ => places.values.push(value),
        }
    }
    places
}

/// Returns the name of a section without its subsection, in small letters, and the rest of the line.
fn section_of(line: &str) -> Option<(String, &str)> {
    let inner = line.strip_prefix('[')?;
    let mut quoted = false;
    let mut escaped = false;
    let end = inner.char_indices().find(|(_, c)| {
        let ends = *c == ']' && !quoted;
        quoted ^= *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    })?;
    let (name, behind) = inner.split_at_checked(end.0)?;
    // `[core.x]` is an old form of `[core "x"]`.
    let name = name.split(['"', ' ', '\t', '.']).next().unwrap_or_default();
    Some((name.to_ascii_lowercase(), behind.strip_prefix(']').unwrap_or(behind).trim_start()))
}

/// Returns a value without its quotes and its comment.
fn plain_value(value: &str) -> String {
    let (mut plain, mut quoted, mut escaped) = (String::new(), false, false);
    for c in value.trim().chars() {
        match c {
            _ if std::mem::take(&mut escaped) => plain.push(c),
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            _ => plain.push(c),
        }
    }
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_a_working_tree_is_named_by_its_file() {
        for (text, expected) in [
            ("gitdir: ../store\n", Some("../store")),
            ("gitdir:/abs/a b", Some("/abs/a b")),
            ("gitdir: \n", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(gitdir_target(text), expected, "{text:?}");
        }
    }

    #[test]
    fn places_are_found_in_every_form_of_a_configuration() {
        let hooks = |text: &str| config_places(text.as_bytes()).hooks;
        for text in [
            "[core]\n\thooksPath = tools/hooks\n",
            "[CORE]\r\n  HooksPath=tools/hooks ; here\r\n",
            "[core] hookspath = \"tools/hooks\" # x",
            "[core]\nhooksPath = tools\\\n/hooks",
            "[user]\nname = x\n[core]\n#x\nhooksPath=tools/hooks",
        ] {
            assert_eq!(hooks(text), ["tools/hooks"], "{text:?}");
        }
        let places = config_places(
            b"[include]\npath = ../shared.cfg\n[includeIf \"gitdir:~/w]/\"]\n\tpath = ~/w.cfg\n[filter \"x\"]\nclean = ./f.sh %f\n[core]\n; hooksPath = no\n",
        );
        assert_eq!(places.includes, ["../shared.cfg", "~/w.cfg"]);
        assert_eq!((places.hooks, places.values), (vec![], vec!["./f.sh %f".to_owned()]));
        assert_eq!(config_places(b"\xff[core]\nhooksPath=x"), ConfigPlaces::default());
        assert_eq!(config_places(b""), ConfigPlaces::default());
    }
}
