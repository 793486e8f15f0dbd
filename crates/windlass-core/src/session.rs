//! Shared state of all parts of a machine: settings, log, outgoing events and effects.

mod alternatives;
mod calls;
mod changes;
pub(crate) mod hooks;
mod learned;
mod reminders;
mod scope;
mod size;
mod trimming;
mod withheld;

use crate::models::Models;
use crate::news::News;
use crate::outbox::Outbox;
use crate::rights::Rights;
use crate::{Effect, EffectId, MachineConfig, Prompt, PromptKind, SessionState};
use std::collections::HashSet;
use windlass_context::{ThinkingLevel, quoted_text};
use windlass_types::{
    AttemptId, AuditedDecision, ContentBlock, Entry, EntryId, EntryKind, EventKind, JsonText, NanoUsd,
    PermissionDenial, PermissionRequest, QuestionId, QueuedPrompt, RunId, RunOrigin, Status, Steered, SteeredFate,
    StopReason, Timestamp, Usage, UserEntry,
};

/// Shared state of all parts of a machine.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) config: MachineConfig,
    pub(crate) rights: Rights,
    pub(crate) models: Models,
    /// Fold of the log. Changed by [`Session::record`] alone.
    pub(crate) state: SessionState,
    pub(crate) out: Outbox,
    pub(crate) ids: Ids,
    pub(crate) now: Timestamp,
    /// Tally of the current run, or of the last one.
    pub(crate) run: RunTally,
    /// Entry of the last prompt.
    pub(crate) prompt: Option<EntryId>,
    /// Spending of all agents of the session, as far as this machine knows.
    pub(crate) spent: NanoUsd,
    /// `true` if SessionStart hooks were asked.
    pub(crate) opened: bool,
    /// Messages of the user that an earlier opening accepted: they join the next run.
    pub(crate) left: Vec<Prompt>,
    pub(crate) unread: Unread,
}

/// Texts that the model has not read yet.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    /// Notifications of background tasks.
    pub(crate) news: News,
    /// Texts for the next turn.
    context: Vec<String>,
}

/// Values collected for the result of a run.
#[derive(Debug, Default)]
pub(crate) struct RunTally {
    /// Id of the run. `None` before the first run.
    pub(crate) id: Option<RunId>,
    pub(crate) is_open: bool,
    pub(crate) started: Timestamp,
    pub(crate) origin: RunOrigin,
    /// Thinking level that the prompt asks for.
    pub(crate) level: Option<ThinkingLevel>,
    pub(crate) turns: u32,
    pub(crate) api_ms: u64,
    pub(crate) usage: Usage,
    pub(crate) denials: Vec<PermissionDenial>,
    /// Permission requests that stay open.
    pub(crate) questions: Vec<PermissionRequest>,
    pub(crate) last: LastAnswer,
    /// Id of the prompt that the run answers.
    pub(crate) asked: Option<EntryId>,
    /// Deviations from the session's settings, by a command or a skill.
    pub(crate) scope: scope::Scoped,
    /// Way in which the next turn is asked for a missing structured output.
    pub(crate) output: OutputDemand,
}

/// Ways to ask a turn for the structured output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OutputDemand {
    /// By offering its tool, which the model may call.
    #[default]
    None,
    /// By response format where the server supports one, else by a forced call.
    Forced,
    /// In words: the provider has refused to force it.
    Refused,
}

/// Last answer of the run.
#[derive(Debug, Default)]
pub(crate) struct LastAnswer {
    /// Text of the last message.
    pub(crate) text: String,
    pub(crate) stop_reason: Option<StopReason>,
    /// Last output that matches the schema.
    pub(crate) structured: Option<JsonText>,
}

/// Generator of new ids.
#[derive(Debug)]
pub(crate) struct Ids {
    seed: u128,
    generated: u64,
    questions: u64,
    attempts: u64,
    /// Ids of all entries: none is assigned twice.
    taken: HashSet<EntryId>,
}

impl Ids {
    fn bits(&mut self) -> u128 {
        self.generated += 1;
        self.seed.wrapping_add(spread(self.generated))
    }

    /// Permission requests are counted separately: the ids of entries do not depend on whether the host is asked.
    pub(crate) fn question(&mut self) -> QuestionId {
        self.questions += 1;
        QuestionId::from_bits((!self.seed).wrapping_add(spread(self.questions)))
    }

    /// Attempts of model calls are counted separately too.
    pub(crate) fn attempt(&mut self) -> AttemptId {
        self.attempts += 1;
        AttemptId::from_bits(self.seed.rotate_left(64).wrapping_add(spread(self.attempts)))
    }

    pub(crate) fn run(&mut self) -> RunId {
        RunId::from_bits(self.bits())
    }

    pub(crate) fn entry(&mut self) -> EntryId {
        EntryId::from_bits(self.bits())
    }

