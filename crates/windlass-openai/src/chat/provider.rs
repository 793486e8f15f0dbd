use super::assembly::MAX_MESSAGE_BYTES;
use super::builder::ChatCompletionsBuilder;
use super::compat::{Compat, Protocol};
use super::endpoint::Endpoint;
use super::error::{from_answer, from_chunk};
use super::letters::PendingHalf;
use super::models;
use super::ollama;
use super::reader::ChunkReader;
use super::request;
use super::stream::{CallInfo, ChatStream, ChatWire};
use crate::error::{protocol, request_id};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_http::provider::{MAX_MODEL_LIST, Secrets, ServerWindows, Vendor, from_http, listed_models};
use windlass_http::{Bytes, HeaderMap, HeaderName, HeaderValue, HttpClient, HttpError, Response};
use windlass_model::{
    Catalogue, KnownModel, ModelError, ModelOverride, ModelProvider, ModelStream, SessionFact, is_priced_otherwise,
};
use windlass_types::{ModelErrorKind, ModelInfo, ModelRequest};

/// Maximum number of bytes read of an answer that is not a stream.
const MAX_BODY: usize = 64 * 1024;

/// Maximum total time to wait for the body of an error: its status is known already.
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);

/// Provider of Chat Completions, the dialect of OpenAI and many others, behind one base URL and one key.
///
/// Differences between endpoints are in a profile, [`Compat`]. Cheap to clone; clones share their connections.
///
/// ```no_run
/// use windlass_openai::ChatCompletions;
///
/// // Reads DEEPSEEK_API_KEY.
/// let deepseek = ChatCompletions::from_env("deepseek")?;
/// // A server that has no row of its own.
/// let own = ChatCompletions::builder().base_url("http://localhost:9000/v1").key_optional().build()?;
/// # Ok::<(), windlass_model::ModelError>(())
/// ```
#[derive(Clone)]
pub struct ChatCompletions {
    pub(super) inner: Arc<ChatState>,
}

pub(super) struct ChatState {
    pub(super) client: HttpClient,
    pub(super) headers: HeaderMap,
    pub(super) secrets: Secrets,
    pub(super) catalogue: Catalogue,
    pub(super) endpoint: Endpoint,
    pub(super) vendor: Vendor,
    /// Context size to request in tokens, if it can be set.
    pub(super) context_size: u32,
    /// The context windows that the server names, by model.
    pub(super) windows: ServerWindows,
}

impl fmt::Debug for ChatCompletions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ChatCompletions")
            .field("name", &self.inner.endpoint.name)
            .field("host", &self.inner.client.host())
            .finish_non_exhaustive()
    }
}

impl ChatCompletions {
    /// Returns a builder for all settings, with the default profile and no base URL.
    pub fn builder() -> ChatCompletionsBuilder {
        ChatCompletionsBuilder::default()
    }

    /// Returns a builder for a known endpoint: `openai`, `azure`, `openrouter`, `deepseek`, `groq`, `mistral`,
    /// `together`, `xai`, `moonshot`, `zai`, `qwen`, `vllm`, `llama.cpp`, `lmstudio`, `litellm`, `ollama`.
    ///
    /// # Errors
    /// `Configuration` if there is none of this name.
    pub fn preset(name: &str) -> Result<ChatCompletionsBuilder, ModelError> {
        let endpoint = Endpoint::preset(name).ok_or_else(|| {
            let names: Vec<&str> = Endpoint::preset_names().collect();
            let text = format!("there is no preset {name:?}; there are {}", names.join(", "));
            ModelError::new(ModelErrorKind::Configuration, text)
        })?;
        Ok(Self::builder().endpoint(endpoint))
    }

