//! Running the calls of a message: what starts when, and how each is answered.

use crate::batch::Stage;
use crate::machine::duration_ms;
use crate::steering::SafePoint;
use crate::{Effect, EffectId, Machine, RunCall, Unprepared};
use std::path::PathBuf;
use windlass_context::runtime_text;
use windlass_types::{
    Access, AuditedDecision, Behavior, ContextChange, Decision, EntryId, EntryKind, EventKind, HookCall, HookEventName,
    HookOutcome, Interrupted, JsonText, Outcome, RunFailureKind, StateChange, StopReason, ToolFinished, ToolOutcome,
    ToolProgress, ToolResult, ToolResultContent, ToolResultEntry, ToolStarted, ToolUseId,
};

/// How many calls of a message are looked at at a time. The others wait until one of these is answered.
const LOOKED_AT: usize = 32;

impl Machine {
    /// Reads new calls and starts those that may start.
    pub(crate) fn advance_calls(&mut self) {
        let interrupted = self.run.as_ref().is_some_and(|run| run.interrupted);
        let most = LOOKED_AT.max(self.config.limits.max_parallel_tools.saturating_mul(2));
        let mut next = 0;
        loop {
            self.batch.look_at_more(most);
            let Some(at) = self.batch.open_from(next) else { return };
            next = at + 1;
            let Some(call) = self.batch.calls.get(at) else { return };
            match call.stage() {
                Stage::New if interrupted || (call.stopping && !self.batch.committed) => {}
                Stage::Ready if call.stopping => {}
                Stage::New => match call.unusable.clone() {
                    Some(Unprepared { reason, text }) if self.batch.committed => {
                        let decision = Decision::new(Behavior::Deny, reason, text.clone());
                        self.settle(at, ToolOutcome::error(text), Some(decision), None);
                    }
                    Some(_) => {}
                    None => self.prepare(at),
                },
                Stage::Ready => self.start(at),
                _ => {}
            }
        }
    }

    /// Starts a call that was allowed, unless something stands in its way.
    fn start(&mut self, at: usize) {
        let most = self.config.limits.max_parallel_tools.max(1);
        let Some(call) = self.batch.calls.get(at) else { return };
        let only_reads = call.read_only && !call.asked;
        // Others wait until their intent is durable.
        let waits_for_log = only_reads && self.out.is_behind();
        if waits_for_log || self.batch.begun() >= most || !self.batch.is_clear(at) || !self.is_still_allowed(at) {
            return;
        }
        let Some(call) = self.batch.calls.get(at) else { return };
        if call.read_only && !call.asked {
            self.launch(at);
        } else {
            self.intend(at);
        }
    }

    /// Whether the verdict of a call holds under the policy of now. What was
    /// allowed before the policy changed may not be any more: it is judged again.
    fn is_still_allowed(&mut self, at: usize) -> bool {
        let epoch = self.policy_epoch;
        let Some(call) = self.batch.calls.get_mut(at) else { return false };
        if call.decision.as_ref().is_some_and(|(_, of)| *of == epoch) {
            return true;
        }
        call.decision = None;
        if let Some(facts) = &call.facts {
            call.read_only = self.policy.is_proven_read_only(facts);
        }
        let stage = self.batch.set_stage(at, Stage::Held);
        self.judge(at);
        let allowed = self.batch.calls.get(at).is_some_and(|call| matches!(call.stage(), Stage::Ready));
        if allowed {
            self.batch.set_stage(at, stage);
        }
        allowed
    }

    /// Makes the intent of a call durable before it can have an effect.
    fn intend(&mut self, at: usize) {
        let Some(call) = self.batch.calls.get(at) else { return };
        let (Some((decision, _)), Some(facts), Some(line)) = (&call.decision, &call.facts, &call.line) else { return };
        let (id, tool, asked) = (call.original.id.clone(), call.original.name.clone(), call.asked);
        let (decision, digest, assistant) = (decision.clone(), facts.digest.clone(), line.clone());
        let audited = AuditedDecision::new(id.clone(), Some(digest.clone()), decision.clone());
        let verdict = self.record(None, EntryKind::Decision(audited));
        let intent = self.record(None, EntryKind::Intent { tool_use_id: id.clone(), assistant, digest });
        let append = self.append(vec![verdict, intent], true);
        if asked {
            self.event(EventKind::PermissionResolved { tool_use_id: id, tool, decision }, Some(append));
        }
        self.batch.set_stage(at, Stage::Intending(append));
    }

