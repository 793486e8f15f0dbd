//! From the events of a session to frames.

use super::core::Core;
use super::frames::Lifecycle;
use super::outbox::Gone;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use windlass_runtime::{EventStream, SessionError};
use windlass_types::{ContentBlock, Event, EventKind, HookEventName, RunOrigin, StateChange, TaskEnded, TaskKind};

/// Why events stopped.
#[derive(Debug)]
pub(crate) enum PumpEnd {
    /// The session was closed.
    Closed,
    /// The session cannot go on.
    Broken(SessionError),
    /// Nobody reads any more.
    Gone,
}

/// Writes the events of a session until it ends.
pub(crate) async fn pump(core: Arc<Core>, events: EventStream, generation: u64) -> PumpEnd {
    let mut pump = Pump { core: &core, events, begun: None, wakes: Wakes::No, unsettled: false };
    let end = match pump.run().await {
        Ok(end) => end,
        Err(Gone) => PumpEnd::Gone,
    };
    {
        let mut state = core.lock();
        // Another session may have taken the place of this one.
        if state.generation == generation {
            (state.running, state.woken) = (false, false);
        }
    }
    // Nobody reads any more, or is told.
    let _ = core.release_waiting().await;
    core.over.send_modify(|ended| *ended = generation.max(*ended));
    end
}

struct Pump<'a> {
    core: &'a Core,
    events: EventStream,
    /// A run that has begun, but whose prompt is still being looked at by hooks.
    begun: Option<Event>,
    wakes: Wakes,
    /// Whether background work has ended of which the model may not have heard.
    unsettled: bool,
}

/// Whether the end of background work is about to begin a run: then the session is not idle.
enum Wakes {
    No,
    /// Ready when nothing is about to.
    Perhaps(BoxFuture<'static, ()>),
    /// Nothing is, unless the events that are there already say something else.
    Hardly,
}

impl Wakes {
    /// Waits for the next step towards `No`. Cancel safe.
    async fn step(&mut self) -> bool {
        match self {
            Self::No => std::future::pending().await,
            Self::Perhaps(quiet) => {
                quiet.await;
                *self = Self::Hardly;
                false
            }
            Self::Hardly => {
                *self = Self::No;
                true
            }
        }
    }
}

impl Pump<'_> {
    async fn run(&mut self) -> Result<PumpEnd, Gone> {
        let mut asking = self.core.permissions.asking();
        loop {
            tokio::select! {
                biased;
                event = self.events.next() => match event {
                    Ok(Some(event)) => self.event(event).await?,
                    Ok(None) => {
                        // Nothing begins any more, so what it was not certain of is.
                        if !matches!(self.wakes, Wakes::No) {
                            self.core.say_idle().await?;
                        }
                        return Ok(PumpEnd::Closed);
                    }
                    Err(error) => {
                        self.broken(&error).await?;
                        return Ok(PumpEnd::Broken(error));
                    }
                },
                nothing = self.wakes.step() => if nothing {
                    self.core.say_idle().await?;
                },
                changed = asking.changed() => {
                    let waits = changed.is_ok() && *asking.borrow_and_update() > 0;
                    if self.core.is_at_work() {
                        self.core.say_state(if waits { "requires_action" } else { "running" }).await?;
                    }
                }
            }
        }
    }

