use super::builder::ChatCompletionsBuilder;
use super::compat::{Compat, Protocol, ThinkingSwitch};
use super::endpoint::Endpoint;
use super::error::{from_answer, from_chunk};
use super::ollama;
use super::reader::Reader;
use super::request;
use super::stream::{CallInfo, MessageStream, Wire};
use crate::error::{protocol, request_id};
use crate::models;
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_http::provider::{Secrets, Vendor, from_http};
use windlass_http::{Bytes, HeaderMap, HeaderName, HeaderValue, HttpClient, Response};
use windlass_model::{Catalogue, ModelError, ModelProvider, ModelStream};
use windlass_types::{Api, ModelErrorKind, ModelInfo, ModelRequest};

/// The most bytes read of an answer that is not a stream.
const MAX_BODY: usize = 64 * 1024;

/// How long the body of an error is waited for, all in all: its status is known already.
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);

/// The window of a model that is not known, as the catalogue has it.
const UNKNOWN_WINDOW: u64 = 128_000;

/// Chat Completions behind one base URL and one key, as OpenAI and many others speak it.
///
/// What endpoints do not have in common is in a profile, [`Compat`]. Cheap to clone; clones share their connections.
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
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) client: HttpClient,
    pub(super) headers: HeaderMap,
    pub(super) secrets: Secrets,
    pub(super) catalogue: Catalogue,
    pub(super) endpoint: Endpoint,
    pub(super) vendor: Vendor,
    /// The size of the context to ask for, where that can be set.
    pub(super) context_size: u32,
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
    /// A builder for all settings, with the careful profile and no base URL.
    pub fn builder() -> ChatCompletionsBuilder {
        ChatCompletionsBuilder::default()
    }

    /// A builder for an endpoint that is known by name: `openai`, `azure`, `openrouter`, `deepseek`, `groq`, `mistral`,
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

    /// A preset, set up from the variables of its vendor: `DEEPSEEK_API_KEY`, and `DEEPSEEK_BASE_URL` for another address.
    /// Ollama has `OLLAMA_HOST` and `OLLAMA_CONTEXT_LENGTH`, Azure `AZURE_OPENAI_ENDPOINT`.
    ///
    /// # Errors
    /// There is no such preset, no key where one is needed, or a setting cannot be used.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn from_env(preset: &str) -> Result<Self, ModelError> {
        Self::from_lookup(preset, |name| std::env::var(name).ok())
    }

    /// [`from_env`](Self::from_env) with another source of the variables.
    ///
    /// # Errors
    /// There is no such preset, no key where one is needed, or a setting cannot be used.
    pub fn from_lookup(preset: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::preset(preset)?.lookup(lookup).build()
    }

    /// The endpoint of `OPENAI_BASE_URL` with `OPENAI_API_KEY`. Without a base URL it is OpenAI's. A URL whose host belongs to
    /// a preset has its profile, any other one the careful profile, and then needs no key.
    ///
    /// # Errors
    /// There is no key where one is needed, or a setting cannot be used.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn openai_compatible() -> Result<Self, ModelError> {
        Self::openai_compatible_from_lookup(|name| std::env::var(name).ok())
    }

    /// [`openai_compatible`](Self::openai_compatible) with another source of the variables.
    ///
    /// # Errors
    /// There is no key where one is needed, or a setting cannot be used.
    pub fn openai_compatible_from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::openai_compatible_builder(lookup).build()
    }

    /// A builder with what [`openai_compatible`](Self::openai_compatible) sets, out of a lookup.
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

    /// The profile in use.
    pub fn compat(&self) -> &Compat {
        &self.inner.endpoint.compat
    }
}

impl Inner {
    fn compat(&self) -> &Compat {
        &self.endpoint.compat
    }

    fn info(&self, model: &str) -> ModelInfo {
        let compat = self.compat();
        let mut info = self.described(model);
        if compat.transport.protocol == Protocol::Ollama {
            info.context_window = u64::from(self.context_size);
        }
        // In two steps, so that no window overflows.
        let percent = u64::from(compat.answer.window_percent.clamp(1, 100));
        info.context_window = info.context_window / 100 * percent + info.context_window % 100 * percent / 100;
        let room = u32::try_from(info.context_window / 2).unwrap_or(u32::MAX).max(1);
        info.max_output_tokens = info.max_output_tokens.min(room);
        info.default_output_tokens = info.default_output_tokens.min(info.max_output_tokens);
        let switch = compat.reasoning.switch;
        info.adaptive_thinking = !matches!(switch, ThinkingSwitch::Never | ThinkingSwitch::Effort);
        info.thinking_budget = matches!(switch, ThinkingSwitch::ReasoningObject | ThinkingSwitch::EnableThinking);
        info.efforts = match switch {
            ThinkingSwitch::Never => Vec::new(),
            _ => compat.reasoning.efforts.iter().map(|(effort, _)| *effort).collect(),
        };
        info.vision = compat.messages.images;
        info.documents = compat.messages.documents;
        info.prompt_cache = compat.cache.key || !compat.cache.control_models.is_empty();
        // The catalogue knows what models can do behind the API of their vendor.
        info.appends_tools = false;
        info.api = Api::new(&*self.endpoint.name, Api::CHAT_COMPLETIONS);
        info
    }

