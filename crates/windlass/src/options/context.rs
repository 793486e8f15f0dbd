//! Options of the texts that the model reads beside the conversation.

use super::{OptionChange, Options};
use windlass_context::ContextShares;

/// Texts that the model reads beside the conversation. Values that are not set stay as they are.
///
/// ```
/// use windlass::options::ContextOptions;
///
/// let context = ContextOptions::new().append_system_prompt("You are called Ada.").mentions(true);
/// let query = windlass::query("What does @src/main.rs do?").context(context);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ContextOptions {
    appended: Vec<String>,
    instructions: Vec<String>,
    mentions: Option<bool>,
    reminders: Option<bool>,
    shares: Option<ContextShares>,
    git_status: Option<bool>,
    /// Values that features bring.
    pub(crate) changes: Vec<OptionChange>,
}

impl ContextOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a text to the system prompt.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.appended.push(text.into());
        self
    }

    /// Adds instructions for the model, beside those in files of a [project](crate::SessionBuilder::project). The model
    /// reads them after the first prompt, and again after a compaction. Unlike
    /// [`append_system_prompt`](Self::append_system_prompt), they may differ between sessions without invalidating the
    /// cache of the preceding content. May be called several times; blank texts are left out.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions.push(text.into());
        self
    }

    /// Attaches the content of mentions in prompts, as separate texts after the user's words: `@src/a.rs`, with lines
    /// (`@src/a.rs:10-20`, `@src/a.rs#L10`), `@docs/`, `@"two words.txt"`, resources of MCP servers (`@server:uri`) and
    /// agents (`@agent-NAME`). A file is read as by a Read call: under the same rules, hooks and limits, and Edit treats
    /// it as read. A mention that would need a permission request is left out with a notice. An unknown name remains a
    /// plain word. Messages to a run in progress are included.
    ///
    /// Default: `false`. A program's prompt may hold other people's words, which would then choose files to read. The
    /// command, where a user types the prompt, enables it.
    pub fn mentions(mut self, attach: bool) -> Self {
        self.mentions = Some(attach);
        self
    }

    /// Sends the model reminders of three kinds. First: a todo list with open tasks, untouched for ten messages, with the
    /// task in progress and the next one. Second: limits that are nearly reached (25, 10 and 5 percent of the budget, the
    /// last two turns). Third, with a prompt: files changed since the model read or wrote them, with the differing lines.
    /// Each reminder is a separate text after the sent content, once for each list, limit and change. Default: `true`.
    pub fn reminders(mut self, on: bool) -> Self {
        self.reminders = Some(on);
        self
    }

    /// Shares of the model's context window for instruction files, the list of skills and the index of the memory. An
    /// item beyond its share is left out as a whole, named to the model and in a notice. Default: 15, 5 and 5 percent.
    pub fn shares(mut self, shares: ContextShares) -> Self {
        self.shares = Some(shares);
        self
    }

    /// Adds the branch and a short status of the git repository to a new session's context. This runs `git status` once,
    /// unless the permissions would require a permission request for it. Enable it for directories whose content you
    /// trust. Default: `false`. Has no effect without the features `store` and `tools`.
    pub fn git_status(mut self, on: bool) -> Self {
        self.git_status = Some(on);
        self
    }

    pub(crate) fn apply(self, options: &mut Options) {
        let prompts = &mut options.prompts;
        self.appended.iter().for_each(|text| prompts.append(text));
        self.instructions.iter().for_each(|text| prompts.instruct(text));
        prompts.mentions = self.mentions.unwrap_or(prompts.mentions);
        prompts.reminders = self.reminders.or(prompts.reminders);
        prompts.shares = self.shares.unwrap_or(prompts.shares);
        options.surroundings.git_status = self.git_status.or(options.surroundings.git_status);
        self.changes.iter().for_each(|change| change.apply(options));
    }
}
