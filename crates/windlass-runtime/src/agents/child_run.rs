//! An agent at work: its events on their way to the host, and its result.

use crate::agents::open_calls::ParentCall;
use crate::events::queue::EventQueue;
use crate::handle::session::Session;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass_core::{Input, ModelProfile, Prompt};
use windlass_model::ModelProvider;
use windlass_tool::{AgentReport, AgentSpec, Cancel, Clock, ToolError};
use windlass_types::{
    AgentIdentity, Event, EventKind, Outcome, PermissionRequest, RunResult, TaskUsage, Timestamp, ToolUseId, Usage,
    WaitingAgent,
};

/// Destination of an agent's events.
#[derive(Clone)]
pub(super) struct ParentAgent {
    pub(super) queue: Arc<EventQueue>,
    pub(super) results: mpsc::UnboundedSender<Input>,
    pub(super) provider: Arc<dyn ModelProvider>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) tool_use_id: ToolUseId,
}

impl fmt::Debug for ParentAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Above").field("tool_use_id", &self.tool_use_id).finish_non_exhaustive()
    }
}

/// An agent that is to be followed.
#[derive(Debug)]
pub(super) struct ChildRun {
    pub(super) spec: AgentSpec,
    /// `true` if the agent continues where it waited; otherwise it gets its prompt.
    pub(super) is_continued: bool,
    /// The call that stays open while the agent waits for answers, if it may.
    pub(super) parent_call: Option<Arc<ParentCall>>,
}

impl ChildRun {
    /// Returns the text of the error if the agent cannot be opened.
    pub(super) fn failed(&self) -> &'static str {
        if self.is_continued { "The agent could not be continued" } else { "The agent could not begin" }
    }
}

/// Figures of an agent at work.
#[derive(Debug, Default)]
struct ChildFigures {
    model: String,
    began: Timestamp,
    tokens: Usage,
    tool_uses: u64,
    result: Option<RunResult>,
}

impl ParentAgent {
    /// Gives an agent its prompt, or lets it continue, and follows it to its end.
    pub(super) async fn follow(
        self,
        session: Session,
        work: ChildRun,
        cancel: Cancel,
    ) -> Result<AgentReport, ToolError> {
        let ChildRun { spec, is_continued, parent_call } = work;
        let Session { handle, mut events, .. } = session;
        let mut figures = ChildFigures { began: self.clock.now(), ..ChildFigures::default() };
        let not_continued =
            |error| ToolError::rejected(format!("The agent could not continue: {error}")).with_source(error);
        match is_continued {
            true => handle.continue_run(),
            false => handle.prompt(Prompt::text(spec.prompt.as_str()).ignoring_keywords()),
        }
        .map_err(not_continued)?;
        let mut stopped = false;
        loop {
            let event = tokio::select! {
                biased;
                () = cancel.cancelled(), if !stopped => {
                    stopped = true;
                    // The order fails when the agent has ended, and then its events report that.
                    let _ = handle.interrupt();
                    continue;
                }
                event = events.try_next() => event.map_err(not_continued)?,
            };
            let Some(event) = event else { break };
            let is_last = event.agent.is_main() && matches!(event.kind, EventKind::RunFinished(_));
            self.note(&mut figures, &event, &spec);
            if let (EventKind::PermissionRequested(PermissionRequest { token: Some(_), .. }), Some(call)) =
                (&event.kind, &parent_call)
            {
                // The token is usable as soon as the host reads it.
                tokio::select! {
                    () = call.keep_open() => {}
                    () = cancel.cancelled() => {}
                }
            }
            self.show(event, &cancel).await;
            if is_last {
                // Background work of the agent ends with it.
                handle.begin_close();
            }
        }
        let usage = self.usage(&figures);
        let Some(result) = figures.result else {
            return Err(ToolError::rejected("The agent ended before it could report anything."));
        };
        if parent_call.is_some() && matches!(result.outcome, Outcome::Pending { .. }) {
            let identity = AgentIdentity::new(spec.id, spec.agent_type);
            return Err(ToolError::agent_waits(WaitingAgent::new(identity, self.below(result.pending_questions))));
        }
        let mut report = AgentReport::new(result.outcome, result.text, usage);
        (report.model, report.turns, report.tokens) = (figures.model, result.turns, figures.tokens);
        Ok(report)
    }

    /// Shows the host an event, as soon as there is room for it. An agent that is to stop does not wait for a
    /// host that does not read: the events that it still sends are bounded.
    async fn show(&self, mut event: Box<Event>, cancel: &Cancel) {
        event.agent = event.agent.below(&self.tool_use_id);
        match &mut event.kind {
            EventKind::PermissionRequested(request) => request.agent = request.agent.below(&self.tool_use_id),
            EventKind::RunFinished(result) => {
                result.pending_questions = self.below(std::mem::take(&mut result.pending_questions));
            }
            _ => {}
        }
        if self.queue.is_full() {
            tokio::select! {
                () = self.queue.room() => {}
                () = cancel.cancelled() => {}
            }
        }
        self.queue.push(event);
    }

    /// Returns the agent's questions with the path that the agent has for its parent.
    fn below(&self, mut questions: Vec<PermissionRequest>) -> Vec<PermissionRequest> {
        questions.iter_mut().for_each(|question| question.agent = question.agent.below(&self.tool_use_id));
        questions
    }

    fn note(&self, figures: &mut ChildFigures, event: &Event, spec: &AgentSpec) {
        match &event.kind {
            // Includes all agents below this one: each call is billed once.
            EventKind::UsageUpdated { model, usage, .. } => {
                figures.tokens += *usage;
                let profile = ModelProfile::new(model.clone(), self.provider.model_info(model));
                // Sending fails when the session has ended.
                let _ = self.results.send(Input::AgentUsed(Box::new(profile), *usage));
            }
            EventKind::RunStarted(started) if event.agent.is_main() => figures.model.clone_from(&started.model),
            EventKind::RunFinished(result) if event.agent.is_main() => figures.result = Some(result.clone()),
            EventKind::ToolFinished(finished) if event.agent.is_main() => {
                figures.tool_uses += 1;
                if let Some(task) = &spec.task {
                    let (usage, last) = (self.usage(figures), Some(finished.tool.clone()));
                    let _ = self.results.send(Input::TaskProgress(task.clone(), usage, last));
                }
            }
            _ => {}
        }
    }

    fn usage(&self, figures: &ChildFigures) -> TaskUsage {
        let elapsed = self.clock.now().since(figures.began).as_millis();
        TaskUsage::new(tokens(&figures.tokens), figures.tool_uses, u64::try_from(elapsed).unwrap_or(u64::MAX))
    }
}

fn tokens(usage: &Usage) -> u64 {
    usage.total_input().saturating_add(usage.output_tokens)
}
