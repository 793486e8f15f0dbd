//! Machine of a session that is idle or has a run.

mod agents;
mod context_usage;
mod ending;

use crate::pending::{answered_effect, not_awaited};
use crate::prompts::Prompts;
use crate::run::{Flow, Run};
use crate::session::Session;
use crate::tasks::Tasks;
use crate::{Effect, EffectId, Input, MachineConfig, Output, Prompt, PromptKind, SessionState, UnfitInput};
use windlass_permission::Policy;
use windlass_types::hook::event::SessionEnd;
use windlass_types::{Entry, EntryId, HookEventName, SessionId, SteeredFate, TaskInfo, Timestamp};

/// Agent loop of one session, without any input or output of its own.
///
/// Pass an [`Input`] to [`Machine::handle`], then drain [`Machine::poll`] until it returns `None`; perform the effects
/// and return their results as inputs, in any order. An input that answers an effect which was cancelled or answered
/// before is ignored.
///
/// The same inputs at the same times give the same outputs: a machine decides by nothing else.
///
/// # Invariants
/// - Every tool use gets exactly one result, in call order, in the message after it.
/// - Each run ends with exactly one [`EventKind::RunFinished`](windlass_types::EventKind::RunFinished).
/// - No call that can have an effect runs before its message and its intent are durable.
/// - After [`Output::Closed`] or [`Output::Broken`] no output follows.
#[derive(Debug)]
pub struct Machine {
    session: Session,
    tasks: Tasks,
    prompts: Prompts,
    activity: Activity,
    /// `true` if the session has had a run, in this opening or an earlier one.
    resumed: bool,
    closing: bool,
    /// `true` if the session is handed over: what waits is kept.
    handing_over: bool,
    final_append: Option<EffectId>,
}

/// Current activity of a session.
#[derive(Debug)]
enum Activity {
    Idle,
    Running(Box<Run>),
    /// Rewinding the conversation in the log.
    Rewinding(EffectId),
    /// Running SessionEnd hooks.
    Closing(EffectId),
    Closed,
}

impl Machine {
    /// Returns a machine over the entries of a session's log, empty for a new session. The log must have been repaired:
    /// every tool use answered.
    pub fn new(config: MachineConfig, log: &[Entry]) -> Self {
        let session = Session::new(config, log);
        Self {
            resumed: !session.state.is_empty(),
            session,
            tasks: Tasks::default(),
            prompts: Prompts::default(),
            activity: Activity::Idle,
            closing: false,
            handing_over: false,
            final_append: None,
        }
    }

    /// Returns the fold of the log: the conversation, the cost, the current directory.
    pub fn state(&self) -> &SessionState {
        &self.session.state
    }

    /// Returns the permission policy, including the answers given in this session.
    pub fn policy(&self) -> &Policy {
        &self.session.rights.policy
    }

    /// Returns the epoch of the policy, which increases whenever the policy changes.
    pub fn policy_epoch(&self) -> u64 {
        self.session.rights.epoch
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> &SessionId {
        &self.session.config.ids.session_id
    }

    /// Returns the entry of the last prompt, which current work answers. `None` before the first prompt.
    pub fn prompt(&self) -> Option<&EntryId> {
        self.session.prompt.as_ref()
    }

    /// Returns the model that the next turn calls.
    pub fn model(&self) -> &crate::ModelProfile {
        self.session.current_model()
    }

    /// Returns the limits of the session.
    pub fn limits(&self) -> &crate::Limits {
        &self.session.config.limits
    }

    /// Returns the spending of all agents of the session, as far as this machine knows.
    pub fn session_spent(&self) -> windlass_types::NanoUsd {
        self.session.spent
    }

    /// Returns the running background tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskInfo> {
        self.tasks.running()
    }

    /// `true` if there is no run, and no prompt waits for one.
    pub fn is_idle(&self) -> bool {
        matches!(self.activity, Activity::Idle | Activity::Closed) && self.prompts.is_empty()
    }

    /// `true` if there is no run and none is about to begin, and no event waits for the host. Background work may be
    /// running.
    pub fn is_settled(&self) -> bool {
        self.is_idle() && self.session.out.backlog() == 0 && !self.tasks.may_wake(&self.session)
    }

    /// `true` if the machine is settled, and no background task is running.
    pub fn is_quiet(&self) -> bool {
        self.is_settled() && self.tasks.running().next().is_none()
    }

    /// Returns the number of events that wait for the log. While it is high, a driver should begin no effect and read
    /// no model stream: everything else continues.
    pub fn backlog(&self) -> usize {
        self.session.out.backlog()
    }

    /// Returns the next output, until there is none. Call it after every input.
    pub fn poll(&mut self) -> Option<Output> {
        self.session.out.poll()
    }