    /// An append is durable; if it was an intent, its call goes on.
    pub(crate) fn intent_durable(&mut self, append: EffectId) {
        let Some(at) = self.batch.waiting_for(append) else { return };
        if !self.is_still_allowed(at) {
            return;
        }
        let Some(call) = self.batch.calls.get(at) else { return };
        let Some(facts) = &call.facts else { return };
        let writes: Vec<PathBuf> = match &facts.access {
            Access::Writes(_) => {
                facts.paths.iter().filter(|path| path.write).map(|path| path.resolved.clone()).collect()
            }
            _ => Vec::new(),
        };
        if writes.is_empty() {
            return self.launch(at);
        }
        let tool_use_id = call.original.id.clone();
        let prompt = self.run.as_ref().and_then(|run| run.prompt.clone()).unwrap_or_else(|| EntryId::from(""));
        let effect = self.effect(Effect::Snapshot { tool_use_id, prompt, paths: writes });
        self.batch.set_stage(at, Stage::Snapshotting(effect));
    }

    /// Files were kept. If they could not be, the call does not run.
    pub(crate) fn snapshotted(&mut self, effect: EffectId, result: Result<(), String>) {
        let Some(at) = self.batch.waiting_for(effect) else { return };
        match result {
            Ok(()) if self.is_still_allowed(at) => self.launch(at),
            Ok(()) => {}
            Err(error) => {
                let text = format!("The call did not run: the files it changes could not be kept first: {error}");
                self.settle(at, ToolOutcome::error(text), None, None);
            }
        }
    }

    fn launch(&mut self, at: usize) {
        let Some(call) = self.batch.calls.get(at) else { return };
        let (Some(facts), Some(prepared)) = (&call.facts, call.prepared) else { return };
        let run = RunCall { call: call.current(), facts: (**facts).clone(), prepared };
        let effect = self.effect(Effect::Run(Box::new(run)));
        if let Some(call) = self.batch.calls.get_mut(at) {
            call.started = self.now;
        }
        self.batch.set_stage(at, Stage::Running(effect));
        if self.batch.committed {
            self.announce(at);
        }
    }

    /// Tells the host that a call runs. Calls that start early are told when
    /// their message is complete: until then they may never have been.
    pub(crate) fn announce(&mut self, at: usize) {
        let Some(call) = self.batch.calls.get_mut(at) else { return };
        if std::mem::replace(&mut call.announced, true) {
            return;
        }
        let (id, tool) = (call.original.id.clone(), call.original.name.clone());
        let mut started = ToolStarted::new(id, tool, call.input.clone(), call.title.clone());
        started.decision = call.decision.as_ref().map(|(decision, _)| decision.clone());
        self.event(EventKind::ToolStarted(started), None);
    }

    /// A call says how far it is.
    pub(crate) fn progress(&mut self, effect: EffectId, message: String) {
        let Some(at) = self.batch.waiting_for(effect) else { return };
        let Some(call) = self.batch.calls.get(at) else { return };
        if call.is_running() && call.announced {
            let (id, tool) = (call.original.id.clone(), call.original.name.clone());
            let elapsed = duration_ms(self.now, call.started);
            self.event(EventKind::ToolProgress(ToolProgress::new(id, tool, message, elapsed)), None);
        }
    }

    /// A call ended.
    pub(crate) fn ran(&mut self, effect: EffectId, outcome: Box<ToolOutcome>) {
        let Some(at) = self.batch.waiting_for(effect) else { return };
        if self.batch.committed {
            self.review(at, *outcome);
        } else {
            self.batch.set_stage(at, Stage::Early(outcome));
        }
    }

    /// Asks the hooks about a call that ran, then answers it.
    pub(crate) fn review(&mut self, at: usize, outcome: ToolOutcome) {
        let Some(call) = self.batch.calls.get(at) else { return };
        let (tool_name, tool_use_id) = (call.original.name.clone(), call.original.id.clone());
        let event = if outcome.is_error { HookEventName::PostToolUseFailure } else { HookEventName::PostToolUse };
        if self.run.as_ref().is_some_and(|run| run.interrupted) || !self.config.listens(event, Some(&tool_name)) {
            return self.settle(at, outcome, None, None);
        }
        let (tool_input, duration_ms) = (call.input.clone(), outcome.duration_ms);
        let occasion = if outcome.is_error {
            let (error, is_interrupt) = (outcome.content.text(), call.stopping);
            HookCall::PostToolUseFailure { tool_name, tool_input, tool_use_id, error, is_interrupt, duration_ms }
        } else {
            let tool_response = response_of(&outcome);
            HookCall::PostToolUse { tool_name, tool_input, tool_use_id, tool_response, duration_ms }
        };
        let effect = self.run_hooks(occasion);
        self.batch.set_stage(at, Stage::Reviewing(effect, Box::new(outcome)));
    }

