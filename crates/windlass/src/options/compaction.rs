//! Options of compaction.

use super::Options;
use std::future::Future;
use windlass_context::TrimRules;
use windlass_model::{Summarizer, SummaryError, SummaryRequest};

/// Shortening of conversations that fill the model's context window. Values that are not set stay as they are.
///
/// ```
/// use windlass::options::CompactionOptions;
///
/// let session = windlass::session().compaction(CompactionOptions::new().summarizer_model("haiku").restored_files(0));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct CompactionOptions {
    auto: Option<bool>,
    window: Option<u64>,
    trim: Option<TrimRules>,
    summarizer_model: Option<String>,
    summarizer: Option<Summarizer>,
    restored_files: Option<u64>,
}

impl CompactionOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Compacts the conversation automatically before it fills the model's context window, and once after a call failed
    /// because it was too long. Default: `true`.
    pub fn auto(mut self, on: bool) -> Self {
        self.auto = Some(on);
        self
    }

    /// Upper bound of the context window for automatic compaction, in tokens. Default: the model's window.
    pub fn window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Rules for replacing old tool results by short notes before a summary has to be written. Default: when at least
    /// 20,000 tokens become free, with the latest 40,000 tokens of results kept.
    pub fn trim_results(mut self, rules: TrimRules) -> Self {
        self.trim = Some(rules);
        self
    }

    /// Model that writes summaries of conversations, by id or alias, such as a smaller one. Its provider does not have
    /// the conversation in its cache. Default: the model of the session.
    pub fn summarizer_model(mut self, name: impl Into<String>) -> Self {
        self.summarizer_model = Some(name.into());
        self
    }

    /// Function that writes summaries of conversations instead of a model, such as with an index or a program of its
    /// own. Facts from the log are added after its summary as well. An error or an empty summary fails the compaction;
    /// the conversation then stays unchanged. Default: none.
    ///
    /// ```
    /// use windlass::{options::CompactionOptions, session};
    ///
    /// let session = session().compaction(CompactionOptions::new().summarizer(|request| async move {
    ///     Ok(format!("A conversation of {} messages about bees.", request.messages.len()))
    /// }));
    /// ```
    pub fn summarizer<Fut>(mut self, write: impl Fn(SummaryRequest) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = Result<String, SummaryError>> + Send + 'static,
    {
        self.summarizer = Some(Summarizer::new(write));
        self
    }

    /// Maximum number of tokens of the last read or changed files, shown again after a summary. Limited to a sixteenth
    /// of the model's context window. Default: 10,000. 0: none.
    pub fn restored_files(mut self, tokens: u64) -> Self {
        self.restored_files = Some(tokens);
        self
    }

    pub(crate) fn apply(self, options: &mut Options) {
        let compaction = &mut options.compaction;
        compaction.auto = self.auto.unwrap_or(compaction.auto);
        compaction.window = self.window.or(compaction.window);
        compaction.trim = self.trim.unwrap_or(compaction.trim);
        compaction.summarizer = self.summarizer_model.or(compaction.summarizer.take());
        compaction.own_summarizer = self.summarizer.or(compaction.own_summarizer.take());
        compaction.restored_files = self.restored_files.or(compaction.restored_files);
    }
}
