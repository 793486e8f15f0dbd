//! Execution of one call, and its answer.

use super::call::{Allowed, Call, Cx, Running, Settled, Settling, Stage, Step};
use crate::repetition::CallTrace;
use crate::session::hooks::feedback;
use crate::session::{Session, duration_ms};
use crate::{Effect, EffectId, Input, RunCall, Unprepared};
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_context::{TOOL_SEARCH, bounded_content, foreign_content, noted_content, runtime_text};
use windlass_types::hook::event::{PostToolUse, PostToolUseFailure};
use windlass_types::{
    Access, EntryId, EntryKind, EventKind, HookCall, HookEventName, HookOutcome, JsonText, ToolFinished, ToolOutcome,
    ToolProgress, ToolResult, ToolResultEntry, ToolStarted,
};

impl Call {
    /// Applies an answer to the effect that the call waits for; its kind matches the stage.
    pub(super) fn handle(&mut self, cx: &mut Cx<'_>, input: Input) {
        match (std::mem::take(&mut self.stage), input) {
            (Stage::Preparing(_, preparing), Input::Prepared(effect, result)) => {
                self.prepared(cx, effect, preparing, result);
            }
            (Stage::Hooking(_, read), Input::Hooked(_, outcome)) => self.hooked(cx, read, *outcome),
            (Stage::Classifying(_, read), Input::Classified(_, verdict)) => self.classified(cx, read, verdict),
            (Stage::Asking(_, read), Input::Answered(_, answer)) => self.answered(cx, read, answer),
            (Stage::Asking(_, read), Input::Unanswered(_, why)) => self.unanswered(cx, read, why),
            (Stage::Running(_, running), Input::Ran(_, outcome)) => self.ran(cx, running, outcome),
            (Stage::Reviewing(_, outcome, running), Input::Hooked(_, hooks)) => {
                self.reviewed(cx, &running, outcome, *hooks);
            }
            (stage, input) => {
                self.stage = stage;
                match input {
                    // PermissionRequest hooks get the same request as the host. Their verdict is part of the answer.
                    Input::AskedHooks(_, mut outcome) => {
                        self.hooks_ran(cx, HookEventName::PermissionRequest, &mut outcome);
                        self.consent.hook_answer = outcome.answer;
                    }
                    Input::Snapshotted(_, result) => self.snapshotted(cx, result),
                    Input::Progress(_, message) => self.progress(cx, message),
                    Input::AgentAsks(_, identity) => self.agent_asks(cx, *identity),
                    _ => {}
                }
            }
        }
    }

    /// `true` if the intent need not be stored before the call runs.
    pub(super) fn only_reads(&self) -> bool {
        self.read().is_some_and(|read| read.read_only) && self.consent.asked.is_none()
    }

    /// Begins an allowed call.
    pub(super) fn begin(&mut self, cx: &mut Cx<'_>) {
        let runs_agents = self.read().is_some_and(|read| read.facts.access == Access::Agents);
        if self.waiting.is_some() && !runs_agents {
            // The call has run once, and might have an effect of its own.
            return self.give_up_agent(cx, runtime_text::NOT_CONTINUED);
        }
        if self.only_reads() { self.launch(cx) } else { self.intend(cx) }
    }

    /// Makes the intent of a call durable before it can have an effect.
    fn intend(&mut self, cx: &mut Cx<'_>) {
        let Stage::Allowed(_, Allowed { read, decision, .. }) = &self.stage else { return };
        let tool_use_id = self.original.id.clone();
        let assistant = self.line.clone().unwrap_or_else(|| EntryId::from(""));
        let verdict = self.record_verdict(cx, Some(read), decision);
        let intent = EntryKind::Intent { tool_use_id, assistant, digest: read.facts.digest.clone() };
        let intent = cx.session.record(None, intent);
        let append = cx.session.append(vec![verdict, intent]);
        if self.consent.asked.is_some() {
            self.report_verdict(cx, decision, append);
        }
        if let Stage::Allowed(step, _) = &mut self.stage {
            *step = Step::Intending(append);
        }
    }

    /// Takes snapshots of the files to write, if the call still may run. The intent is durable.
    pub(super) fn intent_durable(&mut self, cx: &mut Cx<'_>) {
        if !self.is_still_allowed(cx) {
            return;
        }
        let Stage::Allowed(step, allowed) = &mut self.stage else { return };
        let facts = &allowed.read.facts;
        let paths: Vec<PathBuf> = match &facts.access {
            Access::Writes(_) => {
                facts.paths.iter().filter(|path| path.write).map(|path| path.resolved.clone()).collect()
            }
            _ => Vec::new(),
        };
        if paths.is_empty() {
            return self.launch(cx);
        }
        let tool_use_id = self.original.id.clone();
        let prompt = cx.session.prompt.clone().unwrap_or_else(|| EntryId::from(""));
        *step = Step::Snapshotting(cx.session.effect(Effect::Snapshot { tool_use_id, prompt, paths }));
    }

