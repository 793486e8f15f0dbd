//! The executor of a machine's effects.

mod calls;
mod hooks;
mod questions;
mod side_requests;

use crate::agents::{AgentsCall, ChildAgents};
use crate::budget::Account;
use crate::calls::layers::programmatic_calls::ProgrammaticCalls;
use crate::calls::layers::progress::ProgressReports;
use crate::calls::layers::result_budget::ResultBudget;
use crate::calls::preparation::{PreparationContext, ReadCalls};
use crate::driver::deferred_effects::DeferredEffects;
use crate::events::queue::EventQueue;
use crate::files::session_files::SessionFiles;
use crate::hooks::observer::Observer;
use crate::model::call::ModelCall;
use crate::model::completions::CallCompletions;
use crate::model::side_requests::SideRequests;
use crate::ports::Ports;
use crate::questions::open_questions::OpenQuestion;
use crate::tasks::EffectTasks;
use crate::tasks::background::{BackgroundTasks, remove_scratch};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_context::runtime_text;
use windlass_core::{Effect, EffectId, Input, Machine};
use windlass_permission::{CallFacts, Heard, Policy};
use windlass_tool::{Agents, Recorded, SessionState};
use windlass_types::{Access, Entry, HookCall, JsonText, QuestionId, ToolOutcome};

/// Time limit for tidying up the files of a session that has ended.
const TIDYING: Duration = Duration::from_secs(10);

/// Carries out the effects of a machine. Each answer is an input for the machine.
pub(super) struct Executor {
    pub(super) ports: Ports,
    /// Cloned into tasks, which send their answers through it.
    pub(super) results: mpsc::UnboundedSender<Input>,
    /// Events to the host, for those of agents.
    queue: Arc<EventQueue>,
    observer: Observer,
    pub(super) account: Account,
    pub(super) agents: ChildAgents,
    pub(super) files: SessionFiles,
    pub(super) deferred: DeferredEffects,
    pub(super) model: Option<ModelCall>,
    tasks: EffectTasks,
    pub(super) background: BackgroundTasks,
    pub(super) calls: ReadCalls,
    programmatic: ProgrammaticCalls,
    pub(super) progress: ProgressReports,
    /// Remaining space for the results of the latest message.
    budget: ResultBudget,
    /// Questions that can be answered, and whose hooks and callback are not asked yet.
    questions: BTreeMap<QuestionId, OpenQuestion>,
    side_requests: SideRequests,
    shared: SharedState,
}

/// Parts of an executor.
pub(super) struct ExecutorParts {
    pub(super) ports: Ports,
    pub(super) results: mpsc::UnboundedSender<Input>,
    pub(super) queue: Arc<EventQueue>,
    pub(super) observer: Observer,
    pub(super) account: Account,
    pub(super) agents: ChildAgents,
    pub(super) files: SessionFiles,
}

/// State that all calls of the session share.
#[derive(Default)]
struct SharedState {
    state: Arc<SessionState>,
    /// Session history that the classifier may read.
    history: Heard,
    policy: Option<(u64, Arc<Policy>)>,
    directories: Arc<[PathBuf]>,
    completions: Option<Arc<CallCompletions>>,
}

impl SharedState {
    /// State whose tools know these todos.
    fn with_todos(todos: Option<JsonText>) -> Self {
        let shared = Self::default();
        shared.state.get::<Recorded>().set_todos(todos);
        shared
    }

    /// The directories of the workspace, copied when they have changed.
    fn directories(&mut self, policy: &Policy) -> Arc<[PathBuf]> {
        if *self.directories != *policy.directories() {
            self.directories = policy.directories().into();
        }
        Arc::clone(&self.directories)
    }

    /// The policy of the machine as it is now, copied when it has changed.
    fn policy(&mut self, machine: &Machine) -> Arc<Policy> {
        let epoch = machine.policy_epoch();
        match &self.policy {
            Some((of, policy)) if *of == epoch => Arc::clone(policy),
            _ => {
                let policy = Arc::new(machine.policy().clone());
                self.policy = Some((epoch, Arc::clone(&policy)));
                policy
            }
        }
    }
}

