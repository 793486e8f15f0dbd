//! Requests, each answered exactly once.

use super::Conversation;
use crate::command::BuiltinCommand;
use crate::context::ContextReport;
use crate::input::{Outcome, Request, SettingsChange};
use crate::jobs::{PendingJob, RequestedJob};
use crate::output::{Answer, Job, MessageState, Order, Refusal, RefusalKind, SessionOrder, Ticket, Timer, Update};
use crate::receipts::TakeBack;
use crate::settings::add;
use crate::turns::Work;
use std::time::Duration;
use windlass_types::{ContextUsage, PermissionMode, PermissionUpdate, Thinking, UpdateDestination};

/// Bytes at the end of an output that are read.
const TAIL_BYTES: u64 = 8 * 1024;
/// Maximum wait for the permission mode in effect.
const MAX_MODE_WAIT: Duration = Duration::from_secs(2);

impl Conversation {
    /// Carries out a request. One that begins a job is answered with its outcome.
    pub(super) fn request(&mut self, id: &str, request: Request) {
        match request {
            Request::Interrupt { cancels_queued } => return self.interrupt(id, cancels_queued),
            Request::TakeBack(message) => return self.take_back_one(id, &message),
            Request::PermissionMode(mode) => return self.choose_permission_mode(id, mode),
            Request::Model(name) => return self.choose_model(id, name, SettingsChange::default()),
            Request::Thinking(thinking) => self.use_thinking(thinking),
            Request::Settings(mut change) => match change.model.take() {
                // All of it, or none.
                Some(name) => return self.choose_model(id, name, change),
                None => self.change_settings(change),
            },
            Request::StopTask(task) => self.order_session(SessionOrder::StopTask(task)),
            Request::Rename(title) => return self.rename(id, title),
            Request::Rewind { to, scope, dry_run } => {
                if let Err(refusal) = self.rewind(id, to, scope, dry_run) {
                    self.update(Update::Answer(id.to_owned(), Err(refusal)));
                }
                return self.advance();
            }
            Request::Context => return self.begin_job(id, RequestedJob::Context, Job::Context),
            Request::MoveToBackground(call) => {
                return self.begin_job(id, RequestedJob::Move, Job::MoveToBackground(call));
            }
            Request::TaskOutput(task) => return self.task_output(id, &task),
        }
        self.update(Update::Answer(id.to_owned(), Ok(Answer::Done)));
    }

    /// Begins the job of a request, which is answered with the outcome.
    fn begin_job(&mut self, id: &str, requested: RequestedJob, job: Job) {
        let ticket = self.jobs.add(PendingJob::Request(id.to_owned(), requested));
        self.order(Order::Begin(ticket, job));
    }

    /// Takes the outcome of a job.
    pub(super) fn done(&mut self, ticket: Ticket, outcome: Outcome) {
        match (self.jobs.take(ticket), outcome) {
            (Some(PendingJob::Turn), Outcome::Context(usage)) => {
                if let Some(Work::Context { turn }) = self.turns.work.take() {
                    let text = self.context(usage.as_deref()).text();
                    self.local_result(BuiltinCommand::Context.name().to_owned(), text, turn.id);
                }
            }
            (Some(PendingJob::Turn), outcome) => {
                tracing::error!(?outcome, "the outcome is that of another job");
                if let Some(Work::Context { turn }) = self.turns.work.take() {
                    let text = self.context(None).text();
                    self.local_result(BuiltinCommand::Context.name().to_owned(), text, turn.id);
                }
            }
            (Some(PendingJob::Title(title)), Outcome::Renamed(done)) => self.titled(title, done),
            (Some(PendingJob::Title(title)), outcome) => {
                tracing::error!(?outcome, "the outcome is that of another job");
                self.titled(title, Err("carrying out the order failed".to_owned()));
            }
            (Some(PendingJob::Request(id, requested)), outcome) => self.answer_with(ticket, id, requested, outcome),
            // The request was answered when all sessions were closed.
            (None, _) => {}
        }
    }

