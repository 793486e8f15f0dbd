//! State of a session: a fold over the entries of its log.

use crate::Spent;
use crate::learned::LearnedModels;
use crate::spending::Spending;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use windlass_context::{
    KnownInstructions, KnownReminders, Ledger, MediaTally, estimate_blocks, estimate_result, readable_messages,
};
use windlass_session::{LastRun, PendingQuestions, Transcript};
use windlass_types::{
    Api, ContentBlock, Entry, EntryId, EntryKind, EnvironmentContext, JsonText, ModelUsage, NanoUsd, PermissionMode,
    Role, SharedMessage,
};

/// State of a session as recorded in its log. Only an entry changes the conversation, so that a fold of the log equals
/// the state of the live machine.
#[derive(Debug)]
pub struct SessionState {
    transcript: Transcript,
    leaf: Option<EntryId>,
    current: Current,
    spending: Spending,
    tools: Tools,
    /// Number of messages at the beginning whose private parts the provider has refused.
    replay_dropped: usize,
    /// Facts about models, reported by their servers.
    learned: LearnedModels,
    /// Last prompt of the user, and its entry.
    last_prompt: (Option<EntryId>, Vec<ContentBlock>),
    /// Permission requests that wait for an answer.
    questions: PendingQuestions,
    /// Last run, and messages of the user that wait for one.
    last_run: LastRun,
    /// Size of the conversation in tokens: counted by the provider up to its last answer, and estimated since.
    context_tokens: u64,
    /// Tokens that the provider counted in its last answer, with system prompt and tools; 0 if it has counted none of
    /// this conversation.
    counted_tokens: u64,
    at_boundary: bool,
    known: ModelKnowledge,
    media: MediaTally,
}

/// Values set by entries; the last entry of a kind applies.
#[derive(Debug, Default)]
struct Current {
    mode: Option<PermissionMode>,
    cwd: PathBuf,
    todos: Option<JsonText>,
}

/// Tools that requests list.
#[derive(Debug, Default)]
struct Tools {
    /// Later additions to the tool list: number of messages before them, and tool names.
    added: Vec<(usize, Vec<String>)>,
    /// Names of tools that the model has loaded, or that were added later, including those before a compaction.
    loaded: BTreeSet<String>,
    /// Names of tools that are withheld in this conversation until the model loads them.
    withheld: BTreeSet<String>,
}

/// Facts that the model knows from the conversation.
#[derive(Debug, Default)]
struct ModelKnowledge {
    environment: Option<EnvironmentContext>,
    /// Instructions of tool servers in the conversation.
    instructions: KnownInstructions,
    /// Structured data of the work, across all compactions.
    ledger: Ledger,
    /// Reminders that the model has read.
    reminders: KnownReminders,
}

impl SessionState {
    pub(crate) fn new(cwd: PathBuf) -> Self {
        Self {
            transcript: Transcript::new(),
            leaf: None,
            current: Current { cwd, ..Current::default() },
            spending: Spending::default(),
            tools: Tools::default(),
            replay_dropped: 0,
            learned: LearnedModels::default(),
            last_prompt: (None, Vec::new()),
            questions: PendingQuestions::default(),
            last_run: LastRun::default(),
            context_tokens: 0,
            counted_tokens: 0,
            at_boundary: false,
            known: ModelKnowledge::default(),
            media: MediaTally::default(),
        }
    }

    /// Resets the state to the rewound log. Current directory, mode and spending stay, for a log must not change the
    /// permissions of this opening.
    pub(crate) fn rewound(&mut self, log: &[Entry]) {
        let mut state = Self::new(self.current.cwd.clone());
        log.iter().for_each(|entry| state.apply(entry));
        (state.current.cwd, state.current.mode) = (std::mem::take(&mut self.current.cwd), self.current.mode);
        state.spending = std::mem::take(&mut self.spending);
        // Facts about models do not depend on the conversation.
        state.learned = std::mem::take(&mut self.learned);
        *self = state;
    }

