//! The pipelines of a text, and which of them may hand their output to which.

/// A pipeline, a whole loop, condition or group, or a list of words that is none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pipeline {
    /// The pipeline whose words or commands hold the script of this one.
    outer: usize,
    /// Number of the script that it stands in.
    script: usize,
}

/// The pipelines of a text, in the order in which they begin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pipelines {
    all: Vec<Pipeline>,
    current: usize,
    script: usize,
    scripts: usize,
}

/// The place to go back to behind a nested script.
pub(super) struct Around {
    current: usize,
    script: usize,
}

impl Pipelines {
    /// Index of the pipeline that is being read; 0 before the first.
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// Begins a script inside of the current pipeline.
    pub(super) fn enter(&mut self) -> Around {
        let around = Around { current: self.current, script: self.script };
        self.scripts = self.scripts.saturating_add(1);
        self.script = self.scripts;
        self.begin(around.current);
        around
    }

    /// Ends the script that [`enter`](Self::enter) began.
    pub(super) fn leave(&mut self, around: &Around) {
        self.current = around.current;
        self.script = around.script;
    }

    /// Begins the next pipeline of the same script.
    pub(super) fn next(&mut self) {
        let outer = self.get(self.current).map_or(0, |pipeline| pipeline.outer);
        self.begin(outer);
    }

    fn begin(&mut self, outer: usize) {
        self.all.push(Pipeline { outer, script: self.script });
        self.current = self.all.len();
    }

    fn get(&self, index: usize) -> Option<Pipeline> {
        self.all.get(index.checked_sub(1)?).copied()
    }

    /// The pipeline and those around it, the outermost last.
    fn chain(&self, index: usize) -> impl Iterator<Item = (usize, Pipeline)> {
        let step = |index| Some((index, self.get(index)?));
        std::iter::successors(step(index), move |(_, pipeline)| step(pipeline.outer))
    }

    /// `true` if `inner` stands in a script among the words or commands of `outer`.
    pub(crate) fn is_inside(&self, inner: usize, outer: usize) -> bool {
        inner != outer && self.chain(inner).any(|(index, _)| index == outer)
    }

    /// `true` if a command of one pipeline may get the output of the other: they are one, one stands inside of the other, or both stand in
    /// different scripts of one pipeline (`(a) | (b)`).
    pub(crate) fn are_joined(&self, a: usize, b: usize) -> bool {
        if a == b || self.is_inside(a, b) || self.is_inside(b, a) {
            return true;
        }
        let beside = |(_, one): (usize, Pipeline)| {
            let is_beside = |(_, other): (usize, Pipeline)| one.outer == other.outer && one.script != other.script;
            one.outer != 0 && self.chain(b).any(is_beside)
        };
        self.chain(a).any(beside)
    }
}