    /// Returns the id that a prompt asks for, if it is valid and free, or else a new one.
    fn of_prompt(&mut self, wanted: Option<EntryId>) -> EntryId {
        wanted.filter(|id| id.is_uuid() && !self.taken.contains(id)).unwrap_or_else(|| self.entry())
    }
}

/// Spreads the counter over all bits with an odd factor, which keeps ids distinct.
fn spread(count: u64) -> u128 {
    u128::from(count).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

impl Session {
    /// Returns the session that a log records.
    pub(crate) fn new(mut config: MachineConfig, log: &[Entry]) -> Self {
        let mut state = SessionState::new(config.cwd.clone());
        let mut taken = std::mem::take(&mut config.ids.taken);
        for entry in log {
            state.apply(entry);
            taken.insert(entry.id.clone());
        }
        learned::apply_learned(state.learned(), &mut config);
        let cut_cost = state.spending().count_cut_calls();
        let mut out = Outbox::new(config.ids.session_id.clone());
        if cut_cost > NanoUsd::ZERO {
            out.keep_notice(format!(
                "Calls of a model were cut when the process ended: {cut_cost}, the most they could cost, counts as \
                 spent."
            ));
        }
        Self {
            rights: Rights::new(&config, state.permission_mode()),
            models: Models::default(),
            out,
            ids: Ids { seed: config.ids.seed, generated: 0, questions: 0, attempts: 0, taken },
            now: Timestamp::default(),
            run: RunTally::default(),
            prompt: None,
            spent: if config.agent.is_none() { state.cost() } else { NanoUsd::ZERO },
            opened: false,
            left: state.last_run().queued().iter().map(prompt_of).collect(),
            unread: Unread { news: News::left_by(log), context: Vec::new() },
            config,
            state,
        }
    }

    /// Replaces the conversation by that of these log entries.
    pub(crate) fn rewound(&mut self, log: &[Entry]) {
        self.state.rewound(log);
        self.ids.taken.extend(log.iter().map(|entry| entry.id.clone()));
        self.prompt = self.state.last_prompt_id().cloned();
        self.models.listed.forget();
        self.models.loading.clear();
        // The provider has cached more than the messages sent from now on.
        self.models.history_replaced = true;
    }

    /// Begins a run.
    pub(crate) fn begin_run(&mut self, origin: RunOrigin) {
        let id = Some(self.ids.run());
        self.run = RunTally { id, is_open: true, started: self.now, origin, ..RunTally::default() };
    }

    pub(crate) fn effect(&mut self, effect: Effect) -> EffectId {
        self.out.effect(effect)
    }

    /// Cancels an effect and ignores its answer.
    pub(crate) fn cancel(&mut self, effect: EffectId) {
        self.out.forget(effect);
        self.out.effect(Effect::Cancel(effect));
    }

    /// Stops a call, and waits for its answer.
    pub(crate) fn stop_call(&mut self, effect: EffectId) {
        self.out.effect(Effect::Cancel(effect));
    }

    /// Queues an event of the run.
    pub(crate) fn event(&mut self, kind: EventKind, after: Option<EffectId>) {
        if self.run.is_open
            && let Some(run) = &self.run.id
        {
            self.out.event(run.clone(), self.run.turns, kind, after);
        }
    }

    pub(crate) fn status(&mut self, status: Status) {
        self.event(EventKind::Status(status), None);
    }

    /// Reports a notice to the host: in the run, or else in the next one.
    pub(crate) fn notice(&mut self, message: String) {
        if self.run.is_open {
            self.status(Status::Notice { message });
        } else {
            self.out.keep_notice(message);
        }
    }

    /// Reports the notices that waited for a run.
    pub(crate) fn send_notices(&mut self) {
        for message in self.out.take_notices() {
            self.status(Status::Notice { message });
        }
    }

    /// Stores a message that waits for a run, so that it outlives the process. Gives it an id if it has none. A message
    /// with rules or parts of a command, or with an id that cannot be that of an entry, is not stored.
    pub(crate) fn store_queued(&mut self, prompt: &mut Prompt) {
        if prompt.kind != PromptKind::Query || !prompt.scope.is_empty() || !prompt.parts.is_empty() {
            return;
        }
        let id = prompt.id.get_or_insert_with(|| self.ids.entry()).clone();
        if !id.is_uuid() || self.ids.taken.contains(&id) || self.state.last_run().has_queued(&id) {
            return;
        }
        let mut queued = QueuedPrompt::new(id, prompt.content.clone());
        (queued.quoted, queued.ignores_keywords) = (prompt.quoted.clone(), prompt.ignores_keywords);
        let entry = self.record(None, EntryKind::PromptQueued(queued));
        self.append(vec![entry]);
    }

    /// Records that a stored message does not enter the conversation.
    pub(crate) fn drop_queued(&mut self, id: Option<&EntryId>) {
        if let Some(id) = id.filter(|id| self.state.last_run().has_queued(id)) {
            let entry = self.record(None, EntryKind::PromptUnqueued(id.clone()));
            self.append_unawaited(vec![entry]);
        }
    }

    /// Records that no stored message enters the conversation.
    pub(crate) fn drop_all_queued(&mut self) {
        let ids: Vec<EntryId> = self.state.last_run().queued().iter().map(|queued| queued.id.clone()).collect();
        ids.iter().for_each(|id| self.drop_queued(Some(id)));
        self.left.clear();
    }

    /// Reports the fate of a message that was sent to a run.
    pub(crate) fn steered(&mut self, id: Option<EntryId>, fate: SteeredFate, after: Option<EffectId>) {
        if matches!(fate, SteeredFate::Blocked { .. } | SteeredFate::Returned) {
            self.drop_queued(id.as_ref());
        }
        let kind = EventKind::Steered(Steered::new(id, fate));
        if self.run.is_open {
            return self.event(kind, after);
        }
        self.event_between_runs(kind, after);
    }

    /// Queues an event outside an open run.
    fn event_between_runs(&mut self, kind: EventKind, after: Option<EffectId>) {
        let run = self.run.id.clone().unwrap_or_else(|| self.ids.run());
        self.out.event(run, 0, kind, after);
    }

    /// Creates an entry, applies it to the state and returns it for appending. There is no other way to change the
    /// state.
    pub(crate) fn record(&mut self, parent: Option<EntryId>, kind: EntryKind) -> Entry {
        let id = match &kind {
            EntryKind::Assistant(message) => message.block_ids.last().cloned(),
            _ => None,
        };
        let id = id.unwrap_or_else(|| self.ids.entry());
        self.record_as(id, parent, kind)
    }

    fn record_as(&mut self, id: EntryId, parent: Option<EntryId>, kind: EntryKind) -> Entry {
        self.ids.taken.insert(id.clone());
        let entry = Entry::new(id, parent, self.now, kind);
        self.state.apply(&entry);
        entry
    }

    /// Records a prompt, and that it waits no longer if it was stored while it did. Returns both for appending.
    pub(crate) fn record_prompt(&mut self, mut prompt: Prompt) -> (Entry, Option<Entry>) {
        let is_note = prompt.kind == PromptKind::Note;
        prompt.content.extend(prompt.quoted.iter().map(|quotation| ContentBlock::text(quoted_text(quotation))));
        let queued = prompt.id.clone().filter(|id| self.state.last_run().has_queued(id));
        let id = self.ids.of_prompt(prompt.id);
        self.prompt = Some(id.clone());
        // A note begins no run that the model has to answer.
        let run = self.run.id.clone().filter(|_| self.run.is_open && !is_note);
        let entry = self.record_user_as(id, UserEntry::new(prompt.content), run);
        (entry, queued.map(|id| self.record(None, EntryKind::PromptUnqueued(id))))
    }

    /// Records an entry of the user's side, with its run and permission mode.
    pub(crate) fn record_user(&mut self, user: UserEntry) -> Entry {
        let (id, run) = (self.ids.entry(), self.run.id.clone().filter(|_| self.run.is_open));
        self.record_user_as(id, user, run)
    }

    /// Records a decision about an action that is not a call of the conversation.
    pub(crate) fn record_verdict(&mut self, verdict: AuditedDecision) {
        let entry = self.record(None, EntryKind::Decision(verdict));
        self.append(vec![entry]);
    }

    /// Records texts of the runtime.
    pub(crate) fn record_runtime_texts(&mut self, content: Vec<ContentBlock>) -> Entry {
        let mut user = UserEntry::new(content);
        user.is_meta = true;
        self.record_user(user)
    }

    fn record_user_as(&mut self, id: EntryId, mut user: UserEntry, run: Option<RunId>) -> Entry {
        user.run = run;
        user.permission_mode = Some(self.rights.policy.mode());
        let parent = self.state.leaf().cloned();
        self.record_as(id, parent, EntryKind::User(user))
    }

    /// Appends entries. Events about them wait until they are durable.
    pub(crate) fn append(&mut self, entries: Vec<Entry>) -> EffectId {
        let append = self.effect(Effect::Append { entries, durable: true });
        self.out.await_durable(append);
        append
    }

    /// Appends entries that no event reports.
    pub(crate) fn append_unawaited(&mut self, entries: Vec<Entry>) {
        if !entries.is_empty() {
            self.effect(Effect::Append { entries, durable: false });
        }
    }
}

/// Returns a stored message as a prompt.
fn prompt_of(queued: &QueuedPrompt) -> Prompt {
    let mut prompt = Prompt::new(queued.content.clone()).with_id(queued.id.clone());
    (prompt.quoted, prompt.ignores_keywords) = (queued.quoted.clone(), queued.ignores_keywords);
    prompt
}

/// Returns the milliseconds from `since` to `now`.
pub(crate) fn duration_ms(now: Timestamp, since: Timestamp) -> u64 {
    u64::try_from(now.since(since).as_millis()).unwrap_or(u64::MAX)
}
