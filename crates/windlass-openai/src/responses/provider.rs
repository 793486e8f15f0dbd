use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use windlass_http::provider::{MAX_MODEL_LIST, Secrets, ServerWindows, from_http, listed_models};
use windlass_http::{Bytes, HeaderMap, HeaderValue, HttpClient, Response};
use windlass_model::{KnownModel, ModelError, ModelProvider, ModelStream, SessionFact, is_priced_otherwise};
use windlass_types::near::nearest;
use windlass_types::{Api, ModelErrorKind, ModelInfo, ModelRequest};

use super::assembly::ResponseAssembly;
use super::request::{self, ResponsesForm, WrittenRequest};
use super::stream::ResponseStream;
use crate::OpenAiBuilder;
use crate::error::{OPENAI, OpenAiErrorDetail, from_answer, from_event, protocol, request_id, unreadable};
use crate::models::{self, Model};

/// Maximum number of bytes read of an answer that is not a stream.
const MAX_BODY: usize = 64 * 1024;

/// Maximum total time to wait for the body of an error: its status is known already.
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);

/// Maximum number of models whose refusal of strict schemas is remembered.
const MAX_REMEMBERED: usize = 64;

/// Provider of the OpenAI Responses API behind one base URL and one set of credentials.
///
/// Cheap to clone; clones share their connections, and their knowledge of the endpoint.
#[derive(Clone)]
pub struct OpenAi {
    inner: Arc<ResponsesState>,
}

struct ResponsesState {
    client: HttpClient,
    headers: HeaderMap,
    secrets: Secrets,
    settings: ResponsesSettings,
    /// Models for which a strict schema was refused.
    not_strict: Mutex<Vec<String>>,
    /// The context windows that a server of the user named.
    windows: ServerWindows,
}

/// Settings of a builder beside the connection.
#[derive(Clone, Debug)]
pub(crate) struct ResponsesSettings {
    /// Short name of the provider.
    pub(crate) name: String,
    /// Models that the user describes, by name.
    pub(crate) models: Vec<(String, ModelInfo)>,
    /// `true` if summaries of the reasoning are requested.
    pub(crate) summaries: bool,
}

impl Default for ResponsesSettings {
    fn default() -> Self {
        Self { name: "openai".to_owned(), models: Vec::new(), summaries: true }
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OpenAi").field("host", &self.inner.client.host()).finish_non_exhaustive()
    }
}

impl OpenAi {
    /// Creates a provider for the public API with this key.
    ///
    /// # Errors
    /// Fails if the key is empty or cannot be a header.
    pub fn new(key: impl AsRef<str>) -> Result<Self, ModelError> {
        Self::builder().api_key(key).build()
    }

    /// Creates a provider from the environment: `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_ORG_ID` (else its older
    /// name `OPENAI_ORGANIZATION`) and `OPENAI_PROJECT_ID`. `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`
    /// name proxies, `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS` certificate authorities to trust.
    ///
    /// # Errors
    /// Fails if there is no key, or a setting is unusable.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// Does the same as [`from_env`](Self::from_env) with another source of the variables.
    ///
    /// # Errors
    /// Fails if there is no key, or a setting is unusable.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::builder().lookup(lookup).build()
    }

    /// Returns the built-in models; no key is needed.
    pub fn known() -> Vec<KnownModel> {
        models::known("openai")
    }

    /// Returns a builder for all settings.
    pub fn builder() -> OpenAiBuilder {
        OpenAiBuilder::default()
    }

    pub(crate) fn assembled(
        client: HttpClient,
        headers: HeaderMap,
        secrets: Secrets,
        settings: ResponsesSettings,
    ) -> Self {
        let (not_strict, windows) = (Mutex::default(), ServerWindows::default());
        Self { inner: Arc::new(ResponsesState { client, headers, secrets, settings, not_strict, windows }) }
    }
}

impl ResponsesState {
    fn model(&self, name: &str) -> Model {
        match self.settings.models.iter().rev().find(|(own, _)| own == name) {
            Some((_, info)) => Model { info: info.clone(), can_skip_reasoning: false },
            None => {
                let mut model = models::model(name);
                if let Some(window) = self.windows.of(name).filter(|_| !models::is_known(name)) {
                    model.info.take_window_of_server(window);
                }
                model
            }
        }
    }