    /// Applies an input at a point in time.
    ///
    /// # Errors
    /// The input is invalid: it answers an effect that was never handed out, or one of another kind. That is a bug of
    /// the driver, or of the machine; the session can be continued.
    pub fn handle(&mut self, now: Timestamp, input: Input) -> Result<(), UnfitInput> {
        let is_timely = self.session.out.admit(&input)?;
        if matches!(self.activity, Activity::Closed)
            && !matches!(input, Input::Appended(..) | Input::LogSilent(_) | Input::LogLost(_) | Input::GiveUpLog(_))
        {
            return Ok(());
        }
        self.session.now = self.session.now.max(now);
        self.session.out.advance_clock(self.session.now);
        let flow = if is_timely { self.apply_input(input)? } else { self.take_late(input) };
        self.follow(flow);
        self.advance();
        Ok(())
    }

    fn apply_input(&mut self, input: Input) -> Result<Flow, UnfitInput> {
        if let Some(effect) = answered_effect(&input) {
            return self.take_answer(effect, input);
        }
        let session = &mut self.session;
        match (&mut self.activity, input) {
            // No run begins in a session that is being closed.
            (_, Input::Prompt(_) | Input::Steer(_) | Input::Offer(_)) if self.closing => {}
            (_, Input::Prompt(prompt)) => self.queue(prompt),
            (_, Input::Steer(prompt)) => self.steer(prompt, false),
            (_, Input::Offer(prompt)) => self.steer(prompt, true),
            (Activity::Running(run), Input::Withdraw(id)) => run.steering.withdraw(session, &id),
            (Activity::Idle, Input::Rewind(to)) => {
                let effect = session.effect(Effect::Rewind(to));
                self.activity = Activity::Rewinding(effect);
            }
            (_, Input::Interrupt) => return Ok(self.interrupt()),
            (_, Input::Close) => return Ok(self.order_close()),
            (_, Input::HandOver) => return Ok(self.hand_over()),
            (_, Input::HandOverNow) => self.hand_over_now(),
            (Activity::Running(run), Input::StopTool(id)) => run.stop_tool(session, &id),
            (_, Input::SetModel(model)) => session.set_model(*model),
            (_, Input::SetPermissionMode(mode)) => session.set_permission_mode(mode),
            (_, Input::SetThinking(thinking)) => session.config.request.thinking = thinking,
            (_, Input::SetEffort(effort)) => session.config.request.effort = effort,
            (activity, Input::SetTools(tools)) => {
                session.set_tools(tools);
                if let Activity::Running(run) = activity {
                    run.tools_changed(session);
                }
            }
            (_, Input::SetInstructions(instructions)) => session.config.tools.instructions = instructions,
            (_, Input::AddInstructions(files)) => session.add_instructions(files),
            (activity, Input::SetHooks(hooks)) => {
                session.config.listeners.hooks = hooks;
                // Calls that were allowed but have not begun must pass the new hooks, too.
                session.rights.epoch += 1;
                if let Activity::Running(run) = activity {
                    run.steering.ask_again(session);
                }
            }
            (_, Input::Notice(message)) => session.notice(message),
            (_, Input::Judged(verdict)) => session.record_verdict(*verdict),
            (_, Input::AddContext(texts)) => session.add_context(texts),
            (_, Input::Report(kind)) => session.report(*kind),
            (_, Input::UpdatePermissions(updates)) => session.update_permissions(&updates),
            (_, Input::RenewSettings(rules)) => session.renew_settings(&rules.0, &rules.1),
            (_, Input::AgentUsed(model, usage)) => session.book_of_agent(&model, usage),
            (_, Input::Used(model, usage)) => session.book_beside(&model, usage),
            (_, Input::SessionSpent(spent)) => session.spent = spent,
            (_, Input::Inherit(parent)) => session.inherit(&parent),
            (_, Input::TaskProgress(id, usage, last_tool)) => self.tasks.progress(session, &id, usage, last_tool),
            (_, Input::TaskEnded(ended)) => self.tasks.ended(session, *ended),
            (_, Input::LogSilent(silence)) => self.log_is_silent(silence),
            (_, Input::LogLost(failure)) => self.broken(failure),
            (_, Input::GiveUpLog(waited)) => self.give_up_log(waited),
            _ => {}
        }
        Ok(Flow::Continue(()))
    }

