use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde::Deserialize;
use windlass_http::provider::{Clock, Credentials, MAX_MODEL_LIST, ServerWindows, from_http, listed_models};
use windlass_http::{HeaderMap, HeaderValue, Response};
use windlass_model::{
    Catalogue, KnownModel, ModelError, ModelProvider, ModelStream, SessionFact, beta, is_priced_otherwise,
};
use windlass_types::{Api, ModelErrorKind, ModelInfo, ModelRequest};

use crate::{
    AnthropicBuilder,
    error::{MessagesErrors, protocol},
    form::{MessagesForm, RefusedFields},
    frame::FrameType,
    platform::{Platform, PlatformMethod},
    rate_limit::rate_limit,
    request,
    send::{ERROR_BODY_TIME, MAX_BODY, PreparedRequest},
    stream::MessagesStream,
    web_search,
};

/// Provider of the Anthropic Messages API behind one base URL and one set of credentials: that of the vendor, or of a
/// cloud.
///
/// Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Anthropic {
    inner: Arc<AnthropicState>,
}

pub(crate) struct AnthropicState {
    pub(crate) platform: Platform,
    pub(crate) headers: HeaderMap,
    /// Source of credentials that are not in the headers.
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    pub(crate) betas: Vec<String>,
    pub(crate) faults: MessagesErrors,
    pub(crate) catalogue: Catalogue,
    /// Ids that hide their model, and the models behind them.
    pub(crate) stand_ins: Vec<(String, String)>,
    pub(crate) clock: Clock,
    pub(crate) refused: RefusedFields,
    /// The context windows that a server of the user named.
    pub(crate) windows: ServerWindows,
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Anthropic")
            .field("host", &self.inner.platform.host())
            .field("betas", &self.inner.betas)
            .finish_non_exhaustive()
    }
}

impl Anthropic {
    /// Creates a provider for the public API with this key.
    ///
    /// # Errors
    /// Fails if the key is empty or cannot be a header.
    pub fn new(key: impl AsRef<str>) -> Result<Self, ModelError> {
        Self::builder().api_key(key).build()
    }

    /// Creates a provider from the environment: `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN` (used instead of the key
    /// when both are set), `ANTHROPIC_BASE_URL`, `ANTHROPIC_BETAS` (separated by commas), `ANTHROPIC_CUSTOM_HEADERS`
    /// (lines of `Name: value`), and the models behind the aliases (`ANTHROPIC_DEFAULT_OPUS_MODEL`,
    /// `ANTHROPIC_DEFAULT_SONNET_MODEL`, `ANTHROPIC_DEFAULT_HAIKU_MODEL`). `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
    /// `NO_PROXY` name proxies, `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS` certificate authorities to trust.
    ///
    /// # Errors
    /// Fails if there is neither key nor token, or a setting is unusable.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// Does the same as [`from_env`](Self::from_env) with another source of the variables.
    ///
    /// # Errors
    /// Fails if there is neither key nor token, or a setting is unusable.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::builder().lookup(lookup).build()
    }

    /// Returns a builder for all settings.
    pub fn builder() -> AnthropicBuilder {
        AnthropicBuilder::default()
    }

    pub(crate) fn assembled(inner: AnthropicState) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

impl AnthropicState {
    /// Returns the model whose description applies to an id.
    fn known<'a>(&'a self, model: &'a str) -> &'a str {
        self.stand_ins.iter().rev().find(|(id, _)| id == model).map_or(model, |(_, known)| known)
    }

    /// Returns the description of a model at this service.
    fn info(&self, model: &str) -> ModelInfo {
        let known = self.known(model);
        let mut info = self.catalogue.info(known);
        if let Some(window) = self.windows.of(model).filter(|_| !self.catalogue.has_window(known)) {
            info.take_window_of_server(window);
        }
        info.web_search = web_search::price(known).filter(|_| self.platform.searches_the_web());
        info
    }

    /// Asks a server of the user for the context windows of its models, where no table has that of this one.
    async fn ask_for_window(&self, model: &str) -> Result<(), ModelError> {
        if self.catalogue.has_window(self.known(model)) || self.windows.of(model).is_some() {
            return Ok(());
        }
        let Some(route) = self.platform.model_list() else { return Ok(()) };
        let text = self.get(&route, MAX_MODEL_LIST).await?;
        self.windows.learn(&listed_models(&text).unwrap_or_default());
        Ok(())
    }

    /// Returns the error of an answer with status 200 that is no event stream: an error of a gateway, or the page of a
    /// server that is not the API at all.
    async fn not_a_stream(&self, response: Response, faults: &MessagesErrors) -> ModelError {
        let kind = response.header("content-type").unwrap_or_default().to_owned();
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        let tag: Option<FrameType<'_>> = serde_json::from_str(&body).ok();
        if tag.is_some_and(|tag| tag.kind == "error") {
            return faults.event(&body);
        }
        let setting = &faults.vendor.base_url;
        let error = protocol(format_args!("the answer is {kind}, not an event stream; check {setting}"));
        // A whole message may have been written and not streamed; a page is no message.
        if kind.contains("json") { error } else { error.unbilled() }
    }

