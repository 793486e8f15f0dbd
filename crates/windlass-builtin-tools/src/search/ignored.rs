//! Rules of ignore files.
//!
//! Ignore files are foreign input, so they are opened here and not by the library that walks: only regular files are
//! used, none is followed out of the workspace, and neither one of them nor all together may be large. An unusable one
//! leaves no file out, and the result of the search reports it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::walk::Scope;
use crate::workspace::{dir, resolve};

/// Maximum length of an ignore file, in bytes.
pub(super) const LONGEST: u64 = 1024 * 1024;

/// Maximum number of bytes of all ignore files in one search: patterns take many times their length in memory.
const ALL_TOGETHER: u64 = 16 * LONGEST;

/// Maximum length of a line with which git names its folder.
const LONGEST_POINTER: u64 = 64 * 1024;

/// Rules of a folder and those above it.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    /// Digest of the patterns, these and those above: different rules have different digests.
    digest: u64,
    /// In order of precedence: of `.ignore`, of `.gitignore`, and of git's own `info/exclude`. A stronger kind wins
    /// from any folder above; within a kind the nearest folder wins.
    kinds: [Gitignore; 3],
}

impl Rules {
    /// See [`digest`](Self#structfield.digest).
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    /// `true` if a path below the folder is left out.
    pub(super) fn leave_out(&self, path: &Path, is_dir: bool) -> bool {
        let mut verdicts: [Match<()>; 3] = [Match::None, Match::None, Match::None];
        let mut at = Some(self);
        while let Some(rules) = at {
            for (verdict, kind) in verdicts.iter_mut().zip(&rules.kinds) {
                if verdict.is_none() {
                    *verdict = kind.matched(path, is_dir).map(drop);
                }
            }
            at = rules.above.as_deref();
        }
        verdicts.iter().find(|verdict| !verdict.is_none()).is_some_and(Match::is_ignore)
    }
}

/// Rules of the folders that a walk has entered.
#[derive(Debug, Default)]
pub(super) struct IgnoreFiles {
    /// Rules by path, as whole strings: comparing paths part by part takes longer.
    folders: RwLock<HashMap<OsString, Arc<Rules>>>,
    /// `true` if there are any rules at all.
    any: AtomicBool,
    read: AtomicU64,
    unusable: AtomicUsize,
}

impl IgnoreFiles {
    /// Number of unusable ignore files.
    pub(super) fn unusable(&self) -> usize {
        self.unusable.load(Ordering::Relaxed)
    }

    /// `true` if the rules of `folder`'s parent, which was entered, or of folders above leave it out.
    pub(super) fn leave_out_folder(&self, folder: &Path) -> bool {
        let rules = || self.of(folder.parent()?);
        self.any.load(Ordering::Relaxed) && rules().is_some_and(|rules| rules.leave_out(folder, true))
    }

    /// Reads the ignore files of a folder before its entries are checked. Those above the root are read with the root.
    pub(super) fn enter(&self, folder: &Path, scope: &Scope<'_>) {
        let above =
            if folder == scope.root { self.above(scope) } else { folder.parent().and_then(|above| self.of(above)) };
        if let Some(rules) = self.read_folder(folder, above, scope) {
            self.any.store(true, Ordering::Relaxed);
            // A root may be spelled with a slash at its end; the parents of its entries are not.
            let folder = folder.components().as_path().into();
            self.folders.write().unwrap_or_else(PoisonError::into_inner).insert(folder, rules);
        }
    }

    fn of(&self, folder: &Path) -> Option<Arc<Rules>> {
        self.folders.read().unwrap_or_else(PoisonError::into_inner).get(folder.as_os_str()).cloned()
    }

    /// Rules of the folders above the root.
    pub(super) fn above(&self, scope: &Scope<'_>) -> Option<Arc<Rules>> {
        let folders: Vec<&Path> = scope.root.ancestors().skip(1).collect();
        folders.into_iter().rev().fold(None, |above, folder| self.read_folder(folder, above, scope))
    }

    /// Rules of a folder and of those above it.
    pub(super) fn read_folder(
        &self,
        folder: &Path,
        above: Option<Arc<Rules>>,
        scope: &Scope<'_>,
    ) -> Option<Arc<Rules>> {
        self.of_texts(folder, above, texts(folder, scope))
    }

    /// Rules of a folder from its ignore files, in order of precedence.
    pub(super) fn of_texts(&self, folder: &Path, above: Option<Arc<Rules>>, files: Texts) -> Option<Arc<Rules>> {
        let mut texts = blake3::Hasher::new();
        let kinds = files.map(|file| self.matcher(folder, file, &mut texts));
        if kinds.iter().all(Option::is_none) {
            return above;
        }
        texts.update(&above.as_ref().map_or(0, |above| above.digest).to_le_bytes());
        texts.update(folder.as_os_str().as_encoded_bytes());
        let digest = texts.finalize().as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        Some(Arc::new(Rules { above, digest, kinds: kinds.map(|kind| kind.unwrap_or_else(Gitignore::empty)) }))
    }

