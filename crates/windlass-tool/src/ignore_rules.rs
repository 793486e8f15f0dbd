//! Rules of ignore files: `.ignore`, `.gitignore` and git's own `info/exclude`. Needs the feature `ignore-rules`.
//!
//! The texts come from the caller, who decides which files are opened. They are foreign input: an unusable one leaves
//! no file out and is counted, and neither one of them nor all together may be large.
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

/// Maximum number of bytes of all ignore files together: patterns take many times their length in memory.
const MAX_TOGETHER: u64 = 16 * MAX_IGNORE_FILE;

/// Contents of a directory's ignore files in order of precedence: `.ignore`, `.gitignore`, `.git/info/exclude`. `None`
/// for a missing one.
pub type IgnoreTexts = [io::Result<Option<Vec<u8>>>; 3];

/// Rules of a directory and those above it.
#[derive(Debug, Clone, Default)]
pub struct IgnoreRules(Option<Arc<Rules>>);

#[derive(Debug)]
struct Rules {
    above: IgnoreRules,
    digest: u64,
    /// In order of precedence. A stronger kind wins from any directory above; within a kind the nearest directory wins.
    kinds: [Gitignore; 3],
}

impl IgnoreRules {
    /// `true` if a path below the directory is left out.
    #[must_use]
    pub fn leave_out(&self, path: &Path, is_folder: bool) -> bool {
        let mut verdicts: [Match<()>; 3] = [Match::None, Match::None, Match::None];
        let mut level = self.0.as_deref();
        while let Some(rules) = level {
            for (verdict, kind) in verdicts.iter_mut().zip(&rules.kinds) {
                if verdict.is_none() {
                    *verdict = kind.matched(path, is_folder).map(drop);
                }
            }
            level = rules.above.0.as_deref();
        }
        verdicts.iter().find(|verdict| !verdict.is_none()).is_some_and(Match::is_ignore)
    }

    /// Digest of the rules: different rules have different digests; 0 without rules.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.0.as_ref().map_or(0, |rules| rules.digest)
    }

    /// `true` if nothing is left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Ignore files of one walk: the sum of their lengths, and the number of unusable ones.
#[derive(Debug, Default)]
pub struct IgnoreFiles {
    read: AtomicU64,
    unusable: AtomicUsize,
}

impl IgnoreFiles {
    /// Number of unusable ignore files: unreadable ones, and those beyond the limits.
    #[must_use]
    pub fn unusable(&self) -> usize {
        self.unusable.load(Ordering::Relaxed)
    }

    /// Returns the rules of a directory from the texts of its ignore files and the rules above it.
    pub fn rules(&self, folder: &Path, above: &IgnoreRules, texts: IgnoreTexts) -> IgnoreRules {
        let mut hasher = blake3::Hasher::new();
        let kinds = texts.map(|text| self.matcher(folder, text, &mut hasher));
        if kinds.iter().all(Option::is_none) {
            return above.clone();
        }
        hasher.update(&above.digest().to_le_bytes());
        hasher.update(folder.as_os_str().as_encoded_bytes());
        let digest = hasher.finalize().as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        let kinds = kinds.map(|kind| kind.unwrap_or_else(Gitignore::empty));
        IgnoreRules(Some(Arc::new(Rules { above: above.clone(), digest, kinds })))
    }

    /// Patterns of an ignore file, if it exists and has any.
    fn matcher(
        &self,
        folder: &Path,
        read: io::Result<Option<Vec<u8>>>,
        hasher: &mut blake3::Hasher,
    ) -> Option<Gitignore> {
        let read = match read {
            Ok(None) => {
                hasher.update(&u64::MAX.to_le_bytes());
                return None;
            }
            Ok(Some(bytes)) => self.text(bytes),
            Err(error) => Err(error),
        };
        let built = read.and_then(|text| {
            let mut builder = GitignoreBuilder::new(folder);
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

    fn text(&self, bytes: Vec<u8>) -> io::Result<String> {
        let length = bytes.len() as u64;
        if length > MAX_IGNORE_FILE
            || self.read.fetch_add(length, Ordering::Relaxed).saturating_add(length) > MAX_TOGETHER
        {
            return Err(io::Error::other("the ignore files are too large"));
        }
        // A line that is not text matches no textual name. It does not invalidate the others.
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }
}
