//! The task of one open session.

mod client_requests;
mod permission_requests;
mod start;

pub(crate) use start::{Beginning, SessionStart};

use crate::client_request::ClientRequest;
use crate::conversation::AcpConversation;
use crate::error::AcpError;
use crate::rpc::{self, RequestId};
use crate::v1::presenter::{Presented, SessionPresenter, TurnEnd};
use crate::v1::settings::{Change, Settings};
use crate::v1::{commands, prompt};
use client_requests::ClientRequests;
use permission_requests::AskedQuestions;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass_conversation::{
    Answer, Input, LiveConversation, Presenter as _, Refusal, RefusalKind, Request, SettingsChange, Update,
};
use windlass_tool::Ids;
use windlass_types::{Behavior, PermissionMode, RuleValue};

/// Bytes that wait for the client before its requests to the session wait, too.
const ROOM: usize = 1024 * 1024;

/// Message of the client to an open session.
#[derive(Debug)]
pub(crate) enum SessionInput {
    /// A prompt.
    Prompt(RequestId, Vec<Value>),
    /// Stops all prompts.
    Cancel,
    /// Stops the prompt with this request, if it is one of the session.
    CancelRequest(RequestId),
    /// Sets the mode.
    Mode(RequestId, String),
    /// Sets a config option.
    Option(RequestId, String, Value),
    /// The answer to the permission request with this number.
    Answered(u64, Result<Value, String>),
    /// Sends a request to the client.
    Ask(ClientRequest),
    /// Withdraws the request to the client with this number.
    Withdraw(u64),
    /// Closes the session.
    Close(Option<RequestId>),
}

/// Task of one open session.
pub(crate) struct SessionTask {
    id: String,
    number: u64,
    cwd: PathBuf,
    inbox: mpsc::Receiver<SessionInput>,
    out: mpsc::Sender<Vec<u8>>,
    ids: Arc<dyn Ids>,
    conversation: AcpConversation,
    live: LiveConversation,
    /// `false` once the conversation has ended by itself: the next prompt begins it anew.
    is_alive: bool,
    presenter: SessionPresenter,
    /// Lines for the client that have no room yet. While there are any, the session waits.
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Prompts without an answer.
    prompts: Vec<OpenPrompt>,
    /// Requests to the conversation without an answer.
    requests: HashMap<String, PendingChange>,
    questions: AskedQuestions,
    client_requests: ClientRequests,
    /// Rules of calls that the person rejects for the whole session.
    rejected: Vec<RuleValue>,
    /// Requests to close the session.
    closing: Option<Vec<RequestId>>,
}

/// Thing that a session task has waited for.
enum Happened {
    /// A line is on its way to the client.
    Written,
    /// Nobody reads lines any more.
    ClientGone,
    /// A message of the client; `None` when no more come.
    Input(Option<SessionInput>),
    /// An update of the conversation; `None` at its end.
    Update(Option<Update>),
}

/// Prompt without an answer.
struct OpenPrompt {
    message: String,
    request: RequestId,
    is_cancelled: bool,
}

/// Change of a setting that the conversation has not answered.
struct PendingChange {
    request: RequestId,
    change: Change,
    /// `true` if the answer is the list of all config options.
    lists_options: bool,
}

impl SessionTask {
    pub(crate) fn new(start: SessionStart, conversation: AcpConversation) -> Self {
        let SessionStart { id, number, cwd, inbox, out, ids, client, .. } = start;
        let live = conversation.live(Arc::clone(&ids));
        let settings = Settings::of(&conversation);
        let mut presenter = SessionPresenter::new(cwd.clone(), client, settings, Arc::clone(&ids));
        presenter.list_commands(&live.conversation().commands());
        Self {
            questions: AskedQuestions::new(id.clone(), number, cwd.clone(), client.forms),
            client_requests: ClientRequests::default(),
            id,
            number,
            cwd,
            inbox,
            out,
            ids,
            conversation,
            live,
            is_alive: true,
            presenter,
            lines: VecDeque::new(),
            bytes: 0,
            prompts: Vec::new(),
            requests: HashMap::new(),
            rejected: Vec::new(),
            closing: None,
        }
    }