    /// Hooks answered about a call that ran.
    pub(crate) fn reviewed(&mut self, at: usize, mut done: ToolOutcome, outcome: HookOutcome) {
        let Some(call) = self.batch.calls.get(at) else { return };
        let event = if done.is_error { HookEventName::PostToolUseFailure } else { HookEventName::PostToolUse };
        let id = call.original.id.clone();
        self.hooks_ran(event, Some(id), &outcome);
        if let Some(content) = outcome.updated_output {
            done.content = content;
        }
        self.add_context(outcome.additional_context);
        if let Some(block) = outcome.block {
            self.add_context(vec![format!("Feedback of the hook {:?}: {}", block.hook, block.reason)]);
        }
        self.stop_after_batch(outcome.stop);
        self.settle(at, done, None, None);
    }

    /// Answers a call, once and for all.
    pub(crate) fn settle(
        &mut self,
        at: usize,
        outcome: ToolOutcome,
        denied: Option<Decision>,
        synthetic: Option<&'static str>,
    ) {
        let Some(call) = self.batch.calls.get_mut(at) else { return };
        let Some(line) = call.line.clone() else { return };
        call.failed = outcome.is_error;
        call.changes = outcome.changes;
        let id = call.original.id.clone();
        let tool = call.original.name.clone();
        let digest = call.facts.as_ref().map(|facts| facts.digest.clone());
        // Calls with an effect had their verdict recorded before they ran.
        let unrecorded = if call.read_only && !call.asked && denied.is_none() { call.decision.take() } else { None };
        self.batch.set_stage(at, Stage::Settled);
        self.note_output(at, outcome.is_error);
        self.note_plan(at, outcome.is_error);
        let content = match synthetic {
            Some(text) => ToolResultContent::Text(text.to_owned()),
            None => outcome.content,
        };
        let mut result = ToolResult::ok(id.clone(), content);
        result.is_error = outcome.is_error;
        let mut entries = Vec::with_capacity(2);
        if let Some((decision, _)) = unrecorded {
            let audited = AuditedDecision::new(id, digest, decision);
            entries.push(self.record(None, EntryKind::Decision(audited)));
        }
        let mut entry = ToolResultEntry::new(result.clone(), line.clone());
        entry.structured.clone_from(&outcome.structured);
        entry.synthetic = synthetic.is_some();
        let entry = self.record(Some(line), EntryKind::ToolResult(entry));
        let entry_id = entry.id.clone();
        entries.push(entry);
        let append = self.append(entries, true);
        let mut finished = ToolFinished::new(tool, result);
        finished.structured = outcome.structured;
        finished.diff = outcome.diff;
        finished.duration_ms = outcome.duration_ms;
        finished.denied = denied;
        finished.entry = Some(entry_id);
        self.event(EventKind::ToolFinished(finished), Some(append));
        self.apply_changes();
    }

    /// Applies what settled calls changed, in call order.
    fn apply_changes(&mut self) {
        while let Some(call) = self.batch.calls.get_mut(self.batch.applied) {
            if !call.is_settled() {
                return;
            }
            self.batch.applied += 1;
            for change in std::mem::take(&mut call.changes) {
                self.apply_change(change);
            }
        }
    }

    fn apply_change(&mut self, change: ContextChange) {
        match change {
            ContextChange::Cwd(cwd) => {
                if cwd == self.state.cwd() {
                    return;
                }
                let entry = self.record(None, EntryKind::Cwd(cwd.to_string_lossy().into_owned()));
                let append = self.append(vec![entry], true);
                self.event(EventKind::StateChanged(StateChange::Cwd { cwd }), Some(append));
                self.judge_again_from_new_cwd();
            }
            ContextChange::Todos(todos) => {
                let entry = self.record(None, EntryKind::Todos(todos.clone()));
                let append = self.append(vec![entry], true);
                self.event(EventKind::StateChanged(StateChange::Todos { todos }), Some(append));
            }
            ContextChange::StopTask(id) => self.stop_task(&id),
            _ => {}
        }
    }

    /// Calls that have not begun were judged for another directory.
    fn judge_again_from_new_cwd(&mut self) {
        for at in self.batch.open() {
            self.read_again(at);
        }
    }