    /// Asks a user's own server for the context windows of its models, if no table contains this model.
    async fn ask_for_window(&self, model: &str) -> Result<(), ModelError> {
        let is_described = models::is_known(model) || self.settings.models.iter().any(|(own, _)| own == model);
        if is_described || is_of_vendor(self.client.host()) || self.windows.of(model).is_some() {
            return Ok(());
        }
        let response = self.client.get("/models", self.headers.clone()).await.map_err(from_http)?;
        if response.status() == 200 {
            let text = response.text(MAX_MODEL_LIST).await.map_err(from_http)?;
            self.windows.learn(&listed_models(&text).unwrap_or_default());
        }
        Ok(())
    }

    fn headers(&self, request: &ModelRequest) -> HeaderMap {
        let mut headers = self.headers.clone();
        // The header lets the API route requests of one conversation to the server that caches its prompt.
        let key = request::cache_key(request).and_then(|key| HeaderValue::from_str(&key).ok());
        if let Some(key) = key
            && !headers.contains_key("session-id")
        {
            headers.insert("session-id", key);
        }
        headers
    }

    async fn call(&self, body: Bytes, request: &ModelRequest) -> Result<Response, ModelError> {
        let mut headers = self.headers(request);
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        // Compression on the way would delay deltas to fill its window.
        headers.insert("accept-encoding", HeaderValue::from_static("identity"));
        self.client.post("/responses", headers, body).await.map_err(from_http)
    }

    /// Sends a request, and sends it once more without strict schemas if they caused its refusal.
    async fn answer(&self, request: &ModelRequest, model: &Model) -> Result<Response, ModelError> {
        let strict = !self.not_strict().contains(&request.model);
        let form = ResponsesForm { model, strict, summaries: self.settings.summaries };
        let WrittenRequest { body, is_strict } = request::call(request, form)?;
        let response = self.call(body, request).await?;
        if response.status() == 200 {
            return Ok(response);
        }
        let refusal = ResponsesRefusal::read(response).await;
        if !(is_strict && refusal.is_about_schemas()) {
            return Err(refusal.error(&self.secrets));
        }
        let WrittenRequest { body, .. } = request::call(request, ResponsesForm { strict: false, ..form })?;
        let response = self.call(body, request).await?;
        if response.status() != 200 {
            return Err(ResponsesRefusal::read(response).await.error(&self.secrets));
        }
        let mut models = self.not_strict();
        if models.len() < MAX_REMEMBERED && !models.contains(&request.model) {
            models.push(request.model.clone());
        }
        drop(models);
        Ok(response)
    }

    fn not_strict(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.not_strict.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the error of an answer with status 200 that is no event stream: an error of a gateway, a whole response,
    /// or the page of a server that is not the API at all.
    async fn not_a_stream(&self, response: Response) -> ModelError {
        let kind = response.header("content-type").unwrap_or_default().to_owned();
        let id = request_id(response.headers());
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        #[derive(Deserialize)]
        struct WholeResponse<'a> {
            #[serde(borrow, default)]
            error: Option<&'a serde_json::value::RawValue>,
        }
        let whole: Option<WholeResponse<'_>> = serde_json::from_str(&body).ok();
        if whole.is_some_and(|whole| whole.error.is_some_and(|error| error.get() != "null")) {
            return from_event(&OPENAI, &body, &self.secrets).with_request_id(id);
        }
        if kind.contains("json") {
            // A whole message may have been written and not streamed.
            return protocol("the answer is whole JSON and not an event stream; the server must be able to stream")
                .with_request_id(id);
        }
        protocol(format_args!("the answer is {kind}, not an event stream; check {}", OPENAI.base_url))
            .unbilled()
            .with_request_id(id)
    }
}

/// `true` for the vendor's own hosts and those of its cloud, whose models are in the table.
fn is_of_vendor(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    [".openai.com", ".azure.com", ".azure.us"].iter().any(|domain| name.ends_with(domain))
}

/// Answer with a status other than 200.
struct ResponsesRefusal {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl ResponsesRefusal {
    async fn read(response: Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        // An error without its body, or with half of it, still has its status.
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        Self { status, headers, body }
    }

    fn error(&self, secrets: &Secrets) -> ModelError {
        from_answer(&OPENAI, self.status, &self.headers, &self.body, secrets)
    }

    /// `true` if the server does not have the model.
    fn is_about_model(&self) -> bool {
        OpenAiErrorDetail::read(&self.body)
            .is_some_and(|detail| detail.code() == "model_not_found" || detail.message().contains("model"))
    }

