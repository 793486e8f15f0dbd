//! A client, and an agent whose sessions have a scripted model and two tools.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use windlass_acp::{
    AcpAgent, AcpConversation, AcpError, AcpModel, AcpOptions, AcpServer, AcpServerError, AcpSession, AcpStart,
    AuthMethod, HistoryEntry, ListedSession, SessionPage, SessionQuery,
};
use windlass_conversation::{
    ConversationAsker, ConversationOptions, OpenFailure, OpenSession, SessionSettings, SlashCommand,
};
use windlass_core::MachineConfig;
use windlass_model::{Script, ScriptedModel, ScriptedTurn};
use windlass_permission::{CanUseTool, Policy, PolicyConfig};
use windlass_runtime::{ModelProfile, Ports, Session, SessionConfig, SystemIds};
use windlass_testkit::fake::{MemoryWorkspace, ScriptedProcess};
use windlass_tool::{DynTool, ToolCx, ToolSet, tool_fn};
use windlass_types::{ContentBlock, Effort, JsonText, ModelInfo, SessionId, ToolResult, ToolUse};

type In = BTreeMap<String, Value>;

/// A turn with a text.
pub(crate) fn says(text: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(text)
}

/// A turn with a call.
pub(crate) fn calls(id: &str, tool: &str) -> ScriptedTurn {
    let input = if tool == "AskUserQuestion" {
        let options = json!([{ "label": "Red", "description": "" }, { "label": "Blue", "description": "" }]);
        json!({ "questions": [{ "question": "Which colour?", "header": "Colour", "options": options }] })
    } else {
        json!({ "path": "a.txt" })
    };
    ScriptedTurn::new().tool_use_with_id(id, tool, input)
}

/// The owner of the sessions.
#[derive(Clone)]
pub(crate) struct Agent {
    model: ScriptedModel,
    /// Number of calls of the tool `act` that ran.
    pub(crate) acted: Arc<AtomicUsize>,
    /// Answers that the tool `AskUserQuestion` was given.
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
    /// Number of openings that fail.
    pub(crate) fails: Arc<AtomicUsize>,
    /// Sessions that were asked for.
    pub(crate) begun: Arc<Mutex<Vec<AcpSession>>>,
    pub(crate) closed: Arc<AtomicUsize>,
    pub(crate) deleted: Arc<Mutex<Vec<String>>>,
}

impl Agent {
    pub(crate) fn new(turns: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self {
            model: ScriptedModel::new(turns.into_iter().fold(Script::new(), Script::then)),
            acted: Arc::default(),
            asked: Arc::default(),
            fails: Arc::default(),
            begun: Arc::default(),
            closed: Arc::default(),
            deleted: Arc::default(),
        }
    }

    async fn open(
        self,
        id: String,
        settings: SessionSettings,
        asker: ConversationAsker,
    ) -> Result<OpenSession, OpenFailure> {
        if self.fails.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            return Err("No API key found.".into());
        }
        let acted = self.acted;
        let act = tool_fn("act", "Has an effect.", move |_: In, _: ToolCx| {
            acted.fetch_add(1, Ordering::SeqCst);
            async { Ok("acted".to_owned()) }
        });
        let hang = tool_fn("hang", "Does not listen to its end.", |_: In, _: ToolCx| {
            std::future::pending::<Result<String, windlass_tool::ToolError>>()
        });
        let hang: Arc<dyn DynTool> = Arc::new(hang);
        let asked = self.asked;
        let ask = tool_fn("AskUserQuestion", "Asks.", move |input: In, _: ToolCx| {
            asked.lock().unwrap().push(input.get("answers").cloned().unwrap_or_default());
            async { Ok("answered".to_owned()) }
        });
        let tools = ToolSet::new([Arc::new(act) as Arc<dyn DynTool>, hang, Arc::new(ask)])?;
        let mut policy = PolicyConfig::new("/w");
        policy.mode = settings.permission_mode.unwrap_or_default();
        let policy = Policy::new(policy);
        let profile = |name: &str| ModelProfile::new(name, ModelInfo::new(10_000_000, 1_000_000));
        let name = settings.model.flatten().unwrap_or_else(|| "fast".to_owned());
        let mut machine = MachineConfig::new(SessionId::from(id), 7, profile(&name), policy, "/w".into());
        machine.tools.specs = tools.specs();
        let mut ports =
            Ports::new(Arc::new(self.model), tools, Arc::new(MemoryWorkspace::new()), Arc::new(ScriptedProcess::new()));
        ports.host.callback = Some(Arc::new(asker) as Arc<dyn CanUseTool>);
        let session = Session::open(SessionConfig::new(machine, ports)).await?;
        Ok(OpenSession::new(session, move |name| profile(name.unwrap_or("fast"))))
    }
}