    fn answer_with(&mut self, ticket: Ticket, id: String, requested: RequestedJob, outcome: Outcome) {
        let answer = match (requested, outcome) {
            (RequestedJob::Rewind(rewind), Outcome::Rewound(outcome)) => {
                return self.rewound(ticket, id, rewind, outcome);
            }
            (RequestedJob::Context, Outcome::Context(usage)) => {
                Ok(Answer::Context(Box::new(self.context(usage.as_deref()))))
            }
            (RequestedJob::Mode(requested), Outcome::PermissionMode(mode)) => {
                return self.mode_set(id, requested, mode);
            }
            (RequestedJob::Model { name, before, settings }, Outcome::Model(done)) => {
                let answer = self.model_set(name.as_deref(), before, done);
                if answer.is_ok() {
                    self.change_settings(settings);
                }
                answer
            }
            (RequestedJob::Move, Outcome::Moved(moved)) => Ok(Answer::Moved(moved)),
            (RequestedJob::FileEnd, Outcome::FileEnd(tail, total)) => {
                Ok(Answer::Output { tail, total, is_truncated: total > TAIL_BYTES })
            }
            (RequestedJob::Rename { title }, Outcome::Renamed(done)) => match done {
                Ok(()) => {
                    self.update(Update::Title(title));
                    Ok(Answer::Done)
                }
                Err(error) => Err(Refusal::new(format!("The session could not be renamed: {error}"))),
            },
            (_, Outcome::Failed(error)) => Err(Refusal::new(error)),
            (requested, outcome) => {
                tracing::error!(?requested, ?outcome, "the outcome is that of another job");
                Err(Refusal::new("carrying out the order failed"))
            }
        };
        self.update(Update::Answer(id, answer));
    }

    /// Use of the context window, with these estimates of the fixed parts.
    pub(super) fn context(&self, usage: Option<&ContextUsage>) -> ContextReport {
        let auto_compact = self.session.facts.as_ref().is_none_or(|facts| !facts.compacts_on_request_only);
        ContextReport::new(usage, &self.session.spent, auto_compact)
    }

    /// Stops the run. Messages that wait behind it stay, unless they are taken back as well.
    fn interrupt(&mut self, id: &str, cancels: bool) {
        let cancelled = if cancels { self.forget(None) } else { Vec::new() };
        self.take_back(id, None, TakeBack::Interrupt { cancels }, cancelled);
        self.stop_run();
        self.give_receipts();
    }

    /// Takes a message back that waits for its turn.
    fn take_back_one(&mut self, id: &str, message: &str) {
        let done = !self.forget(Some(message)).is_empty();
        self.take_back(id, Some(message), TakeBack::One { done }, Vec::new());
        self.give_receipts();
    }

    /// Forgets messages that wait, all of them or the one with an id. Returns their ids.
    fn forget(&mut self, id: Option<&str>) -> Vec<String> {
        let removed = self.turns.queue.forget(id);
        for id in &removed {
            self.update_message(Some(id), MessageState::Cancelled);
        }
        removed
    }

    fn choose_permission_mode(&mut self, id: &str, mode: PermissionMode) {
        if let Err(refusal) = self.allows_mode(mode) {
            return self.update(Update::Answer(id.to_owned(), Err(refusal)));
        }
        (self.requested.permission_mode, self.requested.awaited_mode) = (Some(mode), Some(mode));
        self.order_session(SessionOrder::PermissionMode(mode));
        self.set_permission_mode(mode);
        if self.session.is_open() && !self.session.is_over() {
            let ticket = self.jobs.add(PendingJob::Request(id.to_owned(), RequestedJob::Mode(mode)));
            self.order(Order::Begin(ticket, Job::PermissionMode));
            return self.order(Order::Wake(Timer::PermissionMode(ticket), MAX_MODE_WAIT));
        }
        self.update(Update::Answer(id.to_owned(), Ok(Answer::PermissionMode(mode))));
        self.update(Update::PermissionModeChanged(mode));
    }

    /// Answers with the mode that was asked for: the session waits for a disk, and judges no call before it has the
    /// order.
    pub(super) fn mode_is_late(&mut self, ticket: Ticket) {
        match self.jobs.take(ticket) {
            Some(PendingJob::Request(id, RequestedJob::Mode(requested))) => self.mode_set(id, requested, None),
            Some(other) => self.jobs.put_back(ticket, other),
            None => {}
        }
    }

    /// Answers with the mode that calls are judged in: the session may have refused the one that was asked for.
    fn mode_set(&mut self, id: String, requested: PermissionMode, effective: Option<PermissionMode>) {
        let mode = effective.unwrap_or(requested);
        if mode != requested && self.requested.awaited_mode == Some(requested) {
            (self.requested.permission_mode, self.requested.awaited_mode) = (Some(mode), None);
            self.set_permission_mode(mode);
        }
        self.update(Update::Answer(id, Ok(Answer::PermissionMode(mode))));
        // A run reports the mode as one of its events.
        if !self.turns.running {
            self.update(Update::PermissionModeChanged(mode));
        }
    }