    pub(crate) fn apply(&mut self, entry: &Entry) {
        self.transcript.apply(entry);
        self.known.instructions.apply(entry);
        self.known.ledger.apply(entry);
        self.known.reminders.apply(entry);
        self.questions.apply(entry);
        self.last_run.apply(entry);
        if entry.is_conversation() {
            self.leaf = Some(entry.id.clone());
        }
        let at_boundary = std::mem::replace(&mut self.at_boundary, matches!(entry.kind, EntryKind::Compacted(_)));
        match &entry.kind {
            EntryKind::Assistant(message) => {
                match message.usage.total_input().saturating_add(message.usage.output_tokens) {
                    0 => self.grow(estimate_blocks(&message.content)),
                    counted => (self.context_tokens, self.counted_tokens) = (counted, counted),
                }
            }
            EntryKind::User(user) => {
                if user.is_summary && at_boundary {
                    (self.context_tokens, self.counted_tokens, self.replay_dropped) = (0, 0, 0);
                    self.media = MediaTally::default();
                    self.tools.added.clear();
                    self.tools.withheld.clear();
                }
                self.grow(estimate_blocks(&user.content));
                self.media.add(&user.content);
                if user.environment.is_some() {
                    self.known.environment.clone_from(&user.environment);
                }
                if !user.is_meta && !user.is_summary {
                    self.last_prompt = (Some(entry.id.clone()), user.content.clone());
                }
            }
            EntryKind::ToolResult(result) => {
                self.grow(estimate_result(&result.result));
                self.media.add_result(&result.result);
            }
            // The model knows its environment only from the conversation.
            EntryKind::Compacted(_) => (self.leaf, self.known.environment) = (Some(entry.id.clone()), None),
            EntryKind::ToolsAdded(names) => {
                self.tools.loaded.extend(names.iter().cloned());
                self.tools.added.push((self.transcript.len(), names.clone()));
            }
            EntryKind::ToolsWithheld(names) => self.tools.withheld.extend(names.iter().cloned()),
            EntryKind::ResultsTrimmed(record) => {
                self.context_tokens = self.context_tokens.saturating_sub(record.freed_tokens);
                self.counted_tokens = self.counted_tokens.min(self.context_tokens);
                self.media = MediaTally::of(self.transcript.iter());
            }
            EntryKind::ModelLearned(fact) => self.learned.apply(fact),
            EntryKind::ReplayDropped => self.replay_dropped = self.transcript.len(),
            EntryKind::Mode(mode) => self.current.mode = Some(*mode),
            EntryKind::Cwd(cwd) => self.current.cwd = PathBuf::from(cwd),
            EntryKind::Todos(todos) => self.current.todos = Some(todos.clone()),
            EntryKind::RunFinished(record) => self.spending.apply_run(record),
            EntryKind::Spent(record) => self.spending.apply(record),
            _ => {}
        }
    }

    fn grow(&mut self, tokens: u64) {
        self.context_tokens = self.context_tokens.saturating_add(tokens);
    }

    /// Returns the environment that the model knows. `None`: it has read no text about it.
    pub(crate) fn environment(&self) -> Option<&EnvironmentContext> {
        self.known.environment.as_ref()
    }

    /// Returns the size of the conversation in tokens: counted by the provider, and estimated from there.
    pub fn context_tokens(&self) -> u64 {
        self.context_tokens
    }

    /// Returns the tokens that the provider counted in its last answer, with system prompt and tools; 0 if it has
    /// counted none of this conversation.
    pub(crate) fn counted_tokens(&self) -> u64 {
        self.counted_tokens
    }

    /// Returns the instructions of tool servers in the conversation.
    pub(crate) fn instructions(&self) -> &KnownInstructions {
        &self.known.instructions
    }

    /// Returns the structured data of the work, across all compactions.
    pub fn ledger(&self) -> &Ledger {
        &self.known.ledger
    }

    /// Returns the reminders that the model has read.
    pub(crate) fn reminders(&self) -> &KnownReminders {
        &self.known.reminders
    }

    /// Returns the facts about models that their servers reported.
    pub(crate) fn learned(&self) -> &LearnedModels {
        &self.learned
    }

