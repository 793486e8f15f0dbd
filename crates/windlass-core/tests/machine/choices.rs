//! Decisions of a simulated world, drawn by proptest and shrunk by it.

/// A list of decisions. When it is used up every decision is 0, and 0 always means the plain choice, so that every run
/// comes to an end.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    list: Vec<u16>,
    at: usize,
}

impl Choices {
    pub(crate) fn new(list: Vec<u16>) -> Self {
        Self { list, at: 0 }
    }

    pub(crate) fn are_used_up(&self) -> bool {
        self.at >= self.list.len()
    }

    /// Returns one of `0..of`.
    pub(crate) fn pick(&mut self, of: usize) -> usize {
        let drawn = self.list.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(drawn) % of.max(1)
    }

    /// `true` once in `of` times.
    pub(crate) fn once_in(&mut self, of: usize) -> bool {
        self.pick(of) == of - 1
    }
}