    /// Works until the session is closed or the client is gone.
    pub(crate) async fn run(mut self) {
        loop {
            self.settle();
            let has_lines = !self.lines.is_empty();
            if self.closing.is_some() && !self.is_alive {
                break;
            }
            let happened = tokio::select! {
                biased;
                room = self.out.reserve(), if has_lines => match (room, self.lines.pop_front()) {
                    (Ok(room), Some(line)) => {
                        self.bytes = self.bytes.saturating_sub(line.len());
                        room.send(line);
                        Happened::Written
                    }
                    _ => Happened::ClientGone,
                },
                input = self.inbox.recv(), if self.bytes < ROOM && self.closing.is_none() => Happened::Input(input),
                // A session that closes does not wait for its client.
                update = self.live.next(), if (!has_lines || self.closing.is_some()) && self.is_alive => Happened::Update(update),
            };
            match happened {
                Happened::Written => {}
                Happened::ClientGone => {
                    self.close(None);
                    // The sessions close without a client.
                    while self.is_alive && self.live.next().await.is_some() {}
                    break;
                }
                Happened::Input(Some(input)) => self.take(input),
                Happened::Input(None) => self.close(None),
                Happened::Update(Some(update)) => self.presenter.present(update),
                Happened::Update(None) => self.over(),
            }
        }
        self.conversation.close().await;
        for request in self.closing.take().unwrap_or_default() {
            self.answer(&request, &Ok(json!({})));
        }
        for line in self.lines {
            // A client that is gone needs no lines.
            let _ = self.out.send(line).await;
        }
    }