    /// Returns the last prompt of the user.
    pub(crate) fn last_prompt(&self) -> &[ContentBlock] {
        &self.last_prompt.1
    }

    /// Returns the entry of the last prompt of the user.
    pub(crate) fn last_prompt_id(&self) -> Option<&EntryId> {
        self.last_prompt.0.as_ref()
    }

    /// Returns the permission requests that wait for an answer.
    pub fn pending_questions(&self) -> &PendingQuestions {
        &self.questions
    }

    /// Returns the last run, and the messages of the user that wait for one.
    pub fn last_run(&self) -> &LastRun {
        &self.last_run
    }

    /// Returns the text of the last message of the model, if the conversation ends with one.
    pub(crate) fn last_answer(&self) -> String {
        let last = self.transcript.len().checked_sub(1).and_then(|last| self.transcript.get(last));
        let blocks = last.filter(|last| last.role == Role::Assistant).map(|last| last.content.as_slice());
        let texts: Vec<&str> = blocks.unwrap_or_default().iter().filter_map(ContentBlock::as_text).collect();
        texts.join("\n")
    }

    /// Returns the tally of images and documents in the conversation.
    pub(crate) fn media(&self) -> MediaTally {
        self.media
    }

    /// Returns the spending of the session.
    pub(crate) fn spending(&mut self) -> &mut Spending {
        &mut self.spending
    }

    /// Returns the conversation.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns the messages for a request to a model of an API, without data that only another model can read.
    pub(crate) fn messages_for(&self, api: &Api, model: &str) -> Vec<SharedMessage> {
        readable_messages(self.transcript.iter(), api, model, self.replay_dropped)
    }

    /// Returns later additions to the tool list: number of messages before them, and tool names.
    ///
    /// Only at positions where requests can list them: after a message of the user. Additions before a compaction, or
    /// before the point where a conversation was resumed, have no such position any more.
    pub(crate) fn added_tools(&self) -> Vec<(usize, Vec<String>)> {
        let message_before = |after: usize| after.checked_sub(1).and_then(|last| self.transcript.get(last));
        let is_valid_position =
            |(after, _): &&(usize, Vec<String>)| message_before(*after).is_some_and(|last| last.role == Role::User);
        self.tools.added.iter().filter(is_valid_position).cloned().collect()
    }

    /// Returns the names of the tools that the model has loaded, or that were added later.
    pub(crate) fn loaded_tools(&self) -> &BTreeSet<String> {
        &self.tools.loaded
    }

    /// Returns the names of the tools that are withheld in this conversation until the model loads them.
    pub(crate) fn withheld_tools(&self) -> &BTreeSet<String> {
        &self.tools.withheld
    }

    /// Returns the requested model that the conversation began with; `None` before its first answer.
    pub(crate) fn first_model(&self) -> Option<String> {
        self.transcript.iter().find_map(|message| message.origin.as_ref()).map(|origin| origin.model.clone())
    }

    /// Returns the last entry of the conversation.
    pub(crate) fn leaf(&self) -> Option<&EntryId> {
        self.leaf.as_ref()
    }

    /// `true` if the conversation is empty.
    pub fn is_empty(&self) -> bool {
        self.leaf.is_none()
    }

    /// Returns the directory that calls start in.
    pub fn cwd(&self) -> &Path {
        &self.current.cwd
    }

    /// Returns the permission mode set by the log, if any.
    pub fn permission_mode(&self) -> Option<PermissionMode> {
        self.current.mode
    }

    /// Returns the todo list, as its tool wrote it.
    pub fn todos(&self) -> Option<&JsonText> {
        self.current.todos.as_ref()
    }

    /// Returns the cost of the session so far, with requests that are open in the log at their reservation.
    pub fn cost(&self) -> NanoUsd {
        self.spending.at_most()
    }

    /// Returns cost and tokens of all requests that have ended.
    pub fn spent(&self) -> &Spent {
        self.spending.spent()
    }

    /// Returns tokens and cost by model.
    pub fn model_usage(&self) -> &BTreeMap<String, ModelUsage> {
        &self.spending.spent().by_model
    }
}
