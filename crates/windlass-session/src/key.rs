//! Which session of which project.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;
use windlass_types::SessionId;

/// Longest slug that is used whole, in characters.
const SLUG_CHARS: usize = 200;

/// The name of a project's session folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectKey(Arc<str>);

impl ProjectKey {
    /// The key of a project directory. The path should be resolved (absolute,
    /// without links) so that one directory has one key.
    pub fn of(directory: &Path) -> Self {
        Self(slug(&directory.to_string_lossy()).into())
    }

    /// A key that is already a slug, such as the name of a session folder.
    pub fn from_slug(slug: impl Into<Arc<str>>) -> Self {
        Self(slug.into())
    }

    /// The slug.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a folder of this name holds sessions of this project. Long
    /// slugs end in a hash that differs between programs, so only what is
    /// before the hash counts.
    pub fn matches(&self, folder: &str) -> bool {
        if folder == self.as_str() {
            return true;
        }
        let stem =
            |name: &str| name.char_indices().nth(SLUG_CHARS).and_then(|(at, _)| name.get(..=at).map(str::to_owned));
        match (stem(self.as_str()), stem(folder)) {
            (Some(ours), Some(theirs)) => ours == theirs && ours.ends_with('-'),
            _ => false,
        }
    }
}

impl fmt::Display for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ProjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// A session of a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "these two parts are what a session's address is")]
pub struct SessionKey {
    /// The project.
    pub project: ProjectKey,
    /// The session.
    pub session: SessionId,
}

impl SessionKey {
    /// The key of a session.
    pub fn new(project: ProjectKey, session: SessionId) -> Self {
        Self { project, session }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.session)
    }
}

/// The folder name of a project path: every character outside `[A-Za-z0-9]`
/// becomes `-`; beyond 200 characters, the first 200, `-` and a hash of the path.
pub fn slug(path: &str) -> String {
    let path: String = path.nfc().collect();
    // By UTF-16 unit, as the programs that share this layout count: a character
    // outside the basic plane becomes two dashes.
    let mut slug: String = path
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect();
    if slug.len() > SLUG_CHARS {
        let hash = path.encode_utf16().fold(0_i32, |h, unit| h.wrapping_mul(31).wrapping_add(i32::from(unit)));
        slug.truncate(SLUG_CHARS);
        slug.push('-');
        slug.push_str(&base36(hash.unsigned_abs()));
    }
    slug
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_of_known_paths() {
        for (path, expected) in [
            ("/home/me/app", "-home-me-app"),
            ("/a_b/c.d/é e", "-a-b-c-d---e"),
            ("/e\u{301}", "--"),
            ("/\u{1f600}", "---"),
            ("", ""),
        ] {
            assert_eq!(slug(path), expected, "{path}");
        }
    }

    #[test]
    fn a_long_slug_ends_in_the_hash_of_the_path() {
        let path = format!("/{}", "a".repeat(250));
        let slug = slug(&path);
        // h = h * 31 + unit over the path, as a signed 32-bit number.
        let mut hash: i64 = 0;
        for byte in path.bytes() {
            hash = (hash * 31 + i64::from(byte)) & 0xffff_ffff;
        }
        let signed = if hash > 0x7fff_ffff { hash - (1 << 32) } else { hash };
        assert_eq!(slug, format!("-{}-{}", "a".repeat(199), base36(u32::try_from(signed.abs()).unwrap())));
        let key = ProjectKey::from_slug(slug);
        assert!(key.matches(&format!("-{}-zzz", "a".repeat(199))));
        assert!(!key.matches(&format!("-{}bzzz", "a".repeat(199))));
        assert!(!ProjectKey::from_slug("-a").matches("-a-b"));
    }

    #[test]
    fn base_36_of_known_numbers() {
        for (number, text) in [(0, "0"), (35, "z"), (36, "10"), (u32::MAX, "1z141z3")] {
            assert_eq!(base36(number), text);
        }
    }
}