impl Executor {
    pub(super) fn new(parts: ExecutorParts, todos: Option<JsonText>) -> Self {
        let ExecutorParts { ports, results, queue, observer, account, agents, files } = parts;
        Self {
            background: BackgroundTasks::new(results.clone()),
            deferred: DeferredEffects::new(Arc::clone(&queue)),
            ports,
            results,
            queue,
            observer,
            account,
            agents,
            files,
            model: None,
            tasks: EffectTasks::default(),
            calls: ReadCalls::new(),
            programmatic: ProgrammaticCalls::default(),
            progress: ProgressReports::new(),
            budget: ResultBudget::default(),
            questions: BTreeMap::new(),
            side_requests: SideRequests::default(),
            shared: SharedState::with_todos(todos),
        }
    }

    /// Carries out an effect, or defers it while there is no room for its events.
    pub(super) fn carry_out(&mut self, machine: &Machine, id: EffectId, effect: Effect) {
        if let (Effect::Ask { request, deferred: false, .. }, true) = (&effect, self.ports.host.are_possible()) {
            // The event of the question follows, and may be answered while the question itself is deferred.
            self.questions.insert(request.id.clone(), self.agents.open_question(request));
        }
        // Closing does not wait for a host that does not read.
        let is_last = matches!(effect, Effect::RunHooks { call: HookCall::SessionEnd(_), .. });
        if self.deferred.is_crowded() && !is_last && is_deferrable(&effect) {
            self.deferred.defer(id, effect);
        } else {
            self.begin(machine, id, effect);
        }
    }

    /// Begins the deferred effects, if there is room for their events.
    pub(super) fn begin_deferred(&mut self, machine: &Machine) {
        for (id, effect) in self.deferred.take_ready(machine.backlog()) {
            self.begin(machine, id, effect);
        }
    }

    fn begin(&mut self, machine: &Machine, id: EffectId, effect: Effect) {
        match effect {
            Effect::CallModel(request) => {
                self.budget = result_budget(machine);
                let call = ModelCall::new(id, Arc::clone(&self.ports.provider), request);
                self.model = Some(call.beside(self.files.surveyed()));
            }
            Effect::Prepare { call, cwd } => self.prepare(machine, id, call, cwd),
            Effect::RunHooks { call, cwd, attach } => self.run_hooks(machine, id, call, cwd, attach),
            Effect::Classify { facts, why } => self.classify(machine, id, &facts, &why),
            Effect::Ask { request, cwd, kept, deferred } => {
                self.ask(machine, id, *request, cwd, (kept.map(|kept| *kept), deferred));
            }
            Effect::Snapshot { tool_use_id, prompt, paths } => self.snapshot(id, tool_use_id, prompt, paths),
            Effect::Run(call) => self.run(machine, id, *call),
            Effect::Cancel(other) => self.cancel(other),
            Effect::StopTask(id) => self.background.stop(&id),
            Effect::Reserve(cost) => self.account.reserve(id, cost),
            Effect::Settle { reservation, model, call } => self.account.settle(reservation, &model, &call),
            Effect::Return { to, number, outcome } => self.programmatic.give(to, number, *outcome),
            Effect::Sleep(wait) => {
                let results = self.results.clone();
                self.tasks.start(id, async move {
                    tokio::time::sleep(wait).await;
                    answer(&results, Input::Woke(id));
                });
            }
            // The driver owns the log.
            Effect::Append { .. } | Effect::Rewind(_) => {}
        }
    }

    fn cancel(&mut self, effect: EffectId) {
        if self.model.as_ref().is_some_and(|call| call.effect() == effect) {
            self.model = None;
        }
        match self.deferred.remove(effect) {
            Some(Effect::Run(_)) => self.answer(Input::Ran(effect, Box::new(not_run()))),
            Some(Effect::Ask { request, .. }) => drop(self.questions.remove(&request.id)),
            _ => {}
        }
        self.account.release(effect);
        self.tasks.cancel(effect);
        self.calls.forget(effect);
    }

    /// Hands an input to the machine.
    pub(super) fn answer(&self, input: Input) {
        answer(&self.results, input);
    }

    /// Notes that an effect has ended, before the machine gets its answer.
    pub(super) fn note_answer(&mut self, input: &Input) {
        match input {
            Input::Ran(effect, _)
            | Input::Hooked(effect, _)
            | Input::Classified(effect, _)
            | Input::Answered(effect, _)
            | Input::Unanswered(effect, _)
            | Input::Woke(effect) => self.tasks.done(*effect),
            Input::Appended(append, _) => self.agents.open_calls().answered(*append),
            _ => {}
        }
        self.tasks.sweep();
    }

