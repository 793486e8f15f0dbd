//! Carrying out effects.

use super::around::{Found, surrounded};
use super::{Driver, SESSION_END, answer};
use crate::agents::AgentsCall;
use crate::append::{Appending, Log, LogOrder, Waiting};
use crate::attach::{Attaching, ReadingCx};
use crate::background::CallParts;
use crate::changes;
use crate::checkpoints::AroundCall;
use crate::completions;
use crate::edits::{self, Before};
use crate::elsewhere::Elsewhere;
use crate::hooks::{Asked, ask};
use crate::model::ModelCall;
use crate::nested::paths_of;
use crate::observer::Reporter;
use crate::prepare::{ReadCall, Surroundings, prepare};
use crate::question;
use crate::rewind;
use crate::room::Room;
use crate::tool::{Running, permit, run};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass_context::runtime_text;
use windlass_core::{Attach, Effect, EffectId, Input, RunCall, Unprepared};
use windlass_hook::HookContext;
use windlass_permission::{CallFacts, Classified, ClassifierQuestion, Policy};
use windlass_session::RewoundMark;
use windlass_tool::{Background, CallAbilities, CallPlace, Cancel, Recorded, SeenFiles, ToolCx, ToolCxParts};
use windlass_types::{
    Access, DecisionReason, EntryId, HookCall, HookEventName, MadeCall, PendingQuestion, PermissionRequest,
    ToolOutcome, ToolUse, ToolUseId,
};

impl Driver {
    pub(super) fn carry_out(&mut self, id: EffectId, effect: Effect) {
        if let (Effect::Ask { request, deferred: false, .. }, true) = (&effect, self.ports.host.are_possible()) {
            // The event of the question follows, and may be answered while the question itself is deferred.
            self.work.asked.insert(request.id.clone(), self.below.open_question(request));
        }
        match effect {
            Effect::Append { entries, durable } => self.append(id, entries, durable),
            Effect::Cancel(other) => self.cancel(other),
            Effect::Rewind(_) => self.rewind(id),
            Effect::StopTask(id) => self.work.background.stop(&id),
            Effect::Reserve(cost) => self.account.reserve(id, cost),
            Effect::Settle { reservation, model, call } => self.account.settle(reservation, &model, &call),
            Effect::Return { to, number, outcome } => self.work.made.give(to, number, *outcome),
            Effect::Sleep(wait) => {
                let results = self.answers.sender.clone();
                self.work.tasks.start(id, async move {
                    tokio::time::sleep(wait).await;
                    answer(&results, Input::Woke(id));
                });
            }
            // Closing does not wait for a host that does not read.
            Effect::RunHooks { call: HookCall::SessionEnd(_), .. } => self.begin(id, effect),
            effect if self.work.held.is_crowded() => self.work.held.hold(id, effect),
            effect => self.begin(id, effect),
        }
    }

    pub(super) fn begin(&mut self, id: EffectId, effect: Effect) {
        match effect {
            Effect::CallModel(request) => {
                self.work.room = self.room();
                let call = ModelCall::new(id, Arc::clone(&self.ports.provider), request);
                self.work.model = Some(call.beside(self.files.looked()));
            }
            Effect::Prepare { call, cwd } => self.prepare(id, call, cwd),
            Effect::RunHooks { call, cwd, attach } => self.run_hooks(id, call, cwd, attach),
            Effect::Classify { facts, why } => self.classify(id, &facts, &why),
            Effect::Ask { request, cwd, kept, deferred } => {
                self.ask(id, *request, cwd, (kept.map(|kept| *kept), deferred));
            }
            Effect::Snapshot { tool_use_id, prompt, paths } => self.keep(id, tool_use_id, prompt, paths),
            Effect::Run(call) => self.run(id, &call),
            Effect::Append { .. }
            | Effect::Rewind(_)
            | Effect::Cancel(_)
            | Effect::StopTask(_)
            | Effect::Sleep(_)
            | Effect::Return { .. }
            | Effect::Reserve(_)
            | Effect::Settle { .. } => self.carry_out(id, effect),
        }
    }

    /// Keeps the files that a call is about to change.
    fn keep(&mut self, id: EffectId, call: ToolUseId, prompt: EntryId, paths: Vec<PathBuf>) {
        let Some(keeper) = self.files.keeper().cloned() else {
            return answer(&self.answers.sender, Input::Snapshotted(id, Ok(())));
        };
        let results = self.answers.sender.clone();
        self.work.tasks.start(id, async move {
            let kept = keeper.keep(prompt, call, paths).await;
            answer(&results, Input::Snapshotted(id, kept));
        });
    }

