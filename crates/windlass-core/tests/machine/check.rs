//! Invariants of every step of every simulated world.

use crate::sim::Going;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use windlass_core::{Effect, EffectId, Input, Machine, MachineConfig, RunCall};
use windlass_session::{Transcript, check_messages, repair};
use windlass_types::{
    Access, Behavior, ContentBlock, Entry, EntryId, EntryKind, Event, EventKind, HookCall, MadeCall, Message,
    ModelRequest, NanoUsd, Outcome, PermissionAnswer, PermissionMode, PermissionRequest, RuleSource, RunFailureKind,
    RunId, SharedMessage, Status, Steered, SteeredFate, TaskId, TaskStatus, ToolUseId, Usage,
};

pub(crate) struct Checks {
    config: MachineConfig,
    // The log.
    appends: BTreeMap<EffectId, (usize, bool)>,
    durable: usize,
    /// Last durable append that was handed out, and the last one before the latest request.
    last_durable: Option<EffectId>,
    before_request: Option<EffectId>,
    // Events.
    seq: u64,
    run: Option<RunId>,
    pub(crate) runs: usize,
    message_shown: bool,
    tools: BTreeMap<ToolUseId, Tool>,
    /// Calls that runs left open because permission requests about them wait for an answer.
    pending: BTreeSet<ToolUseId>,
    cache_broken: usize,
    // Requests.
    blocks: Vec<String>,
    breaks: usize,
    // Calls.
    begun: BTreeSet<(usize, ToolUseId)>,
    approved: BTreeSet<String>,
    lenient: bool,
    closing: bool,
    // Background work: the run that began it.
    pub(crate) tasks: BTreeMap<TaskId, RunId>,
    /// Tasks that ended by themselves and whose end the model should read.
    pub(crate) ended: Vec<TaskId>,
    /// Fates of messages that were sent to runs.
    pub(crate) fates: BTreeMap<EntryId, Vec<SteeredFate>>,
}

#[derive(Debug, Default)]
struct Tool {
    asking: bool,
    started: bool,
    finished: bool,
}

impl Checks {
    pub(crate) fn new(config: &MachineConfig) -> Self {
        Self {
            config: config.clone(),
            appends: BTreeMap::new(),
            durable: 0,
            last_durable: None,
            before_request: None,
            seq: 0,
            run: None,
            runs: 0,
            message_shown: false,
            tools: BTreeMap::new(),
            pending: BTreeSet::new(),
            cache_broken: 0,
            blocks: Vec::new(),
            breaks: 0,
            begun: BTreeSet::new(),
            approved: BTreeSet::new(),
            lenient: config.policy.mode() != PermissionMode::Default,
            closing: false,
            tasks: BTreeMap::new(),
            ended: Vec::new(),
            fates: BTreeMap::new(),
        }
    }

    /// Records calls that an earlier process left open.
    pub(crate) fn left_open(&mut self, calls: impl Iterator<Item = ToolUseId>) {
        self.pending.extend(calls);
    }

    /// Records the number of entries stored by an earlier process.
    pub(crate) fn loaded(&mut self, entries: usize) {
        self.durable = entries;
    }

    pub(crate) fn durable(&self) -> usize {
        self.durable
    }

    pub(crate) fn last_calls(&self) -> Vec<ToolUseId> {
        self.tools.keys().cloned().collect()
    }

    pub(crate) fn appended(&mut self, id: EffectId, upto: usize, durable: bool) {
        self.appends.insert(id, (upto, durable));
        if durable {
            self.last_durable = Some(id);
        }
    }

    /// `true` if the log has not acknowledged the entries before the latest request.
    pub(crate) fn is_behind(&self) -> bool {
        self.appends.iter().any(|(id, (_, durable))| *durable && Some(*id) <= self.before_request)
    }

    /// Handles the answer to an append.
    pub(crate) fn synced(&mut self, id: EffectId) {
        if let Some((upto, true)) = self.appends.remove(&id) {
            self.durable = self.durable.max(upto);
        }
    }

    /// Handles a shortened log, all of whose entries are durable.
    pub(crate) fn rewound(&mut self, log: &[Entry]) {
        let len = log.len();
        self.durable = self.durable.min(len);
        self.appends.values_mut().for_each(|(upto, _)| *upto = len.min(*upto));
        self.blocks.clear();
        // An idle session has no other open calls than those that wait for answers.
        self.pending = Transcript::from_entries(log).open_calls().map(|call| call.id.clone()).collect();
    }