    /// Notes entries on their way to the log.
    pub(super) fn note_append(&mut self, machine: &Machine, append: EffectId, entries: &[Entry]) {
        self.files.note_prompts(entries, machine.policy().directories());
        self.agents.open_calls().appended(append, entries);
        if self.ports.classifier.is_some() {
            self.shared.history.note(entries);
        }
    }

    /// Begins keeping the workspace when a call shows that programs may change it: a call that writes files, where
    /// there are tools that run programs, or a call that runs a program that may change files.
    pub(super) fn foresee_changes(&self, machine: &Machine, facts: &CallFacts) {
        let is_likely = match facts.access {
            Access::Writes(_) => {
                let tools = &self.ports.tools;
                tools.names().filter_map(|name| tools.get(name)).any(|tool| tool.annotations().foreign_output)
            }
            Access::Exec | Access::Unknown => !machine.policy().is_proven_read_only(facts),
            _ => false,
        };
        if is_likely {
            self.files.begin_baseline(machine.prompt(), machine.policy().directories());
        }
    }

    /// Replaces the state of tools and the classifier's history by those of the rewound log, as when a session is
    /// resumed. So an edit needs a file that was read in this conversation.
    pub(super) fn forget_conversation(&mut self, todos: Option<JsonText>) {
        let SharedState { state, history, .. } = SharedState::with_todos(todos);
        (self.shared.state, self.shared.history) = (state, history);
    }

    /// Limits agents to the current policy, and runs the hooks for new directories of the workspace.
    pub(super) fn follow_policy(&mut self, machine: &Machine) {
        if self.agents.follow_policy(machine) {
            let added = self.observer.see_directories(machine.policy().directories());
            self.run_beside(machine, added);
        }
    }

    /// Gives programs of the session, and of agents below it, this environment.
    pub(super) fn set_environment(&mut self, env: Vec<(OsString, OsString)>) {
        self.agents.follow_environment(&env);
        self.ports.system.env = env.into();
    }

    /// State that the tools of the session share.
    pub(super) fn state(&self) -> &SessionState {
        &self.shared.state
    }

    /// Returns the agents interface of a call.
    pub(super) fn agents_of(&self, machine: &Machine, call: AgentsCall) -> Arc<dyn Agents> {
        self.agents.of_call(call, machine.agent(), &self.ports, &self.queue, &self.results)
    }

    /// Returns the context in which calls are read.
    fn preparation_context(&mut self, machine: &Machine) -> PreparationContext {
        PreparationContext {
            tools: self.ports.tools.clone(),
            workspace: Arc::clone(&self.ports.workspace),
            policy: self.shared.policy(machine),
            env: Arc::clone(&self.ports.system.env),
        }
    }

    /// Stops all work, and tidies up the files of the session.
    pub(super) async fn close(mut self) {
        tokio::join!(self.background.close(), self.agents.close(), self.observer.close());
        let tidied = async {
            if let Some(scratch) = &self.ports.storage.scratch {
                remove_scratch(scratch).await;
            }
            // The next opening of the session must not find its checkpoints in use.
            self.files.end().await;
        };
        if tokio::time::timeout(TIDYING, tidied).await.is_err() {
            tracing::warn!("the session ends before its files are tidied up: the disk does not answer");
        }
    }
}

/// Returns `true` if an effect may wait for room. Effects that end others, or only count, do not.
fn is_deferrable(effect: &Effect) -> bool {
    !matches!(
        effect,
        Effect::Append { .. }
            | Effect::Rewind(_)
            | Effect::Cancel(_)
            | Effect::StopTask(_)
            | Effect::Sleep(_)
            | Effect::Return { .. }
            | Effect::Reserve(_)
            | Effect::Settle { .. }
    )
}

/// Returns the remaining space for the results of the next message.
fn result_budget(machine: &Machine) -> ResultBudget {
    machine.room_for_results().map_or_else(ResultBudget::default, ResultBudget::of_tokens)
}

/// Hands a result back. It fails only when the session has ended.
fn answer(results: &mpsc::UnboundedSender<Input>, input: Input) {
    let _ = results.send(input);
}

fn not_run() -> ToolOutcome {
    ToolOutcome::error(runtime_text::NOT_RUN)
}
