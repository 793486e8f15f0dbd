//! Hooks: effects of the machine, and events that the driver sees.

use super::{Executor, answer, result_budget};
use crate::context::attachments::AttachmentContext;
use crate::context::file_changes;
use crate::hooks::observer::Reporter;
use crate::hooks::{HookReports, ask};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_context::FileInstructions;
use windlass_core::{Attach, EffectId, Input, Machine};
use windlass_hook::HookContext;
use windlass_tool::SeenFiles;
use windlass_types::{EventKind, HookCall, HookEventName};

/// Time limit for SessionEnd hooks.
const SESSION_END: Duration = Duration::from_secs(10);

impl Executor {
    /// Runs hooks whose outcome the machine waits for, and attaches the mentions of a prompt that they let pass.
    pub(super) fn run_hooks(
        &mut self,
        machine: &Machine,
        id: EffectId,
        call: HookCall,
        cwd: PathBuf,
        attach_what: Attach,
    ) {
        let (hooks, results) = (self.ports.hooks.clone(), self.results.clone());
        let reports = self.hook_reports();
        let changed = self.reporter_of(machine, HookEventName::FileChanged).filter(|_| attach_what.changes);
        let attaching = self.attachment_context(machine, &attach_what, &cwd);
        let own_text = attach_what.mentions.unwrap_or_default();
        let written = file_changes::written(&call, &cwd);
        let (seen, workspace) = (self.shared.state.get::<SeenFiles>(), Arc::clone(&self.ports.workspace));
        let policy = self.shared.policy(machine);
        let cx = self.hook_context(machine, cwd);
        self.tasks.start(id, async move {
            let outcome = match &call {
                // No other input would end a session whose last hook does not answer.
                HookCall::SessionEnd(_) => {
                    tokio::time::timeout(SESSION_END, ask(&hooks, &cx, &call, &reports)).await.unwrap_or_default()
                }
                _ => ask(&hooks, &cx, &call, &reports).await,
            };
            if let (Some(attaching), HookCall::UserPromptSubmit(_)) = (attaching, &call)
                && outcome.block.is_none()
                && outcome.stop.is_none()
            {
                attach(&results, id, (attaching, changed), &own_text).await;
            }
            if !written.is_empty() {
                let texts = file_changes::behind_hooks((&seen, &*workspace, &policy), &written).await;
                if !texts.is_empty() {
                    answer(&results, Input::AddContext(texts));
                }
            }
            answer(&results, Input::Hooked(id, Box::new(outcome)));
        });
    }

    /// Returns the context for looking up the attachments of a prompt, if there is anything to look up.
    fn attachment_context(&mut self, machine: &Machine, attach: &Attach, cwd: &Path) -> Option<AttachmentContext> {
        let mentions = self.ports.context.mentions.clone().filter(|_| attach.mentions.is_some());
        let changes = attach.changes && self.ports.reports.file_changes;
        if mentions.is_none() && !changes {
            return None;
        }
        let policy = self.shared.policy(machine);
        let cx = self.reading_cx(machine, cwd);
        Some(AttachmentContext {
            mentions,
            seen: changes.then(|| self.shared.state.get::<SeenFiles>()),
            at: self.preparation_context(machine),
            policy,
            hooks: self.ports.hooks.clone(),
            // Hook outcomes about a mention are not reported, so neither is the start of the hooks.
            reports: HookReports::new(&self.results, false),
            hook_context: self.hook_context(machine, cwd.to_path_buf()),
            instructions: self.ports.context.instructions.clone(),
            cx,
            ids: self.ports.system.ids_of("mentions"),
            cwd: cwd.to_path_buf(),
            budget: result_budget(machine),
        })
    }

    pub(super) fn hook_context(&self, machine: &Machine, cwd: PathBuf) -> HookContext {
        let cx = HookContext::new(machine.session_id().clone(), cwd).with_agent(machine.agent().cloned());
        let cx = cx.with_path(self.agents.path()).with_permission_mode(machine.policy().mode());
        cx.with_skills(machine.skills())
    }

    /// Returns the receiver of reports about hooks.
    pub(super) fn hook_reports(&self) -> HookReports {
        HookReports::new(&self.results, self.ports.reports.hook_starts)
    }

    /// Returns a reporter that runs the current hooks concurrently with the work.
    pub(in crate::driver) fn reporter(&mut self, machine: &Machine) -> Reporter {
        let cx = self.hook_context(machine, machine.state().cwd().to_path_buf());
        let reports = self.hook_reports();
        self.observer.reporter(&self.ports.hooks, cx, reports)
    }

    /// Returns a reporter, if a hook listens to this event.
    fn reporter_of(&mut self, machine: &Machine, event: HookEventName) -> Option<Reporter> {
        self.observer.wants(event).then(|| self.reporter(machine))
    }

    /// Reads again which events the hooks listen to.
    pub(in crate::driver) fn renew_hooks(&mut self) {
        self.ports.hooks = self.ports.hooks.renewed();
        self.observer.follow(&self.ports.hooks);
        self.agents.follow_hooks();
    }

    /// Runs the hooks for the occasions that follow from an event.
    pub(in crate::driver) fn observe(&mut self, machine: &Machine, event: &EventKind) {
        match event {
            EventKind::RunStarted(_) => self.agents.questions().leave_pending(Vec::new()),
            EventKind::RunFinished(result) => {
                self.agents.questions().leave_pending(result.pending_questions.clone());
                self.side_requests.end();
            }
            _ => {}
        }
        let calls = self.observer.see(event);
        self.run_beside(machine, calls);
    }

    /// Runs the hooks for instructions that the model is about to read.
    pub(in crate::driver) fn observe_instructions(&mut self, machine: &Machine, files: &[FileInstructions]) {
        let calls = self.observer.see_instructions(files, "nested_traversal");
        self.run_beside(machine, calls);
    }

    /// Runs the hooks concurrently with the work.
    pub(super) fn run_beside(&mut self, machine: &Machine, calls: Vec<HookCall>) {
        if !calls.is_empty() {
            let reporter = self.reporter(machine);
            calls.into_iter().for_each(|call| reporter.report(call));
        }
    }
}

/// Looks up the mentions of a prompt, and hands them to the machine. A panic of the host's code is reported as a
/// notice.
async fn attach(
    results: &mpsc::UnboundedSender<Input>,
    id: EffectId,
    (attaching, changed): (AttachmentContext, Option<Reporter>),
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