    /// Builds a preset from the variables of its vendor: `DEEPSEEK_API_KEY`, and `DEEPSEEK_BASE_URL` for another
    /// address. Ollama has `OLLAMA_HOST` and `OLLAMA_CONTEXT_LENGTH`, Azure `AZURE_OPENAI_ENDPOINT`.
    ///
    /// # Errors
    /// Fails if there is no such preset, a required key is missing, or a setting is unusable.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn from_env(preset: &str) -> Result<Self, ModelError> {
        Self::from_lookup(preset, |name| std::env::var(name).ok())
    }

    /// Does the same as [`from_env`](Self::from_env) with another source of the variables.
    ///
    /// # Errors
    /// Fails if there is no such preset, a required key is missing, or a setting is unusable.
    pub fn from_lookup(preset: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::preset(preset)?.lookup(lookup).build()
    }

    /// Builds the endpoint of `OPENAI_BASE_URL` with `OPENAI_API_KEY`. Without a base URL it is OpenAI's. A URL whose
    /// host belongs to a preset gets its profile, any other one the default profile, and then needs no key.
    ///
    /// # Errors
    /// Fails if a required key is missing, or a setting is unusable.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn openai_compatible() -> Result<Self, ModelError> {
        Self::openai_compatible_from_lookup(|name| std::env::var(name).ok())
    }

    /// Does the same as [`openai_compatible`](Self::openai_compatible) with another source of the variables.
    ///
    /// # Errors
    /// Fails if a required key is missing, or a setting is unusable.
    pub fn openai_compatible_from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::openai_compatible_builder(lookup).build()
    }

    /// Returns a builder with the settings of [`openai_compatible`](Self::openai_compatible), read from a lookup.
    pub fn openai_compatible_builder(lookup: impl Fn(&str) -> Option<String>) -> ChatCompletionsBuilder {
        let url = lookup("OPENAI_BASE_URL").filter(|url| !url.trim().is_empty());
        let mut endpoint = match &url {
            None => Endpoint::preset("openai"),
            Some(url) => Endpoint::of_url(url),
        }
        .unwrap_or_else(|| {
            let mut endpoint = Endpoint::new("openai-compatible", "");
            endpoint.compat.transport.key_optional = true;
            endpoint
        });
        endpoint.base_url_variable = "OPENAI_BASE_URL".into();
        endpoint.key_variables = vec!["OPENAI_API_KEY".into()].into();
        Self::builder().endpoint(endpoint).lookup(lookup)
    }

    /// Returns the built-in models of an endpoint, with the settings of its variables; no key is needed.
    pub fn known_models_of(preset: &str) -> Vec<KnownModel> {
        let endpoint = Endpoint::preset(preset);
        endpoint
            .map(|endpoint| models::known(&endpoint, &Catalogue::new(), (ollama::CONTEXT_SIZE, None)))
            .unwrap_or_default()
    }

    /// Lists the models of the server, in its order: `GET /api/tags` of Ollama, `GET /models` of others. Their other
    /// properties are those of [`model_info`](ModelProvider::model_info). The caller sets the time limit.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// Fails if the server cannot be reached, refuses the list, or returns an unreadable one.
    pub async fn server_models(&self) -> Result<Vec<KnownModel>, ModelError> {
        let inner = &*self.inner;
        let path = match inner.compat().transport.protocol {
            Protocol::ChatCompletions => "/models",
            Protocol::Ollama => "/api/tags",
        };
        let response = inner.client.get(path, inner.headers.clone()).await.map_err(|error| inner.unreachable(error))?;
        if response.status() != 200 {
            return Err(inner.refusal(response).await);
        }
        let text = response.text(MAX_MODEL_LIST).await.map_err(from_http)?;
        let listed = listed_models(&text).ok_or_else(|| protocol("the list of models cannot be read").unbilled())?;
        inner.windows.learn(&listed);
        let known = listed.into_iter().map(|listed| {
            let mut known = KnownModel::new(listed.name.clone(), self.model_info(&listed.name));
            if let Some(row) = models::row(self.name(), &listed.name) {
                known = row.known(known.info);
            }
            known.context_window = known.context_window.or(listed.window);
            inner.catalogue.with_own(known)
        });
        Ok(known.collect())
    }

    /// Asks a server of the user for the window of a model that no table has.
    async fn ask_for_window(&self, model: &str) {
        let inner = &*self.inner;
        let is_asked =
            inner.compat().transport.key_optional && inner.compat().transport.protocol == Protocol::ChatCompletions;
        let is_known =
            models::has_window(&inner.endpoint.name, &inner.catalogue, model) || inner.windows.of(model).is_some();
        if !is_asked || is_known {
            return;
        }
        // The next call reports a fault of the server.
        let _ = self.server_models().await;
    }

    /// Returns the profile in use.
    pub fn compat(&self) -> &Compat {
        &self.inner.endpoint.compat
    }
}