    /// Runs the call after its snapshots. If they failed, the call does not run.
    pub(super) fn snapshotted(&mut self, cx: &mut Cx<'_>, result: Result<(), String>) {
        match result {
            Ok(()) if self.is_still_allowed(cx) => self.launch(cx),
            Ok(()) => {}
            Err(error) => {
                let text = format!("The call did not run: the files it changes could not be kept first: {error}");
                self.settle(cx, ToolOutcome::error(text), Settling::Ended(None));
            }
        }
    }

    fn launch(&mut self, cx: &mut Cx<'_>) {
        let call = self.current();
        let allowed = match std::mem::take(&mut self.stage) {
            Stage::Allowed(_, allowed) => allowed,
            stage => return self.stage = stage,
        };
        if self.original.name == TOOL_SEARCH {
            return self.search(cx, allowed);
        }
        let Allowed { read, .. } = &allowed;
        let may_wait = self.may_wait_for_agents(cx, &read.facts.access);
        let continues = self.waiting.as_ref().map(|waiting| waiting.identity.id.clone());
        let run = RunCall { call, facts: read.facts.clone(), prepared: read.prepared, may_wait, continues };
        let effect = cx.session.effect(Effect::Run(Box::new(run)));
        self.stage = Stage::Running(effect, Running { allowed, started: cx.session.now, announced: false });
        if cx.committed {
            self.announce(cx);
        }
    }

    /// Answers a search for tools. Only the session knows which tools its model can load.
    fn search(&mut self, cx: &mut Cx<'_>, allowed: Allowed) {
        let found = cx.session.search_tools(&self.input);
        let mut outcome = ToolOutcome::ok(found.text);
        outcome.is_error = found.is_error;
        outcome.structured = JsonText::of(&BTreeMap::from([("matches", &found.names)])).ok();
        let running = Running { allowed, started: cx.session.now, announced: false };
        self.stage = Stage::Early(Box::new(outcome), running);
        if cx.committed {
            self.commit(cx);
        }
    }

    /// Reports the start of a call. Calls that begin early are reported when their message is complete: until then they
    /// do not count.
    pub(super) fn announce(&mut self, cx: &mut Cx<'_>) {
        let (Stage::Running(_, running) | Stage::Early(_, running)) = &mut self.stage else { return };
        if self.of_prompt || std::mem::replace(&mut running.announced, true) {
            return;
        }
        let (id, tool) = (self.original.id.clone(), self.original.name.clone());
        let mut started = ToolStarted::new(id, tool, self.input.clone(), running.allowed.read.title.clone());
        started.decision = Some(running.allowed.decision.clone());
        started.edits.clone_from(&running.allowed.read.edits);
        started.command = running.allowed.read.facts.command_kinds();
        cx.session.event(EventKind::ToolStarted(started), None);
    }

    /// Reports progress.
    pub(super) fn progress(&mut self, cx: &mut Cx<'_>, message: String) {
        let Stage::Running(_, running) = &self.stage else { return };
        if running.announced {
            let (id, tool) = (self.original.id.clone(), self.original.name.clone());
            let elapsed = duration_ms(cx.session.now, running.started);
            cx.session.event(EventKind::ToolProgress(ToolProgress::new(id, tool, message, elapsed)), None);
        }
    }

    /// Handles the outcome of a run: the call ended, or waits for an agent that it has run.
    fn ran(&mut self, cx: &mut Cx<'_>, running: Running, mut outcome: Box<ToolOutcome>) {
        if let Some(waiting) = outcome.waits.take() {
            return self.agent_waits(cx, running, waiting);
        }
        self.waiting = None;
        if cx.committed {
            self.review(cx, running, outcome);
        } else {
            self.stage = Stage::Early(outcome, running);
        }
    }

