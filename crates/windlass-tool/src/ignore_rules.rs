//! Rules of ignore files: `.ignore`, `.gitignore` and git's own `info/exclude`. Needs the feature `ignore-rules`.
//!
//! The caller decides which files are opened and passes their texts, which are untrusted. An unusable text excludes
//! nothing and is counted. The size of each text and of all together is limited.
//!
//! ```
//! use std::path::Path;
//! use windlass_tool::ignore_rules::{IgnoreFiles, IgnoreRules};
//!
//! let files = IgnoreFiles::default();
//! let texts = [Ok(None), Ok(Some(b"*.log\n".to_vec())), Ok(None)];
//! let rules = files.rules(Path::new("/work"), &IgnoreRules::default(), texts);
//! assert!(rules.leave_out(Path::new("/work/a/b.log"), false));
//! ```

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Maximum length of an ignore file, in bytes.
pub const MAX_IGNORE_FILE: u64 = 1024 * 1024;

/// Maximum number of bytes of all ignore files of a walk, because patterns take many times their length in memory.
const MAX_TOTAL_BYTES: u64 = 16 * MAX_IGNORE_FILE;

/// Contents of a directory's ignore files in order of precedence: `.ignore`, `.gitignore`, `.git/info/exclude`. `None`
/// for a missing one.
pub type IgnoreTexts = [io::Result<Option<Vec<u8>>>; 3];

/// Ignore rules of a directory, joined with those of all directories above it.
#[derive(Debug, Clone, Default)]
pub struct IgnoreRules(Option<Arc<RuleLevel>>);

#[derive(Debug)]
struct RuleLevel {
    parent: IgnoreRules,
    digest: u64,
    /// Matchers by kind of file, in order of precedence. An earlier kind wins, from whatever directory; within a kind
    /// the nearest directory wins.
    matchers: [Gitignore; 3],
}

impl IgnoreRules {
    /// `true` if the rules ignore `path`, which is below the directory of the rules.
    #[must_use]
    pub fn leave_out(&self, path: &Path, is_directory: bool) -> bool {
        let mut verdicts: [Match<()>; 3] = [Match::None, Match::None, Match::None];
        let mut level = self.0.as_deref();
        while let Some(rules) = level {
            for (verdict, matcher) in verdicts.iter_mut().zip(&rules.matchers) {
                if verdict.is_none() {
                    *verdict = matcher.matched(path, is_directory).map(drop);
                }
            }
            level = rules.parent.0.as_deref();
        }
        verdicts.iter().find(|verdict| !verdict.is_none()).is_some_and(Match::is_ignore)
    }

    /// Digest of the rules and of those above them; 0 if there are none. Different rules have different digests.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.0.as_ref().map_or(0, |rules| rules.digest)
    }

    /// `true` if there are no rules, so that nothing is ignored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Reader of the ignore files of one walk. Counts their bytes and the unusable files.
#[derive(Debug, Default)]
pub struct IgnoreFiles {
    bytes_read: AtomicU64,
    unusable: AtomicUsize,
}

impl IgnoreFiles {
    /// Number of unusable ignore files: unreadable ones, and those beyond the limits.
    #[must_use]
    pub fn unusable(&self) -> usize {
        self.unusable.load(Ordering::Relaxed)
    }

    /// Returns the rules of a directory from the texts of its ignore files and the rules above it.
    pub fn rules(&self, directory: &Path, above: &IgnoreRules, texts: IgnoreTexts) -> IgnoreRules {
        let mut hasher = blake3::Hasher::new();
        let matchers = texts.map(|text| self.matcher(directory, text, &mut hasher));
        if matchers.iter().all(Option::is_none) {
            return above.clone();
        }
        hasher.update(&above.digest().to_le_bytes());
        hasher.update(directory.as_os_str().as_encoded_bytes());
        let digest = hasher.finalize().as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        let matchers = matchers.map(|matcher| matcher.unwrap_or_else(Gitignore::empty));
        IgnoreRules(Some(Arc::new(RuleLevel { parent: above.clone(), digest, matchers })))
    }

    /// Compiles an ignore file; `None` if it is missing, unusable or has no patterns.
    fn matcher(
        &self,
        directory: &Path,
        contents: io::Result<Option<Vec<u8>>>,
        hasher: &mut blake3::Hasher,
    ) -> Option<Gitignore> {
        let text = match contents {
            Ok(None) => {
                hasher.update(&u64::MAX.to_le_bytes());
                return None;
            }
            Ok(Some(bytes)) => self.decode(bytes),
            Err(error) => Err(error),
        };
        let built = text.and_then(|text| {
            let mut builder = GitignoreBuilder::new(directory);
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            for line in text.lines() {
                // A line that is no pattern does not invalidate the others.
                let _ = builder.add_line(None, line);
            }
            builder.build().map_err(io::Error::other)
        });
        match built {
            Ok(matcher) => (!matcher.is_empty()).then_some(matcher),
            Err(_) => {
                self.unusable.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// Decodes an ignore file, and counts its bytes against the limits.
    fn decode(&self, bytes: Vec<u8>) -> io::Result<String> {
        let length = bytes.len() as u64;
        if length > MAX_IGNORE_FILE
            || self.bytes_read.fetch_add(length, Ordering::Relaxed).saturating_add(length) > MAX_TOTAL_BYTES
        {
            return Err(io::Error::other("the ignore files are too large"));
        }
        // Invalid UTF-8 is replaced: such a line matches no valid name, and the other lines stay usable.
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }
}
