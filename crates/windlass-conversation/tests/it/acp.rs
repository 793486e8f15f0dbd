//! A skeleton of a presenter for the Agent Client Protocol: the shape of messages, without a transport.

use crate::world::World;
use serde_json::{Value, json};
use windlass_conversation::{
    Answer, Asker, CallReference, Input, Message, MessageState, Presenter, Question, Request, SlashCommand, Update,
};
use windlass_types::{ContentBlock, Delta, Event, EventKind, Outcome, PermissionMode, ToolUse};

/// Messages for the client, and the request of each prompt that has no answer.
#[derive(Default)]
struct AcpPresenter {
    session: String,
    messages: Vec<Value>,
    prompts: Vec<String>,
    stop_reason: Option<&'static str>,
}

#[expect(clippy::needless_pass_by_value, reason = "each value is made for the call")]
impl AcpPresenter {
    fn update(&mut self, update: Value) {
        let params = json!({ "sessionId": self.session, "update": update });
        self.messages.push(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn result(&mut self, id: &str, result: Value) {
        self.messages.push(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn commands(&mut self, commands: &[SlashCommand]) {
        let commands: Vec<Value> = commands
            .iter()
            .map(|command| json!({ "name": command.name, "description": command.description }))
            .collect();
        self.update(json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands }));
    }

    fn text(&mut self, kind: &str, text: &str) {
        self.update(json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } }));
    }

    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::BlockDelta { delta: Delta::Text(text), .. } => self.text("agent_message_chunk", text),
            EventKind::BlockDelta { delta: Delta::Thinking(text), .. } => self.text("agent_thought_chunk", text),
            EventKind::BlockFinished { block: ContentBlock::ToolUse(call), .. } => {
                let input: Value = call.input.to().unwrap_or_default();
                self.update(json!({
                    "sessionUpdate": "tool_call", "toolCallId": call.id, "title": call.name, "status": "pending",
                    "rawInput": input,
                }));
            }
            EventKind::ToolStarted(started) => self.update(json!({
                "sessionUpdate": "tool_call_update", "toolCallId": started.tool_use_id, "status": "in_progress",
                "title": started.title,
            })),
            EventKind::ToolFinished(finished) => {
                let status = if finished.result.is_error { "failed" } else { "completed" };
                self.update(json!({
                    "sessionUpdate": "tool_call_update", "toolCallId": finished.result.tool_use_id, "status": status,
                }));
            }
            EventKind::RunFinished(result) if event.agent.is_main() => {
                self.stop_reason = Some(match &result.outcome {
                    Outcome::Interrupted { .. } => "cancelled",
                    Outcome::MaxTurns { .. } => "max_turn_requests",
                    Outcome::Refused => "refusal",
                    _ => "end_turn",
                });
            }
            _ => {}
        }
    }
}

impl Presenter for AcpPresenter {
    fn present(&mut self, update: Update) {
        match update {
            Update::Opened(opened) => {
                self.session = opened.id;
                self.commands(&opened.commands);
            }
            Update::CommandsChanged(commands) => self.commands(&commands),
            Update::Event(event) => self.event(&event),
            Update::Taken(taken) => self.prompts.extend(taken.id),
            Update::Message(id, MessageState::Completed) => {
                // Every update of the turn has come before.
                self.prompts.retain(|prompt| *prompt != id);
                let reason = self.stop_reason.take().unwrap_or("end_turn");
                self.result(&id, json!({ "stopReason": reason }));
            }
            Update::Message(id, MessageState::Cancelled) => self.result(&id, json!({ "stopReason": "cancelled" })),
            Update::Local(local) => self.text("agent_message_chunk", &local.text),
            Update::Refused(reason) => self.text("agent_message_chunk", &reason),
            Update::PermissionMode(mode) => {
                self.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode.as_str() }));
            }
            Update::Title(title) => self.update(json!({ "sessionUpdate": "session_info_update", "title": title })),
            Update::Question(id) => {
                let params = json!({ "sessionId": self.session, "toolCall": {}, "options": [] });
                self.messages.push(
                    json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }),
                );
            }
            Update::QuestionWithdrawn(id) => {
                let params = json!({ "requestId": id });
                self.messages.push(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params }));
            }
            Update::Answer(id, Ok(Answer::Done)) => self.result(&id, json!({})),
            Update::Answer(id, Err(refusal)) => {
                let error = json!({ "code": -32603, "message": refusal.reason });
                self.messages.push(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            _ => {}
        }
    }
}

