//! File name patterns of the shell, as far as needed to find their possible matches.

use std::ffi::OsStr;

/// Characters by which a name may match others.
pub(crate) const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// The part of a word from its first name with a wildcard on, as the shell would expand it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShellPattern(String);

impl ShellPattern {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the pattern as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the names, in order.
    pub fn names(&self) -> impl Iterator<Item = PatternName<'_>> {
        self.0.split('/').filter(|name| !matches!(*name, "" | ".")).map(PatternName)
    }
}

/// One name of a [`ShellPattern`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternName<'a>(&'a str);

impl<'a> PatternName<'a> {
    /// Returns the name, if it is literal.
    #[must_use]
    pub fn literal(self) -> Option<&'a str> {
        (!self.0.contains(SPECIAL)).then_some(self.0)
    }

    /// Returns `true` if the shell may replace the pattern by this name. Never `false` for a name that the shell would
    /// use: quotes are no longer visible here, so the text between the first and the last special character may be
    /// anything.
    #[must_use]
    pub fn may_match(self, name: &OsStr) -> bool {
        let start = self.0.find(SPECIAL).unwrap_or(self.0.len());
        let end =
            self.0.rfind(['*', '?', '[', ']', '{', '}', '\\']).map_or(self.0.len(), |last| last.saturating_add(1));
        let (prefix, suffix) = (self.0.get(..start).unwrap_or_default(), self.0.get(end..).unwrap_or_default());
        let name = name.as_encoded_bytes();
        // A wildcard at the start matches no leading dot.
        (!name.starts_with(b".") || prefix.starts_with('.'))
            && name.strip_prefix(prefix.as_bytes()).is_some_and(|rest| rest.ends_with(suffix.as_bytes()))
    }
}

/// Returns `true` if a name has a wildcard.
pub(crate) fn is_wild(name: &str) -> bool {
    name.contains(SPECIAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        ShellPattern::new(pattern).names().next().unwrap().may_match(OsStr::new(name))
    }

    #[test]
    fn a_name_may_stand_for_more_than_the_shell_says_but_never_for_less() {
        for (pattern, name) in [
            ("*.rs", "a.rs"),
            ("a*c", "abc"),
            ("a*c", "ac"),
            ("?", "x"),
            ("[ab]x", "ax"),
            ("x[!a]*.y", "xb.y"),
            ("*", "anything"),
            (".*", ".git"),
            ("a[*]b", "a*b"),
            ("[[:alpha:]]]", "a]"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*.rs", "a.rb"), ("a*c", "bc"), ("*", ".hidden"), ("a*", "b"), (".x*", ".y")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn names_without_a_wildcard_stand_for_themselves() {
        let pattern = ShellPattern::new("*/./b//c?");
        let literals: Vec<_> = pattern.names().map(PatternName::literal).collect();
        assert_eq!(literals, [None, Some("b"), None]);
    }
}
