//! One language server: started when it is first asked, and again if it has ended.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use windlass_context::Diagnostic;
use windlass_process::Program;
use windlass_tool::ProcessCommand;

use crate::connection::{LanguageConnection, NoAnswer};
use crate::documents::Documents;
use crate::program::find;
use crate::servers::ServerSurroundings;
use crate::{CodeAnswer, CodeError, CodeOperation, CodeQuery, ServerConfig, ServerConfinement, answer, files, uri};

/// Maximum wait for an answer.
const ANSWER: Duration = Duration::from_secs(30);
/// Maximum wait for diagnostics of a file, from a server that publishes them on its own.
const WORDS: Duration = Duration::from_secs(10);
/// Silence after which such a server counts as finished: many publish syntax errors first, and type errors later.
const SILENCE: Duration = Duration::from_millis(250);
/// Maximum number of open files that are checked for changes before a question.
const MOST_LOOKED_AT: usize = 64;

/// One language server.
#[derive(Debug)]
pub(crate) struct LanguageServer {
    pub(crate) config: ServerConfig,
    surroundings: Arc<ServerSurroundings>,
    confinement: Arc<OnceLock<Arc<dyn ServerConfinement>>>,
    state: tokio::sync::Mutex<ServerLife>,
}

#[derive(Debug, Default)]
struct ServerLife {
    running: Option<Arc<RunningServer>>,
    starts: u32,
}

/// Running server.
#[derive(Debug)]
struct RunningServer {
    name: String,
    connection: LanguageConnection,
    program: Program,
    /// Capabilities of the server from its `initialize` answer.
    capabilities: Value,
    documents: tokio::sync::Mutex<Documents>,
}

impl LanguageServer {
    pub(crate) fn new(
        config: ServerConfig,
        surroundings: Arc<ServerSurroundings>,
        confinement: Arc<OnceLock<Arc<dyn ServerConfinement>>>,
    ) -> Self {
        Self { config, surroundings, confinement, state: tokio::sync::Mutex::default() }
    }

    /// Returns the running server, started if necessary. The start continues if the caller is dropped.
    async fn running(self: &Arc<Self>) -> Result<Arc<RunningServer>, CodeError> {
        let server = Arc::clone(self);
        let started = tokio::spawn(async move {
            let mut state = server.state.lock().await;
            server.start(&mut state).await
        });
        started.await.unwrap_or_else(|_| Err(CodeError::unusable(&self.config.name, "its start was broken off")))
    }

    async fn start(&self, state: &mut ServerLife) -> Result<Arc<RunningServer>, CodeError> {
        let mut why = String::new();
        if let Some(running) = &state.running {
            let Some(ended) = running.connection.ended() else { return Ok(Arc::clone(running)) };
            why = running.words(&ended);
            tracing::warn!(server = self.config.name, %why, "a language server has ended");
            state.running = None;
        }
        if state.starts > self.config.max_restarts {
            let why = if why.is_empty() { "it has failed before".to_owned() } else { why };
            return Err(CodeError::unusable(
                &self.config.name,
                format!("it has been started {} times, and is not started again; {why}", state.starts),
            ));
        }
        state.starts += 1;
        let running = Arc::new(self.greet().await?);
        state.running = Some(Arc::clone(&running));
        Ok(running)
    }

    /// Starts the program and performs the `initialize` handshake.
    async fn greet(&self) -> Result<RunningServer, CodeError> {
        let ServerConfig { name, command, args, env, .. } = &self.config;
        let unusable = |why: String| CodeError::unusable(name, why);
        let ServerSurroundings { root, env: given, watch } = &*self.surroundings;
        let mut variables: Vec<(OsString, OsString)> = given.to_vec();
        variables.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
        let path = find(command, &variables).map_err(unusable)?;
        let mut program = ProcessCommand::new(&path, root);
        (program.args, program.env) = (args.iter().map(OsString::from).collect(), variables);
        let (program, kept) = match self.confinement.get() {
            Some(confinement) => confinement
                .confine(name, program)
                .await
                .map(|(program, kept)| (program, Some(kept)))
                .map_err(unusable)?,
            None => (program, None),
        };
        let started = Program::start(program, watch.as_deref(), kept);
        let (program, stdin, stdout) = started.map_err(|error| unusable(format!("{}: {error}", path.display())))?;
        let connection = LanguageConnection::new(stdout, stdin, self.config.settings.clone());
        let mut running = RunningServer {
            name: name.clone(),
            connection,
            program,
            capabilities: Value::Null,
            documents: tokio::sync::Mutex::default(),
        };
        let greeting = greeting(root, &self.config.initialization_options);
        let limit = self.config.startup_timeout;
        let answer = running.connection.request("initialize", greeting, limit).await;
        let answer = answer.map_err(|none| running.failure(none, limit))?;
        running.capabilities = answer.get("capabilities").cloned().unwrap_or_default();
        running.notify("initialized", json!({})).await?;
        if !self.config.settings.is_null() {
            let settings = json!({ "settings": self.config.settings });
            running.notify("workspace/didChangeConfiguration", settings).await?;
        }
        Ok(running)
    }

