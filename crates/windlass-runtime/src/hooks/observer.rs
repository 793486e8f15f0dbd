//! Hooks that run concurrently with the work, on events that the driver sees.

use crate::hooks::{HookReports, ask};
use crate::tasks::AbortOnDrop;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use windlass_context::{FileInstructions, InstructionSource};
use windlass_hook::{HookContext, Hooks, Occasions};
use windlass_types::hook::event::InstructionsLoaded;
use windlass_types::{EventKind, HookCall, HookEventName, HookOutcome};

/// Time limit, when the session ends, for hooks that still run.
const GRACE: Duration = Duration::from_secs(2);
/// Maximum number of occasions whose hooks run at the same time. Further ones wait, in order.
const MAX_CONCURRENT_OCCASIONS: usize = 32;

/// Runs hooks on events that the driver sees. The work does not wait for them.
pub(crate) struct Observer {
    occasions: Occasions,
    /// Instructions on which hooks ran already: name and text.
    instructions: BTreeSet<(String, String)>,
    /// The instructions that the model reads when the first run begins.
    first: Vec<FileInstructions>,
    task: Option<HookTask>,
}

/// The task that runs the hooks.
struct HookTask {
    occasions: mpsc::UnboundedSender<Occasion>,
    task: AbortOnDrop<()>,
}

/// One occasion.
struct Occasion {
    hooks: Hooks,
    cx: HookContext,
    call: HookCall,
    reports: HookReports,
    /// Receiver of the hooks' outcome.
    answer: Option<oneshot::Sender<HookOutcome>>,
}

/// Runs hooks on occasions that are found outside the driver.
#[derive(Clone)]
pub(crate) struct Reporter {
    occasions: mpsc::UnboundedSender<Occasion>,
    hooks: Hooks,
    cx: HookContext,
    reports: HookReports,
}

impl Reporter {
    pub(crate) fn report(&self, call: impl Into<HookCall>) {
        self.send(call.into(), None);
    }

    pub(crate) fn send(&self, call: HookCall, answer: Option<oneshot::Sender<HookOutcome>>) {
        let (hooks, cx, reports) = (self.hooks.clone(), self.cx.clone(), self.reports.clone());
        // Sending fails when the session has ended.
        let _ = self.occasions.send(Occasion { hooks, cx, call, reports, answer });
    }
}

impl Observer {
    pub(crate) fn new(occasions: Occasions, hooks: &Hooks, first: Vec<FileInstructions>) -> Self {
        let mut observer = Self { occasions, instructions: BTreeSet::new(), first, task: None };
        observer.follow(hooks);
        observer
    }

    /// Updates the events that hooks listen to.
    pub(crate) fn follow(&mut self, hooks: &Hooks) {
        self.occasions.wants(hooks.interests().into_iter().map(|interest| interest.event));
    }

    /// Returns `true` if a hook listens to an event.
    pub(crate) fn wants(&self, event: HookEventName) -> bool {
        self.occasions.want(event)
    }

    /// Returns the occasions that follow from an event.
    pub(crate) fn see(&mut self, event: &EventKind) -> Vec<HookCall> {
        let mut calls = match event {
            EventKind::RunStarted(_) => {
                let first = std::mem::take(&mut self.first);
                self.see_instructions(&first, "session_start")
            }
            _ => Vec::new(),
        };
        calls.extend(self.occasions.of(event));
        calls
    }

    /// Returns the occasions that follow from new directories of the workspace.
    pub(crate) fn see_directories(&mut self, now: &[std::path::PathBuf]) -> Vec<HookCall> {
        self.occasions.of_directories(now)
    }

    /// Returns the occasions on which instructions are loaded, one for each new text of a file.
    pub(crate) fn see_instructions(&mut self, files: &[FileInstructions], reason: &str) -> Vec<HookCall> {
        if !self.wants(HookEventName::InstructionsLoaded) {
            return Vec::new();
        }
        let is_new = |file: &&FileInstructions| {
            file.source != InstructionSource::Host && self.instructions.insert((file.path.clone(), file.text.clone()))
        };
        files.iter().filter(is_new).map(|file| instructions_loaded(file, reason)).collect()
    }

    /// Returns a reporter for these hooks.
    pub(crate) fn reporter(&mut self, hooks: &Hooks, cx: HookContext, reports: HookReports) -> Reporter {
        let task = self.task.get_or_insert_with(|| {
            let (occasions, incoming) = mpsc::unbounded_channel();
            HookTask { occasions, task: AbortOnDrop(tokio::spawn(ask_all(incoming))) }
        });
        Reporter { occasions: task.occasions.clone(), hooks: hooks.clone(), cx, reports }
    }

    /// Waits for the running hooks, at most for `GRACE`.
    pub(crate) async fn close(&mut self) {
        let Some(HookTask { occasions, mut task }) = self.task.take() else { return };
        drop(occasions);
        // Hooks that take longer are dropped.
        let _ = tokio::time::timeout(GRACE, &mut task.0).await;
    }
}

/// Runs hooks on occasions as they come, many at the same time.
async fn ask_all(mut incoming: mpsc::UnboundedReceiver<Occasion>) {
    let mut running = FuturesUnordered::new();
    loop {
        tokio::select! {
            occasion = incoming.recv(), if running.len() < MAX_CONCURRENT_OCCASIONS => match occasion {
                Some(occasion) => running.push(occasion.ask()),
                None => break,
            },
            Some(()) = running.next() => {}
        }
    }
    while running.next().await.is_some() {}
}

impl Occasion {
    async fn ask(self) {
        let Self { hooks, cx, call, reports, answer } = self;
        let outcome = ask(&hooks, &cx, &call, &reports).await;
        if !outcome.ran.is_empty() {
            let tool_use_id = call.tool_use_id().cloned();
            reports.report(EventKind::HookRan { event: call.event(), tool_use_id, outcome: outcome.clone() });
        }
        if let Some(answer) = answer {
            // The requester may have dropped its receiver.
            let _ = answer.send(outcome);
        }
    }
}

/// Returns the hook event for loading the instructions of a file.
fn instructions_loaded(file: &FileInstructions, reason: &str) -> HookCall {
    let memory_type = match file.source {
        InstructionSource::Managed => "Managed",
        InstructionSource::User | InstructionSource::Memory => "User",
        InstructionSource::Local => "Local",
        _ => "Project",
    };
    let (memory_type, load_reason) = (memory_type.to_owned(), reason.to_owned());
    InstructionsLoaded { file_path: file.path.clone(), memory_type, load_reason }.into()
}
