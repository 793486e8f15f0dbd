//! What all parts of a machine work with: its settings, the log, the events and effects that leave it.

mod alternatives;
mod calls;
mod changes;
pub(crate) mod hooks;
mod reminders;
mod scope;
mod size;
mod trimming;
mod withheld;

use crate::models::Models;
use crate::news::News;
use crate::outbox::Outbox;
use crate::rights::Rights;
use crate::{Effect, EffectId, MachineConfig, Prompt, SessionState};
use std::collections::HashSet;
use windlass_context::ThinkingLevel;
use windlass_types::{
    AuditedDecision, ContentBlock, Entry, EntryId, EntryKind, EventKind, JsonText, NanoUsd, PermissionDenial,
    PermissionRequest, QuestionId, RunId, RunOrigin, Status, Steered, SteeredFate, StopReason, Timestamp, Usage,
    UserEntry,
};

/// What all parts of a machine work with.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) config: MachineConfig,
    pub(crate) rights: Rights,
    pub(crate) models: Models,
    /// The fold of the log. Changed by [`Session::record`] alone.
    pub(crate) state: SessionState,
    pub(crate) out: Outbox,
    pub(crate) ids: Ids,
    pub(crate) now: Timestamp,
    /// The run, or the last one.
    pub(crate) run: RunTally,
    /// The entry of the last prompt.
    pub(crate) prompt: Option<EntryId>,
    /// What all agents of the session have spent, as far as this one knows.
    pub(crate) spent: NanoUsd,
    /// Whether SessionStart hooks were asked.
    pub(crate) opened: bool,
    pub(crate) unread: Unread,
}

/// What the model has not read yet.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    /// Of background work.
    pub(crate) news: News,
    /// What it reads with its next turn.
    context: Vec<String>,
}

/// What goes into the result of a run.
#[derive(Debug, Default)]
pub(crate) struct RunTally {
    /// `None` before the first run.
    pub(crate) id: Option<RunId>,
    pub(crate) is_open: bool,
    pub(crate) started: Timestamp,
    pub(crate) origin: RunOrigin,
    /// How much thought its prompt asks for.
    pub(crate) level: Option<ThinkingLevel>,
    pub(crate) turns: u32,
    pub(crate) api_ms: u64,
    pub(crate) usage: Usage,
    pub(crate) denials: Vec<PermissionDenial>,
    /// The questions that stay open.
    pub(crate) questions: Vec<PermissionRequest>,
    pub(crate) last: LastAnswer,
    /// What a command or a skill has it do otherwise than the session.
    pub(crate) scope: scope::Scoped,
    /// The structured output that is missing, and how the next turn is asked for it.
    pub(crate) output: OutputDemand,
}

/// Ways to ask a turn for the structured output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OutputDemand {
    /// By its tool alone, which the model may call.
    #[default]
    None,
    /// As the form of the answer where the server takes one, else by a call that the model must make.
    Forced,
    /// In words: the provider has refused to force it.
    Refused,
}

/// What the run has answered last.
#[derive(Debug, Default)]
pub(crate) struct LastAnswer {
    /// The text of the last message.
    pub(crate) text: String,
    pub(crate) stop_reason: Option<StopReason>,
    /// The last output that fits the schema.
    pub(crate) structured: Option<JsonText>,
}

/// Where new ids come from.
#[derive(Debug)]
pub(crate) struct Ids {
    seed: u128,
    made: u64,
    questions: u64,
    /// The ids of all entries: none is given twice.
    taken: HashSet<EntryId>,
}

impl Ids {
    fn bits(&mut self) -> u128 {
        self.made += 1;
        self.seed.wrapping_add(spread(self.made))
    }

    /// Questions are counted apart: the ids of entries are the same whether the host is asked or not.
    pub(crate) fn question(&mut self) -> QuestionId {
        self.questions += 1;
        QuestionId::from_bits((!self.seed).wrapping_add(spread(self.questions)))
    }

    pub(crate) fn run(&mut self) -> RunId {
        RunId::from_bits(self.bits())
    }

    pub(crate) fn entry(&mut self) -> EntryId {
        EntryId::from_bits(self.bits())
    }

    /// The id that a prompt asks for, if it may have it, or a new one.
    fn of_prompt(&mut self, wanted: Option<EntryId>) -> EntryId {
        wanted.filter(|id| id.is_uuid() && !self.taken.contains(id)).unwrap_or_else(|| self.entry())
    }
}