    /// Rewinds the conversation in the log, for the host that waits.
    fn rewind(&mut self, id: EffectId) {
        let mark = RewoundMark::new(EntryId::from_bits(self.ports.system.ids.bits()), self.ports.system.clock.now());
        let is_taken =
            self.work.rewind.take().is_some_and(|wanted| rewind::carry_out(&self.outgoing.log, id, wanted, mark));
        if !is_taken {
            answer(&self.answers.sender, Input::Rewound(id, None));
        }
    }

    fn append(&mut self, effect: EffectId, entries: Vec<windlass_types::Entry>, durable: bool) {
        self.files.heard(&entries, self.machine.policy().directories());
        self.below.kept_open().appended(effect, &entries);
        if self.ports.classifier.is_some() {
            self.shared.heard.note(&entries);
        }
        match &self.outgoing.log {
            Log::Nowhere => answer(&self.answers.sender, Input::Appended(effect, Ok(()))),
            Log::Store(log) => {
                if log
                    .send(LogOrder::Append(Appending {
                        waiting: Waiting::Effect(effect, self.answers.sender.clone()),
                        entries,
                        durable,
                    }))
                    .is_err()
                {
                    let failure = windlass_core::StoreFailure::new("the log writer has ended after an earlier failure");
                    answer(&self.answers.sender, Input::Appended(effect, Err(failure)));
                }
            }
        }
    }

    fn cancel(&mut self, effect: EffectId) {
        if self.work.model.as_ref().is_some_and(|call| call.effect() == effect) {
            self.work.model = None;
        }
        match self.work.held.remove(effect) {
            Some(Effect::Run(_)) => answer(&self.answers.sender, Input::Ran(effect, Box::new(not_run()))),
            Some(Effect::Ask { request, .. }) => drop(self.work.asked.remove(&request.id)),
            _ => {}
        }
        self.account.release(effect);
        self.work.tasks.cancel(effect);
        self.work.calls.forget(effect);
    }

    /// Returns the context in which calls are read.
    fn surroundings(&mut self) -> Surroundings {
        Surroundings {
            tools: self.ports.tools.clone(),
            workspace: Arc::clone(&self.ports.workspace),
            policy: self.shared.policy(&self.machine),
            env: Arc::clone(&self.ports.system.env),
        }
    }

    fn prepare(&mut self, id: EffectId, call: ToolUse, cwd: PathBuf) {
        let at = self.surroundings();
        let looks = self.ports.reports.edits.then(|| (self.reading_cx(&cwd), self.shared.policy(&self.machine)));
        let (results, arriving) = (self.answers.sender.clone(), self.work.calls.sender());
        self.work.tasks.start(id, async move {
            let read = AssertUnwindSafe(prepare(&at, &call, &cwd)).catch_unwind().await;
            let failed =
                || Unprepared::new(DecisionReason::ToolCheck, "The call could not be read: its paths panicked.");
            let mut read = read.unwrap_or_else(|_| Err(failed()));
            if let (Ok(ready), Some((cx, policy))) = (&mut read, looks) {
                let facts = &ready.prepared.facts;
                let cx = |permit| ToolCx::new(cx(call.id.clone(), permit));
                ready.prepared.edits = edits::preview(&*ready.call.call, facts, &policy, cx).await;
            }
            let result = read.map(|ready| {
                // Sent first: the machine may ask for the run as soon as it has the facts.
                let _ = arriving.send((id, ready.call));
                Box::new(ready.prepared)
            });
            answer(&results, Input::Prepared(id, result));
        });
    }

    fn run_hooks(&mut self, id: EffectId, call: HookCall, cwd: PathBuf, attach_what: Attach) {
        let (hooks, results) = (self.ports.hooks.clone(), self.answers.sender.clone());
        let (asked, changed) =
            (self.asked(), self.reporter_of(HookEventName::FileChanged).filter(|_| attach_what.changes));
        let attaching = self.attaching(&attach_what, &cwd);
        let own = attach_what.mentions.unwrap_or_default();
        let written = changes::written(&call, &cwd);
        let (seen, workspace) = (self.shared.state.get::<SeenFiles>(), Arc::clone(&self.ports.workspace));
        let policy = self.shared.policy(&self.machine);
        let cx = self.hook_context(cwd);
        self.work.tasks.start(id, async move {
            let outcome = match &call {
                // No other input would end a session whose last hook does not answer.
                HookCall::SessionEnd(_) => {
                    tokio::time::timeout(SESSION_END, ask(&hooks, &cx, &call, &asked)).await.unwrap_or_default()
                }
                _ => ask(&hooks, &cx, &call, &asked).await,
            };
            if let (Some(attaching), HookCall::UserPromptSubmit(_)) = (attaching, &call)
                && outcome.block.is_none()
                && outcome.stop.is_none()
            {
                attach(&results, id, (attaching, changed), &own).await;
            }
            if !written.is_empty() {
                let texts = changes::behind_hooks((&seen, &*workspace, &policy), &written).await;
                if !texts.is_empty() {
                    answer(&results, Input::AddContext(texts));
                }
            }
            answer(&results, Input::Hooked(id, Box::new(outcome)));
        });
    }

