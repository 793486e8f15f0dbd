//! Updates of the conversation as frames, and its orders as orders of the pump.

use super::ServerMachine;
use super::answers::{RequestRefusal, not_open, unsupported};
use super::io::{ServerEffect, SessionOpening};
use crate::channel::frames::CancelFrame;
use crate::channel::requests::AskError;
use crate::line;
use crate::mapper::CommandOutput;
use crate::server::frames::MessageLifecycle;
use serde_json::json;
use std::collections::BTreeMap;
use windlass_conversation::{
    Answer, MessageState, Order as ConversationOrder, Presenter, Refusal as Refused, RefusalKind, SessionOpened,
    SessionState, TakenMessage, Unanswered, Update,
};

impl Presenter for ServerMachine {
    fn present(&mut self, update: Update) {
        match update {
            Update::Opened(opened) => self.session_opened(opened),
            Update::Event(event) => self.frames(|mapper, _, out| mapper.map(&event, out)),
            Update::Message(id, state) => self.say_lifecycle(Some(&id), lifecycle(state)),
            Update::Taken(taken) => self.taken(&taken),
            Update::Local(local) => {
                let result = CommandOutput {
                    command: &local.command,
                    text: &local.text,
                    cost: local.spent.cost,
                    models: &local.spent.models,
                };
                self.frames(|mapper, session, out| mapper.local(session, &result, out));
            }
            Update::Refused(reason) => self.frames(|mapper, session, out| mapper.refused(session, &reason, out)),
            Update::Warning(text) => self.frames(|mapper, session, out| mapper.warn(session, &text, out)),
            Update::State(state) => self.say_state(state_name(state)),
            Update::PermissionMode(mode) => {
                self.scene.permission_mode = mode;
                self.show_scene();
            }
            Update::PermissionModeChanged(mode) => self.say_mode(mode),
            Update::Commands(_) => self.list_commands(),
            Update::CommandsChanged(commands) => self.say_commands(&commands),
            Update::Cleared(id) => self.say_reset(id.as_deref()),
            Update::Title(title) => self.say_title(&title),
            Update::Question(id) => {
                let line = self.questions.get(&id).cloned().unwrap_or_default();
                self.send(line);
            }
            Update::QuestionWithdrawn(id) => {
                let mut out = Vec::new();
                line::push(&mut out, &CancelFrame { kind: "control_cancel_request", request_id: &id });
                self.send(out);
            }
            Update::Answer(id, answer) => self.answered(&id, answer),
            _ => {}
        }
    }
}

impl ServerMachine {
    /// Takes over an open session in place of the previous one.
    fn session_opened(&mut self, session: SessionOpened) {
        let (facts, offer) = self.opened.take().unwrap_or_default();
        self.take_offer(offer.as_ref());
        let agents = facts.agents.unwrap_or_else(|| self.agents());
        self.list_agents(&agents);
        self.settings = facts.settings;
        self.session_id = session.id;
        self.list_commands();
        if let Some(style) = facts.output_style {
            self.mapper.uses_output_style(style);
        }
        (self.scene.transcript, self.scene.permission_mode) = (session.transcript, session.permission_mode);
        self.show_scene();
        if self.initialize.as_ref().map(|initialize| &initialize.body) != self.opened_with.as_ref() {
            self.emit_effect(ServerEffect::RenewHooks);
        }
    }

    fn taken(&mut self, taken: &TakenMessage) {
        self.say_taken(taken);
        match (&taken.id, taken.joins) {
            (Some(id), true) => self.mapper.joined(id.clone()),
            (None, true) => {}
            (id, false) => self.mapper.answers(id.clone()),
        }
    }

    /// Lists the commands in `system/init`.
    pub(super) fn list_commands(&mut self) {
        let commands = self.conversation.commands();
        let skills = commands.iter().filter(|command| command.is_skill).map(|command| command.name.clone()).collect();
        let names = commands.into_iter().map(|command| command.name).collect();
        self.mapper.offers(names, skills, &super::answers::CAPABILITIES);
    }