    /// Patterns of an ignore file, if it exists and has any.
    fn matcher(
        &self,
        folder: &Path,
        read: io::Result<Option<Vec<u8>>>,
        texts: &mut blake3::Hasher,
    ) -> Option<Gitignore> {
        let read = match read {
            Ok(None) => {
                texts.update(&u64::MAX.to_le_bytes());
                return None;
            }
            Ok(Some(bytes)) => self.text(bytes),
            Err(error) => Err(error),
        };
        let built = read.and_then(|text| {
            let mut builder = GitignoreBuilder::new(folder);
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            texts.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            for line in text.lines() {
                // A line that is no pattern does not invalidate the others.
                let _ = builder.add_line(None, line);
            }
            builder.build().map_err(io::Error::other)
        });
        match built {
            Ok(matcher) => (!matcher.is_empty()).then_some(matcher),
            Err(error) => {
                tracing::debug!(folder = %folder.display(), %error, "an ignore file does not count");
                self.unusable.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    fn text(&self, bytes: Vec<u8>) -> io::Result<String> {
        let length = bytes.len() as u64;
        if self.read.fetch_add(length, Ordering::Relaxed).saturating_add(length) > ALL_TOGETHER {
            return Err(io::Error::other("the ignore files are too large together"));
        }
        // A line that is not text matches no textual name. It does not invalidate the others.
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }
}

/// Contents of a folder's ignore files, in order of precedence.
pub(super) type Texts = [io::Result<Option<Vec<u8>>>; 3];

/// Reads the ignore files of a folder.
pub(super) fn texts(folder: &Path, scope: &Scope<'_>) -> Texts {
    let whole = |opened: io::Result<Option<File>>| opened?.map(|file| bounded(file, LONGEST)).transpose();
    [
        whole(open(&folder.join(".ignore"), folder, scope)),
        whole(open(&folder.join(".gitignore"), folder, scope)),
        whole(open_exclude(folder, scope)),
    ]
}

/// Fingerprint of ignore files: different contents have different fingerprints.
pub(super) fn fingerprint(texts: &Texts) -> [u8; 32] {
    let mut all = blake3::Hasher::new();
    for text in texts {
        match text {
            Ok(Some(bytes)) => all.update(b"+").update(&(bytes.len() as u64).to_le_bytes()).update(bytes),
            Ok(None) => all.update(b"-"),
            Err(error) => all.update(b"!").update(error.to_string().as_bytes()).update(b"\n"),
        };
    }
    *all.finalize().as_bytes()
}

/// Rules of the folder whose files one worker checks, cached because it checks many of a folder in sequence.
#[derive(Debug, Default)]
pub(super) struct Here {
    folder: OsString,
    rules: Option<Arc<Rules>>,
}

impl Here {
    /// `true` if the rules of `file`'s folder, which was entered, or of folders above leave it out.
    pub(super) fn leave_out(&mut self, file: &Path, all: &IgnoreFiles) -> bool {
        let Some(folder) = file.parent().filter(|_| all.any.load(Ordering::Relaxed)) else { return false };
        if self.folder != folder.as_os_str() {
            *self = Self { folder: folder.into(), rules: all.of(folder) };
        }
        self.rules.as_ref().is_some_and(|rules| rules.leave_out(file, false))
    }
}

/// Opens an ignore file of a folder. A link is followed if it leads into the workspace or below the folder.
fn open(path: &Path, folder: &Path, scope: &Scope<'_>) -> io::Result<Option<File>> {
    match dir::open_file(path) {
        Err(error) if dir::is_link_error(&error) => {
            let target = resolve(path)?.path;
            let mut places = scope.workspace.iter().map(PathBuf::as_path).chain([scope.root, folder]);
            if !places.any(|place| target.starts_with(place)) {
                return Err(io::Error::other("it leads out of the workspace"));
            }
            open_resolved(&target, scope)
        }
        opened => there(opened),
    }
}

/// Opens the patterns that git itself keeps for a folder. Its data may be elsewhere: a link or, in a linked working
/// tree, a file gives the path.
fn open_exclude(folder: &Path, scope: &Scope<'_>) -> io::Result<Option<File>> {
    let git = folder.join(".git");
    let path = git.join("info").join("exclude");
    match dir::open_file(&path) {
        Err(error) if dir::is_link_error(&error) => open_resolved(&resolve(&path)?.path, scope),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let Some(own) = pointed(&git, b"gitdir: ", scope)? else { return Ok(None) };
            let own = folder.join(own);
            let Some(common) = pointed(&own.join("commondir"), b"", scope)? else { return Ok(None) };
            open_resolved(&resolve(&own.join(common).join("info").join("exclude"))?.path, scope)
        }
        opened => there(opened),
    }
}

/// Path in the first line of a file, after a word.
fn pointed(path: &Path, word: &[u8], scope: &Scope<'_>) -> io::Result<Option<PathBuf>> {
    let Some(file) = open_resolved(&resolve(path)?.path, scope)? else { return Ok(None) };
    let bytes = bounded(file, LONGEST_POINTER)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_prefix(word).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(line.and_then(|line| std::str::from_utf8(line).ok()).filter(|line| !line.is_empty()).map(PathBuf::from))
}

fn open_resolved(path: &Path, scope: &Scope<'_>) -> io::Result<Option<File>> {
    if (scope.allowed)(path) { there(dir::open_file(path)) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Turns a missing file into `None`, because most folders have no ignore files.
fn there(opened: io::Result<File>) -> io::Result<Option<File>> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Content of a regular file within the maximum length.
pub(super) fn bounded(file: File, longest: u64) -> io::Result<Vec<u8>> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    // The file may grow meanwhile.
    file.take(longest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(io::Error::other("it is too large"));
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests;
