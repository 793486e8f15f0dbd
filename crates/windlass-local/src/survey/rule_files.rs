//! Names of the files that change what a survey leaves out.

/// Files that indicate rules of a folder.
pub(super) const RULES: [&str; 3] = [".ignore", ".gitignore", ".git"];