    /// Returns the context for looking up the attachments of a prompt, if there is anything to look up.
    fn attaching(&mut self, attach: &Attach, cwd: &Path) -> Option<Attaching> {
        let mentions = self.ports.context.mentions.clone().filter(|_| attach.mentions.is_some());
        let changes = attach.changes && self.ports.reports.file_changes;
        if mentions.is_none() && !changes {
            return None;
        }
        let policy = self.shared.policy(&self.machine);
        let cx = self.reading_cx(cwd);
        Some(Attaching {
            mentions,
            seen: changes.then(|| self.shared.state.get::<SeenFiles>()),
            at: self.surroundings(),
            policy,
            hooks: self.ports.hooks.clone(),
            // Hook outcomes about a mention are not reported, so neither is the start of the hooks.
            asked: Asked::new(&self.answers.sender, false),
            hook_context: self.hook_context(cwd.to_path_buf()),
            instructions: self.ports.context.instructions.clone(),
            cx,
            ids: self.ports.system.ids_of("mentions"),
            cwd: cwd.to_path_buf(),
            room: self.room(),
        })
    }

    /// Returns the remaining space for the results of the next message.
    fn room(&self) -> Room {
        self.machine.room_for_results().map_or_else(Room::default, Room::of_tokens)
    }

    /// Returns a maker of the context of a call that only reads, from its id and its permit.
    fn reading_cx(&mut self, cwd: &Path) -> ReadingCx {
        let policy = self.shared.policy(&self.machine);
        let (ports, session_id) = (self.ports.clone(), self.machine.session_id().clone());
        let (directories, state): (Arc<[PathBuf]>, _) = (policy.directories().into(), Arc::clone(&self.shared.state));
        let start = cwd.to_path_buf();
        Box::new(move |tool_use_id, permit| ToolCxParts {
            session_id: session_id.clone(),
            ids: ports.system.ids_of(tool_use_id.as_str()),
            tool_use_id,
            cancel: Cancel::new(),
            permit,
            workspace: Arc::clone(&ports.workspace),
            process: Arc::clone(&ports.process),
            clock: Arc::clone(&ports.system.clock),
            place: CallPlace {
                cwd: start.clone(),
                directories: Arc::clone(&directories),
                env: Arc::clone(&ports.system.env),
                artifacts: ports.storage.artifacts.clone(),
            },
            state: Arc::clone(&state),
            abilities: CallAbilities::default(),
            progress: Arc::new(|_| ()),
        })
    }

    pub(super) fn hook_context(&self, cwd: PathBuf) -> HookContext {
        let cx = HookContext::new(self.machine.session_id().clone(), cwd).with_agent(self.machine.agent().cloned());
        let cx = cx.with_path(self.below.path()).with_permission_mode(self.machine.policy().mode());
        cx.with_skills(self.machine.skills())
    }

    /// Returns the receiver of reports about hooks.
    pub(super) fn asked(&self) -> Asked {
        Asked::new(&self.answers.sender, self.ports.reports.hook_starts)
    }

    /// Returns a reporter that runs the current hooks concurrently with the work.
    pub(super) fn reporter(&mut self) -> Reporter {
        let (cx, asked) = (self.hook_context(self.machine.state().cwd().to_path_buf()), self.asked());
        self.outgoing.observer.reporter(&self.ports.hooks, cx, asked)
    }

    /// Returns a reporter, if a hook listens to this event.
    fn reporter_of(&mut self, event: HookEventName) -> Option<Reporter> {
        self.outgoing.observer.wants(event).then(|| self.reporter())
    }

