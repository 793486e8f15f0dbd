//! Previews of file changes by tool calls, for people.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The files that a call is about to change, and the diff of the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EditPreview {
    /// The files, with links followed.
    pub paths: Vec<PathBuf>,
    /// The change as a unified diff, of at most [`MOST_BYTES`](Self::MOST_BYTES). Computed from the files as they were
    /// when the preview was made; a later change of a file makes it outdated.
    pub diff: String,
    /// `true` if the end of the diff was left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl EditPreview {
    /// Maximum length of the diff, in bytes.
    pub const MOST_BYTES: usize = 64 * 1024;

    /// A change of these files. A diff that is too long is cut at the end of a line.
    pub fn new(paths: Vec<PathBuf>, diff: String) -> Self {
        if diff.len() <= Self::MOST_BYTES {
            return Self { paths, diff, is_cut: false };
        }
        let mut kept_lines = String::new();
        for line in diff.split_inclusive('\n') {
            if kept_lines.len() + line.len() > Self::MOST_BYTES {
                break;
            }
            kept_lines.push_str(line);
        }
        Self { paths, diff: kept_lines, is_cut: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut_behind_a_line() {
        let short = EditPreview::new(Vec::new(), "+a\n".to_owned());
        assert_eq!((short.diff.as_str(), short.is_cut), ("+a\n", false));
        let long = EditPreview::new(Vec::new(), "+é é é é é é é\n".repeat(10_000));
        assert!(long.is_cut && long.diff.len() <= EditPreview::MOST_BYTES && long.diff.ends_with("é\n"));
        let line = EditPreview::new(Vec::new(), "é".repeat(100_000));
        assert_eq!((line.diff.as_str(), line.is_cut), ("", true));
    }
}
