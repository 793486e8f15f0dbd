//! From the events of a session to frames.

use super::core::Core;
use super::frames::Lifecycle;
use super::outbox::Gone;
use std::sync::Arc;
use windlass_runtime::{EventStream, SessionError};
use windlass_types::{ContentBlock, Event, EventKind, HookEventName, RunOrigin, StateChange};

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
    let mut pump = Pump { core: &core, events, begun: None };
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
    core.over.send_modify(|ended| *ended = generation.max(*ended));
    end
}

struct Pump<'a> {
    core: &'a Core,
    events: EventStream,
    /// A run that has begun, but whose prompt is still being looked at by hooks.
    begun: Option<Event>,
}

impl Pump<'_> {
    async fn run(&mut self) -> Result<PumpEnd, Gone> {
        let mut asking = self.core.permissions.asking();
        loop {
            tokio::select! {
                biased;
                event = self.events.next() => match event {
                    Ok(Some(event)) => self.event(event).await?,
                    Ok(None) => return Ok(PumpEnd::Closed),
                    Err(error) => {
                        self.broken(&error).await?;
                        return Ok(PumpEnd::Broken(error));
                    }
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
        match &event.kind {
            EventKind::RunStarted(started) => {
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
            self.core.told.tell(&call.id);
        }
        if let EventKind::RunFinished(result) = &event.kind {
            self.core.told.forget();
            self.finished(crate::is_error(&result.outcome), result.origin).await?;
        }
        Ok(())
    }

    async fn write(&self, event: &Event) -> Result<(), Gone> {
        self.core.outbox.send(self.core.frames(|mapper, out| mapper.map(event, out))).await
    }

    /// The next prompt is given before the host hears that the session is idle.
    async fn finished(&self, is_error: bool, origin: RunOrigin) -> Result<(), Gone> {
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
        self.core.advance();
        if self.core.is_idle() {
            self.core.say_state("idle").await?;
        }
        self.core.settled.notify_one();
        Ok(())
    }

    /// Every prompt gets its result, also when the session breaks under it.
    async fn broken(&self, error: &SessionError) -> Result<(), Gone> {
        let (running, answered) = {
            let mut state = self.core.lock();
            (state.running, state.answering.take())
        };
        if running {
            self.core.refuse(&error.to_string(), answered.as_deref()).await?;
        }
        self.core.refuse_waiting(&error.to_string()).await
    }
}