    /// Writes the answer of the conversation to a request.
    fn answered(&mut self, id: &str, answer: Result<Answer, Refused>) {
        let (subtype, value) = self.requests.remove(id).unwrap_or_default();
        let answer = match answer {
            Ok(Answer::Done) => Ok(value),
            Ok(Answer::Interrupted { still_queued, cancelled: None }) => {
                Ok(Some(json!({ "still_queued": still_queued })))
            }
            Ok(Answer::Interrupted { still_queued, cancelled: Some(cancelled) }) => {
                Ok(Some(json!({ "still_queued": still_queued, "cancelled": cancelled })))
            }
            Ok(Answer::PermissionMode(mode)) => Ok(Some(json!({ "mode": mode.as_str() }))),
            Ok(Answer::TakenBack(done)) => Ok(Some(json!({ "cancelled": done }))),
            Ok(Answer::Context(report)) => Ok(Some(super::queries::context(&report))),
            Ok(Answer::Rewind { dry_run, outcome }) => super::rewind::answer(dry_run, outcome),
            Ok(Answer::Moved(moved)) => Ok(Some(json!({ "backgrounded": moved }))),
            Ok(Answer::Output { tail, total, is_truncated }) => {
                Ok(Some(json!({ "output": tail, "total_bytes": total, "truncated": is_truncated })))
            }
            Ok(_) => Err(unsupported(&subtype)),
            Err(Refused { kind: RefusalKind::Unsupported, .. }) => Err(unsupported(&subtype)),
            Err(Refused { kind: RefusalKind::NotOpen, .. }) => Err(not_open()),
            Err(Refused { kind: RefusalKind::BypassNotAllowed, reason, .. }) => {
                Err(RequestRefusal::coded(reason, "bypass_not_launched"))
            }
            Err(Refused { kind: RefusalKind::AutoForbidden, reason, .. }) => {
                Err(RequestRefusal::coded(reason, "auto_disabled"))
            }
            Err(Refused { reason, .. }) => Err(RequestRefusal::new(reason)),
        };
        self.reply(id, answer);
    }

    /// Passes an order of the conversation on.
    pub(super) fn pass_on(&mut self, order: ConversationOrder) {
        match order {
            ConversationOrder::Open(settings) => {
                // The servers are announced again, for a host that has sent no `initialize`.
                let in_process = self.in_process(BTreeMap::new());
                self.emit_effect(ServerEffect::Announce(in_process));
                let initialize = self.initialize.clone();
                self.opened_with = initialize.as_ref().map(|initialize| initialize.body.clone());
                self.emit_effect(ServerEffect::Open(Box::new(SessionOpening { settings: *settings, initialize })));
            }
            ConversationOrder::Unanswered(id, reason) => {
                self.questions.remove(&id);
                let error = match reason {
                    Unanswered::Gone => AskError::Gone,
                    Unanswered::Withdrawn => AskError::Withdrawn,
                };
                self.emit_effect(ServerEffect::Answer(id, Err(error)));
            }
            ConversationOrder::Closed => {
                // Open requests get an answer, too.
                for request in self.jobs.close() {
                    self.reply(&request, Err(RequestRefusal::new("The session was closed before this was done.")));
                }
                self.emit_effect(ServerEffect::Conversation(ConversationOrder::Closed));
            }
            order => self.emit_effect(ServerEffect::Conversation(order)),
        }
    }
}

fn lifecycle(state: MessageState) -> MessageLifecycle {
    match state {
        MessageState::Queued => MessageLifecycle::Queued,
        MessageState::Completed => MessageLifecycle::Completed,
        _ => MessageLifecycle::Cancelled,
    }
}

fn state_name(state: SessionState) -> &'static str {
    match state {
        SessionState::Running => "running",
        SessionState::RequiresAction => "requires_action",
        _ => "idle",
    }
}