    /// Gives a new session the title that it was opened with.
    pub(super) fn give_title(&mut self) {
        if let Some(title) = self.session.facts.as_mut().and_then(|facts| facts.title.take()) {
            let ticket = self.jobs.add(PendingJob::Title(title.clone()));
            self.order(Order::Begin(ticket, Job::Rename(title)));
        }
    }

    fn titled(&mut self, title: String, done: Result<(), String>) {
        self.update(match done {
            Ok(()) => Update::Title(title),
            Err(error) => Update::Warning(format!("The session did not get its title {title:?}: {error}")),
        });
    }

    fn allows_mode(&self, mode: PermissionMode) -> Result<(), Refusal> {
        if mode == PermissionMode::BypassPermissions && !self.options.bypass_allowed {
            return Err(Refusal::of(
                RefusalKind::BypassNotAllowed,
                "the mode bypassPermissions needs --allow-dangerously-skip-permissions at the start, and settings that do \
                 not disable it",
            ));
        }
        if mode == PermissionMode::Auto && self.options.auto_forbidden {
            let reason = "settings forbid the mode auto (permissions.disableAutoMode)";
            return Err(Refusal::of(RefusalKind::AutoForbidden, reason));
        }
        Ok(())
    }

    /// Calls this model from the next request on and changes other settings, unless the open session refuses the model.
    fn choose_model(&mut self, id: &str, name: Option<String>, settings: SettingsChange) {
        let previous = self.requested.model.replace(name.clone());
        if self.session.is_open() && !self.session.is_over() {
            let requested = RequestedJob::Model { name: name.clone(), before: previous, settings };
            return self.begin_job(id, requested, Job::Model(name));
        }
        self.change_settings(settings);
        self.update(Update::Answer(id.to_owned(), Ok(Answer::Done)));
    }

    /// Takes back a model that the session has refused, so that a session which replaces it does not begin with it.
    fn model_set(
        &mut self,
        name: Option<&str>,
        before: Option<Option<String>>,
        done: Result<(), String>,
    ) -> Result<Answer, Refusal> {
        done.map(|()| Answer::Done).map_err(|reason| {
            if self.requested.model.as_ref().map(Option::as_deref) == Some(name) {
                self.requested.model = before;
            }
            Refusal::new(reason)
        })
    }

    fn use_thinking(&mut self, thinking: Option<Thinking>) {
        if let Some(facts) = &self.session.facts {
            let thinking = thinking.unwrap_or(facts.thinking);
            self.order_session(SessionOrder::Thinking(thinking));
        }
        self.requested.thinking = Some(thinking);
    }

    /// Changes settings but the model: all of them at once.
    fn change_settings(&mut self, change: SettingsChange) {
        let SettingsChange { rules, effort, environment, .. } = change;
        if !environment.is_empty() {
            self.extend_environment(environment);
        }
        let mut updates = Vec::new();
        for (behavior, rules) in rules {
            let previous = self.requested.rules.insert(behavior, rules.clone()).unwrap_or_default();
            if !previous.is_empty() {
                let destination = UpdateDestination::Session;
                updates.push(PermissionUpdate::RemoveRules { rules: previous, behavior, destination });
            }
            if !rules.is_empty() {
                updates.push(add(behavior, rules));
            }
        }
        if !updates.is_empty() {
            self.order_session(SessionOrder::Permissions(updates));
        }
        if let Some(effort) = effort {
            self.requested.effort = Some(effort);
            self.order_session(SessionOrder::Effort(effort));
        }
    }

    /// Names the session.
    fn rename(&mut self, id: &str, title: String) {
        let refusal = match self.session.facts.as_ref().map(|facts| facts.can_be_renamed) {
            None => Refusal::not_open(),
            Some(false) => Refusal::of(RefusalKind::Unsupported, "this session cannot be renamed"),
            Some(true) => {
                return self.begin_job(id, RequestedJob::Rename { title: title.clone() }, Job::Rename(title));
            }
        };
        self.update(Update::Answer(id.to_owned(), Err(refusal)));
    }

    /// Reads the end of the output of background work.
    fn task_output(&mut self, id: &str, task: &str) {
        let answer = match self.session.outputs.find(task) {
            Some(Some(file)) => {
                return self.begin_job(id, RequestedJob::FileEnd, Job::FileEnd(file, TAIL_BYTES));
            }
            Some(None) => Ok(Answer::Output { tail: String::new(), total: 0, is_truncated: false }),
            None => Err(Refusal::new(format!("No task found with ID: {task}"))),
        };
        self.update(Update::Answer(id.to_owned(), answer));
    }
}
