//! Answers of a model, independent of a dialect.

/// An answer of a model, for a [`Dialect`](super::Dialect) to stream.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) model: String,
    pub(super) parts: Vec<Part>,
    pub(super) finish: Finish,
    pub(super) tokens: Tokens,
}

/// A part of an answer. Each text is streamed in the given deltas.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text for the user.
    Text(Vec<String>),
    /// Reasoning, and the token with which the vendor recognizes it.
    Reasoning {
        /// Text of the reasoning; may be empty.
        text: Vec<String>,
        /// Token that a client must send back unchanged. Dialects without such a token want the text back.
        token: String,
    },
    /// A call of a tool.
    Call {
        /// Id by the vendor. Dialects without ids leave it out.
        id: String,
        /// Name of the tool.
        name: String,
        /// JSON text of the input.
        input: Vec<String>,
    },
}

/// Reason why a model stopped, if it does not follow from the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// The model was done, or wants its calls run.
    #[default]
    Done,
    /// The model reached the output limit.
    MaxTokens,
    /// The model refused. The text is the refusal, in dialects that mark it.
    Refusal,
    /// A filter of the vendor ended the answer.
    Filtered,
    /// The model wrote a call that the vendor could not read.
    MalformedCall,
}

/// Token counts in the form of vendors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tokens {
    /// Number of tokens of the whole prompt, including those read from the cache.
    pub input: u64,
    /// Number of prompt tokens that were read from the cache.
    pub cached: u64,
    /// Number of all tokens that the model wrote, including its reasoning.
    pub output: u64,
    /// Number of written tokens that were reasoning.
    pub reasoning: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self::new(100, 40, 20, 8)
    }
}

impl Tokens {
    /// Returns counts: the whole input, the cached part of it, the whole output, the reasoning in it.
    #[must_use]
    pub fn new(input: u64, cached: u64, output: u64, reasoning: u64) -> Self {
        Self { input, cached, output, reasoning }
    }
}

impl Answer {
    /// Returns an answer of this model, without parts. It used [`Tokens::default`].
    #[must_use]
    pub fn new(model: &str) -> Self {
        Self { model: model.to_owned(), parts: Vec::new(), finish: Finish::Done, tokens: Tokens::default() }
    }

    /// Adds text that is streamed in these deltas.
    #[must_use]
    pub fn text<'a>(self, deltas: impl IntoIterator<Item = &'a str>) -> Self {
        self.part(Part::Text(owned(deltas)))
    }

    /// Adds reasoning that is streamed in these deltas, and its token.
    #[must_use]
    pub fn reasoning<'a>(self, deltas: impl IntoIterator<Item = &'a str>, token: &str) -> Self {
        self.part(Part::Reasoning { text: owned(deltas), token: token.to_owned() })
    }

    /// Adds a call whose input is streamed in these pieces of JSON text.
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

    /// Sets the reason why the model stopped.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Sets the token counts.
    #[must_use]
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Returns the parts, in order.
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
