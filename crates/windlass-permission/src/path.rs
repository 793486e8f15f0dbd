//! Paths by their text: no file system is asked.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::is_nfc;

use crate::windows_path;

pub(crate) use windlass_shell::as_written;
pub(crate) use windlass_types::path::absolute as normalize;
use windlass_types::path::is_written_plainly;

/// Returns a path as one text that is the same for all spellings of its names, to be compared more quickly than name by
/// name.
pub(crate) fn text(path: &Path) -> Cow<'_, OsStr> {
    match is_written_plainly(path) {
        true => Cow::Borrowed(path.as_os_str()),
        false => Cow::Owned(path.components().collect::<PathBuf>().into_os_string()),
    }
}

/// Returns `true` if a path is absolute and has no `.` or `..`.
pub(crate) fn is_plain_absolute(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir))
}

/// Path syntax of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathStyle {
    Unix,
    Windows,
}

impl PathStyle {
    /// Path style of the target system.
    pub(crate) const OWN: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };

    /// Returns the names of a path as rules compare them, its root aside. On Windows the drive is the first (`c`), and
    /// shares begin with `UNC`, the server and the share. `None`: the path may mean another file than its text.
    pub(crate) fn names(self, path: &Path) -> Option<Vec<String>> {
        if self == Self::Unix {
            return Some(names(path).into_iter().map(Cow::into_owned).collect());
        }
        let text = path.to_str()?;
        if matches!(text, "/" | "\\") {
            // Above all drives: where rules begin that name one.
            return Some(Vec::new());
        }
        let form = windows_path(text)?;
        let share = form.strip_prefix("//");
        let names = share.unwrap_or(&form).split('/').filter(|name| !name.is_empty());
        Some(share.map(|_| "UNC").into_iter().chain(names).map(str::to_owned).collect())
    }

    /// Returns a path as a pattern of rules may write it, in the one form that begins with `//`: also `C:\Users\**` and
    /// `\\server\share` on Windows, where a backslash is no escape then. Any other text stays as it is.
    pub(crate) fn pattern(self, text: &str) -> Cow<'_, str> {
        let drive = || {
            let (letter, rest) = text.split_once(':')?;
            let is_drive = letter.len() == 1 && letter.chars().all(|c| c.is_ascii_alphabetic());
            let rest = rest.strip_prefix(['\\', '/']).filter(|_| is_drive)?;
            Some(format!("//{}/{}", letter.to_ascii_lowercase(), rest.replace('\\', "/")))
        };
        let share = || text.strip_prefix("\\\\").map(|rest| format!("//UNC/{}", rest.replace('\\', "/")));
        match self {
            Self::Unix => Cow::Borrowed(text),
            Self::Windows => drive().or_else(share).map_or(Cow::Borrowed(text), Cow::Owned),
        }
    }

    /// Returns a path as text for a rule, from the root: `/c/Users/me`. `None` if no rule can name it.
    pub(crate) fn rule_text(self, path: &Path) -> Option<String> {
        match self {
            Self::Unix => path.to_str().map(str::to_owned),
            Self::Windows => Some(format!("/{}", self.names(path)?.join("/"))),
        }
    }
}

/// Returns the names of a path, its root aside.
pub(crate) fn names(path: &Path) -> Vec<Cow<'_, str>> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            Component::Prefix(prefix) => Some(prefix.as_os_str().to_string_lossy()),
            _ => None,
        })
        .collect()
}

/// Returns the composed form: `e` and an accent become one character, as file systems that normalise see them.
pub(crate) fn compose(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Returns one character without its case.
pub(crate) fn fold_char(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// Characters that some file systems skip when they compare names.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// Returns a name as the most forgiving file system compares it: without case, composed, without ignorable characters.
pub(crate) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    compose(name).chars().filter(|c| !is_ignorable(*c)).flat_map(fold_char).collect()
}

/// Returns the spellings of a folded name that some file system takes for the same: as it is, and without trailing dots
/// and blanks or a stream name.
fn trimmed(folded: &str) -> Option<&str> {
    let name = folded.split(':').next().unwrap_or(folded).trim_end_matches(['.', ' ']);
    (name != folded && !name.is_empty()).then_some(name)
}

/// A path made ready for comparison with many rules.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) path: PathBuf,
    /// Names, byte for byte if they are Unicode.
    pub(crate) exact: Vec<String>,
    /// Names folded; a second spelling if one is shorter. Empty if they are the exact ones.
    folded: Vec<Vec<String>>,
    /// `true` if the text determines the file. Otherwise nothing is allowed by it, and every rule that lowers is met.
    pub(crate) is_sure: bool,
}

impl Subject {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self::in_style(path, PathStyle::OWN)
    }

    pub(crate) fn in_style(path: PathBuf, style: PathStyle) -> Self {
        let sure = style.names(&path);
        let is_sure = sure.is_some();
        let exact = sure.unwrap_or_else(|| names(&path).into_iter().map(Cow::into_owned).collect());
        let is_folded = |name: &String| name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        let has_one_spelling = exact.iter().all(|name| is_folded(name) && trimmed(name).is_none());
        let folded = if has_one_spelling { Vec::new() } else { spellings(&exact) };
        Self { path, exact, folded, is_sure }
    }

    /// Returns the folded names, in each spelling.
    pub(crate) fn spellings(&self) -> &[Vec<String>] {
        if self.folded.is_empty() { std::slice::from_ref(&self.exact) } else { &self.folded }
    }
}

fn spellings(exact: &[String]) -> Vec<Vec<String>> {
    let plain: Vec<String> = exact.iter().map(|name| fold(name)).collect();
    let short: Vec<String> =
        plain.iter().map(|name| trimmed(name).map_or_else(|| name.clone(), str::to_owned)).collect();
    if plain == short { vec![plain] } else { vec![plain, short] }
}

/// Returns the names below `directory` if the path is the directory or below it, else `None`.
pub(crate) fn strip<'a, S: AsRef<str>>(names: &'a [S], directory: &[String]) -> Option<&'a [S]> {
    let (start, rest) = names.split_at_checked(directory.len())?;
    start.iter().zip(directory).all(|(a, b)| a.as_ref() == b).then_some(rest)
}

/// Directories that are links, to and from.
pub(crate) type Links = [(PathBuf, PathBuf)];

/// Returns a path in every form that the links give it.
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