    pub(crate) fn user(&mut self, input: &Input) {
        self.lenient |= matches!(input, Input::SetPermissionMode(_) | Input::Inherit(_));
        self.closing |= matches!(input, Input::Close | Input::HandOver);
    }

    pub(crate) fn answered(&mut self, request: &PermissionRequest, answer: &PermissionAnswer) {
        if let PermissionAnswer::Allow { updated_input, updates } = answer {
            self.lenient |= !updates.is_empty();
            let (_, cwd) = request.digest.as_str().rsplit_once(" in ").unwrap();
            let input = updated_input.as_ref().unwrap_or(&request.input);
            self.approved.insert(format!("{} {} {} in {cwd}", request.tool_use_id, request.tool, input.as_str()));
        }
    }

    // ---- events -------------------------------------------------------

    pub(crate) fn event(&mut self, event: &Event, log: &[Entry]) {
        assert_eq!(event.seq, self.seq, "a gap");
        self.seq += 1;
        if let EventKind::RunStarted(_) = &event.kind {
            assert_eq!(self.run, None, "a run within a run");
            self.run = Some(event.run_id.clone());
            self.runs += 1;
            return;
        }
        if let EventKind::TaskEnded(ended) = &event.kind {
            let run = self.tasks.remove(&ended.info.id).unwrap_or_else(|| panic!("{} was not running", ended.info.id));
            assert_eq!(run, event.run_id);
            if ended.status != TaskStatus::Stopped {
                self.ended.push(ended.info.id.clone());
            }
            return;
        }
        if let EventKind::Steered(steered) = &event.kind {
            let given_back = self.run.is_none() && steered.fate == SteeredFate::Returned;
            assert!(given_back || self.run.as_ref() == Some(&event.run_id), "{event:?} belongs to no run");
            return self.steered(steered, &log[..self.durable]);
        }
        assert_eq!(self.run.as_ref(), Some(&event.run_id), "{event:?} belongs to no run");
        let durable = &log[..self.durable];
        match &event.kind {
            EventKind::TaskStarted(task) => {
                assert!(self.tools.values().any(|tool| tool.started && !tool.finished), "{} of no call", task.id);
                assert!(self.tasks.insert(task.id.clone(), event.run_id.clone()).is_none(), "started twice");
            }
            EventKind::Status(Status::CacheBroken { .. }) => self.cache_broken += 1,
            EventKind::Status(Status::Requesting { .. }) => {
                assert!(!self.message_shown, "a request within a message");
                assert!(self.tools.values().all(|tool| tool.finished), "a request while calls are open");
                assert!(self.pending.is_empty(), "a request while questions are open");
                self.tools.clear();
            }
            EventKind::BlockDelta { .. } => self.message_shown = true,
            EventKind::BlockFinished { block, .. } => {
                self.message_shown = true;
                if let Some(call) = block.as_tool_use() {
                    assert!(self.tools.insert(call.id.clone(), Tool::default()).is_none());
                }
            }
            EventKind::MessageFinished { message_id, .. } => {
                self.message_shown = false;
                let stored =
                    |e: &Entry| matches!(&e.kind, EntryKind::Assistant(message) if message.message_id == *message_id);
                assert!(durable.iter().any(stored), "{message_id} is not durable");
            }
            EventKind::MessageWithdrawn { .. } => {
                assert!(self.message_shown, "nothing to withdraw");
                self.message_shown = false;
                self.tools.clear();
            }
            EventKind::RunFinished(result) => self.run_finished(&event.run_id, &result.outcome, durable),
            other => self.tool_event(other, durable),
        }
    }

    fn steered(&mut self, steered: &Steered, durable: &[Entry]) {
        if let SteeredFate::Joined { entry } = &steered.fate {
            let stored = |e: &Entry| e.id == *entry && matches!(&e.kind, EntryKind::User(user) if !user.is_meta);
            assert!(durable.iter().any(stored), "a message that joined is not durable");
        }
        if let Some(id) = &steered.id {
            self.fates.entry(id.clone()).or_default().push(steered.fate.clone());
        }
    }

