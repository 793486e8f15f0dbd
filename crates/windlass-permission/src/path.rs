//! Paths by their text: no file system is asked.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::is_nfc;

pub(crate) use windlass_types::path::absolute as normalize;

/// Joins and leaves every `..` where it is, as the system walks the path.
pub(crate) fn as_written(base: &Path, path: &Path) -> PathBuf {
    base.join(path).components().filter(|part| *part != Component::CurDir).collect()
}

/// Whether a path is absolute and has no `.` or `..`.
pub(crate) fn is_plain_absolute(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir))
}

/// The names of a path, its root aside.
pub(crate) fn names(path: &Path) -> Vec<Cow<'_, str>> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            Component::Prefix(prefix) => Some(prefix.as_os_str().to_string_lossy()),
            _ => None,
        })
        .collect()
}

/// Composed form: `e` and an accent become one character, as file systems that normalise see them.
pub(crate) fn compose(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// One character without its case.
pub(crate) fn fold_char(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// Characters that some file systems skip when they compare names.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// A name as the most forgiving file system compares it: without case, composed, without ignorable characters.
pub(crate) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    compose(name).chars().filter(|c| !is_ignorable(*c)).flat_map(fold_char).collect()
}

/// The spellings of a folded name that some file system takes for the same: as it is, and without trailing
/// dots and blanks or a stream name.
fn trimmed(folded: &str) -> Option<&str> {
    let name = folded.split(':').next().unwrap_or(folded).trim_end_matches(['.', ' ']);
    (name != folded && !name.is_empty()).then_some(name)
}

/// A path made ready for comparison with many rules.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) path: PathBuf,
    /// Its names, byte for byte where they are Unicode.
    pub(crate) exact: Vec<String>,
    /// Its names folded; a second spelling where one is shorter.
    pub(crate) folded: Vec<Vec<String>>,
}

impl Subject {
    pub(crate) fn new(path: PathBuf) -> Self {
        let exact: Vec<String> = names(&path).into_iter().map(Cow::into_owned).collect();
        let plain: Vec<String> = exact.iter().map(|name| fold(name)).collect();
        let short: Vec<String> =
            plain.iter().map(|name| trimmed(name).map_or_else(|| name.clone(), str::to_owned)).collect();
        let mut folded = vec![plain];
        if folded.first() != Some(&short) {
            folded.push(short);
        }
        Self { path, exact, folded }
    }
}

/// Whether `path` is `directory` or below it, by names.
pub(crate) fn strip<'a, S: AsRef<str>>(names: &'a [S], directory: &[String]) -> Option<&'a [S]> {
    let (start, rest) = names.split_at_checked(directory.len())?;
    start.iter().zip(directory).all(|(a, b)| a.as_ref() == b).then_some(rest)
}

/// Directories that are links, to and from.
pub(crate) type Links = [(PathBuf, PathBuf)];

/// A path in every form that the links give it.
pub(crate) fn forms(path: &Path, links: &Links) -> Vec<Subject> {
    let mut forms = vec![Subject::new(path.to_path_buf())];
    for (from, to) in links {
        for (here, there) in [(from, to), (to, from)] {
            if let Ok(rest) = path.strip_prefix(here) {
                forms.push(Subject::new(normalize(there, rest)));
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests;
