//! Input for queries: one prompt, or a stream of prompts.

use crate::error::Error;
use futures_core::Stream;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use windlass_runtime::{Prompt, PromptKind};
use windlass_types::ContentBlock;

/// Input for a query: a text, content blocks, a whole [`Prompt`], or a [stream](Self::stream) of prompts.
pub struct PromptInput(pub(crate) Prompts);

/// The prompts of a query.
pub(crate) enum Prompts {
    One(Prompt),
    Many(Pin<Box<dyn Stream<Item = Prompt> + Send>>),
}

impl PromptInput {
    /// Prompts of a conversation that arrive over time: each has a run of its own, in one session and in their order. A
    /// prompt that arrives during a run waits for its end. The query ends when the stream has ended and all runs have.
    /// Awaited, it returns the last result.
    ///
    /// ```
    /// use windlass::{Script, ScriptedModel, query, session::PromptInput};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), windlass::Error> {
    /// let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Hello.")).turn(|turn| turn.text("Goodbye.")));
    /// let prompts = futures_util::stream::iter(["Good morning", "Good night"]);
    /// let last = query(PromptInput::stream(prompts)).provider(model).await?;
    /// assert_eq!(last.text, "Goodbye.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream<S>(prompts: S) -> Self
    where
        S: Stream<Item: Into<Prompt>> + Send + 'static,
    {
        Self(Prompts::Many(Box::pin(PromptStream(Box::pin(prompts)))))
    }

    /// `true` if the input has no text and continues a run.
    pub(crate) fn continues_run(&self) -> bool {
        matches!(&self.0, Prompts::One(prompt) if prompt.kind == PromptKind::Continue)
    }
}

/// A stream whose items become prompts.
struct PromptStream<S>(Pin<Box<S>>);

impl<S: Stream<Item: Into<Prompt>>> Stream for PromptStream<S> {
    type Item = Prompt;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Prompt>> {
        self.0.as_mut().poll_next(cx).map(|prompt| prompt.map(Into::into))
    }
}

/// Refuses a prompt without content that a model accepts.
pub(crate) fn checked(prompt: Prompt) -> Result<Prompt, Error> {
    let empty = |block: &ContentBlock| block.as_text().is_some_and(|text| text.trim().is_empty());
    let quoted = prompt.quoted.iter().all(|quotation| quotation.text.trim().is_empty());
    let is_empty = prompt.parts.is_empty() && prompt.content.iter().all(empty) && quoted;
    if is_empty && prompt.kind != PromptKind::Continue { Err(Error::EmptyPrompt) } else { Ok(prompt) }
}

impl fmt::Debug for PromptInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Prompts::One(prompt) => f.debug_tuple("PromptInput").field(prompt).finish(),
            Prompts::Many(_) => f.write_str("PromptInput(stream)"),
        }
    }
}

impl From<&str> for PromptInput {
    fn from(text: &str) -> Self {
        Self(Prompts::One(text.into()))
    }
}

impl From<String> for PromptInput {
    fn from(text: String) -> Self {
        Self(Prompts::One(text.into()))
    }
}

impl From<Vec<ContentBlock>> for PromptInput {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(Prompts::One(blocks.into()))
    }
}

impl From<Prompt> for PromptInput {
    fn from(prompt: Prompt) -> Self {
        Self(Prompts::One(prompt))
    }
}
