//! Compaction: a summary written by the model replaces the conversation.
//!
//! Compaction happens when the user asks for it, before a turn when most of the context window is used, and when the
//! model refuses a request as too long. The request contains the whole conversation, with the same tools and system
//! prompt, so that the provider's cache serves it. The old entries stay in the log.

use crate::assemble::{AssembledMessage, Step};
use crate::call::{CallStep, ModelCall};
use crate::request::Purpose;
use crate::session::{Session, duration_ms};
use crate::{EffectId, Input, ModelFailure, UnfitInput};
use windlass_context::{SessionFacts, estimate_blocks, estimate_text, older_half, summary_of, summary_text};
use windlass_types::hook::event::PreCompact;
use windlass_types::{
    CompactRecord, CompactTrigger, Compacted, ContentBlock, Continuation, EntryKind, EventKind, HookEventName,
    HookOutcome, Outcome, Status, StopReason, TaskInfo, Timestamp, UserEntry,
};

/// Replacement for a summary that could not be written.
const NO_SUMMARY: &str =
    "[No summary of it could be written. The log of the session has all of it; below is what is known as data.]";

/// Maximum number of requests for a summary before the compaction fails.
const ATTEMPTS: u32 = 2;

/// A compaction in progress.
#[derive(Debug)]
pub(crate) struct Compaction {
    pub(crate) trigger: CompactTrigger,
    pub(crate) then: AfterCompaction,
    /// Effect of the PreCompact hooks, while they run.
    hooks: Option<EffectId>,
    call: ModelCall,
    started: Timestamp,
    attempts: u32,
}

/// Continuation after a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterCompaction {
    /// The run ends.
    EndOfRun,
    /// The turn whose start was delayed by the compaction.
    Turn(Continuation),
    /// The request that was too long, with the HTTP status of the refusal if there was one.
    SameTurn(Option<u16>),
}

/// Next step of a compaction.
#[derive(Debug)]
pub(crate) enum CompactionStep {
    /// Waiting for an effect, or for the log.
    Waits,
    /// Done: the summary has replaced the conversation.
    Done,
    /// Forbidden by a hook, with its reason.
    Forbidden(String),
    /// Failed: the model was asked, and there is no summary.
    Failed {
        /// Reason of the failure.
        why: String,
        /// `true` if the same conversation would fail again: it cannot be sent, or the model writes no summary.
        is_lasting: bool,
    },
    /// The run ends.
    Ends(Outcome),
}

impl Compaction {
    pub(crate) fn new(
        session: &Session,
        trigger: CompactTrigger,
        focus: Option<String>,
        then: AfterCompaction,
    ) -> Self {
        let call = ModelCall::new(Purpose::Summary { focus, skip: 0 });
        Self { trigger, then, hooks: None, call, started: session.now, attempts: 0 }
    }

    /// `true` if the compaction waits for this effect.
    pub(crate) fn waits_for(&self, effect: EffectId) -> bool {
        self.hooks == Some(effect) || self.call.waits_for(effect)
    }

    /// `true` if the compaction waits for the log.
    pub(crate) fn is_behind(&self) -> bool {
        self.hooks.is_none() && self.call.is_behind()
    }

    /// Asks the hooks, or the model if no hook listens.
    pub(crate) fn begin(&mut self, session: &mut Session) -> CompactionStep {
        session.status(Status::Compacting { trigger: self.trigger });
        if !session.config.listens(HookEventName::PreCompact, None) {
            return self.send(session);
        }
        let Purpose::Summary { focus, .. } = &self.call.purpose else { return self.send(session) };
        let (trigger, custom_instructions) = (self.trigger.as_str().to_owned(), focus.clone());
        self.hooks = Some(session.run_hooks(PreCompact { trigger, custom_instructions }));
        CompactionStep::Waits
    }

    /// Handles the outcome of the hooks.
    fn hooked(&mut self, session: &mut Session, outcome: HookOutcome) -> CompactionStep {
        self.hooks = None;
        session.hooks_ran(HookEventName::PreCompact, None, &outcome);
        match outcome.block {
            Some(block) => CompactionStep::Forbidden(block.reason),
            None => self.send(session),
        }
    }

    /// Requests the summary, when log and budget allow it.
    pub(crate) fn send(&mut self, session: &mut Session) -> CompactionStep {
        let step = self.call.send(session);
        self.follow(session, step)
    }

    /// Applies an answer to the effect that the compaction waits for. `tasks`: the running background tasks.
    pub(crate) fn handle(
        &mut self,
        session: &mut Session,
        tasks: impl FnOnce() -> Vec<TaskInfo>,
        effect: EffectId,
        input: Input,
    ) -> Result<CompactionStep, UnfitInput> {
        let step = match input {
            Input::Hooked(_, outcome) => return Ok(self.hooked(session, *outcome)),
            Input::Model(_, item) => {
                let mut item = self.call.with_own_ids(session, &item).into_owned();
                match self.call.item(session, &mut item) {
                    Ok(Step::Complete(message)) => {
                        self.call.complete(session);
                        return Ok(self.complete(session, &tasks(), &message));
                    }
                    // Deltas of the summary are not shown to the host.
                    Ok(_) => CallStep::Waits,
                    Err(error) => self.call.broken(session, &error),
                }
            }
            input => self.call.handle(session, effect, input)?,
        };
        Ok(self.follow(session, step))
    }

