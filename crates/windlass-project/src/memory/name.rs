//! The names of memories.

use super::MemoryError;
use std::fmt;

/// Maximum number of characters of a name.
const MAX_CHARS: usize = 64;
/// Extension of the files of memories.
const ENDING: &str = ".md";
/// Reserved file names of some systems, and the name of the index.
const RESERVED_NAMES: [&str; 6] = ["aux", "con", "memory", "nul", "prn", "readme"];

/// The name of a memory: a safe part of a file name on every system.
///
/// A name has 1 to 64 of `A-Z a-z 0-9 _ -` and begins with a letter or digit. The names of the index, of a read-me
/// file, and of devices on some systems are not allowed.
///
/// ```
/// use windlass_project::MemoryName;
///
/// assert!("release-steps".parse::<MemoryName>().is_ok());
/// for bad in ["", "../x", "a/b", ".hidden", "a.b", "two words", "MEMORY", "nul"] {
///     assert!(bad.parse::<MemoryName>().is_err(), "{bad}");
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryName(String);

impl MemoryName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of its file.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}{ENDING}", self.0)
    }

    /// Returns the name of the memory in a file of this name, if it can be one.
    pub(super) fn of_file(file: &str) -> Option<Self> {
        file.strip_suffix(ENDING)?.parse().ok()
    }

    /// Returns `true` if two names are one file on a file system that ignores case.
    pub(super) fn collides_with(&self, other: &Self) -> bool {
        self != other && self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl std::str::FromStr for MemoryName {
    type Err = MemoryError;

    fn from_str(text: &str) -> Result<Self, MemoryError> {
        let fits = (1..=MAX_CHARS).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
            && text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let lower = text.to_ascii_lowercase();
        let port = lower.strip_prefix("com").or(lower.strip_prefix("lpt"));
        let is_device =
            port.is_some_and(|number| number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_digit()));
        if fits && !is_device && !RESERVED_NAMES.contains(&lower.as_str()) {
            return Ok(Self(text.to_owned()));
        }
        Err(MemoryError::Name { name: text.chars().take(MAX_CHARS).collect() })
    }
}

impl fmt::Display for MemoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