/// The one stored session.
pub(crate) const STORED: &str = "stored";

#[async_trait]
impl AcpAgent for Agent {
    async fn begin(&self, session: AcpSession) -> Result<AcpConversation, AcpError> {
        if session.start != AcpStart::New && session.id != STORED {
            return Err(AcpError::not_found(format!("there is no session {:?}", session.id)));
        }
        let id = session.id.clone();
        self.begun.lock().unwrap().push(session);
        let mut options = ConversationOptions::default();
        options.has_commands = true;
        options.commands = vec![SlashCommand::new("review", "Reviews").with_argument_hint("<file>")];
        let (agent, closed) = (self.clone(), Arc::clone(&self.closed));
        let models = vec![
            AcpModel::new("fast", "Fast"),
            AcpModel::new("deep", "Deep").with_id("deep-1", vec![Effort::Low, Effort::High]),
        ];
        let conversation =
            AcpConversation::new(options, move |settings, asker| agent.clone().open(id.clone(), settings, asker));
        Ok(conversation.with_models(models, "fast").with_close(move || async move {
            closed.fetch_add(1, Ordering::SeqCst);
        }))
    }

    async fn history(&self, _: &str) -> Result<Vec<HistoryEntry>, AcpError> {
        let call = ToolUse::new("t0", "Read", JsonText::parse(r#"{"file_path":"/w/a"}"#).unwrap());
        let thinking = ContentBlock::Thinking { thinking: "hm".to_owned(), signature: String::new() };
        Ok(vec![
            HistoryEntry::Prompt(vec![ContentBlock::text("before")]),
            HistoryEntry::Message(vec![thinking, ContentBlock::text("looking"), ContentBlock::ToolUse(call)]),
            HistoryEntry::Result(ToolResult::ok("t0", "content")),
            HistoryEntry::Message(vec![ContentBlock::text("seen")]),
            HistoryEntry::Title("A title".to_owned()),
        ])
    }

    async fn list(&self, query: SessionQuery) -> Result<SessionPage, AcpError> {
        match query.cursor.as_deref() {
            None => Ok(SessionPage {
                sessions: vec![ListedSession {
                    id: STORED.to_owned(),
                    cwd: query.cwd.unwrap_or_else(|| "/w".into()),
                    title: Some("A title".to_owned()),
                    updated_at: None,
                }],
                next_cursor: Some("next".to_owned()),
            }),
            Some("next") => Ok(SessionPage::default()),
            Some(other) => Err(AcpError::invalid_params(format!("the cursor {other:?} is unusable"))),
        }
    }

    async fn delete(&self, id: &str) -> Result<(), AcpError> {
        self.deleted.lock().unwrap().push(id.to_owned());
        Ok(())
    }

    async fn authenticate(&self, method: &str) -> Result<(), AcpError> {
        Err(AcpError::auth_required(format!("{method}: no key")))
    }
}

/// A client of a server.
pub(crate) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: Option<WriteHalf<DuplexStream>>,
    server: JoinHandle<Result<(), AcpServerError>>,
    next: u64,
}

impl Client {
    pub(crate) fn new(agent: &Agent) -> Self {
        Self::with_buffer(agent, 1024 * 1024)
    }

    /// A client of which so many bytes wait in each direction.
    pub(crate) fn with_buffer(agent: &Agent, bytes: usize) -> Self {
        Self::until_shutdown(agent, bytes, std::future::pending())
    }