    /// Answers a question about one of the server's files, or about the project.
    pub(crate) async fn ask(self: &Arc<Self>, query: &CodeQuery) -> Result<CodeAnswer, CodeError> {
        let running = self.running().await?;
        running.look_again(query.path.as_deref()).await?;
        let Some(path) = &query.path else { return running.workspace_symbols(query).await };
        let text = files::text(path).await?;
        let character = files::utf16_offset(&text, query.line, query.character);
        let seen = running.show(path, self.config.language_of(path).unwrap_or_default(), Some(text)).await?;
        match query.operation {
            CodeOperation::Diagnostics => running.diagnostics(path, seen).await.map(CodeAnswer::Diagnostics),
            CodeOperation::DocumentSymbol => {
                let params = json!({ "textDocument": { "uri": uri::of_path(path) } });
                let found = running.ask("textDocument/documentSymbol", params).await?;
                Ok(CodeAnswer::Places(answer::document_symbols(path, &found)))
            }
            operation => running.at_place(operation, path, query.line.saturating_sub(1), character).await,
        }
    }

    /// `true` if the server offers this operation. The server is started to find out.
    pub(crate) async fn offers(self: &Arc<Self>, operation: CodeOperation) -> Result<bool, CodeError> {
        Ok(self.running().await?.offers(operation))
    }
}

/// State of a file when it was shown: the count of publications before, and the version after.
#[derive(Debug, Clone, Copy)]
struct FileVersion {
    count: u64,
    version: i64,
    is_changed: bool,
}

impl RunningServer {
    fn words(&self, ended: &str) -> String {
        match self.program.words().stderr() {
            words if words.is_empty() => ended.to_owned(),
            words => format!("{ended}; it wrote: {words}"),
        }
    }

