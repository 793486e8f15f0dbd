//! Texts of the runtime for the model: its environment, instructions, context from hooks.

use super::Session;
use crate::feedback::Feedback;
use windlass_context::{FileInstructions, LimitsLeft, environment_changes, reminder};
use windlass_types::{ContentBlock, Entry, PermissionMode, UserEntry};

/// Tools that update the todo list.
const TODO_TOOLS: [&str; 2] = ["TodoWrite", "TaskUpdate"];

impl Session {
    /// Appends changes of the environment that the model does not know yet. Called before each turn.
    pub(crate) fn append_environment(&mut self) {
        let Some(environment) = &self.config.context.environment else { return };
        let plan_mode = self.rights.policy.mode() == PermissionMode::Plan;
        let now = environment.now(self.state.cwd(), self.now, plan_mode);
        let text = match self.state.environment() {
            None => Some(environment.introduction(&now)),
            Some(known) => environment_changes(known, &now),
        };
        if let Some(text) = text {
            let text = self.config.request.reminders.framed(text);
            let mut user = UserEntry::new(vec![ContentBlock::text(text)]);
            user.is_meta = true;
            user.environment = Some(now);
            let entry = self.record_user(user);
            self.append_unawaited(vec![entry]);
        }
    }

    /// Appends reminders that are due. Called before each turn, which is counted already.
    pub(crate) fn append_reminders(&mut self) {
        let limits = &self.config.limits;
        let mut settings = self.config.context.reminders;
        // A model without a tool for the list cannot update it.
        settings.todos_after =
            settings.todos_after.filter(|_| TODO_TOOLS.iter().any(|tool| self.offered(tool).is_some()));
        let money = limits.max_budget.map(|most| (most.nano(), self.spent.nano()));
        let turns = limits.max_turns.map(|most| (most, self.run.turns.saturating_sub(1)));
        let due = self.state.reminders().due(settings, LimitsLeft::new(money, turns));
        let context = std::mem::take(&mut self.unread.context);
        let due: Vec<_> = context.iter().chain(&due).map(|text| self.reminder(text)).collect();
        if !due.is_empty() {
            let entry = self.record_runtime_texts(due);
            self.append_unawaited(vec![entry]);
        }
    }

    /// Adds instruction files, except those that are present already.
    pub(crate) fn add_instructions(&mut self, files: Vec<FileInstructions>) {
        let instructions = &mut self.config.context.instructions;
        let mut merged = instructions.to_vec();
        for file in files {
            if !merged.iter().any(|other| other.text == file.text) {
                merged.push(file);
            }
        }
        *instructions = merged.into();
    }

    /// Records the instructions of files and servers that the conversation lacks. Earlier messages stay unchanged, and
    /// so does the provider's cache of them.
    pub(crate) fn record_instructions(&mut self) -> Option<Entry> {
        let (files, known, tools) = (self.instructions_within(), self.state.instructions(), &self.config.tools);
        let mut missing = known.missing_files(&files);
        let cut: Vec<String> = known.new_cuts(&files).map(|file| file.path.clone()).collect();
        missing.extend(known.missing(&tools.instructions, &tools.specs));
        if !cut.is_empty() {
            let names = cut.join(", ");
            self.notice(format!(
                "These are left out of the context, since they are larger than their share of it: {names}."
            ));
        }
        (!missing.is_empty()).then(|| self.record_runtime_texts(missing))
    }

    /// Returns the instruction files, with notes for those that exceed their share of the context window.
    pub(crate) fn instructions_within(&self) -> Vec<FileInstructions> {
        let context = &self.config.context;
        let window = self.current_model().info.context_window;
        context.shares.within(&context.instructions, self.state.instructions(), window)
    }

    /// Records texts of hooks or of the runtime, and attachments of prompts.
    pub(crate) fn record_context(&mut self, feedback: &mut Feedback) -> Option<Entry> {
        let mut blocks: Vec<_> = std::mem::take(&mut feedback.context).iter().map(|text| self.reminder(text)).collect();
        let style = self.config.request.reminders;
        blocks.extend(std::mem::take(&mut feedback.attached).into_iter().map(|block| match block {
            ContentBlock::Text { text, .. } => ContentBlock::text(style.framed(text)),
            other => other,
        }));
        (!blocks.is_empty()).then(|| self.record_runtime_texts(blocks))
    }

    /// Records notifications of background tasks that the model has not read.
    pub(crate) fn record_news(&mut self) -> Option<Entry> {
        let (tasks, texts): (Vec<_>, Vec<_>) = self.unread.news.take().unzip();
        if tasks.is_empty() {
            return None;
        }
        let blocks = texts.iter().map(|text| self.reminder(text)).collect();
        let mut user = UserEntry::new(blocks);
        (user.is_meta, user.tasks) = (true, tasks);
        Some(self.record_user(user))
    }

    /// Returns framed texts of the runtime as content blocks, in the style of this conversation.
    pub(crate) fn reminders(&self, framed: Vec<String>) -> Vec<ContentBlock> {
        let style = self.config.request.reminders;
        framed.into_iter().map(|text| ContentBlock::text(style.framed(text))).collect()
    }

    fn reminder(&self, text: &str) -> ContentBlock {
        ContentBlock::text(self.config.request.reminders.framed(reminder(text)))
    }

    /// Records notifications like [`Session::record_news`], if an end justifies a run of its own.
    pub(crate) fn record_urgent_news(&mut self) -> Option<Entry> {
        if self.unread.news.wakes() { self.record_news() } else { None }
    }
}