    fn follow(&mut self, session: &mut Session, step: CallStep) -> CompactionStep {
        match step {
            CallStep::Waits | CallStep::Sent(..) => CompactionStep::Waits,
            CallStep::Failed(failure) => {
                let step = self.call.after_failure(session, failure);
                self.follow(session, step)
            }
            CallStep::TooLong(failure) => self.send_less(session, failure),
            CallStep::GivenUp(failure) => CompactionStep::Failed { why: failure.message, is_lasting: false },
            CallStep::Ends(outcome) => CompactionStep::Ends(outcome),
        }
    }

    fn complete(&mut self, session: &mut Session, tasks: &[TaskInfo], message: &AssembledMessage) -> CompactionStep {
        let text: Vec<&str> = message.content.iter().filter_map(ContentBlock::as_text).collect();
        let text = text.concat();
        let is_complete = match message.stop_reason {
            StopReason::Refusal | StopReason::MaxTokens | StopReason::ContextWindowExceeded => false,
            // Text beside a tool call need not be the summary.
            StopReason::ToolUse => text.contains("</summary>"),
            _ => true,
        };
        if let Some(summary) = summary_of(&text).filter(|_| is_complete) {
            self.replace(session, tasks, summary);
            return CompactionStep::Done;
        }
        self.attempts += 1;
        if self.attempts < ATTEMPTS {
            self.send(session)
        } else {
            CompactionStep::Failed { why: "The model wrote no summary.".to_owned(), is_lasting: true }
        }
    }

    /// Replaces the conversation with the summary, the ledger of the work and the files used last.
    fn replace(&self, session: &mut Session, tasks: &[TaskInfo], summary: &str) {
        let continues = self.then != AfterCompaction::EndOfRun;
        let pre_tokens = session.state.context_tokens();
        let text = self.summary(session, tasks, summary);
        let mut content = vec![ContentBlock::text(text.clone())];
        if continues {
            content.extend(session.state.last_prompt().iter().cloned());
        }
        let files =
            session.state.ledger().restored(session.config.auto_compact.room_for_files(session.context_limit()));
        let files: Vec<ContentBlock> = session.reminders(files);
        let post_tokens = estimate_text(&text).saturating_add(estimate_blocks(&files));
        let mut record = CompactRecord::new(self.trigger, pre_tokens, post_tokens, session.state.leaf().cloned());
        record.duration_ms = duration_ms(session.now, self.started);
        let mut report = Compacted::new(self.trigger, text, "".into(), "".into());
        (report.pre_tokens, report.post_tokens, report.duration_ms) = (pre_tokens, post_tokens, record.duration_ms);
        // This entry precedes the boundary, so that a log cut between them is still valid.
        let resumed = session.run.id.clone().filter(|_| continues);
        let resumed = resumed.map(|run| EntryKind::RunResumed { run: run.clone(), of: run, turns: session.run.turns });
        let mut entries: Vec<_> = resumed.map(|resumed| session.record(None, resumed)).into_iter().collect();
        let boundary = session.record(None, EntryKind::Compacted(record));
        let mut user = UserEntry::new(content);
        user.is_summary = true;
        user.run.clone_from(&session.run.id);
        let entry = session.record(Some(boundary.id.clone()), EntryKind::User(user));
        (report.boundary, report.entry) = (boundary.id.clone(), entry.id.clone());
        entries.extend([boundary, entry]);
        if !files.is_empty() {
            entries.push(session.record_runtime_texts(files));
        }
        let append = session.append(entries);
        session.event(EventKind::Compacted(report), Some(append));
        session.models.history_replaced = true;
        session.models.listed.forget();
    }

    /// Returns the text that the model reads instead of the conversation.
    fn summary(&self, session: &Session, tasks: &[TaskInfo], summary: &str) -> String {
        let state = &session.state;
        let cwd = state.cwd().to_string_lossy().into_owned();
        let ledger = state.ledger().text(session.config.auto_compact.room_for_ledger(session.context_limit()));
        let mut facts = SessionFacts::new(&cwd);
        (facts.todos, facts.ledger, facts.tasks) = (state.todos(), &ledger, tasks);
        facts.continues = self.then != AfterCompaction::EndOfRun;
        summary_text(summary, &facts)
    }

    /// Leaves out the older half of the messages, because even the request for the summary is too long.
    fn send_less(&mut self, session: &mut Session, failure: ModelFailure) -> CompactionStep {
        if let Purpose::Summary { skip, .. } = &mut self.call.purpose
            && let Some(more) = older_half(&session.state.transcript().messages(), *skip)
        {
            *skip = more;
            return self.send(session);
        }
        CompactionStep::Failed { why: failure.message, is_lasting: true }
    }

    /// Replaces the conversation without a summary, if none can be written: the structured data of the log represents
    /// it.
    pub(crate) fn replace_unsummarized(&self, session: &mut Session, tasks: &[TaskInfo]) {
        self.replace(session, tasks, NO_SUMMARY);
    }

    /// Abandons the compaction: the user stopped the run.
    pub(crate) fn interrupt(&mut self, session: &mut Session) {
        if let Some(hooks) = self.hooks.take() {
            session.cancel(hooks);
        }
        self.call.abandon(session);
    }
}