/// An odd factor spreads the counter over all bits and keeps ids distinct.
fn spread(count: u64) -> u128 {
    u128::from(count).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

impl Session {
    /// The session that a log records.
    pub(crate) fn new(mut config: MachineConfig, log: &[Entry]) -> Self {
        let mut state = SessionState::new(config.cwd.clone());
        let mut taken = std::mem::take(&mut config.ids.taken);
        for entry in log {
            state.apply(entry);
            taken.insert(entry.id.clone());
        }
        let cut = state.spending().count_cut_calls();
        let mut out = Outbox::new(config.ids.session_id.clone());
        if cut > NanoUsd::ZERO {
            out.keep_notice(format!(
                "Calls of a model were cut when the process ended: {cut}, the most they could cost, counts as spent."
            ));
        }
        Self {
            rights: Rights::new(&config, state.permission_mode()),
            models: Models::default(),
            out,
            ids: Ids { seed: config.ids.seed, made: 0, questions: 0, taken },
            now: Timestamp::default(),
            run: RunTally::default(),
            prompt: None,
            spent: if config.agent.is_none() { state.cost() } else { NanoUsd::ZERO },
            opened: false,
            unread: Unread { news: News::left_by(log), context: Vec::new() },
            config,
            state,
        }
    }

    /// The conversation is now that of these entries of the log.
    pub(crate) fn rewound(&mut self, log: &[Entry]) {
        self.state.rewound(log);
        self.ids.taken.extend(log.iter().map(|entry| entry.id.clone()));
        self.prompt = self.state.last_prompt_id().cloned();
        self.models.listed.forget();
        self.models.loading.clear();
        // The provider has cached more than what is sent from now on.
        self.models.history_replaced = true;
    }

    /// A run begins.
    pub(crate) fn begin_run(&mut self, origin: RunOrigin) {
        let id = Some(self.ids.run());
        self.run = RunTally { id, is_open: true, started: self.now, origin, ..RunTally::default() };
    }

    pub(crate) fn effect(&mut self, effect: Effect) -> EffectId {
        self.out.effect(effect)
    }

    /// Stops an effect whose answer does not count any more.
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

    /// Reports something to the host: in the run, or else in the next one.
    pub(crate) fn notice(&mut self, message: String) {
        if self.run.is_open {
            self.status(Status::Notice { message });
        } else {
            self.out.keep_notice(message);
        }
    }

    /// Reports what waited for a run.
    pub(crate) fn send_notices(&mut self) {
        for message in self.out.take_notices() {
            self.status(Status::Notice { message });
        }
    }

    /// Reports what became of a message that was sent to a run.
    pub(crate) fn steered(&mut self, id: Option<EntryId>, fate: SteeredFate, after: Option<EffectId>) {
        let kind = EventKind::Steered(Steered::new(id, fate));
        if self.run.is_open {
            return self.event(kind, after);
        }
        self.event_between_runs(kind, after);
    }

    /// Queues an event that belongs to no run that is open.
    fn event_between_runs(&mut self, kind: EventKind, after: Option<EffectId>) {
        let run = self.run.id.clone().unwrap_or_else(|| self.ids.run());
        self.out.event(run, 0, kind, after);
    }

    /// Makes an entry, applies it to the state and returns it for appending.
    /// There is no other way to change the state.
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

    /// Records a prompt and returns it for appending.
    pub(crate) fn record_prompt(&mut self, mut prompt: Prompt) -> Entry {
        prompt.content.append(&mut prompt.quoted);
        let id = self.ids.of_prompt(prompt.id);
        self.prompt = Some(id.clone());
        self.record_user_as(id, UserEntry::new(prompt.content))
    }

    /// Records an entry of the user's side, with the run and the mode that it belongs to.
    pub(crate) fn record_user(&mut self, user: UserEntry) -> Entry {
        let id = self.ids.entry();
        self.record_user_as(id, user)
    }

    /// Records a verdict on what is no call of the conversation.
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

    fn record_user_as(&mut self, id: EntryId, mut user: UserEntry) -> Entry {
        user.run = self.run.id.clone().filter(|_| self.run.is_open);
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

/// Milliseconds from one time to another.
pub(crate) fn duration_ms(now: Timestamp, since: Timestamp) -> u64 {
    u64::try_from(now.since(since).as_millis()).unwrap_or(u64::MAX)
}
