//! One turn: how it begins and how it ends.

use super::commands::{Builtin, Commands};
use super::core::Core;
use super::frames::{CommandLifecycle, CommandsChanged, Lifecycle, Replay, Reset, TitleChanged};
use super::outbox::Gone;
use super::queue::Waiting;
use crate::input::UserMessage;
use crate::line;
use crate::mapper::LocalResult;
use serde_json::json;
use windlass_runtime::Prompt;
use windlass_types::JsonText;

impl Core {
    /// Lets a message wait for its turn, or writes why it cannot have one.
    pub(crate) async fn enqueue(&self, mut message: UserMessage) -> Result<(), Gone> {
        if !self.options.replay_user_messages {
            // It would be kept twice, images and all.
            message.message = None;
        }
        let uuid = message.uuid.clone();
        let taken = {
            let mut state = self.lock();
            let in_turn = state.running || state.woken || state.busy;
            state.queue.push(message, in_turn)
        };
        match taken {
            Ok(()) => self.say_lifecycle(uuid.as_deref(), Lifecycle::Queued).await,
            Err(error) => self.refuse(&error, uuid.as_deref()).await,
        }
    }

    /// Writes the results of all messages that wait for a session which cannot go on.
    pub(crate) async fn refuse_waiting(&self, error: &str) -> Result<(), Gone> {
        loop {
            let next = self.lock().queue.pop();
            match next {
                Some(waiting) => self.refuse(error, waiting.uuid.as_deref()).await?,
                None => return Ok(()),
            }
        }
    }

    /// Goes on with the next turn, if one waits and none goes on.
    pub(crate) fn advance(&self) {
        let turn = {
            let mut state = self.lock();
            if state.running || state.busy || state.woken {
                return;
            }
            let Some(front) = state.queue.front() else { return };
            if state.session.is_none() || front.command().is_some() {
                self.work.notify_one();
                return;
            }
            state.busy = true;
            state.stopped = false;
            state.queue.pop()
        };
        if let Some(turn) = turn {
            self.start(turn, None);
        }
    }

    /// The next turn, if it needs more than a prompt to an open session.
    pub(crate) fn begin_work(&self) -> Option<Waiting> {
        let mut state = self.lock();
        if state.running || state.busy || state.woken {
            return None;
        }
        let front = state.queue.front()?;
        if state.session.is_some() && front.command().is_none() {
            return None;
        }
        state.busy = true;
        state.stopped = false;
        state.queue.pop()
    }

    /// A turn that is no run is over, unless it became one.
    pub(crate) async fn end_work(&self) -> Result<(), Gone> {
        {
            let mut state = self.lock();
            if !state.busy {
                return Ok(());
            }
            state.busy = false;
            state.answering = None;
            state.queue.turn_over();
        }
        self.advance();
        self.say_idle().await?;
        self.settled.notify_one();
        Ok(())
    }

    /// Tells that the session is idle, if it is. With an agent in the background it is not: its end begins a run.
    pub(crate) async fn say_idle(&self) -> Result<(), Gone> {
        if self.is_idle() && !self.told.has_background() { self.say_state("idle").await } else { Ok(()) }
    }

    /// Starts a run with a message, or with another prompt in its place.
    pub(crate) fn start(&self, turn: Waiting, instead: Option<Prompt>) {
        let Some(handle) = self.handle() else { return };
        let shown = self.begin(&turn);
        let Waiting { content, uuid, should_query, .. } = turn;
        let mut state = self.lock();
        let own = || if should_query { Prompt::new(content) } else { Prompt::note(content) };
        let prompt = instead.unwrap_or_else(own);
        let prompt = match &mut state.session {
            Some(live) => live.extras.begin(prompt),
            None => prompt,
        };
        let given = handle.prompt(match uuid.as_ref().or(shown.as_ref()) {
            // The host may refer to it later.
            Some(uuid) => prompt.with_id(uuid.as_str().into()),
            None => prompt,
        });
        state.busy = false;
        state.running = given.is_ok();
        state.answering = uuid;
        if std::mem::take(&mut state.stopped) {
            // The host stopped it before it was a run.
            let _ = handle.interrupt();
        }
        drop(state);
        self.offer_waiting();
    }

    /// Tells that a turn begins which is no run.
    pub(crate) async fn begin_local(&self, turn: &Waiting) -> Result<(), Gone> {
        self.say_state("running").await?;
        self.begin(turn);
        Ok(())
    }

    /// What is written when a turn begins. Nothing waits here: these lines
    /// follow from a message that was taken, one at a time.
    /// Returns the id that the message was shown with, if it has none of its own.
    pub(crate) fn begin(&self, turn: &Waiting) -> Option<String> {
        let unnamed = turn.uuid.is_none() && self.options.replay_user_messages;
        let own = unnamed.then(|| self.uuid());
        let bytes = self.taken(turn, own.as_deref().unwrap_or_default());
        self.frames(|mapper, _| mapper.answers(turn.uuid.clone()));
        if !bytes.is_empty() {
            self.outbox.send_now(bytes);
        }
        own
    }