    /// All calls are answered: what comes next.
    pub(crate) fn after_tools(&mut self) {
        let all_failed = self.batch.calls.iter().all(|call| call.failed);
        if let Some(context) = self.take_context() {
            self.append(vec![context], false);
        }
        // A server may have joined meanwhile.
        if let Some(instructions) = self.record_instructions() {
            self.append(vec![instructions], false);
        }
        let limit = self.config.limits.max_failing_turns;
        let Some(run) = &mut self.run else { return };
        run.failing_turns = if all_failed { run.failing_turns + 1 } else { 0 };
        let failing = run.failing_turns;
        if run.interrupted {
            let text = windlass_types::ContentBlock::text(runtime_text::INTERRUPTED_TOOLS);
            let entry = self.record_user(vec![text], false);
            self.append(vec![entry], false);
            self.finish(Outcome::Interrupted { during: Interrupted::Tools });
        } else if let Some(reason) = run.stopped_by.take() {
            self.finish(Outcome::StoppedByHook { reason });
        } else if run.stop_reason == Some(StopReason::Refusal) {
            self.finish(Outcome::Refused);
        } else if failing >= limit {
            self.fail(
                RunFailureKind::RepeatedToolFailure,
                format!("Every tool call of the last {failing} turns failed, so the run was stopped."),
            );
        } else if let Some(fits) = run.offered.take() {
            self.output_offered(fits);
        } else {
            self.safe_point(SafePoint::Tools);
        }
    }

    /// The user stopped the run while calls were open: those that run are
    /// stopped and waited for, all others are answered now.
    pub(crate) fn interrupt_tools(&mut self) {
        let Some(run) = &mut self.run else { return };
        if std::mem::replace(&mut run.interrupted, true) {
            return;
        }
        for at in 0..self.batch.calls.len() {
            let Some(call) = self.batch.calls.get_mut(at) else { return };
            match *call.stage() {
                Stage::Settled => {}
                Stage::Running(effect) => {
                    call.stopping = true;
                    self.effect(Effect::Cancel(effect));
                }
                Stage::Reviewing(..) | Stage::Early(_) => match self.batch.set_stage(at, Stage::Held) {
                    Stage::Reviewing(effect, outcome) => {
                        self.effect(Effect::Cancel(effect));
                        self.settle(at, *outcome, None, None);
                    }
                    Stage::Early(outcome) => self.settle(at, *outcome, None, None),
                    _ => {}
                },
                Stage::Preparing(effect)
                | Stage::Hooking(effect)
                | Stage::Asking(effect)
                | Stage::Snapshotting(effect) => {
                    self.effect(Effect::Cancel(effect));
                    self.settle_unrun(at, runtime_text::NOT_RUN);
                }
                Stage::New | Stage::Held | Stage::Ready | Stage::Intending(_) => {
                    self.settle_unrun(at, runtime_text::NOT_RUN);
                }
            }
        }
    }

    pub(crate) fn settle_unrun(&mut self, at: usize, why: &'static str) {
        self.settle(at, ToolOutcome::error(why), None, Some(why));
    }

    /// The user stopped one call; the run goes on.
    pub(crate) fn stop_tool(&mut self, id: &ToolUseId) {
        let Some(at) = self.batch.open_call(id) else { return };
        let Some(call) = self.batch.calls.get_mut(at) else { return };
        let waits_for = call.waits_for();
        if !self.batch.committed {
            // It is answered when its message is complete; until then it does not count.
            call.stopping = true;
            if matches!(call.stage(), Stage::Preparing(_)) {
                self.batch.set_stage(at, Stage::New);
            }
            if let Some(effect) = waits_for {
                self.effect(Effect::Cancel(effect));
            }
            return;
        }
        let is_append = matches!(call.stage(), Stage::Intending(_));
        match call.stage() {
            Stage::Running(_) => {
                call.stopping = true;
                if let Some(effect) = waits_for {
                    self.effect(Effect::Cancel(effect));
                }
            }
            Stage::Reviewing(..) | Stage::Settled => {}
            _ => {
                if let Some(effect) = waits_for.filter(|_| !is_append) {
                    self.effect(Effect::Cancel(effect));
                }
                self.settle_unrun(at, runtime_text::CALL_STOPPED);
            }
        }
    }
}

/// What hooks see of an outcome: its data, or its text as a JSON string.
fn response_of(outcome: &ToolOutcome) -> JsonText {
    match &outcome.structured {
        Some(structured) => structured.clone(),
        None => JsonText::of(&outcome.content).unwrap_or_else(|_| JsonText::empty_object()),
    }
}