    fn take_answer(&mut self, effect: EffectId, input: Input) -> Result<Flow, UnfitInput> {
        match (&mut self.activity, input) {
            (_, Input::Appended(append, result)) => self.appended(append, result),
            (_, Input::Reserved(_, Err(failure))) => self.broken(failure),
            (Activity::Running(run), Input::TaskStarted(call, info)) => {
                let belongs_to_run = run.runs(call);
                self.tasks.started(&mut self.session, belongs_to_run, *info);
            }
            (Activity::Running(run), input) => return run.handle(&mut self.session, &self.tasks, effect, input),
            (Activity::Rewinding(asked), Input::Rewound(_, log)) if *asked == effect => {
                self.session.out.heard();
                if let Some(log) = log {
                    self.session.rewound(&log);
                    self.tasks.rewound(&mut self.session, &log);
                }
                self.activity = Activity::Idle;
            }
            (Activity::Closing(asked), Input::Hooked(..)) if *asked == effect => self.closed(),
            (_, input) => return Err(not_awaited(effect, &input)),
        }
        Ok(Flow::Continue(()))
    }

    /// Handles a late answer, which is ignored otherwise: background work of a discarded call must not continue.
    fn take_late(&mut self, input: Input) -> Flow {
        if let Input::TaskStarted(_, info) = input {
            self.tasks.started(&mut self.session, false, *info);
        }
        Flow::Continue(())
    }

    /// Queues a prompt. One that has to wait is stored.
    fn queue(&mut self, mut prompt: Prompt) {
        if !matches!(self.activity, Activity::Idle) || !self.prompts.is_empty() {
            self.session.store_queued(&mut prompt);
        }
        self.prompts.push(prompt);
    }

    /// Passes a user's message to the open run, or queues it as a prompt if there is none.
    fn steer(&mut self, mut prompt: Prompt, returns: bool) {
        let session = &mut self.session;
        if let Some((_, reason)) = session.unsendable(&prompt) {
            return session.steered(prompt.id, SteeredFate::Blocked { reason }, None);
        }
        if matches!(self.activity, Activity::Running(_)) {
            session.store_queued(&mut prompt);
        }
        match &mut self.activity {
            Activity::Running(run)
                if prompt.kind == PromptKind::Query && joins(&prompt) && !self.prompts.has_deferred() =>
            {
                run.steering.add(prompt, returns);
            }
            _ if returns => session.steered(prompt.id, SteeredFate::Returned, None),
            Activity::Running(_) if prompt.kind == PromptKind::Query => {
                // Messages that were sent earlier wait for a run of their own.
                session.steered(prompt.id.clone(), SteeredFate::Deferred, None);
                self.prompts.defer(prompt);
            }
            _ => self.queue(prompt),
        }
    }

    fn follow(&mut self, flow: Flow) {
        if let Flow::Break(outcome) = flow {
            self.finish(outcome);
        }
    }

    /// Performs all steps that need no further input.
    fn advance(&mut self) {
        loop {
            match &mut self.activity {
                Activity::Running(run) => match run.advance(&mut self.session, &mut self.tasks) {
                    Flow::Continue(()) => return,
                    Flow::Break(outcome) => self.finish(outcome),
                },
                Activity::Idle => {
                    if let Some(prompt) = self.prompts.next() {
                        self.tasks.prompted();
                        self.begin(Some(prompt));
                    } else if self.closing {
                        if !self.tasks.stop_all(&mut self.session) {
                            self.close();
                        }
                        return;
                    } else if self.tasks.may_wake(&self.session) {
                        self.tasks.wake();
                        self.begin(None);
                    } else {
                        return;
                    }
                }
                Activity::Rewinding(_) | Activity::Closing(_) | Activity::Closed => return,
            }
        }
    }

    /// Begins a run with a prompt, or because background work has ended.
    fn begin(&mut self, prompt: Option<Prompt>) {
        let (mut run, resumed) = (Box::<Run>::default(), std::mem::replace(&mut self.resumed, true));
        let flow = match prompt {
            Some(prompt) => run.begin(&mut self.session, prompt, resumed),
            None => run.begin_with_news(&mut self.session),
        };
        self.activity = Activity::Running(run);
        self.follow(flow);
    }

    /// Closes the session: SessionEnd hooks, then everything becomes durable.
    fn close(&mut self) {
        let session = &mut self.session;
        // When the session is resumed, the model must not wait for work that is gone.
        if session.opened
            && let Some(entry) = session.record_news()
        {
            session.append_unawaited(vec![entry]);
        }
        if session.opened && session.main_listens(HookEventName::SessionEnd) {
            let effect = session.run_hooks(SessionEnd { reason: "other".to_owned() });
            self.activity = Activity::Closing(effect);
        } else {
            self.closed();
        }
    }
}

/// `true` if a message may join the open run. A message with a scope for one run, or with calls of its own, gets its
/// own run.
fn joins(prompt: &Prompt) -> bool {
    prompt.scope.is_empty() && prompt.parts.is_empty()
}
