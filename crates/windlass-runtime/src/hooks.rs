//! Hooks, asked within their limits of time.

pub(crate) mod observer;

use std::collections::BTreeSet;
use tokio::sync::mpsc;
use tokio::time::Instant;
use windlass_core::Input;
use windlass_hook::{HookContext, Hooks};
use windlass_types::{EventKind, HookCall, HookEventName, HookOutcome, Status, ToolMatcher};

/// Receiver of reports about hooks.
#[derive(Debug, Clone)]
pub(crate) struct HookReports {
    results: mpsc::UnboundedSender<Input>,
    /// `true` if the host gets an event when hooks begin.
    starts: bool,
}

impl HookReports {
    pub(crate) fn new(results: &mpsc::UnboundedSender<Input>, starts: bool) -> Self {
        Self { results: results.clone(), starts }
    }

    /// Reports an event. Sending fails only when the session has ended.
    pub(crate) fn report(&self, kind: EventKind) {
        let _ = self.results.send(Input::Report(Box::new(kind)));
    }

    fn starting(&self, hooks: &Hooks, cx: &HookContext, call: &HookCall) {
        let messages = hooks.status_messages(cx, call);
        if !messages.is_empty() {
            self.report(EventKind::Status(Status::HooksRunning { message: messages.join("\n") }));
        }
        if !self.starts {
            return;
        }
        let hooks: Vec<String> = hooks.listening(cx, call).map(str::to_owned).collect();
        if !hooks.is_empty() {
            let (event, tool_use_id) = (call.event(), call.tool_use_id().cloned());
            self.report(EventKind::HooksStarted { event, tool_use_id, hooks });
        }
    }
}

/// Runs the hooks that listen to an occasion. The model does not read why one failed, so the log of the program records
/// it.
pub(crate) async fn ask(hooks: &Hooks, cx: &HookContext, call: &HookCall, reports: &HookReports) -> HookOutcome {
    reports.starting(hooks, cx, call);
    #[expect(clippy::disallowed_methods, reason = "measures how long the hooks take")]
    let began = Instant::now();
    let mut outcome = hooks.run_timed(cx, call, tokio::time::sleep).await;
    outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    for (hook, failure) in &outcome.failures {
        tracing::warn!(hook, failure, event = %call.event(), "a hook failed");
    }
    outcome
}

/// Returns the events that hooks listen to, with their tools (`None` for all occasions).
pub(crate) fn listened(hooks: &Hooks) -> BTreeSet<(HookEventName, Option<ToolMatcher>)> {
    let mut occasions = BTreeSet::new();
    for interest in hooks.interests() {
        if interest.tools.is_empty() {
            occasions.insert((interest.event, None));
        } else {
            occasions.extend(interest.tools.into_iter().map(|tool| (interest.event, Some(tool))));
        }
    }
    occasions
}