    fn tool_event(&mut self, kind: &EventKind, durable: &[Entry]) {
        let id = match kind {
            EventKind::ToolStarted(started) => &started.tool_use_id,
            EventKind::ToolProgress(progress) => &progress.tool_use_id,
            EventKind::ToolFinished(finished) => &finished.result.tool_use_id,
            EventKind::PermissionRequested(request) => &request.tool_use_id,
            EventKind::PermissionResolved { tool_use_id, .. } => tool_use_id,
            EventKind::HookRan { tool_use_id: Some(id), .. } => id,
            _ => return,
        };
        assert!(!self.message_shown, "{kind:?} within a message");
        if is_of_prompt(id) {
            return self.prompt_event(kind, id, durable);
        }
        if self.pending.contains(id) || is_made(id) {
            self.tools.entry(id.clone()).or_default();
        }
        let tool = self.tools.get_mut(id).unwrap_or_else(|| panic!("{kind:?} of no call"));
        assert!(!tool.finished, "{kind:?} after the result");
        match kind {
            EventKind::ToolStarted(_) => {
                assert!(!std::mem::replace(&mut tool.started, true), "started twice");
                assert!(!tool.asking, "started while the host is asked");
            }
            EventKind::ToolProgress(_) => assert!(tool.started),
            EventKind::PermissionRequested(_) => {
                assert!(!tool.started);
                tool.asking = true;
            }
            EventKind::PermissionResolved { .. } => {
                assert!(!tool.started);
                tool.asking = false;
                let stored =
                    |e: &Entry| matches!(&e.kind, EntryKind::Decision(decision) if decision.tool_use_id == *id);
                assert!(durable.iter().any(stored));
            }
            EventKind::ToolFinished(finished) => {
                tool.finished = true;
                self.pending.remove(id);
                let stored =
                    |e: &Entry| matches!(&e.kind, EntryKind::ToolResult(entry) if entry.result == finished.result);
                assert!(is_made(id) || durable.iter().any(stored), "a result that is not durable");
            }
            _ => {}
        }
    }

    /// For calls of a prompt, only permission requests, decisions and hooks are reported, before the first request of
    /// the run.
    fn prompt_event(&self, kind: &EventKind, id: &ToolUseId, durable: &[Entry]) {
        assert!(self.tools.is_empty(), "{kind:?} beside calls of the model");
        match kind {
            EventKind::PermissionResolved { .. } => {
                let stored =
                    |e: &Entry| matches!(&e.kind, EntryKind::Decision(decision) if decision.tool_use_id == *id);
                assert!(durable.iter().any(stored));
            }
            EventKind::PermissionRequested(_) | EventKind::HookRan { .. } => {}
            other => panic!("{other:?} of a call that is not the model's"),
        }
    }

    fn run_finished(&mut self, run: &RunId, outcome: &Outcome, durable: &[Entry]) {
        let refused = matches!(outcome, Outcome::Failed(failure) if failure.kind == RunFailureKind::Store);
        if let Outcome::Pending { questions } = outcome {
            let left = self.tools.iter().filter(|(_, tool)| !tool.finished).map(|(id, _)| id.clone());
            self.pending.extend(left);
            // Requests of agents are unknown where the agents were not continued.
            let own = self.pending.iter().filter(|call| !waits_for_agent(call, durable)).count();
            let known = own..=self.pending.len();
            assert!(known.contains(&questions.len()), "{:?} wait for {questions:?}", self.pending);
        }
        if *outcome == Outcome::HandedOver {
            let stored = |e: &Entry| matches!(&e.kind, EntryKind::RunFinished(record) if record.run == *run);
            assert!(!durable.iter().any(stored), "a run that was handed over has an end");
        } else if !refused {
            assert!(!self.message_shown, "the message was neither finished nor withdrawn");
            let left = |(id, tool): (&ToolUseId, &Tool)| tool.finished || self.pending.contains(id);
            assert!(self.tools.iter().all(left), "a call without result");
            let stored = |e: &Entry| matches!(&e.kind, EntryKind::RunFinished(record) if record.run == *run);
            assert!(durable.iter().any(stored), "the end of the run is not durable");
        }
        self.message_shown = false;
        self.tools.clear();
        self.run = None;
    }

    pub(crate) fn end(&mut self, broken: bool) {
        assert_eq!(self.run, None, "a run without end");
        assert!(broken || self.breaks_are_reported(), "the cache broke {} times unsaid", self.breaks);
        assert!(broken || self.closing, "it was closed without an order");
        assert!(broken || self.tasks.is_empty(), "it was closed while work runs");
    }

    /// `true` if the host was told of every request that does not continue the one before.
    pub(crate) fn breaks_are_reported(&self) -> bool {
        self.cache_broken >= self.breaks
    }

    // ---- effects ------------------------------------------------------

