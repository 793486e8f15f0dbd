//! Places in an input.

use std::fmt;

/// A place in a value: its root, or a place below another one. Displays as a JSON pointer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ValuePointer<'a> {
    Root,
    Key(&'a ValuePointer<'a>, &'a str),
    Index(&'a ValuePointer<'a>, usize),
}

impl fmt::Display for ValuePointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(parent, name) => write!(f, "{parent}/{}", name.replace('~', "~0").replace('/', "~1")),
            Self::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}
