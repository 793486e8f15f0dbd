//! What calls change in files, for people to look at.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The files that a call is about to change, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EditPreview {
    /// The files, with their links followed.
    pub paths: Vec<PathBuf>,
    /// The change as a unified diff, of at most [`MOST_BYTES`](Self::MOST_BYTES). It is what the call would do if it ran
    /// at the moment at which it was read; a file that changes after that gives another one.
    pub diff: String,
    /// Whether the end of the diff was left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl EditPreview {
    /// Most bytes of the diff.
    pub const MOST_BYTES: usize = 64 * 1024;

    /// A change of these files. A diff that is too long is cut behind a line.
    pub fn new(paths: Vec<PathBuf>, diff: String) -> Self {
        if diff.len() <= Self::MOST_BYTES {
            return Self { paths, diff, is_cut: false };
        }
        let mut kept = String::new();
        for line in diff.split_inclusive('\n') {
            if kept.len() + line.len() > Self::MOST_BYTES {
                break;
            }
            kept.push_str(line);
        }
        Self { paths, diff: kept, is_cut: true }
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