    fn send(&mut self, message: &Value) {
        let line = rpc::line(message);
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    fn answer(&mut self, id: &RequestId, result: &Result<Value, AcpError>) {
        self.send(&rpc::answer(id, result));
    }

    /// Sends what the presenter has to tell, in order.
    fn settle(&mut self) {
        for presented in std::mem::take(&mut self.presenter.presented) {
            match presented {
                Presented::Update(update) => self.update(&update),
                Presented::Question(id) => self.ask(&id),
                Presented::Withdrawn(id) => {
                    if let Some(request) = self.questions.withdraw(&id) {
                        self.send(&rpc::notification("$/cancel_request", &json!({ "requestId": request })));
                    }
                }
                Presented::Ended(message, end) => self.ended(&message, end),
                Presented::Answer(id, answer) => self.changed(&id, answer),
            }
        }
        if !self.presenter.presented.is_empty() {
            self.settle();
        }
    }

    fn update(&mut self, update: &Value) {
        let params = json!({ "sessionId": self.id, "update": update });
        self.send(&rpc::notification("session/update", &params));
    }

    fn ask(&mut self, id: &str) {
        let Some(request) = self.live.question(id) else { return };
        let message = self.questions.ask(id, request);
        self.send(&message);
    }

    /// Answers a prompt that is over.
    fn ended(&mut self, message: &str, end: TurnEnd) {
        let Some(at) = self.prompts.iter().position(|prompt| prompt.message == message) else { return };
        let OpenPrompt { request, is_cancelled, .. } = self.prompts.remove(at);
        let result = match end {
            // A client that has cancelled is told so, however the turn ended.
            _ if is_cancelled => Ok(json!({ "stopReason": "cancelled" })),
            TurnEnd::Stop(reason) => {
                let mut result = json!({ "stopReason": reason });
                if self.presenter.background() > 0
                    && let Some(fields) = result.as_object_mut()
                {
                    let meta = json!({ "windlass": { "backgroundTasks": self.presenter.background() } });
                    fields.insert("_meta".to_owned(), meta);
                }
                Ok(result)
            }
            TurnEnd::Failed(error) => Err(self.open_failure().unwrap_or(error)),
        };
        self.answer(&request, &result);
    }

    /// The reason why the session could not be opened, with its kind.
    fn open_failure(&mut self) -> Option<AcpError> {
        let failure = self.live.take_open_failure()?;
        Some(failure.downcast::<AcpError>().map_or_else(|other| AcpError::internal(other.to_string()), |error| *error))
    }

    fn take(&mut self, input: SessionInput) {
        match input {
            SessionInput::Prompt(request, blocks) => self.prompt(request, blocks),
            SessionInput::Cancel => self.cancel(None),
            SessionInput::CancelRequest(request) => self.cancel(Some(&request)),
            SessionInput::Mode(request, mode) => {
                let change = self.presenter.settings.mode_change(&mode);
                self.change(request, change, false);
            }
            SessionInput::Option(request, id, value) => {
                let change = self.presenter.settings.change(&id, &value);
                self.change(request, change, true);
            }
            SessionInput::Answered(number, answer) => self.answered(number, &answer),
            SessionInput::Ask(request) => self.ask_client(request),
            SessionInput::Withdraw(number) => {
                if let Some(wire) = self.client_requests.withdraw(number) {
                    self.cancel_request(wire);
                }
            }
            SessionInput::Close(request) => self.close(request),
        }
    }

    fn prompt(&mut self, request: RequestId, blocks: Vec<Value>) {
        let message = match prompt::message(blocks) {
            Ok(message) => message,
            Err(error) => return self.answer(&request, &Err(error)),
        };
        if let Ok([block]) = message.content.as_deref()
            && block.as_text().is_some_and(commands::clears)
        {
            self.presenter.say(commands::CLEAR_TEXT);
            self.settle();
            return self.answer(&request, &Ok(json!({ "stopReason": "end_turn" })));
        }
        self.revive();
        for notice in std::mem::take(&mut self.conversation.notices) {
            self.presenter.warn(&notice);
        }
        let id = self.presenter.fresh_id();
        self.prompts.push(OpenPrompt { message: id.clone(), request, is_cancelled: false });
        self.live.handle(Input::Message(Box::new(message.with_id(id))));
    }

    /// Begins the conversation anew, if it has ended by itself.
    fn revive(&mut self) {
        if self.is_alive {
            return;
        }
        self.live = self.conversation.live(Arc::clone(&self.ids));
        self.is_alive = true;
        for change in self.presenter.settings.chosen() {
            let id = self.presenter.fresh_id();
            self.live.handle(Input::Request(id, change.request()));
        }
        self.reject();
    }

    /// Stops prompts: all of them, or the one with this request.
    fn cancel(&mut self, request: Option<&RequestId>) {
        let is_meant = |prompt: &OpenPrompt| request.is_none_or(|request| prompt.request == *request);
        let meant: Vec<String> = self
            .prompts
            .iter_mut()
            .filter(|prompt| is_meant(prompt))
            .map(|prompt| {
                prompt.is_cancelled = true;
                prompt.message.clone()
            })
            .collect();
        if meant.is_empty() && request.is_some() {
            return;
        }
        let id = self.presenter.fresh_id();
        let is_first = self.prompts.first().is_some_and(|first| meant.contains(&first.message));
        if request.is_none() || is_first {
            self.live.handle(Input::Request(id, Request::Interrupt { cancels_queued: request.is_none() }));
        } else if let Some(message) = meant.into_iter().next() {
            self.live.handle(Input::Request(id, Request::TakeBack(message)));
        }
    }

    fn change(&mut self, request: RequestId, change: Result<Change, AcpError>, lists_options: bool) {
        let change = match change {
            Ok(change) => change,
            Err(error) => return self.answer(&request, &Err(error)),
        };
        self.revive();
        let id = self.presenter.fresh_id();
        self.live.handle(Input::Request(id.clone(), change.request()));
        self.requests.insert(id, PendingChange { request, change, lists_options });
    }

    /// Answers a change of a setting.
    fn changed(&mut self, id: &str, answer: Result<Answer, Refusal>) {
        let Some(PendingChange { request, change, lists_options }) = self.requests.remove(id) else { return };
        let result = match answer {
            Ok(answer) => {
                self.presenter.settings.take(&change);
                if let Answer::PermissionMode(mode) = answer {
                    self.mode_in_effect(mode);
                }
                let options = self.presenter.settings.options();
                Ok(if lists_options { json!({ "configOptions": options }) } else { json!({}) })
            }
            Err(refusal) if matches!(refusal.kind, RefusalKind::BypassNotAllowed | RefusalKind::AutoForbidden) => {
                Err(AcpError::invalid_params(refusal.reason))
            }
            Err(refusal) => Err(AcpError::internal(refusal.reason)),
        };
        self.answer(&request, &result);
    }

    fn mode_in_effect(&mut self, mode: PermissionMode) {
        if self.presenter.settings.mode != mode {
            self.presenter.settings.mode = mode;
            for update in self.presenter.settings.mode_updates() {
                self.update(&update);
            }
        }
    }

    /// Sends a request of the owner of the sessions.
    fn ask_client(&mut self, request: ClientRequest) {
        let number = self.questions.number();
        if let Some((method, params)) = self.client_requests.take(number, request) {
            self.send(&rpc::request(&self.questions.request_id(number), method, &params));
        }
    }

    /// Tells the client that no answer to the request with this number is expected.
    fn cancel_request(&mut self, number: u64) {
        let request = self.questions.request_id(number);
        self.send(&rpc::notification("$/cancel_request", &json!({ "requestId": request })));
    }

    /// Takes the answer to a request to the client. A late answer has no effect.
    fn answered(&mut self, number: u64, answer: &Result<Value, String>) {
        if self.client_requests.answered(number, answer) {
            return;
        }
        let Some(answered) = self.questions.answered(number, answer) else { return };
        if !answered.rejected.is_empty() {
            self.rejected.extend(answered.rejected);
            self.reject();
        }
        self.live.answer(&answered.question, answered.answer);
    }

    /// Gives the session the rules of all calls that the person rejects for good.
    fn reject(&mut self) {
        if self.rejected.is_empty() {
            return;
        }
        let mut change = SettingsChange::default();
        change.rules = BTreeMap::from([(Behavior::Deny, self.rejected.clone())]);
        let id = self.presenter.fresh_id();
        self.live.handle(Input::Request(id, Request::Settings(change)));
    }

    fn close(&mut self, request: Option<RequestId>) {
        let closing = self.closing.get_or_insert_default();
        closing.extend(request);
        for number in self.client_requests.withdraw_all() {
            self.cancel_request(number);
        }
        for prompt in &mut self.prompts {
            prompt.is_cancelled = true;
        }
        if self.is_alive {
            self.live.handle(Input::Close);
        }
        if !self.is_alive {
            self.over();
        }
    }

    /// The conversation has ended: all that waits is answered.
    fn over(&mut self) {
        self.is_alive = false;
        self.settle();
        let failure = self.open_failure();
        let failure =
            failure.or_else(|| self.live.take_session_failure().map(|failure| AcpError::internal(failure.to_string())));
        for OpenPrompt { request, is_cancelled, .. } in std::mem::take(&mut self.prompts) {
            let result = match &failure {
                Some(failure) if !is_cancelled => Err(failure.clone()),
                _ => Ok(json!({ "stopReason": "cancelled" })),
            };
            self.answer(&request, &result);
        }
        for (_, pending) in std::mem::take(&mut self.requests) {
            let error = AcpError::internal("the session ended before the setting was changed: send a prompt to go on");
            self.answer(&pending.request, &Err(error));
        }
        for request in self.questions.withdraw_all() {
            self.send(&rpc::notification("$/cancel_request", &json!({ "requestId": request })));
        }
    }
}

impl std::fmt::Debug for SessionTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionTask").field("number", &self.number).field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// Fields of the answer that a session begins with.
fn opened(settings: &Settings, id: Option<&str>) -> Value {
    let mut result = json!({ "modes": settings.modes(), "configOptions": settings.options() });
    if let (Some(id), Some(fields)) = (id, result.as_object_mut()) {
        fields.insert("sessionId".to_owned(), id.into());
    }
    result
}