    /// Returns the form of a request, without the parts that the endpoint has refused.
    fn form(&self, request: &ModelRequest, info: &ModelInfo, method: PlatformMethod) -> MessagesForm {
        let known = self.known(&request.model);
        let mut form = self.platform.form();
        form.controls = self.catalogue.binds_thinking(known) && !self.refused.controls();
        let binds = form.controls && request::thinks_adaptively(request, info);
        let inline = form.controls && !request.added_tools.is_empty();
        let newer = [binds.then_some(beta::THINKING_BINDING), inline.then_some(beta::INLINE_TOOLS)];
        let asked = self.betas.iter().chain(&request.betas).map(|beta| beta.trim());
        for beta in asked.chain(self.catalogue.betas(known)).chain(newer.into_iter().flatten()) {
            if !beta.is_empty() && !form.betas.iter().any(|known| known == beta) {
                form.betas.push(beta.to_owned());
            }
        }
        self.refused.reduce(&mut form, method);
        form
    }

    fn headers(&self, form: &MessagesForm, method: PlatformMethod) -> Result<HeaderMap, ModelError> {
        let mut headers = self.headers.clone();
        if method == PlatformMethod::Stream {
            headers.insert("accept", HeaderValue::from_static("text/event-stream"));
            // Compression on the way would delay deltas to fill its window.
            headers.insert("accept-encoding", HeaderValue::from_static("identity"));
        }
        if !form.betas.is_empty() {
            // A custom header with betas of its own is extended, not replaced.
            let custom = headers.get("anthropic-beta").and_then(|value| value.to_str().ok());
            let list = match custom {
                Some(custom) => format!("{custom},{}", form.betas.join(",")),
                None => form.betas.join(","),
            };
            let value = HeaderValue::from_str(&list).map_err(|_| {
                ModelError::new(ModelErrorKind::Configuration, "a beta holds a character that no header can carry")
            })?;
            headers.insert("anthropic-beta", value);
        }
        Ok(headers)
    }

    /// Requests an answer with status 200. Parts that the endpoint refuses and the request can do without are left out,
    /// at once and from then on. The returned factory makes the errors of the answer.
    async fn ask(
        &self,
        request: &ModelRequest,
        method: PlatformMethod,
    ) -> Result<(Response, MessagesErrors), ModelError> {
        let info = self.info(&request.model);
        loop {
            let form = self.form(request, &info, method);
            let body = match method {
                PlatformMethod::Stream => request::call(request, &info, &form),
                PlatformMethod::CountTokens => request::count(request, &info, &form),
            };
            let call = PreparedRequest {
                route: self.platform.route(&request.model, method)?,
                headers: self.headers(&form, method)?,
                body,
            };
            match self.send(&call).await {
                Err(error) if self.refused.concede(&form, method, request, &error, &self.platform) => {}
                answer => return answer,
            }
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Anthropic {
    fn name(&self) -> &str {
        self.inner.platform.name()
    }

    fn resolve_model(&self, name: &str) -> String {
        self.inner.platform.id(self.inner.catalogue.resolve(name))
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        self.inner.catalogue.similar(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        let mut info = self.inner.info(model);
        info.api = Api::new(self.name(), Api::MESSAGES);
        info
    }

    fn known_models(&self) -> Vec<KnownModel> {
        let mut models = self.inner.catalogue.known_models(&Api::new(self.name(), Api::MESSAGES));
        for known in &mut models {
            // Clouds have ids of their own.
            known.id = self.inner.platform.id(std::mem::take(&mut known.id));
            known.info = self.model_info(&known.id);
        }
        models
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        // A price that the user gave applies to the name, regardless of the answering model.
        if self.inner.catalogue.is_priced(self.inner.known(asked)) {
            return None;
        }
        is_priced_otherwise(&self.model_info(asked), &self.model_info(answered)).then(|| answered.to_owned())
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        // A built provider has a key or a source of credentials.
        self.inner.platform.route(&self.resolve_model(model), PlatformMethod::Stream).map(drop)
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
        let (response, faults) = inner.ask(&request, PlatformMethod::Stream).await?;
        if response.header("content-type").is_some_and(|kind| !kind.starts_with("text/event-stream")) {
            return Err(inner.not_a_stream(response, &faults).await);
        }
        let request_id = response.header("request-id").or(response.header("x-amzn-requestid")).map(str::to_owned);
        let limit = rate_limit(200, response.headers());
        let stream = MessagesStream::new(response.events(), faults, request.raw_frames, request_id);
        Ok(Box::pin(stream.with_rate_limit(limit)))
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        #[derive(Deserialize)]
        struct TokenCount {
            input_tokens: u64,
        }
        let (response, _) = self.inner.ask(&request, PlatformMethod::CountTokens).await?;
        let text = response.text(MAX_BODY).await.map_err(from_http)?;
        let count: TokenCount = serde_json::from_str(&text)
            .map_err(|error| protocol("the token count cannot be read").with_source(error))?;
        Ok(count.input_tokens)
    }
}