/// An input for a message of the client.
fn input(method: &str, id: &str, params: &Value) -> Option<Input> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(match method {
        "session/prompt" => {
            let parts = params.get("prompt").and_then(Value::as_array).into_iter().flatten();
            let texts = parts.filter_map(|part| part.get("text").and_then(Value::as_str));
            Input::Message(Box::new(Message::new(texts.map(ContentBlock::text).collect()).with_id(id)))
        }
        "session/cancel" => Input::Request(id.to_owned(), Request::Interrupt { cancels_queued: true }),
        "session/set_mode" => {
            let mode: PermissionMode = text("modeId")?.parse().ok()?;
            Input::Request(id.to_owned(), Request::PermissionMode(mode))
        }
        "session/close" => Input::Close,
        _ => return None,
    })
}

impl World<AcpPresenter> {
    fn client(&mut self, method: &str, id: &str, params: &Value) {
        if let Some(input) = input(method, id, params) {
            self.give(input);
        }
    }

    fn answers(&self, id: &str) -> Vec<&Value> {
        self.presenter
            .messages
            .iter()
            .filter(|message| message["id"] == id && message.get("method").is_none())
            .collect()
    }
}

fn prompt(text: &str) -> Value {
    json!({ "prompt": [{ "type": "text", "text": text }] })
}

#[test]
fn a_prompt_is_answered_once_behind_its_updates() {
    let mut world = World::new(AcpPresenter::default());
    world.client("session/prompt", "1", &prompt("hello"));
    assert!(world.answers("1").is_empty());
    world.finish_run();
    let kinds: Vec<String> = world
        .presenter
        .messages
        .iter()
        .map(|message| message["params"]["update"]["sessionUpdate"].as_str().unwrap_or("answer").to_owned())
        .collect();
    assert_eq!(kinds, ["available_commands_update", "agent_message_chunk", "answer"]);
    assert_eq!(world.answers("1")[0]["result"]["stopReason"], "end_turn");
    world.client("session/prompt", "2", &prompt("stop me"));
    world.client("session/prompt", "3", &prompt("never run"));
    world.client("session/cancel", "c", &json!({}));
    for id in ["2", "3"] {
        let answers = world.answers(id);
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0]["result"]["stopReason"], "cancelled", "{id}");
    }
}

#[test]
fn a_permission_is_asked_behind_its_call_and_withdrawn_with_the_run() {
    let mut world = World::new(AcpPresenter::default());
    world.client("session/prompt", "1", &prompt("hello"));
    let about = Some(CallReference::of(None, &"t1".into()));
    world.give(Input::Question(Question::new("q", Asker::Run, about, true)));
    let is_asked = |world: &World<AcpPresenter>| {
        world.presenter.messages.iter().any(|message| message["method"] == "session/request_permission")
    };
    assert!(!is_asked(&world), "the call was not shown yet");
    let call = ToolUse::new("t1", "Bash", windlass_types::JsonText::empty_object());
    world.event(EventKind::BlockFinished {
        message_id: "m".into(),
        model: "m".into(),
        index: 0,
        line: "l".into(),
        block: ContentBlock::ToolUse(call),
        usage: windlass_types::Usage::default(),
    });
    assert!(is_asked(&world));
    world.client("session/set_mode", "m", &json!({ "modeId": "plan" }));
    world.client("session/cancel", "c", &json!({}));
    let last = |method: &str| world.presenter.messages.iter().any(|message| message["method"] == method);
    assert!(last("$/cancel_request"));
    assert_eq!(world.conversation.permission_mode(), PermissionMode::Plan);
}
