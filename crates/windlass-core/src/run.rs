//! One run: its phases, and the answers that each of them awaits.
//!
//! ```text
//!            prompt             SessionStart, UserPromptSubmit
//!   Idle ───────────▶ Opening ─────────▶ Submitting       (Joining stands before Submitting, if calls
//!    ▲                                       │             give parts of the prompt)
//!    │                                       ▼  retry, fallback
//!    │  end    ┌────────────────────────▶ Calling ◀───────┐
//!    ├─────────┤ results, steered,           │ └──────────┘
//!    │         │ stop hook, max output       │
//!    │         │                     message │
//!    │         │                     complete▼      (Compacting stands before a call)
//!    │         ├───────────────────────── Tools
//!    │         │                             │ no calls
//!    └─────────┴──────────────────────── Stopping
//! ```

mod compacting;
mod ending;
mod opening;
mod parts;
mod pending;
mod turns;

use crate::batch::Batch;
use crate::compaction::Compaction;
use crate::feedback::Feedback;
use crate::pace::Pace;
use crate::pending::not_awaited;
use crate::repetition::Repetition;
use crate::session::Session;
use crate::steering::Steering;
use crate::tasks::Tasks;
use crate::turn::Turn;
use crate::{EffectId, Input, Prompt, UnfitInput};
use parts::Parts;
use std::ops::ControlFlow;
use windlass_types::{HookOutcome, Outcome, RunFailure, RunFailureKind, ToolUseId};

/// One run, from its prompt to its result.
#[derive(Debug, Default)]
pub(crate) struct Run {
    phase: Phase,
    pub(crate) steering: Steering,
    feedback: Feedback,
    pace: Pace,
    repetition: Repetition,
    counts: Counts,
    /// `true` if the run leaves at its next safe point, to be continued elsewhere.
    leaves: bool,
}

/// Counters of limited actions of a run.
#[derive(Debug, Default)]
struct Counts {
    stop_continuations: u32,
    output_continuations: u32,
    pauses: u32,
    malformed_calls: u32,
    failing_turns: u32,
    structured_failures: u32,
}

/// Phase of a run.
#[derive(Debug, Default)]
enum Phase {
    /// Beginning.
    #[default]
    Beginning,
    /// Running SessionStart hooks before the first prompt.
    Opening(EffectId, Prompt),
    /// Running calls whose results become parts of the prompt.
    Joining(Box<Parts>),
    /// Running UserPromptSubmit hooks.
    Submitting(EffectId, Prompt),
    /// Replacing the conversation by a summary.
    Compacting(Box<Compaction>),
    /// Replacing the conversation without a summary, because none can be written.
    Replacing(Box<Compaction>),
    /// Calling the model. Read-only calls may run already.
    Calling(Box<Turn>),
    /// Processing the calls of a complete message.
    Tools(Batch),
    /// Waiting at a safe point for hooks about messages that have arrived meanwhile.
    Halted(SafePoint),
    /// Running Stop hooks: the model is done.
    Stopping(EffectId),
}

/// Point where messages of the user may join the conversation.
#[derive(Debug)]
enum SafePoint {
    /// After all calls of a message are answered.
    Tools,
    /// Before an interrupted run continues.
    Resumed,
    /// After the model is done.
    End,
    /// After the Stop hooks have answered.
    Stopping(Box<HookOutcome>),
}

/// Continuation of a run, or its outcome.
pub(crate) type Flow = ControlFlow<Outcome>;

fn fails(kind: RunFailureKind, message: impl Into<String>) -> Flow {
    Flow::Break(Outcome::Failed(RunFailure::new(kind, message)))
}

impl Run {
    /// Applies an answer to an effect of the run.
    pub(crate) fn handle(
        &mut self,
        session: &mut Session,
        tasks: &Tasks,
        effect: EffectId,
        input: Input,
    ) -> Result<Flow, UnfitInput> {
        if let Some(batch) = self.batch().filter(|batch| batch.waits_for(effect)) {
            batch.handle(session, effect, input)?;
            return Ok(Flow::Continue(()));
        }
        match (&mut self.phase, input) {
            (Phase::Calling(turn), input) if turn.call.waits_for(effect) => {
                let step = turn.handle(session, effect, input)?;
                Ok(self.turn_step(session, step))
            }
            (Phase::Compacting(compaction), input) if compaction.waits_for(effect) => {
                let step = compaction.handle(session, || tasks.running().cloned().collect(), effect, input)?;
                Ok(self.compaction_step(session, step))
            }
            (Phase::Submitting(asked, _), Input::Attached(_, blocks)) if *asked == effect => {
                self.feedback.attached.extend(blocks);
                Ok(Flow::Continue(()))
            }
            (_, Input::Attached(_, blocks)) if self.steering.waits_for(effect) => {
                self.steering.attach(effect, blocks);
                Ok(Flow::Continue(()))
            }
            (_, Input::Hooked(_, outcome)) if self.steering.waits_for(effect) => {
                let stop = self.steering.hooked(session, effect, *outcome);
                self.feedback.stop(stop);
                Ok(Flow::Continue(()))
            }
            (Phase::Opening(asked, prompt), Input::Hooked(_, outcome)) if *asked == effect => {
                let prompt = std::mem::take(prompt);
                Ok(self.opened(session, prompt, *outcome))
            }
            (Phase::Submitting(asked, prompt), Input::Hooked(_, outcome)) if *asked == effect => {
                let prompt = std::mem::take(prompt);
                Ok(self.submitted(session, prompt, *outcome))
            }
            (Phase::Stopping(asked), Input::Hooked(_, outcome)) if *asked == effect => {
                Ok(self.stop_hooks_answered(session, *outcome))
            }
            (_, input) => Err(not_awaited(effect, &input)),
        }
    }