    pub(crate) fn effect(
        &mut self,
        _id: EffectId,
        effect: &Effect,
        log: &[Entry],
        going: &[(EffectId, Going)],
        machine: &Machine,
    ) {
        match effect {
            Effect::CallModel(request) => self.request(request, machine.state().cost(), going),
            Effect::Run(call) => self.run(call, log, going),
            Effect::RunHooks { call: HookCall::SessionEnd(_), .. } => assert!(self.closing),
            _ => {}
        }
    }

    fn request(&mut self, request: &ModelRequest, spent: NanoUsd, going: &[(EffectId, Going)]) {
        valid(&request.messages);
        assert!(!self.is_behind(), "the model is asked while the log has not answered for the request before");
        self.before_request = self.last_durable;
        assert!(!self.closing, "the model is asked in a session that is closed");
        for (_, going) in going {
            // Messages of the user are reviewed in parallel to everything else.
            let said =
                |call: &HookCall| matches!(call, HookCall::UserPromptSubmit(event) if is_of_the_user(&event.prompt));
            let beside = matches!(going, Going::Append | Going::Stopping(_))
                || matches!(going, Going::Hooks(call) if said(call));
            assert!(beside, "{going:?} continues while the model is asked");
        }
        let blocks: Vec<String> = request
            .messages
            .iter()
            .flat_map(|message| message.content.iter().map(move |block| format!("{:?} {block:?}", message.role)))
            .collect();
        // No request continues one for a summary.
        if !blocks.last().is_some_and(|block| block.contains("about to be replaced by a summary")) {
            if !blocks.starts_with(&self.blocks) {
                self.breaks += 1;
            }
            self.blocks = blocks;
        }
        if let Some(budget) = self.config.limits.max_budget {
            let price = crate::sim::model("m").info.price.unwrap();
            let input = windlass_context::estimate_request(request);
            let mut worst = Usage::new(0, u64::from(request.max_output_tokens));
            worst.cache_creation_input_tokens = input;
            let reserved = spent.saturating_add(price.cost(&worst));
            assert!(reserved <= budget, "{reserved} is more than {budget}");
            assert!(request.max_output_tokens >= 1_024);
        }
    }