    /// Asks the hooks about a finished call, then answers it.
    pub(super) fn review(&mut self, cx: &mut Cx<'_>, running: Running, outcome: Box<ToolOutcome>) {
        let event = event_after(&outcome);
        let listens = cx.session.config.listens(event, Some(&self.original.name));
        if cx.interrupted || !listens {
            return self.answer(cx, &running, *outcome);
        }
        let (tool_name, tool_use_id) = (self.original.name.clone(), self.original.id.clone());
        let (tool_input, duration_ms) = (self.input.clone(), outcome.duration_ms);
        let hook_call: HookCall = if outcome.is_error {
            let (error, is_interrupt) = (outcome.content.text(), self.stopping);
            PostToolUseFailure { tool_name, tool_input, tool_use_id, error, is_interrupt, duration_ms }.into()
        } else {
            let tool_response = response_of(&outcome);
            PostToolUse { tool_name, tool_input, tool_use_id, tool_response, duration_ms }.into()
        };
        self.stage = Stage::Reviewing(cx.session.run_hooks(hook_call), outcome, running);
    }

    /// Handles the outcome of hooks about a finished call.
    fn reviewed(&mut self, cx: &mut Cx<'_>, running: &Running, mut outcome: Box<ToolOutcome>, mut hooks: HookOutcome) {
        self.hooks_ran(cx, event_after(&outcome), &mut hooks);
        if let Some(content) = hooks.updated_output {
            outcome.content = foreign_content(content);
        }
        if let Some(block) = hooks.block {
            cx.notes.feedback.context.push(feedback(&block.hook, &block.reason));
        }
        self.answer(cx, running, *outcome);
    }

    /// Answers a finished call.
    fn answer(&mut self, cx: &mut Cx<'_>, running: &Running, outcome: ToolOutcome) {
        let Allowed { read, decision, .. } = &running.allowed;
        // The verdict on a call with an effect was stored before it ran.
        let is_stored = !read.read_only || self.consent.asked.is_some();
        let verdict = (!is_stored).then(|| self.record_verdict(cx, Some(read), decision));
        self.settle(cx, outcome, Settling::Ended(verdict));
    }

    /// Answers a call, once and for all.
    pub(super) fn settle(&mut self, cx: &mut Cx<'_>, mut outcome: ToolOutcome, how: Settling) {
        if self.made.is_some() {
            return self.settle_made(cx, outcome, how);
        }
        if !self.of_prompt {
            let trace = CallTrace::new(&self.original.name, &self.input, &outcome.content, outcome.duration_ms);
            cx.notes.traces.push(trace);
        }
        if let Some(bits) = outcome.boundary {
            outcome.content = bounded_content(outcome.content, bits);
        }
        if let Some(note) = outcome.note.take() {
            outcome.content = noted_content(outcome.content, &note);
        }
        let line = self.line.clone().unwrap_or_else(|| EntryId::from(""));
        if self.of_prompt {
            return self.settle_in_prompt(cx, outcome, how);
        }
        self.note_success(cx, !outcome.is_error);
        let given = cx.session.config.listens(HookEventName::PostToolBatch, None).then(|| outcome.content.clone());
        let mut result = ToolResult::ok(self.original.id.clone(), std::mem::take(&mut outcome.content));
        result.is_error = outcome.is_error;
        let mut entry = ToolResultEntry::new(result.clone(), line.clone());
        entry.structured.clone_from(&outcome.structured);
        entry.synthetic = matches!(how, Settling::Unrun);
        let parent = if self.is_continued { cx.session.state.leaf().cloned() } else { Some(line) };
        let entry = cx.session.record(parent, EntryKind::ToolResult(entry));
        let mut finished = self.finished(result, &mut outcome);
        finished.entry = Some(entry.id.clone());
        let mut entries = Vec::new();
        match how {
            Settling::Ended(verdict) => entries.extend(verdict),
            Settling::Denied(decision, verdict) => {
                finished.denied = Some(decision);
                entries.extend(verdict);
            }
            Settling::Unrun => {}
        }
        entries.push(entry);
        let append = cx.session.append(entries);
        cx.session.event(EventKind::ToolFinished(finished), Some(append));
        self.stage = Stage::Settled(Settled { failed: outcome.is_error, changes: outcome.changes, given });
    }

    /// Returns the end of a call as hosts see it.
    pub(super) fn finished(&self, result: ToolResult, outcome: &mut ToolOutcome) -> ToolFinished {
        let mut finished = ToolFinished::new(self.original.name.clone(), result);
        finished.structured = outcome.structured.take();
        finished.diff = outcome.diff.take();
        finished.written = std::mem::take(&mut outcome.written);
        finished.duration_ms = outcome.duration_ms;
        finished.error = outcome.failure.take();
        finished
    }

    /// Stores the answer of a prompt's call as part of the prompt. It changes nothing in the session.
    fn settle_in_prompt(&mut self, cx: &mut Cx<'_>, outcome: ToolOutcome, how: Settling) {
        if let Settling::Ended(Some(verdict)) | Settling::Denied(_, Some(verdict)) = how {
            cx.session.append_unawaited(vec![verdict]);
        }
        let given = Some(outcome.content);
        self.stage = Stage::Settled(Settled { failed: outcome.is_error, changes: Vec::new(), given });
    }