impl ChatState {
    fn compat(&self) -> &Compat {
        &self.endpoint.compat
    }

    fn info(&self, model: &str) -> ModelInfo {
        let window =
            if models::has_window(&self.endpoint.name, &self.catalogue, model) { None } else { self.windows.of(model) };
        models::info(&self.endpoint, &self.catalogue, (self.context_size, window), model)
    }

    /// Returns the window of a model, if it is known and the endpoint may silently overflow it.
    fn silent_window(&self, model: &str) -> Option<u64> {
        let is_known = || models::has_window(&self.endpoint.name, &self.catalogue, model);
        let window = || models::described(&self.endpoint.name, &self.catalogue, model).context_window;
        (self.compat().answer.silent_overflow && is_known()).then(window)
    }

    fn headers(&self, request: &ModelRequest) -> Result<HeaderMap, ModelError> {
        let mut headers = self.headers.clone();
        // Compression on the way would delay deltas to fill its window.
        headers.insert("accept-encoding", HeaderValue::from_static("identity"));
        let name = &*self.compat().transport.session_header;
        if let Some(key) = request.session_key.as_deref().filter(|_| !name.is_empty()) {
            let unusable = |what: &str| {
                ModelError::new(ModelErrorKind::Configuration, format!("the {what} {name:?} cannot be a header"))
            };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable("session header"))?;
            headers.insert(header, HeaderValue::from_str(key).map_err(|_| unusable("session key for"))?);
        }
        Ok(headers)
    }

    fn body(&self, request: &ModelRequest) -> Result<(Bytes, ChatWire), ModelError> {
        let (vendor, secrets, model) = (self.vendor.clone(), self.secrets.clone(), request.model.clone());
        let answer = self.compat().answer.clone();
        match self.compat().transport.protocol {
            Protocol::ChatCompletions => {
                let body = request::call(request, self.compat())?;
                let fields = self.compat().reasoning.fields.to_vec();
                let half = PendingHalf::default();
                let reader = ChunkReader { vendor, secrets, answer, fields, model, template: None, misses: 0, half };
                Ok((body, ChatWire::ChatCompletions(Box::new(reader))))
            }
            Protocol::Ollama => {
                let (body, sent) = ollama::call(request, self.compat(), self.context_size)?;
                Ok((body, ChatWire::Ollama(Box::new(ollama::OllamaReader { vendor, secrets, answer, model, sent }))))
            }
        }
    }

    /// Converts the error of a request without an answer. An unreachable server on this machine is named.
    fn unreachable(&self, error: HttpError) -> ModelError {
        if !error.is_refused_here() {
            return from_http(error);
        }
        let server = match &*self.endpoint.name {
            "ollama" => "Ollama",
            "lmstudio" => "LM Studio",
            "openai-compatible" => "its server",
            name => name,
        };
        let message = format!("{error}; is {server} running? {} names another address", self.vendor.base_url);
        let mut refused = from_http(error);
        refused.message = message;
        refused
    }

    async fn refusal(&self, response: Response) -> ModelError {
        let (status, headers) = (response.status(), response.headers().clone());
        // An error without its body, or with half of it, still has its status.
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        from_answer(&self.vendor, status, &headers, &body, &self.secrets)
    }

    /// Returns the error of an answer with status 200 that is neither a stream nor a message: an error of a router, or
    /// the page of a server that is not the API.
    fn not_a_message(&self, body: &str, kind: &str) -> ModelError {
        let is_error = serde_json::from_str::<serde_json::Value>(body)
            .is_ok_and(|body| body.get("error").is_some_and(|error| !error.is_null()));
        if is_error {
            return from_chunk(&self.vendor, body, &self.secrets);
        }
        let setting = &self.vendor.base_url;
        let error = protocol(format_args!("the answer is {kind}, not a stream; check {setting}"));
        // JSON may be a complete message that was not streamed; a web page is no message.
        if kind.contains("json") { error } else { error.unbilled() }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for ChatCompletions {
    fn name(&self) -> &str {
        &self.inner.endpoint.name
    }

    fn resolve_model(&self, name: &str) -> String {
        models::resolve(&self.inner.endpoint.name, &self.inner.catalogue, name)
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        models::similar(&self.inner.endpoint.name, &self.inner.catalogue, name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        self.inner.info(model)
    }

    fn known_models(&self) -> Vec<KnownModel> {
        models::known(&self.inner.endpoint, &self.inner.catalogue, (self.inner.context_size, None))
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        // A price that the user gave applies to the name, regardless of the answering model.
        if self.inner.catalogue.overrides().of(asked, self.name()).any(ModelOverride::has_price) {
            return None;
        }
        is_priced_otherwise(&self.model_info(asked), &self.model_info(answered)).then(|| answered.to_owned())
    }

    fn ready(&self, _: &str) -> Result<(), ModelError> {
        Ok(())
    }

    async fn prepare(&self, model: &str) {
        self.ask_for_window(model).await;
    }

    fn opening_notice(&self, _: &str) -> Option<String> {
        None
    }

    fn recorded_fact(&self, _: SessionFact, _: &str) -> Option<String> {
        None
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let inner = &*self.inner;
        let transport = &inner.compat().transport;
        let is_ollama = transport.protocol == Protocol::Ollama;
        let expected = if is_ollama { "application/x-ndjson" } else { "text/event-stream" };
        let mut headers = inner.headers(&request)?;
        headers.insert("accept", HeaderValue::from_static(expected));
        let (body, wire) = inner.body(&request)?;
        let sent = inner.client.post(&transport.path, headers, body).await;
        let response = sent.map_err(|error| inner.unreachable(error))?;
        if response.status() != 200 {
            return Err(inner.refusal(response).await);
        }
        let kind = response.header("content-type").unwrap_or_default().to_owned();
        let call = CallInfo {
            raw_frames: request.raw_frames,
            request_id: request_id(response.headers()),
            window: inner.silent_window(&request.model),
            done_without_finish: inner.compat().answer.done_without_finish,
        };
        // Some servers name no type, or label a stream as plain text.
        if kind.starts_with("text/html") {
            let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
            return Err(inner.not_a_message(&body, &kind).with_request_id(call.request_id));
        }
        // Servers that do not stream answer with one object.
        if !is_ollama && kind.starts_with("application/json") {
            let body = response.text(MAX_MESSAGE_BYTES).await.map_err(from_http)?;
            let request_id = call.request_id.clone();
            let whole = ChatStream::whole(&body, wire, call);
            return match whole {
                Some(stream) => Ok(Box::pin(stream)),
                None => Err(inner.not_a_message(&body, &kind).with_request_id(request_id)),
            };
        }
        let events = if is_ollama { response.lines() } else { response.events() };
        Ok(Box::pin(ChatStream::new(events, wire, call)))
    }

    /// Fails: no endpoint of this dialect counts tokens.
    async fn count_tokens(&self, _: Arc<ModelRequest>) -> Result<u64, ModelError> {
        let text =
            format!("{} cannot count the tokens of a request: Chat Completions has no call for that", self.name());
        Err(ModelError::new(ModelErrorKind::Configuration, text).unbilled())
    }
}