    fn run(&mut self, call: &RunCall, log: &[Entry], going: &[(EffectId, Going)]) {
        let message = log.iter().filter(|entry| matches!(entry.kind, EntryKind::Assistant(_))).count();
        let reads = matches!(call.facts.access, Access::Reads(_));
        if reads {
            assert!(!self.is_behind(), "{} reads while the log has not answered", call.call.id);
            // The call may have begun before its message was complete, and be discarded.
            return self.beside_others(call, going);
        }
        let id = &call.call.id;
        let durable = &log[..self.durable];
        let is_first = self.begun.insert((message, id.clone()));
        self.only_continues(call, is_first, durable);
        let holds = |entry: &Entry| match &entry.kind {
            EntryKind::Assistant(message) => {
                message.content.iter().filter_map(ContentBlock::as_tool_use).any(|use_| use_.id == *id)
            }
            _ => false,
        };
        // No message contains the calls of a prompt, or those made by calls.
        assert!(
            is_of_prompt(id) || is_made(id) || durable.iter().any(holds),
            "{id} runs before its message is durable"
        );
        let intent = |entry: &Entry| {
            matches!(&entry.kind, EntryKind::Intent { tool_use_id, digest, .. }
                if tool_use_id == id && *digest == call.facts.digest)
        };
        assert!(durable.iter().any(intent), "{id} runs before its intent is durable");
        let decision = durable.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Decision(decision) if decision.tool_use_id == *id => Some(decision),
            _ => None,
        });
        assert_eq!(decision.map(|audited| audited.decision.behavior), Some(Behavior::Allow));
        assert_ne!(call.call.name, "Banned");
        assert_eq!(call.facts.input, call.call.input, "it runs with another input than was judged");
        let by_hook = decision.is_some_and(|d| d.decision.reason == windlass_types::DecisionReason::Hook);
        let rule = decision.and_then(|audited| audited.decision.rule.as_ref());
        let by_command = rule.is_some_and(|rule| rule.source == RuleSource::Command);
        if call.call.name == "Write" && !self.lenient && !by_hook && !by_command {
            let this = format!("{id} {}", call.facts.digest.as_str());
            assert!(self.approved.contains(&this), "{this} was not approved, but {:?}", self.approved);
        }
        self.beside_others(call, going);
    }

    /// Checks that a call runs once, and again only for the agent that waited when it ran before.
    fn only_continues(&self, call: &RunCall, is_first: bool, durable: &[Entry]) {
        let id = &call.call.id;
        let Some(agent) = &call.continues else { return assert!(is_first, "{id} ran twice") };
        assert_eq!(call.facts.access, Access::Agents, "{id} runs again, and may have an effect");
        let about = |entry: &Entry| match &entry.kind {
            EntryKind::AgentWaits(waiting) if waiting.tool_use_id == *id => Some(waiting.agent.clone()),
            _ => None,
        };
        let waits = durable.iter().rev().find_map(about);
        assert_eq!(waits.as_ref(), Some(agent), "{id} continues an agent that does not wait");
    }

    fn beside_others(&self, call: &RunCall, going: &[(EffectId, Going)]) {
        let running = || {
            going.iter().filter_map(|(_, going)| match going {
                Going::Run(other) => Some(other),
                Going::Stopping(other) if !matches!(other.facts.access, Access::Reads(_)) => Some(other),
                _ => None,
            })
        };
        let makes = |call: &RunCall| call.facts.access == Access::Calls;
        let at_once = running().filter(|other| !makes(other)).count();
        assert!(makes(call) || at_once < self.config.limits.max_parallel_tools.max(1), "too many at once");
        for other in running().filter(|other| !is_made(&call.call.id) || !makes(other)) {
            let (ours, theirs) = (footprint(call), footprint(other));
            assert!(!ours.conflicts_with(&theirs), "{ours:?} beside {theirs:?}");
        }
    }

    // ---- after each input ---------------------------------------------

    pub(crate) fn after_step(&mut self, machine: &Machine, log: &[Entry], going: &[(EffectId, Going)]) {
        if machine.is_idle() {
            for (_, going) in going {
                let left = matches!(going, Going::Append | Going::Stopping(_));
                assert!(left, "{going:?} continues after the end");
            }
        }
        for id in self.tasks.keys().chain(&self.ended) {
            let reports = log.iter().filter(|entry| reports_end(entry, id)).count();
            assert!(reports <= 1, "the model reads of {id} {reports} times");
        }
        let live = machine.state().transcript().messages();
        let folded = Transcript::from_entries(log).messages();
        assert_eq!(texts(&folded), texts(&live), "the log says something else");
        // The program may end here: with all entries that were handed over, or with those that are durable.
        for log in [log, &log[..self.durable]] {
            let (repaired, _) = repair(log.to_vec());
            let mut transcript = Transcript::from_entries(&repaired);
            transcript.push_user(vec![ContentBlock::text("go on")]);
            valid(&transcript.messages());
        }
    }
}

/// `true` if the agent of a call has waited.
fn waits_for_agent(call: &ToolUseId, log: &[Entry]) -> bool {
    log.iter().any(|entry| matches!(&entry.kind, EntryKind::AgentWaits(waiting) if waiting.tool_use_id == *call))
}

/// `true` if the text is one that simulated users send to runs.
fn is_of_the_user(text: &str) -> bool {
    text.starts_with("said ") || text == " "
}

/// `true` if the call was made by another call.
fn is_made(id: &ToolUseId) -> bool {
    id.as_str().starts_with(MadeCall::ID_PREFIX)
}

fn is_of_prompt(id: &ToolUseId) -> bool {
    id.as_str().starts_with("prompt_")
}

pub(crate) fn reports_end(entry: &Entry, id: &TaskId) -> bool {
    let EntryKind::User(user) = &entry.kind else { return false };
    let name = format!("<task-id>{id}</task-id>");
    user.content.iter().filter_map(ContentBlock::as_text).any(|text| text.contains(&name))
}

fn footprint(call: &RunCall) -> Access {
    let resolved = || -> Vec<PathBuf> { call.facts.paths.iter().map(|path| path.resolved.clone()).collect() };
    match &call.facts.access {
        Access::Reads(_) => Access::Reads(resolved()),
        Access::Writes(_) => Access::Writes(resolved()),
        other => other.clone(),
    }
}

pub(crate) fn texts(messages: &[SharedMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.json()).collect()
}

/// Checks that a provider would accept the messages, and that the user has the last word.
pub(crate) fn valid(messages: &[SharedMessage]) {
    let plain = messages.iter().map(|message| -> &Message { message });
    check_messages(plain).unwrap_or_else(|broken| panic!("{broken}: {messages:#?}"));
    assert_eq!(messages.last().map(|message| message.role), Some(windlass_types::Role::User));
}
