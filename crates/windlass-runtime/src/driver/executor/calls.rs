//! Effects of calls: reading one, keeping its files, running it within its layers.

use super::{Executor, answer, not_run};
use crate::agents::AgentsCall;
use crate::calls::layer::LayeredCall;
use crate::calls::layers::diagnostics::DiagnosticsLayer;
use crate::calls::layers::file_snapshot::FileSnapshotLayer;
use crate::calls::layers::foreign_text::ForeignTextLayer;
use crate::calls::layers::instructions::InstructionsLayer;
use crate::calls::layers::progress::ProgressLayer;
use crate::calls::layers::result_budget::{ResultBudget, ResultBudgetLayer};
use crate::calls::layers::survey::SurveyLayer;
use crate::calls::layers::written_files::WrittenFilesLayer;
use crate::calls::layers::{RunLayers, before_verdict};
use crate::calls::permit::permit;
use crate::calls::preparation::{ReadCall, prepare};
use crate::calls::preview;
use crate::calls::run::RunningCall;
use crate::context::attachments::ReadingCx;
use crate::files::survey::CallSurvey;
use crate::model::completions::CallCompletions;
use crate::ports::SystemPorts;
use crate::tasks::background::CallParts;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_core::{EffectId, Input, Machine, RunCall, Unprepared};
use windlass_permission::Policy;
use windlass_tool::{
    Background, CallAbilities, CallPlace, Cancel, Ids, Permit, Process, Recorded, SessionState, ToolCx, ToolCxParts,
    Workspace,
};
use windlass_types::{Access, DecisionReason, EntryId, MadeCall, SessionId, ToolUse, ToolUseId};

impl Executor {
    /// Reads a call, and previews its changes if the session wants that.
    pub(super) fn prepare(&mut self, machine: &Machine, id: EffectId, call: ToolUse, cwd: PathBuf) {
        let context = self.preparation_context(machine);
        let previews = self.ports.reports.edits.then(|| (self.reading_cx(machine, &cwd), self.shared.policy(machine)));
        let (results, arriving) = (self.results.clone(), self.calls.sender());
        self.tasks.start(id, async move {
            let prepared = AssertUnwindSafe(prepare(&context, &call, &cwd)).catch_unwind().await;
            let failed =
                || Unprepared::new(DecisionReason::ToolCheck, "The call could not be read: its paths panicked.");
            let mut prepared = prepared.unwrap_or_else(|_| Err(failed()));
            if let (Ok(ready), Some((cx, policy))) = (&mut prepared, previews) {
                let facts = &ready.prepared.facts;
                let cx = |permit| ToolCx::new(cx(call.id.clone(), permit));
                ready.prepared.edits = preview::preview(&*ready.call.call, facts, &policy, cx).await;
            }
            let result = prepared.map(|ready| {
                // Sent first: the machine may ask for the run as soon as it has the facts.
                let _ = arriving.send((id, ready.call));
                Box::new(ready.prepared)
            });
            answer(&results, Input::Prepared(id, result));
        });
    }

    /// Enters the layers that stand before the last verdict on a call.
    pub(super) fn snapshot(&mut self, id: EffectId, call: ToolUseId, prompt: EntryId, paths: Vec<PathBuf>) {
        let Some(keeper) = self.files.keeper().cloned() else {
            return self.answer(Input::Snapshotted(id, Ok(())));
        };
        let call = LayeredCall { id: call, cancel: Cancel::new() };
        let mut layers = before_verdict(call, Some(FileSnapshotLayer { keeper, prompt, paths }));
        let results = self.results.clone();
        self.tasks.start(id, async move {
            let entered = layers.enter().await;
            answer(&results, Input::Snapshotted(id, entered));
        });
    }

    /// Runs a call within its layers.
    pub(super) fn run(&mut self, machine: &Machine, id: EffectId, run_call: RunCall) {
        let Some(ReadCall { call, tool }) = self.calls.take(run_call.prepared) else {
            return self.answer(Input::Ran(id, Box::new(not_run())));
        };
        if run_call.facts.access == Access::Session {
            self.shared.state.get::<Recorded>().set_todos(machine.state().todos().cloned());
        }
        let policy = self.shared.policy(machine);
        let cancel = Cancel::new();
        let ids = self.ports.system.ids_of(run_call.call.id.as_str());
        let progress = self.progress.of_call(id, self.results.clone());
        let survey = self.survey(machine, &run_call, &policy);
        let abilities = self.abilities(machine, id, &run_call, survey.as_ref());
        let reporter = progress.reporter();
        let layers = self.layers(id, &run_call, progress, survey, &ids);
        let source = self.cx_source(machine, &policy);
        let mut parts =
            source.parts(run_call.call.id.clone(), permit(&run_call.facts, policy), run_call.facts.cwd, ids);
        (parts.cancel, parts.abilities, parts.progress) = (cancel.clone(), abilities, reporter);
        let running = RunningCall { tool, call, cx: ToolCx::new(parts) };
        let layers = layers.around(LayeredCall { id: run_call.call.id, cancel: cancel.clone() });
        let results = self.results.clone();
        self.tasks.start_stoppable(id, cancel, async move {
            let outcome = layers.run(running).await;
            answer(&results, Input::Ran(id, Box::new(outcome)));
        });
    }