    fn ask(
        &mut self,
        id: EffectId,
        request: PermissionRequest,
        cwd: PathBuf,
        (kept, deferred): (Option<PendingQuestion>, bool),
    ) {
        let open = self.work.asked.remove(&request.id);
        let elsewhere = kept.map(|question| Elsewhere::new(self.below.kept(), question));
        let host = question::Host { answers: self.ports.host.clone(), open, elsewhere, deferred };
        let asking =
            question::Asking { hooks: self.ports.hooks.clone(), cx: self.hook_context(cwd), asked: self.asked() };
        let (results, ancestors) = (self.answers.sender.clone(), self.below.ancestors());
        // A question without a host waits in any case, and its run ends.
        let call_above = self.below.call_above().filter(|_| host.elsewhere.is_some() && self.ports.host.are_possible());
        self.work.tasks.start(id, async move {
            if let Some(call) = call_above {
                call.keep_open().await;
            }
            let asked_hooks = |outcome| answer(&results, Input::AskedHooks(id, Box::new(outcome)));
            let input = match question::ask(host, asking, request, asked_hooks).await {
                Ok(answered) => {
                    ancestors.take(&answered);
                    Input::Answered(id, answered)
                }
                Err(unanswered) => Input::Unanswered(id, unanswered),
            };
            answer(&results, input);
        });
    }

    /// Asks the classifier, unless its verdict is known.
    fn classify(&mut self, id: EffectId, facts: &CallFacts, why: &str) {
        let Some(classifier) = self.ports.classifier.clone() else {
            let failed = Classified::Failed("there is no classifier".to_owned());
            return answer(&self.answers.sender, Input::Classified(id, failed));
        };
        let question = ClassifierQuestion::new(facts, self.machine.policy().directories(), why, &self.shared.heard)
            .delegated(self.machine.agent().is_some());
        let asking = match classifier.prepare(question, self.ports.system.ids.bits()) {
            Ok(asking) => asking,
            Err(known) => return answer(&self.answers.sender, Input::Classified(id, known)),
        };
        let cost = self.machine.limits().cost_beside(&asking.model, asking.input_tokens(), asking.max_output_tokens());
        let claim = self.account.claim(id, cost);
        let results = self.answers.sender.clone();
        self.work.tasks.start(id, async move {
            let verdict = asking.ask(claim, &results).await;
            answer(&results, Input::Classified(id, verdict));
        });
    }

    /// Returns the background interface of a call.
    fn background_of(&self, id: EffectId, run_call: &RunCall, around: Option<&AroundCall>) -> Arc<dyn Background> {
        let folder = self.ports.storage.artifacts.clone().or_else(|| self.ports.storage.scratch.clone());
        let only_reads = matches!(run_call.facts.access, Access::Reads(_));
        let tool_use_id = run_call.call.id.clone();
        let ids = self.ports.system.ids_of(tool_use_id.as_str());
        let around = around.map(AroundCall::later);
        self.work.background.of_call(CallParts { effect: id, tool_use_id, ids, folder, only_reads, around })
    }

    /// Returns the surveys around a call that may change any file of the workspace.
    fn around(&self, run_call: &RunCall, policy: &Policy) -> Option<AroundCall> {
        let may_change = matches!(run_call.facts.access, Access::Exec | Access::Unknown);
        if !may_change || policy.is_proven_read_only(&run_call.facts) {
            return None;
        }
        self.files.keeper()?.watch(self.machine.prompt(), run_call.call.id.clone(), policy.directories())
    }

    /// Begins keeping the workspace when a call shows that programs may change it: a call that writes files, where
    /// there are tools that run programs, or a call that runs a program that may change files.
    pub(super) fn foresee(&self, facts: &CallFacts) {
        let is_likely = match facts.access {
            Access::Writes(_) => {
                let tools = &self.ports.tools;
                tools.names().filter_map(|name| tools.get(name)).any(|tool| tool.annotations().foreign_output)
            }
            Access::Exec | Access::Unknown => !self.machine.policy().is_proven_read_only(facts),
            _ => false,
        };
        if is_likely {
            self.files.begin_ahead(self.machine.prompt(), self.machine.policy().directories());
        }
    }

    /// Returns the model requests of calls. Shared by all calls, until the model changes.
    fn completions(&mut self) -> Arc<completions::OfCalls> {
        let model = self.machine.model();
        if let Some(known) = self.shared.completions.as_ref().filter(|known| known.model == *model) {
            return Arc::clone(known);
        }
        let made = Arc::new(completions::OfCalls {
            provider: Arc::clone(&self.ports.provider),
            model: model.clone(),
            limits: self.machine.limits().clone(),
            places: self.account.places(),
            results: self.answers.sender.clone(),
        });
        self.shared.completions = Some(Arc::clone(&made));
        made
    }

    /// Returns the services of the session for a call.
    fn abilities(&mut self, id: EffectId, run_call: &RunCall, around: Option<&AroundCall>) -> CallAbilities {
        let (caller, running) = (self.machine.agent(), AgentsCall::of(id, run_call));
        let agents = self.below.of_call(running, caller, &self.ports, &self.outgoing.queue, &self.answers.sender);
        CallAbilities {
            background: self.ports.background.then(|| self.background_of(id, run_call, around)),
            agents: Some(agents),
            calls: Some(self.work.made.of_call(id, &self.answers.sender)),
            completions: Some(self.completions()),
        }
    }