    /// Handles a durable append. If it was the intent of a call, the call continues.
    pub(crate) fn appended(&mut self, session: &mut Session, append: EffectId) {
        if let Some(batch) = self.batch() {
            batch.appended(session, append);
        }
    }

    /// Performs all steps that need no further input.
    pub(crate) fn advance(&mut self, session: &mut Session, tasks: &mut Tasks) -> Flow {
        loop {
            self.stop_tasks(session, tasks);
            self.ask_about_messages(session);
            match &mut self.phase {
                Phase::Halted(_) if self.steering.is_reviewed() => self.leave_safe_point(session)?,
                Phase::Compacting(compaction) if compaction.is_behind() && !session.out.is_behind() => {
                    let step = compaction.send(session);
                    self.compaction_step(session, step)?;
                }
                Phase::Replacing(_) => {
                    let running: Vec<_> = tasks.running().cloned().collect();
                    self.replaced(session, &running)?;
                }
                Phase::Calling(turn) if turn.call.is_behind() && !session.out.is_behind() => {
                    let step = turn.send(session);
                    self.turn_step(session, step)?;
                }
                Phase::Calling(turn) => {
                    turn.batch.advance(session);
                    return Flow::Continue(());
                }
                Phase::Tools(batch) => {
                    batch.advance(session);
                    let (is_done, is_suspended) = (batch.is_done(), batch.suspend(session));
                    self.stop_tasks(session, tasks);
                    if is_suspended {
                        return self.suspended(session);
                    }
                    if !is_done {
                        return Flow::Continue(());
                    }
                    self.after_tools(session)?;
                }
                Phase::Joining(parts) => {
                    parts.batch.advance(session);
                    if !parts.batch.is_done() {
                        return Flow::Continue(());
                    }
                    self.parts_given(session)?;
                }
                _ => return Flow::Continue(()),
            }
        }
    }

    /// Runs hooks about messages of the user, once the run has its own prompt and while it is not being stopped.
    fn ask_about_messages(&mut self, session: &mut Session) {
        let is_starting = matches!(self.phase, Phase::Opening(..) | Phase::Joining(_) | Phase::Submitting(..));
        if !is_starting && !self.batch().is_some_and(|batch| batch.is_interrupted()) {
            self.steering.ask(session);
        }
    }

    /// Stops background tasks at the request of calls.
    fn stop_tasks(&mut self, session: &mut Session, tasks: &mut Tasks) {
        let stopped = self.batch().map(|batch| std::mem::take(&mut batch.notes.tasks_to_stop));
        for id in stopped.unwrap_or_default() {
            tasks.stop(session, &id);
        }
    }

    /// Stops one call on behalf of the user; the run continues.
    pub(crate) fn stop_tool(&mut self, session: &mut Session, id: &ToolUseId) {
        if let Some(batch) = self.batch() {
            batch.stop(session, id);
        }
    }

    /// Handles a change of the offered tools.
    pub(crate) fn tools_changed(&mut self, session: &mut Session) {
        if let Some(batch) = self.batch() {
            batch.tools_changed(session);
        }
    }

    /// `true` if the effect runs a call of a stored message.
    pub(crate) fn runs(&mut self, effect: EffectId) -> bool {
        self.batch().is_some_and(|batch| batch.runs(effect))
    }

    /// Returns the calls of the streaming message, or of the last one.
    fn batch(&mut self) -> Option<&mut Batch> {
        match &mut self.phase {
            Phase::Calling(turn) => Some(&mut turn.batch),
            Phase::Tools(batch) => Some(batch),
            Phase::Joining(parts) => Some(&mut parts.batch),
            _ => None,
        }
    }
}
