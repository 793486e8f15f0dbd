//! Paths that a rule certainly covers below a path.

use super::{Directory, PathRule};
use crate::glob::{ANY_NAME, Reach};
use crate::path::{self, Subject};
use crate::pattern;
use std::borrow::Cow;

impl PathRule {
    /// Returns `true` if a deny or ask rule covers every possible entry below a path.
    pub(crate) fn covers_all_below(&self, subject: &Subject, workspace: &[Directory]) -> bool {
        self.covers_with(subject, &[ANY_NAME.into()], workspace)
    }

    /// Returns `true` if the rule covers every possible match of a shell's file name pattern below a directory.
    pub(crate) fn covers_all_of(&self, base: &Subject, names: &str, workspace: &[Directory]) -> bool {
        let names = names.split('/').filter(|name| !name.is_empty());
        let names: Vec<Cow<'_, str>> =
            names.map(|name| if pattern::is_wild(name) { ANY_NAME.into() } else { path::fold(name).into() }).collect();
        self.covers_with(base, &names, workspace)
    }

    fn covers_with(&self, subject: &Subject, more: &[Cow<'_, str>], workspace: &[Directory]) -> bool {
        subject.spellings().iter().any(|names| self.reach_from(names, more, workspace) == Reach::Covers)
    }

    /// Returns `true` if the rule is about one fixed place at or below a path.
    pub(crate) fn is_fixed_below(&self, subject: &Subject, workspace: &[Directory]) -> bool {
        let from = |names: &[String], start: &[String]| match path::strip(names, start) {
            Some(rest) => self.globs.iter().any(|glob| glob.is_fixed_below(rest)),
            None => {
                path::strip(start, names).is_some() && self.globs.iter().any(|glob| glob.is_fixed_below::<String>(&[]))
            }
        };
        subject.spellings().iter().any(|names| self.starts(workspace).any(|start| from(names, start)))
    }
}