    /// `true` if the server does not take a schema, or strict schemas at all.
    fn is_about_schemas(&self) -> bool {
        let Some(detail) = OpenAiErrorDetail::read(&self.body).filter(|_| self.status == 400) else { return false };
        let (code, param, text) = (detail.code(), detail.param(), detail.message().to_ascii_lowercase());
        matches!(&*code, "invalid_function_parameters" | "invalid_json_schema" | "invalid_schema")
            || param.ends_with(".strict")
            || param.starts_with("text.format")
            || (param.starts_with("tools") && text.contains("schema"))
            || text.contains("invalid schema")
            || text.split(|char: char| !char.is_ascii_alphanumeric()).any(|word| word == "strict")
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for OpenAi {
    fn name(&self) -> &str {
        &self.inner.settings.name
    }

    fn resolve_model(&self, name: &str) -> String {
        models::resolve(name.trim()).to_owned()
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        let own = self.inner.settings.models.iter().map(|(name, _)| name.as_str());
        let known: Vec<&str> = own.chain(models::names()).collect();
        let is_name = |known: &&str| known.eq_ignore_ascii_case(name.trim());
        if known.iter().any(is_name) || models::is_known(name) {
            return Vec::new();
        }
        nearest(name, known).into_iter().map(str::to_owned).collect()
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        let mut info = self.inner.model(model).info;
        info.api = Api::new(self.name(), Api::RESPONSES);
        info
    }

    fn known_models(&self) -> Vec<KnownModel> {
        let own = self.inner.settings.models.iter().map(|(name, _)| {
            let mut own = KnownModel::new(name.clone(), self.model_info(name));
            (own.context_window, own.max_output_tokens) =
                (Some(own.info.context_window), Some(own.info.max_output_tokens));
            own
        });
        let is_own = |known: &KnownModel| self.inner.settings.models.iter().any(|(name, _)| *name == known.id);
        let known = models::known(self.name()).into_iter().filter(|known| !is_own(known));
        own.chain(known).collect()
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        // A price that the user gave applies to the name, regardless of the answering model.
        if self.inner.settings.models.iter().any(|(name, info)| name == asked && info.price.is_some()) {
            return None;
        }
        is_priced_otherwise(&self.model_info(asked), &self.model_info(answered)).then(|| answered.to_owned())
    }

    fn ready(&self, _: &str) -> Result<(), ModelError> {
        Ok(())
    }

    async fn prepare(&self, model: &str) {
        // A call says what is wrong with the server.
        let _ = self.inner.ask_for_window(&self.resolve_model(model)).await;
    }

    fn opening_notice(&self, _: &str) -> Option<String> {
        None
    }

    fn recorded_fact(&self, _: SessionFact, _: &str) -> Option<String> {
        None
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let inner = &*self.inner;
        let response = inner.answer(&request, &inner.model(&request.model)).await?;
        if response.header("content-type").is_some_and(|kind| !kind.starts_with("text/event-stream")) {
            return Err(inner.not_a_stream(response).await);
        }
        let id = request_id(response.headers());
        let assembly = ResponseAssembly::new(&request.model, inner.secrets.clone());
        Ok(Box::pin(ResponseStream::new(response.events(), assembly, request.raw_frames, id)))
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        #[derive(Deserialize)]
        struct CountResponse {
            input_tokens: u64,
        }
        let inner = &*self.inner;
        let model = inner.model(&request.model);
        let strict = !inner.not_strict().contains(&request.model);
        let body =
            request::count(&request, ResponsesForm { model: &model, strict, summaries: inner.settings.summaries })?;
        let headers = inner.headers(&request);
        let response = inner.client.post("/responses/input_tokens", headers, body).await.map_err(from_http)?;
        let status = response.status();
        if status != 200 {
            let refusal = ResponsesRefusal::read(response).await;
            let is_missing = matches!(status, 404 | 405 | 501) && !refusal.is_about_model();
            let error = refusal.error(&inner.secrets);
            return Err(if is_missing { cannot_count(error) } else { error });
        }
        let text = response.text(MAX_BODY).await.map_err(from_http)?;
        let count: CountResponse = serde_json::from_str(&text).map_err(|error| unreadable("the token count", error))?;
        Ok(count.input_tokens)
    }
}

/// Converts the error of a server that has the API, but not its token count.
fn cannot_count(mut error: ModelError) -> ModelError {
    error.kind = ModelErrorKind::NotFound;
    "this server cannot count tokens: it has no /responses/input_tokens".clone_into(&mut error.message);
    error.unbilled()
}