    /// Tells that a message is being answered, and gives it back to hosts that want it: with an id that the log has,
    /// if it has none of its own.
    pub(crate) fn taken(&self, turn: &Waiting, own: &str) -> Vec<u8> {
        let mut bytes = self.lifecycle(turn.uuid.as_deref(), Lifecycle::Started);
        if self.options.replay_user_messages {
            let session_id = self.lock().session_id.clone();
            let uuid = turn.uuid.as_deref().unwrap_or(own);
            let mut replay = |message: &JsonText| {
                let (kind, session_id) = ("user", session_id.as_str());
                let frame = Replay { kind, message, parent_tool_use_id: None, session_id, uuid, is_replay: true };
                line::push(&mut bytes, &frame)
            };
            if !replay(&turn.message) {
                let note = "[This message is too long for one frame. It was taken.]";
                let note = JsonText::of(&json!({ "role": "user", "content": note }));
                if let Ok(note) = &note {
                    replay(note);
                }
            }
        }
        bytes
    }

    /// Writes what a command of the server itself said, and its result.
    pub(crate) async fn local_result(&self, command: Builtin, text: &str, turn: &Waiting) -> Result<(), Gone> {
        let (session_id, spent) = {
            let mut state = self.lock();
            state.last_is_error = false;
            (state.session_id.clone(), state.spent.clone())
        };
        let result = LocalResult { command: command.name(), text, cost: spent.cost, models: &spent.models };
        self.flush_mirror().await?;
        self.outbox.send(self.frames(|mapper, out| mapper.local(&session_id, &result, out))).await?;
        self.say_lifecycle(turn.uuid.as_deref(), Lifecycle::Completed).await
    }

    fn lifecycle(&self, uuid: Option<&str>, state: Lifecycle) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(command_uuid) = uuid {
            let session_id = self.lock().session_id.clone();
            let (kind, uuid) = ("command_lifecycle", self.uuid());
            line::push(&mut bytes, &CommandLifecycle { kind, command_uuid, state, uuid, session_id: &session_id });
        }
        bytes
    }

    /// Tells what became of a message, if it has an id.
    pub(crate) async fn say_lifecycle(&self, uuid: Option<&str>, state: Lifecycle) -> Result<(), Gone> {
        self.outbox.send(self.lifecycle(uuid, state)).await
    }

    /// Tells that the conversation goes on in another session.
    pub(crate) async fn say_reset(&self, user_message_uuid: Option<&str>) -> Result<(), Gone> {
        let session_id = self.lock().session_id.clone();
        let frame = Reset {
            kind: "conversation_reset",
            new_conversation_id: &session_id,
            trigger: "clear",
            user_message_uuid,
            uuid: self.uuid(),
            session_id: &session_id,
        };
        let mut bytes = Vec::new();
        line::push(&mut bytes, &frame);
        self.outbox.send(bytes).await
    }

    /// Tells that the session has a new title.
    pub(crate) async fn say_title(&self, title: &str) -> Result<(), Gone> {
        let session_id = self.lock().session_id.clone();
        let (kind, subtype) = ("system", "session_title_changed");
        let mut bytes = Vec::new();
        let mut frame = TitleChanged { kind, subtype, title, uuid: self.uuid(), session_id: &session_id };
        if !line::push(&mut bytes, &frame) {
            frame.title = "[a title that is too long for one frame]";
            line::push(&mut bytes, &frame);
        }
        self.outbox.send(bytes).await
    }

    /// The commands of the session, or those that it will have.
    pub(crate) fn commands(&self) -> Commands {
        self.lock().commands.clone()
    }

    /// Tells the commands, if a host was told of others before.
    pub(crate) async fn say_commands(&self, before: &Commands) -> Result<(), Gone> {
        let (commands, session_id) = {
            let state = self.lock();
            if state.initialize.is_none() {
                return Ok(());
            }
            (state.commands.list(), state.session_id.clone())
        };
        if commands == before.list() {
            return Ok(());
        }
        let (kind, subtype) = ("system", "commands_changed");
        let mut frame =
            CommandsChanged { kind, subtype, commands: &commands, uuid: self.uuid(), session_id: &session_id };
        let mut bytes = Vec::new();
        if !line::push(&mut bytes, &frame) {
            // A host that knows none asks for none; one that knows the old ones is misled.
            frame.commands = &[];
            line::push(&mut bytes, &frame);
        }
        self.outbox.send(bytes).await
    }

    /// Whether a run goes on, or an agent that no run waits for.
    pub(crate) fn is_at_work(&self) -> bool {
        let state = self.lock();
        state.running || state.woken || self.told.has_background()
    }

    /// Whether nothing runs and nothing waits.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        !state.running && !state.busy && !state.woken && state.queue.is_empty()
    }
}

impl Core {
    /// What a command of the server itself says.
    pub(crate) fn local_output(&self, command: Builtin) -> String {
        match command {
            // These are more than an output.
            Builtin::Clear | Builtin::Compact => String::new(),
            Builtin::Context => self.context().text(),
            Builtin::Cost => self.lock().spent.text(),
        }
    }
}