    /// Limits and price of a model: what the user says of it, else what is known of the vendor's own models.
    fn described(&self, model: &str) -> ModelInfo {
        let info = self.catalogue.info(model);
        let own = match &*self.endpoint.name {
            "openai" | "azure" => Some(model),
            // Routers have the vendor in front of the name, and its prices.
            "openrouter" => model.strip_prefix("openai/"),
            _ => None,
        };
        match own.filter(|own| models::is_known(own)) {
            Some(own) if info == Catalogue::new().info(model) => models::model(own).info,
            _ => info,
        }
    }

    /// The window of a model, where it is known and the endpoint may be silent about a prompt that does not fit.
    fn silent_window(&self, model: &str) -> Option<u64> {
        let is_silent = self.compat().answer.silent_overflow;
        is_silent.then(|| self.catalogue.info(model).context_window).filter(|window| *window != UNKNOWN_WINDOW)
    }

    fn headers(&self, request: &ModelRequest) -> Result<HeaderMap, ModelError> {
        let mut headers = self.headers.clone();
        // A compressor on the way would hold deltas back to fill its window.
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

    fn body(&self, request: &ModelRequest) -> Result<(Bytes, Wire), ModelError> {
        let (vendor, secrets, model) = (self.vendor.clone(), self.secrets.clone(), request.model.clone());
        let answer = self.compat().answer.clone();
        match self.compat().transport.protocol {
            Protocol::ChatCompletions => {
                let body = request::call(request, self.compat())?;
                let fields = self.compat().reasoning.fields.to_vec();
                let reader = Reader { vendor, secrets, answer, fields, model, template: None, misses: 0 };
                Ok((body, Wire::ChatCompletions(Box::new(reader))))
            }
            Protocol::Ollama => {
                let (body, sent) = ollama::call(request, self.compat(), self.context_size)?;
                Ok((body, Wire::Ollama(Box::new(ollama::Reader { vendor, secrets, answer, model, sent }))))
            }
        }
    }

    async fn refusal(&self, response: Response) -> ModelError {
        let (status, headers) = (response.status(), response.headers().clone());
        // Without its body, or with half of it, an error is still worth its status.
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        from_answer(&self.vendor, status, &headers, &body, &self.secrets)
    }

    /// An answer with status 200 that is no stream: an error of a router, or the page of a server that is not the API.
    async fn not_a_stream(&self, response: Response, kind: &str) -> ModelError {
        let id = request_id(response.headers());
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        let is_error = serde_json::from_str::<serde_json::Value>(&body)
            .is_ok_and(|body| body.get("error").is_some_and(|error| !error.is_null()));
        if is_error {
            return from_chunk(&self.vendor, &body, &self.secrets).with_request_id(id);
        }
        let setting = &self.vendor.base_url;
        let error = protocol(format_args!("the answer is {kind}, not a stream; check {setting}")).with_request_id(id);
        // A whole message may have been written and not streamed; a page is none.
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
        name.trim().to_owned()
    }

    fn similar_models(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        self.inner.info(model)
    }

    fn ready(&self, _: &str) -> Result<(), ModelError> {
        Ok(())
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let inner = &*self.inner;
        let transport = &inner.compat().transport;
        let is_ollama = transport.protocol == Protocol::Ollama;
        let expected = if is_ollama { "application/x-ndjson" } else { "text/event-stream" };
        let mut headers = inner.headers(&request)?;
        headers.insert("accept", HeaderValue::from_static(expected));
        let (body, wire) = inner.body(&request)?;
        let response = inner.client.post(&transport.path, headers, body).await.map_err(from_http)?;
        if response.status() != 200 {
            return Err(inner.refusal(response).await);
        }
        let kind = response.header("content-type").unwrap_or_default().to_owned();
        // Some servers name no type, or call a stream plain text.
        let is_other = kind.starts_with("text/html") || (!is_ollama && kind.starts_with("application/json"));
        if is_other {
            return Err(inner.not_a_stream(response, &kind).await);
        }
        let call = CallInfo {
            raw_frames: request.raw_frames,
            request_id: request_id(response.headers()),
            window: inner.silent_window(&request.model),
            done_without_finish: inner.compat().answer.done_without_finish,
        };
        let events = if is_ollama { response.lines() } else { response.events() };
        Ok(Box::pin(MessageStream::new(events, wire, call)))
    }

    /// No endpoint of this dialect counts tokens.
    async fn count_tokens(&self, _: Arc<ModelRequest>) -> Result<u64, ModelError> {
        let text =
            format!("{} cannot count the tokens of a request: Chat Completions has no call for that", self.name());
        Err(ModelError::new(ModelErrorKind::Configuration, text).unbilled())
    }
}
