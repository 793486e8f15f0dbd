//! What a model says, before a dialect writes it.

/// An answer of a model, for a [`Dialect`](super::Dialect) to stream.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) model: String,
    pub(super) parts: Vec<Part>,
    pub(super) finish: Finish,
    pub(super) tokens: Tokens,
}

/// A part of an answer. Each text comes in the deltas that are given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text for the user.
    Text(Vec<String>),
    /// Reasoning, and the token by which the vendor knows it again.
    Reasoning {
        /// Its text; may be empty.
        text: Vec<String>,
        /// What a client must send back unchanged. Dialects without such a token want the text back.
        token: String,
    },
    /// A call of a tool.
    Call {
        /// The vendor's id. Dialects without ids leave it out.
        id: String,
        /// The tool.
        name: String,
        /// The JSON text of its input.
        input: Vec<String>,
    },
}

/// Why a model stopped, where that does not follow from its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// It was done, or wants its calls run.
    #[default]
    Done,
    /// It reached the output limit.
    MaxTokens,
    /// It refused. The text is the refusal, in dialects that set it apart.
    Refusal,
    /// A filter of the vendor ended the answer.
    Filtered,
    /// It wrote a call that the vendor could not read.
    MalformedCall,
}

/// Token counts as vendors keep them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tokens {
    /// The whole prompt, with what was read from the cache.
    pub input: u64,
    /// What of it was read from the cache.
    pub cached: u64,
    /// All that the model wrote, with its reasoning.
    pub output: u64,
    /// What of it was reasoning.
    pub reasoning: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self::new(100, 40, 20, 8)
    }
}

impl Tokens {
    /// Counts: the whole input, the cached part of it, the whole output, the reasoning in it.
    #[must_use]
    pub fn new(input: u64, cached: u64, output: u64, reasoning: u64) -> Self {
        Self { input, cached, output, reasoning }
    }
}

impl Answer {
    /// An answer of this model, without parts. It used [`Tokens::default`].
    #[must_use]
    pub fn new(model: &str) -> Self {
        Self { model: model.to_owned(), parts: Vec::new(), finish: Finish::Done, tokens: Tokens::default() }
    }

    /// Adds text that comes in these deltas.
    #[must_use]
    pub fn text<'a>(self, deltas: impl IntoIterator<Item = &'a str>) -> Self {
        self.part(Part::Text(owned(deltas)))
    }

    /// Adds reasoning that comes in these deltas, and its token.
    #[must_use]
    pub fn reasoning<'a>(self, deltas: impl IntoIterator<Item = &'a str>, token: &str) -> Self {
        self.part(Part::Reasoning { text: owned(deltas), token: token.to_owned() })
    }

    /// Adds a call whose input comes in these pieces of JSON text.
    #[must_use]
    pub fn call<'a>(self, id: &str, name: &str, input: impl IntoIterator<Item = &'a str>) -> Self {
        self.part(Part::Call { id: id.to_owned(), name: name.to_owned(), input: owned(input) })
    }

    /// Adds a part.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Sets why the model stopped.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Sets what it used.
    #[must_use]
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Its parts, in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    }
}

fn owned<'a>(deltas: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    deltas.into_iter().map(str::to_owned).collect()
}
