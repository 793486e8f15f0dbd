//! A path that a command touches, by its text.

use crate::path::as_written;
use crate::pattern::SPECIAL;
use crate::search::TreeSearch;
use crate::usage::Usage;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_shell::{PathOperand, PathRole};
use windlass_types::path::{has_parent, normalized};

/// A path that a command touches, by its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    /// Absolute, by its text alone. Of a file name pattern, the directory it starts in.
    pub(crate) path: PathBuf,
    /// The same with every `..` still in it, as the system will walk it; `None` if it has none.
    pub(crate) walked: Option<PathBuf>,
    /// Use of the path by the command.
    pub(crate) usage: Usage,
    /// `true` if the command takes the tree below along, so that the driver has to look there.
    pub(crate) carries: bool,
    /// A file name pattern of the shell, from `path` on.
    pub(crate) pattern: Option<String>,
    /// `true` if a program would take a match that begins with a dash for an option.
    pub(crate) option: bool,
    /// `true` if the path is unknown, because of an expansion or an unknown directory.
    pub(crate) unknown: bool,
    /// `true` if there are too many possible start directories.
    pub(crate) lost: bool,
    /// The pattern that the names of all files below have which the command hands on.
    pub(crate) named: Option<String>,
    /// `true` if the last name is a pattern that begins with a dot.
    pub(crate) dotted: bool,
    /// Search of the tree below, for a program that prints it.
    pub(crate) search: Option<Arc<TreeSearch>>,
}

/// Hashes a part of the fields: specs of one path differ in little, so hashing the rest would not be worth its time.
/// Paths composed in the same way have equal texts if they are equal.
impl Hash for Spec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.written().as_os_str().hash(state);
        self.pattern.hash(state);
    }
}

impl Spec {
    pub(crate) fn new(base: &Path, path: &Path) -> Self {
        let written = as_written(base, path);
        let (path, walked) = if has_parent(&written) { (normalized(&written), Some(written)) } else { (written, None) };
        Self {
            path,
            walked,
            usage: Usage::default(),
            carries: false,
            pattern: None,
            option: false,
            unknown: false,
            lost: false,
            named: None,
            dotted: false,
            search: None,
        }
    }

    /// Returns the path as the command names it, with every `..` in it.
    pub(crate) fn written(&self) -> &Path {
        self.walked.as_deref().unwrap_or(&self.path)
    }

    pub(crate) fn of_operand(operand: &PathOperand, base: &Path) -> Self {
        let mut spec = if operand.glob {
            Self { option: operand.option, ..Self::of_pattern(&operand.path, base) }
        } else {
            Self::new(base, Path::new(&operand.path))
        };
        spec.usage.redirect = operand.role == PathRole::Redirect;
        spec
    }

    /// Returns a file name pattern: the part before the first name with a wildcard is a path.
    pub(crate) fn of_pattern(text: &str, base: &Path) -> Self {
        let plain: usize = text
            .split_inclusive('/')
            .take_while(|name| name.ends_with('/') && !name.contains(['*', '?', '[', '{', '\\']))
            .map(str::len)
            .sum();
        let (directory, pattern) = text.split_at_checked(plain).unwrap_or(("", text));
        let mut spec = Self::new(base, Path::new(directory));
        let mut names = pattern.split('/').filter(|name| !name.is_empty()).rev();
        let last = names.next();
        // The meaning of `..` after a wildcard is known only to the file system, and `.*` matches `..` too, unless the
        // shell is a new one. For the last name, this matters only if the tree below is read.
        spec.unknown = last == Some("..") || names.any(|name| name == ".." || is_dotted(name));
        spec.dotted = last.is_some_and(is_dotted);
        spec.option = text.starts_with('-') || text.starts_with(SPECIAL);
        spec.pattern = Some(pattern.to_owned());
        spec
    }
}

/// Returns `true` if a name with a wildcard begins with a dot.
fn is_dotted(name: &str) -> bool {
    name.starts_with('.') && name.contains(['*', '?', '['])
}