    fn failure(&self, none: NoAnswer, limit: Duration) -> CodeError {
        match none {
            NoAnswer::Refused(message) => CodeError::refused(&self.name, &message),
            NoAnswer::TimedOut => CodeError::TimedOut { server: self.name.clone(), seconds: limit.as_secs() },
            NoAnswer::Closed => {
                let ended = self.connection.ended().unwrap_or_else(|| "too many requests wait for it".to_owned());
                CodeError::unusable(&self.name, self.words(&ended))
            }
        }
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, CodeError> {
        self.connection.request(method, params, ANSWER).await.map_err(|none| self.failure(none, ANSWER))
    }

    async fn notify(&self, method: &str, params: Value) -> Result<(), CodeError> {
        let sent = timeout(ANSWER, self.connection.notify(method, params)).await.unwrap_or(Err(NoAnswer::TimedOut));
        sent.map_err(|none| self.failure(none, ANSWER))
    }

    fn offers(&self, operation: CodeOperation) -> bool {
        let provider = match operation {
            CodeOperation::GoToDefinition => "definitionProvider",
            CodeOperation::FindReferences => "referencesProvider",
            CodeOperation::Hover => "hoverProvider",
            CodeOperation::DocumentSymbol => "documentSymbolProvider",
            CodeOperation::WorkspaceSymbol => "workspaceSymbolProvider",
            CodeOperation::GoToImplementation => "implementationProvider",
            CodeOperation::IncomingCalls | CodeOperation::OutgoingCalls => "callHierarchyProvider",
            CodeOperation::Diagnostics => return true,
            CodeOperation::ChangedFiles | CodeOperation::TestFailures => return false,
        };
        !matches!(self.capabilities.get(provider), None | Some(Value::Null | Value::Bool(false)))
    }

    /// Shows the current text of a file; `None` if it is gone. The messages are sent even if the caller is dropped, so
    /// that the server and the client never differ on the open files.
    async fn show(
        self: &Arc<Self>,
        path: &Path,
        language: &str,
        text: Option<String>,
    ) -> Result<FileVersion, CodeError> {
        let (running, path, language) = (Arc::clone(self), path.to_owned(), language.to_owned());
        let shown = tokio::spawn(async move {
            let mut documents = running.documents.lock().await;
            let count = running.connection.published().count();
            let update = match text {
                Some(text) => documents.update(&path, &language, text),
                None => documents.close(&path),
            };
            let is_changed = !update.messages.is_empty();
            for (method, params) in update.messages {
                running.notify(method, params).await?;
            }
            Ok(FileVersion { count, version: update.version, is_changed })
        });
        shown.await.unwrap_or_else(|_| Err(CodeError::unusable(&self.name, "a file could not be shown to it")))
    }

    /// Shows the open files that have changed since, so that answers do not mix different states.
    async fn look_again(self: &Arc<Self>, but: Option<&Path>) -> Result<(), CodeError> {
        let paths = self.documents.lock().await.paths();
        for path in paths.iter().filter(|path| Some(path.as_path()) != but).take(MOST_LOOKED_AT) {
            // The language matters only when a file is opened.
            self.show(path, "", files::text(path).await.ok()).await?;
        }
        Ok(())
    }

    async fn workspace_symbols(&self, query: &CodeQuery) -> Result<CodeAnswer, CodeError> {
        let params = json!({ "query": query.name.as_deref().unwrap_or_default() });
        let found = self.ask("workspace/symbol", params).await?;
        Ok(CodeAnswer::Places(answer::workspace_symbols(&found)))
    }

    /// Answers a question about a place; line and character are counted from zero.
    async fn at_place(
        &self,
        operation: CodeOperation,
        path: &Path,
        line: u32,
        character: u32,
    ) -> Result<CodeAnswer, CodeError> {
        let place = json!({
            "textDocument": { "uri": uri::of_path(path) },
            "position": { "line": line, "character": character },
        });
        let found = match operation {
            CodeOperation::GoToDefinition => self.ask("textDocument/definition", place).await?,
            CodeOperation::GoToImplementation => self.ask("textDocument/implementation", place).await?,
            CodeOperation::FindReferences => {
                let mut params = place;
                if let Some(fields) = params.as_object_mut() {
                    fields.insert("context".to_owned(), json!({ "includeDeclaration": true }));
                }
                self.ask("textDocument/references", params).await?
            }
            CodeOperation::Hover => {
                let found = self.ask("textDocument/hover", place).await?;
                return Ok(CodeAnswer::Text(answer::hover(&found).unwrap_or_default()));
            }
            _ => return self.calls(operation, place).await,
        };
        Ok(CodeAnswer::Places(answer::places(&found)))
    }

    async fn calls(&self, operation: CodeOperation, place: Value) -> Result<CodeAnswer, CodeError> {
        let prepared = self.ask("textDocument/prepareCallHierarchy", place).await?;
        let Some(item) = prepared.as_array().and_then(|items| items.first()) else {
            return Ok(CodeAnswer::Places(Vec::new()));
        };
        let (method, end) = match operation {
            CodeOperation::IncomingCalls => ("callHierarchy/incomingCalls", "from"),
            _ => ("callHierarchy/outgoingCalls", "to"),
        };
        let found = self.ask(method, json!({ "item": item })).await?;
        Ok(CodeAnswer::Places(answer::calls(&found, end)))
    }

    /// Returns the diagnostics of a file that was shown: on request if the server supports that, else the published
    /// ones.
    async fn diagnostics(&self, path: &Path, seen: FileVersion) -> Result<Vec<Diagnostic>, CodeError> {
        if self.capabilities.get("diagnosticProvider").is_some_and(|provider| !provider.is_null()) {
            let params = json!({ "textDocument": { "uri": uri::of_path(path) } });
            let said = self.ask("textDocument/diagnostic", params).await?;
            return Ok(answer::diagnostics(path, said.get("items").unwrap_or(&Value::Null)));
        }
        let published = self.connection.published();
        // For an unchanged file, the latest publication is still valid.
        let since = if seen.is_changed { seen.count } else { 0 };
        let said = timeout(WORDS, async {
            loop {
                let count = published.count();
                if published.since(path, since, seen.version).is_some() {
                    return;
                }
                published.next(count).await;
            }
        });
        if said.await.is_err() {
            return Err(self.failure(NoAnswer::TimedOut, WORDS));
        }
        if seen.is_changed {
            // Each further publication restarts the silence.
            let quiet = async {
                loop {
                    let count = published.count();
                    if timeout(SILENCE, published.next(count)).await.is_err() {
                        return;
                    }
                }
            };
            let _ = timeout(WORDS, quiet).await;
        }
        Ok(published.since(path, since, seen.version).unwrap_or_default())
    }
}

/// Returns the parameters of the `initialize` request.
fn greeting(root: &Path, options: &Value) -> Value {
    let root_uri = uri::of_path(root);
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    json!({
        // With a number, the server would monitor a process that it may not be able to see.
        "processId": null,
        "clientInfo": { "name": "windlass" },
        "rootUri": root_uri,
        "rootPath": root,
        "workspaceFolders": [{ "uri": root_uri, "name": name }],
        "initializationOptions": options,
        "capabilities": {
            "general": { "positionEncodings": ["utf-16"] },
            "workspace": { "configuration": true, "workspaceFolders": true, "symbol": {} },
            "textDocument": {
                "synchronization": { "didSave": true },
                "publishDiagnostics": { "versionSupport": true },
                "definition": { "linkSupport": true },
                "implementation": { "linkSupport": true },
                "references": {},
                "hover": { "contentFormat": ["markdown", "plaintext"] },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                "callHierarchy": {},
                "diagnostic": {},
            },
        },
    })
}
