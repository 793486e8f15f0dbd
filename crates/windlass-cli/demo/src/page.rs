use std::fmt;

/// One page: its number, from one, and the positions of its items, from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    pub number: usize,
    pub first: usize,
    pub last: usize,
}

impl Page {
    /// Number of items on the page.
    pub fn len(&self) -> usize {
        self.last - self.first + 1
    }

    /// A page without items is never made.
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "page {}: {}–{}", self.number, self.first + 1, self.last + 1)
    }
}
