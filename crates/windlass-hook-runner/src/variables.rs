//! Variables that a program leaves for later commands, in the file that `CLAUDE_ENV_FILE` names.

use crate::texts::HookTexts;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use windlass_tool::private_file;

/// Maximum number of bytes read from the file, and maximum number of variables.
const MOST_BYTES: u64 = 256 * 1024;
const MOST_VARIABLES: usize = 256;

/// A variables file for one run of a hook, removed on drop.
pub(crate) struct VariablesFile(PathBuf);

impl VariablesFile {
    /// Creates a new and empty file; `None` if there is no place for it.
    pub(crate) fn new(texts: &HookTexts) -> Option<Self> {
        let path = texts.place()?.with_extension("env");
        private_file::write_new(&path, b"").ok()?;
        Some(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Reads the variables that the program left; `None` if there is none, or the file cannot be read.
    pub(crate) fn read(&self) -> Option<Vec<(String, String)>> {
        let mut text = String::new();
        File::open(&self.0).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
        Some(parse(&text)).filter(|variables| !variables.is_empty())
    }
}

impl Drop for VariablesFile {
    fn drop(&mut self) {
        // A file that cannot be removed stays with the session's other files.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Parses lines `export NAME=VALUE` or `NAME=VALUE`. A value may stand in single or double quotes; it is not expanded.
/// Other lines are passed over.
fn parse(text: &str) -> Vec<(String, String)> {
    let line = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        let (name, value) = line.split_once('=')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let starts_well = !name.starts_with(|c: char| c.is_ascii_digit());
        (is_name && starts_well && !value.contains('\0')).then(|| (name.to_owned(), unquoted(value)))
    };
    text.lines().filter_map(line).take(MOST_VARIABLES).collect()
}

fn unquoted(value: &str) -> String {
    let inner = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    match (inner('\''), inner('"')) {
        (Some(inner), _) => inner.replace("'\\''", "'"),
        (None, Some(inner)) => {
            let mut text = String::new();
            let mut chars = inner.chars().peekable();
            while let Some(c) = chars.next() {
                let escaped = chars.next_if(|next| c == '\\' && matches!(next, '"' | '\\' | '$' | '`'));
                text.push(escaped.unwrap_or(c));
            }
            text
        }
        (None, None) => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_shell_are_read() {
        let text = "# note\nexport A=1\nB='it'\\''s'\nexport C=\"x \\\"y\\\" \\$z\"\n  export D=\n1X=2\nno\nE F=3\nexport G=a=b\n";
        let read = parse(text);
        let read: Vec<(&str, &str)> = read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(read, [("A", "1"), ("B", "it's"), ("C", "x \"y\" $z"), ("D", ""), ("G", "a=b")]);
        assert_eq!(parse(&"A=1\n".repeat(1_000)).len(), MOST_VARIABLES);
    }
}