    /// A client of a server that is to end when `shutdown` is ready.
    pub(crate) fn until_shutdown(
        agent: &Agent,
        bytes: usize,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let (ours, theirs) = tokio::io::duplex(bytes);
        let (input, output) = tokio::io::split(theirs);
        let mut options = AcpOptions::new("windlass", "0.0.0", Arc::new(SystemIds::default()));
        options.auth_methods = vec![
            AuthMethod::agent("key", "API key", "Reads the environment"),
            AuthMethod::terminal("login", "Login", "In a terminal", ["login"]),
        ];
        options.max_message = 100_000;
        options.max_sessions = 3;
        let server = AcpServer::new(options, agent.clone());
        let server = tokio::spawn(server.serve(input, output, shutdown));
        let (read, write) = tokio::io::split(ours);
        Self { lines: BufReader::new(read).lines(), output: Some(write), server, next: 0 }
    }

    /// A client behind `initialize`.
    pub(crate) async fn ready(agent: &Agent) -> Self {
        let mut client = Self::new(agent);
        client.initialize(json!({})).await;
        client
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Value {
        let (_, answer) =
            self.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities })).await;
        answer["result"].clone()
    }

    pub(crate) async fn write(&mut self, line: &str) {
        let output = self.output.as_mut().unwrap();
        output.write_all(line.as_bytes()).await.unwrap();
        output.write_all(b"\n").await.unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()).await;
        id
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()).await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string()).await;
    }

    /// Chooses an option of a permission request.
    pub(crate) async fn choose(&mut self, request: &Value, option: &str) {
        self.answer(request, json!({ "outcome": { "outcome": "selected", "optionId": option } })).await;
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the server goes on");
        serde_json::from_str(&line).expect("each line is a message")
    }

    /// The messages before the answer to a request, and the answer.
    pub(crate) async fn answer_of(&mut self, id: u64) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return (before, message);
            }
            before.push(message);
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        let id = self.request(method, params).await;
        self.answer_of(id).await
    }

    /// The next request or notification of this method, behind others.
    pub(crate) async fn until(&mut self, method: &str) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            if message["method"] == method {
                return (before, message);
            }
            before.push(message);
        }
    }

    /// A new session, and its commands.
    pub(crate) async fn session(&mut self) -> String {
        let (before, answer) = self.ask("session/new", json!({ "cwd": "/w", "mcpServers": [] })).await;
        assert!(before.is_empty(), "the client does not know the session yet: {before:?}");
        let id = answer["result"]["sessionId"].as_str().expect("an id").to_owned();
        let commands = self.next().await;
        assert_eq!(commands["params"]["update"]["sessionUpdate"], "available_commands_update");
        assert_eq!(commands["params"]["sessionId"], id.as_str());
        id
    }

    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await
    }

    /// Ends the input. Returns all further messages, and the outcome of the server.
    pub(crate) async fn end(mut self) -> (Vec<Value>, Result<(), AcpServerError>) {
        self.output.take().unwrap().shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        (rest, self.server.await.unwrap())
    }

    /// The outcome of the server, while nothing is read.
    pub(crate) async fn outcome(self) -> Result<(), AcpServerError> {
        let Self { lines: _lines, output: _output, server, .. } = self;
        server.await.unwrap()
    }

    /// Goes away without a word.
    pub(crate) async fn vanish(self) -> Result<(), AcpServerError> {
        let Self { lines, output, server, .. } = self;
        drop(lines.into_inner().into_inner().unsplit(output.unwrap()));
        server.await.unwrap()
    }
}

/// Kinds of the updates among messages.
pub(crate) fn kinds(messages: &[Value]) -> Vec<&str> {
    messages.iter().filter_map(|message| message["params"]["update"]["sessionUpdate"].as_str()).collect()
}

/// The text of the agent.
pub(crate) fn text(messages: &[Value]) -> String {
    let chunks = messages.iter().map(|message| &message["params"]["update"]);
    let chunks = chunks.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks.filter_map(|update| update["content"]["text"].as_str()).collect()
}

/// Statuses of a call, in order.
pub(crate) fn statuses<'a>(messages: &'a [Value], call: &str) -> Vec<&'a str> {
    let updates = messages.iter().map(|message| &message["params"]["update"]);
    updates.filter(|update| update["toolCallId"] == call).filter_map(|update| update["status"].as_str()).collect()
}