    fn run(&mut self, id: EffectId, run_call: &RunCall) {
        let Some(ReadCall { call, tool }) = self.work.calls.take(run_call.prepared) else {
            return answer(&self.answers.sender, Input::Ran(id, Box::new(not_run())));
        };
        if run_call.facts.access == Access::Session {
            self.shared.state.get::<Recorded>().set_todos(self.machine.state().todos().cloned());
        }
        let policy = self.shared.policy(&self.machine);
        let around = self.around(run_call, &policy);
        let (cancel, directories) = (Cancel::new(), self.shared.directories(&policy));
        let (ids, results) = (self.ports.system.ids_of(run_call.call.id.as_str()), self.answers.sender.clone());
        let progress = self.work.progress.of_call(id);
        let abilities = self.abilities(id, run_call, around.as_ref());
        let cx = ToolCx::new(ToolCxParts {
            session_id: self.machine.session_id().clone(),
            tool_use_id: run_call.call.id.clone(),
            cancel: cancel.clone(),
            permit: permit(&run_call.facts, policy),
            workspace: Arc::clone(&self.ports.workspace),
            process: Arc::clone(&self.ports.process),
            clock: Arc::clone(&self.ports.system.clock),
            ids: Arc::clone(&ids),
            place: CallPlace {
                cwd: run_call.facts.cwd.clone(),
                directories,
                env: Arc::clone(&self.ports.system.env),
                artifacts: self.ports.storage.artifacts.clone(),
            },
            state: Arc::clone(&self.shared.state),
            abilities,
            progress,
        });
        // The result of a call that a call made is read by its maker, so it takes no space from the model's results.
        let is_made = run_call.call.id.as_str().starts_with(MadeCall::ID_PREFIX);
        let room = if is_made { Room::default() } else { self.work.room.clone() };
        let running = Running { tool, call, cx, cancel: cancel.clone(), ids, room };
        let keeper = self.files.keeper().cloned().filter(|_| matches!(run_call.facts.access, Access::Writes(_)));
        let written = run_call.facts.paths.iter().filter(|path| path.write).map(|path| path.resolved.clone());
        let noted = keeper.map(|keeper| keeper.changed(run_call.call.id.clone(), written.collect()));
        let instructions = self.ports.context.instructions.clone();
        let paths = if instructions.is_some() { paths_of(&run_call.facts) } else { Vec::new() };
        let changes = edits::written(&run_call.facts);
        let diagnostics = self.ports.context.diagnostics.clone().filter(|_| !changes.is_empty());
        self.work.tasks.start_stoppable(id, cancel, async move {
            let before = match diagnostics {
                Some(source) => Some(Box::pin(Before::ask(source, changes.clone())).await),
                None => None,
            };
            // The rare case is boxed, so that each call does not use as much memory.
            let mut outcome = match around {
                Some(around) => Box::pin(surrounded(around, running)).await,
                None => run(running).await,
            };
            if let Some(noted) = noted {
                noted.await;
            }
            if !outcome.is_error {
                outcome.written = changes;
                let found = Found { instructions: instructions.map(|source| (source, paths)), before };
                found.report(&results).await;
            }
            answer(&results, Input::Ran(id, Box::new(outcome)));
        });
    }
}

/// Looks up the mentions of a prompt, and hands them to the machine. A panic of the host's code is reported as a
/// notice.
async fn attach(
    results: &mpsc::UnboundedSender<Input>,
    id: EffectId,
    (attaching, changed): (Attaching, Option<Reporter>),
    prompt: &str,
) {
    let found = AssertUnwindSafe(attaching.look_up(prompt)).catch_unwind().await;
    let Ok(attached) = found else {
        return answer(results, Input::Notice("What the prompt mentions is not attached: it panicked.".to_owned()));
    };
    if !attached.instructions.is_empty() {
        answer(results, Input::AddInstructions(attached.instructions));
    }
    for notice in attached.notices {
        answer(results, Input::Notice(notice));
    }
    if !attached.blocks.is_empty() {
        answer(results, Input::Attached(id, attached.blocks));
    }
    if let Some(reporter) = changed {
        attached.changes.occasions().for_each(|call| reporter.report(call));
    }
    if let Some(seen) = &attaching.seen {
        attached.changes.reported(seen);
    }
}

fn not_run() -> ToolOutcome {
    ToolOutcome::error(runtime_text::NOT_RUN)
}