    /// Returns the layers around the run of a call.
    fn layers(
        &self,
        id: EffectId,
        run_call: &RunCall,
        progress: ProgressLayer,
        survey: Option<CallSurvey>,
        ids: &Arc<dyn Ids>,
    ) -> RunLayers {
        let context = &self.ports.context;
        let written_paths = preview::written_files(&run_call.facts);
        let diagnostics = context.diagnostics.clone().filter(|_| !written_paths.is_empty());
        let diagnostics =
            diagnostics.map(|source| DiagnosticsLayer::new(source, written_paths.clone(), self.results.clone()));
        let instructions = context.instructions.clone();
        let instructions =
            instructions.map(|source| InstructionsLayer::new(source, &run_call.facts, self.results.clone()));
        let keeper = self.files.keeper().cloned();
        // The result of a call that a call made is read by its maker, so it takes no space from the model's results.
        let is_made = run_call.call.id.as_str().starts_with(MadeCall::ID_PREFIX);
        let budget = if is_made { ResultBudget::default() } else { self.budget.clone() };
        RunLayers {
            survey: survey.map(|survey| SurveyLayer::new(survey, progress.reporter())),
            progress: Some(progress),
            programmatic_calls: Some(self.programmatic.of_call(id)),
            diagnostics,
            instructions,
            written_files: (!written_paths.is_empty()).then(|| WrittenFilesLayer { keeper, paths: written_paths }),
            foreign_text: ForeignTextLayer { ids: Arc::clone(ids) },
            result_budget: ResultBudgetLayer {
                budget,
                artifacts: self.ports.storage.artifacts.clone(),
                ids: Arc::clone(ids),
            },
        }
    }

    /// Returns the services of the session for a call.
    fn abilities(
        &mut self,
        machine: &Machine,
        id: EffectId,
        run_call: &RunCall,
        survey: Option<&CallSurvey>,
    ) -> CallAbilities {
        CallAbilities {
            background: self.ports.background.then(|| self.background_of(id, run_call, survey)),
            agents: Some(self.agents_of(machine, AgentsCall::of(id, run_call))),
            calls: Some(self.programmatic.port(id, &self.results)),
            completions: Some(self.completions(machine)),
        }
    }

    /// Returns the background interface of a call.
    fn background_of(&self, id: EffectId, run_call: &RunCall, survey: Option<&CallSurvey>) -> Arc<dyn Background> {
        let folder = self.ports.storage.artifacts.clone().or_else(|| self.ports.storage.scratch.clone());
        let only_reads = matches!(run_call.facts.access, Access::Reads(_));
        let tool_use_id = run_call.call.id.clone();
        let ids = self.ports.system.ids_of(tool_use_id.as_str());
        let survey = survey.map(CallSurvey::later);
        self.background.of_call(CallParts { effect: id, tool_use_id, ids, folder, only_reads, survey })
    }

    /// Returns the surveys around a call that may change any file of the workspace.
    fn survey(&self, machine: &Machine, run_call: &RunCall, policy: &Policy) -> Option<CallSurvey> {
        let may_change = matches!(run_call.facts.access, Access::Exec | Access::Unknown);
        if !may_change || policy.is_proven_read_only(&run_call.facts) {
            return None;
        }
        CallSurvey::new(self.files.keeper()?, machine.prompt(), run_call.call.id.clone(), policy.directories())
    }

    /// Returns the model requests of calls. Shared by all calls, until the model changes.
    fn completions(&mut self, machine: &Machine) -> Arc<CallCompletions> {
        let model = machine.model();
        if let Some(cached) = self.shared.completions.as_ref().filter(|cached| cached.model == *model) {
            return Arc::clone(cached);
        }
        let completions = Arc::new(CallCompletions {
            provider: Arc::clone(&self.ports.provider),
            model: model.clone(),
            limits: machine.limits().clone(),
            places: self.account.places(),
            results: self.results.clone(),
        });
        self.shared.completions = Some(Arc::clone(&completions));
        completions
    }

    /// Returns a maker of the context of a call that only reads, from its id and its permit.
    pub(super) fn reading_cx(&mut self, machine: &Machine, cwd: &Path) -> ReadingCx {
        let policy = self.shared.policy(machine);
        let (source, cwd) = (self.cx_source(machine, &policy), cwd.to_path_buf());
        Box::new(move |id, permit| {
            let ids = source.system.ids_of(id.as_str());
            source.clone().parts(id, permit, cwd.clone(), ids)
        })
    }

    fn cx_source(&mut self, machine: &Machine, policy: &Policy) -> CxSource {
        CxSource {
            session_id: machine.session_id().clone(),
            system: self.ports.system.clone(),
            workspace: Arc::clone(&self.ports.workspace),
            process: Arc::clone(&self.ports.process),
            directories: self.shared.directories(policy),
            artifacts: self.ports.storage.artifacts.clone(),
            state: Arc::clone(&self.shared.state),
        }
    }
}

/// Parts of the context of calls that the session gives them.
#[derive(Clone)]
struct CxSource {
    session_id: SessionId,
    system: SystemPorts,
    workspace: Arc<dyn Workspace>,
    process: Arc<dyn Process>,
    directories: Arc<[PathBuf]>,
    artifacts: Option<PathBuf>,
    state: Arc<SessionState>,
}

impl CxSource {
    /// Returns the context of one call, without abilities.
    fn parts(self, tool_use_id: ToolUseId, permit: Permit, cwd: PathBuf, ids: Arc<dyn Ids>) -> ToolCxParts {
        let Self { session_id, system, workspace, process, directories, artifacts, state } = self;
        ToolCxParts {
            session_id,
            tool_use_id,
            cancel: Cancel::new(),
            permit,
            workspace,
            process,
            clock: system.clock,
            ids,
            place: CallPlace { cwd, directories, env: system.env, artifacts },
            state,
            abilities: CallAbilities::default(),
            progress: Arc::new(|_| ()),
        }
    }
}