    /// Applies the success of a call: keeps a structured output, changes plan mode.
    fn note_success(&mut self, cx: &mut Cx<'_>, succeeded: bool) {
        if cx.session.config.tools.structured_output.as_deref() == Some(self.original.name.as_str()) {
            cx.notes.output = Some(cx.notes.output == Some(true) || succeeded);
            if succeeded {
                cx.session.run.last.structured = Some(self.input.clone());
            }
        }
        if succeeded && self.consent.asked.is_some() && self.consent.approved.is_some() {
            cx.session.approved_call_succeeded(&self.original.name);
        }
    }

    /// Continues the call: its message is complete.
    pub(super) fn commit(&mut self, cx: &mut Cx<'_>) {
        let has_run = matches!(self.stage, Stage::Running(..) | Stage::Early(..));
        if has_run {
            self.announce(cx);
        } else if self.stopping && !matches!(self.stage, Stage::Unusable(_)) {
            return self.stop_unrun(cx, runtime_text::CALL_STOPPED);
        }
        match std::mem::take(&mut self.stage) {
            Stage::Early(outcome, running) => self.review(cx, running, outcome),
            Stage::Held(read) => self.judge(cx, read),
            other => self.stage = other,
        }
    }

    /// Marks the call as unable to run, and cancels the effect it waits for.
    pub(super) fn make_unusable(&mut self, cx: &mut Cx<'_>, why: Unprepared) {
        if let Some(effect) = self.waits_for() {
            cx.session.cancel(effect);
        }
        self.stage = Stage::Unusable(why);
    }

    /// Handles the user's stop of the run: a running call is stopped and awaited, any other is answered now.
    pub(super) fn interrupt(&mut self, cx: &mut Cx<'_>) {
        match &self.stage {
            Stage::Settled(_) => {}
            Stage::Running(effect, _) => {
                self.stopping = true;
                cx.session.stop_call(*effect);
            }
            Stage::Reviewing(effect, ..) => {
                cx.session.cancel(*effect);
                if let Stage::Reviewing(_, outcome, running) = std::mem::take(&mut self.stage) {
                    self.answer(cx, &running, *outcome);
                }
            }
            _ if self.may_stay_open(cx) => self.stay_open(cx),
            _ => self.stop_unrun(cx, runtime_text::NOT_RUN),
        }
    }

    /// Answers a call that has not run.
    pub(super) fn stop_unrun(&mut self, cx: &mut Cx<'_>, why: &'static str) {
        self.forget(cx.session);
        if self.waiting.is_some() {
            return self.give_up_agent(cx, runtime_text::AGENT_STOPPED);
        }
        self.settle(cx, ToolOutcome::error(why), Settling::Unrun);
    }

    /// Stops this call on behalf of the user; the run continues.
    pub(super) fn stop(&mut self, cx: &mut Cx<'_>) {
        match &self.stage {
            Stage::Settled(_) | Stage::Reviewing(..) => {}
            Stage::Running(effect, _) => {
                self.stopping = true;
                cx.session.stop_call(*effect);
            }
            // Answered when its message is complete; until then the call does not count.
            _ if !cx.committed => {
                self.stopping = true;
                if let Stage::Preparing(effect, _) = self.stage {
                    cx.session.cancel(effect);
                    self.stage = Stage::New;
                }
            }
            _ => self.stop_unrun(cx, runtime_text::CALL_STOPPED),
        }
    }

    /// Cancels the awaited effect: the message is not part of the conversation any more.
    pub(super) fn forget(&self, session: &mut Session) {
        if let Some(effect) = self.cancellable() {
            session.cancel(effect);
        }
    }

    /// `true` if the effect runs this call.
    pub(super) fn is_run_by(&self, effect: EffectId) -> bool {
        matches!(self.stage, Stage::Running(running, _) if running == effect)
    }
}

fn event_after(outcome: &ToolOutcome) -> HookEventName {
    if outcome.is_error { HookEventName::PostToolUseFailure } else { HookEventName::PostToolUse }
}

/// Returns an outcome as hooks see it: its data, or its text as a JSON string.
fn response_of(outcome: &ToolOutcome) -> JsonText {
    match &outcome.structured {
        Some(structured) => structured.clone(),
        None => JsonText::of(&outcome.content).unwrap_or_else(|_| JsonText::empty_object()),
    }
}
