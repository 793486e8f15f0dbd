//! Hooks that run concurrently with the work, on events that the driver sees.

use crate::hooks::{Asked, ask};
use crate::nested;
use crate::tasks::AbortOnDrop;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use windlass_context::{FileInstructions, InstructionSource};
use windlass_hook::{HookContext, Hooks, Occasions};
use windlass_types::{EventKind, HookCall, HookEventName, HookOutcome};

/// Time limit, when the session ends, for hooks that still run.
const GRACE: Duration = Duration::from_secs(2);
/// Maximum number of occasions whose hooks run at the same time. Further ones wait, in order.
const MOST: usize = 32;

/// Runs hooks on events that the driver sees. The work does not wait for them.
pub(crate) struct Observer {
    occasions: Occasions,
    /// Instructions on which hooks ran already: name and text.
    instructions: BTreeSet<(String, String)>,
    asking: Option<Asking>,
}

/// The task that runs the hooks.
struct Asking {
    occasions: mpsc::UnboundedSender<Occasion>,
    task: AbortOnDrop<()>,
}

/// One occasion.
struct Occasion {
    hooks: Hooks,
    cx: HookContext,
    call: HookCall,
    asked: Asked,
    /// Receiver of the hooks' outcome.
    answer: Option<oneshot::Sender<HookOutcome>>,
}

/// Runs hooks on occasions that are found outside the driver.
#[derive(Clone)]
pub(crate) struct Reporter {
    occasions: mpsc::UnboundedSender<Occasion>,
    hooks: Hooks,
    cx: HookContext,
    asked: Asked,
}

impl Reporter {
    pub(crate) fn report(&self, call: impl Into<HookCall>) {
        self.send(call.into(), None);
    }

    pub(crate) fn send(&self, call: HookCall, answer: Option<oneshot::Sender<HookOutcome>>) {
        let (hooks, cx, asked) = (self.hooks.clone(), self.cx.clone(), self.asked.clone());
        // Sending fails when the session has ended.
        let _ = self.occasions.send(Occasion { hooks, cx, call, asked, answer });
    }
}

impl Observer {
    pub(crate) fn new(occasions: Occasions, hooks: &Hooks) -> Self {
        let mut observer = Self { occasions, instructions: BTreeSet::new(), asking: None };
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
        self.occasions.of(event)
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
        files.iter().filter(is_new).map(|file| nested::occasion(file, reason)).collect()
    }

    /// Returns a reporter for these hooks.
    pub(crate) fn reporter(&mut self, hooks: &Hooks, cx: HookContext, asked: Asked) -> Reporter {
        let asking = self.asking.get_or_insert_with(|| {
            let (occasions, incoming) = mpsc::unbounded_channel();
            Asking { occasions, task: AbortOnDrop(tokio::spawn(ask_all(incoming))) }
        });
        Reporter { occasions: asking.occasions.clone(), hooks: hooks.clone(), cx, asked }
    }

    /// Waits for the running hooks, at most for `GRACE`.
    pub(crate) async fn close(&mut self) {
        let Some(Asking { occasions, mut task }) = self.asking.take() else { return };
        drop(occasions);
        // Hooks that take longer are dropped.
        let _ = tokio::time::timeout(GRACE, &mut task.0).await;
    }
}

/// Runs hooks on occasions as they come, many at the same time.
async fn ask_all(mut incoming: mpsc::UnboundedReceiver<Occasion>) {
    let mut asked = FuturesUnordered::new();
    loop {
        tokio::select! {
            occasion = incoming.recv(), if asked.len() < MOST => match occasion {
                Some(occasion) => asked.push(occasion.ask()),
                None => break,
            },
            Some(()) = asked.next() => {}
        }
    }
    while asked.next().await.is_some() {}
}

impl Occasion {
    async fn ask(self) {
        let Self { hooks, cx, call, asked, answer } = self;
        let outcome = ask(&hooks, &cx, &call, &asked).await;
        if !outcome.ran.is_empty() {
            let tool_use_id = call.tool_use_id().cloned();
            asked.report(EventKind::HookRan { event: call.event(), tool_use_id, outcome: outcome.clone() });
        }
        if let Some(answer) = answer {
            // The requester may have dropped its receiver.
            let _ = answer.send(outcome);
        }
    }
}