    async fn event(&mut self, event: Event) -> Result<(), Gone> {
        self.core.note_task(&event.kind);
        self.core.told.note(&event.agent, &event.kind);
        if !event.agent.is_main() {
            return self.of_agent(&event).await;
        }
        match &event.kind {
            EventKind::RunStarted(started) => {
                self.wakes = Wakes::No;
                self.core.lock().run_began(started);
                self.begun = Some(event);
                return self.core.say_state("running").await;
            }
            EventKind::UsageUpdated { usage, cost, .. } => self.core.lock().spent.call(usage, *cost),
            EventKind::RunFinished(result) => self.core.lock().spent.run(result),
            EventKind::StateChanged(StateChange::PermissionMode { mode }) => {
                self.core.lock().mode_told(*mode);
                self.core.scene.set_permission_mode(*mode);
            }
            _ => {}
        }
        if !matches!(event.kind, EventKind::HookRan { event: HookEventName::SessionStart, .. })
            && let Some(begun) = self.begun.take()
        {
            self.write(&begun).await?;
        }
        if let EventKind::RunFinished(_) = &event.kind {
            // Whoever sees the result finds the whole run in the mirror.
            self.core.flush_mirror().await?;
        }
        self.write(&event).await?;
        if let EventKind::BlockFinished { block: ContentBlock::ToolUse(call), .. } = &event.kind {
            self.core.told.tell(&event.agent, &call.id);
        }
        if let EventKind::RunFinished(result) = &event.kind {
            self.core.told.forget(&event.agent);
            self.finished(crate::is_error(&result.outcome), result.origin).await?;
        }
        if let EventKind::TaskEnded(ended) = &event.kind {
            self.ended(ended).await?;
        }
        if let EventKind::Steered(steered) = &event.kind {
            self.core.steered(steered).await?;
        }
        Ok(())
    }

    /// An event of an agent below the main one says nothing of the session's own run.
    async fn of_agent(&mut self, event: &Event) -> Result<(), Gone> {
        let told = &self.core.told;
        match &event.kind {
            EventKind::RunStarted(started) => told.began(&event.agent, started.identity.as_ref()),
            EventKind::UsageUpdated { cost, .. } => self.core.lock().spent.call_of_agent(*cost),
            _ => {}
        }
        self.write(event).await?;
        match &event.kind {
            EventKind::BlockFinished { block: ContentBlock::ToolUse(call), .. } => told.tell(&event.agent, &call.id),
            EventKind::RunFinished(_) => told.forget(&event.agent),
            _ => {}
        }
        Ok(())
    }

    /// Background work has ended.
    async fn ended(&mut self, ended: &TaskEnded) -> Result<(), Gone> {
        self.unsettled = true;
        if ended.info.kind == TaskKind::LocalAgent {
            self.core.rewinds.run_ended();
        }
        // While commands go on the session is idle, while agents do it is not.
        if ended.info.kind == TaskKind::LocalAgent && self.core.is_idle() { self.settle().await } else { Ok(()) }
    }

    /// Tells that the session is idle, if it is and stays so by itself.
    async fn settle(&mut self) -> Result<(), Gone> {
        let handle = self.core.handle().filter(|_| std::mem::take(&mut self.unsettled));
        match handle {
            Some(handle) => self.wakes = Wakes::Perhaps(Box::pin(handle.settled())),
            None => self.core.say_idle().await?,
        }
        Ok(())
    }

    async fn write(&mut self, event: &Event) -> Result<(), Gone> {
        self.core.outbox.send(self.core.frames(|mapper, out| mapper.map(event, out))).await
    }

    /// The next prompt is given before the host hears that the session is idle.
    async fn finished(&mut self, is_error: bool, origin: RunOrigin) -> Result<(), Gone> {
        let answered = {
            let mut state = self.core.lock();
            state.last_is_error = is_error;
            if origin == RunOrigin::User {
                state.running = false;
                state.answering.take()
            } else {
                state.woken = false;
                None
            }
        };
        self.core.rewinds.run_ended();
        self.core.say_lifecycle(answered.as_deref(), Lifecycle::Completed).await?;
        self.core.complete_joined().await?;
        self.core.advance();
        self.settle().await?;
        self.core.settled.notify_one();
        Ok(())
    }

    /// Every prompt gets its result, also when the session breaks under it.
    async fn broken(&mut self, error: &SessionError) -> Result<(), Gone> {
        let (running, answered) = {
            let mut state = self.core.lock();
            (state.running, state.answering.take())
        };
        if running {
            self.core.refuse(&error.to_string(), answered.as_deref()).await?;
        }
        self.core.complete_joined().await?;
        self.core.release_waiting().await?;
        self.core.refuse_waiting(&error.to_string()).await
    }
}
