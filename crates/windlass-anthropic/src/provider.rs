use std::sync::atomic::{AtomicBool, Ordering};
use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::Deserialize;
use windlass_http::provider::{Secrets, from_http};
use windlass_http::{HeaderMap, HeaderValue, HttpClient, Response};
use windlass_model::{Catalogue, ModelError, ModelProvider, ModelStream, beta};
use windlass_types::{Api, ModelErrorKind, ModelInfo, ModelRequest};

use crate::{
    AnthropicBuilder,
    error::{from_answer, from_event, protocol},
    frame::Tag,
    rate_limit::rate_limit,
    request,
    stream::MessageStream,
};

/// The most bytes read of an answer that is not a stream.
const MAX_BODY: usize = 64 * 1024;

/// How long the body of an error is waited for, all in all: its status is known already.
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);

/// The Anthropic Messages API behind one base URL and one set of credentials.
///
/// Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Anthropic {
    inner: Arc<Inner>,
}

struct Inner {
    client: HttpClient,
    headers: HeaderMap,
    betas: Vec<String>,
    secrets: Secrets,
    catalogue: Catalogue,
    /// Whether the endpoint has refused the controls of newer models: some gateways do not know them.
    refuses_controls: AtomicBool,
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Anthropic")
            .field("host", &self.inner.client.host())
            .field("betas", &self.inner.betas)
            .finish_non_exhaustive()
    }
}

impl Anthropic {
    /// A provider for the public API with this key.
    ///
    /// # Errors
    /// The key is empty or cannot be a header.
    pub fn new(key: impl AsRef<str>) -> Result<Self, ModelError> {
        Self::builder().api_key(key).build()
    }

    /// A provider set up from the environment: `ANTHROPIC_API_KEY`,
    /// `ANTHROPIC_AUTH_TOKEN` (used instead of the key when both are set),
    /// `ANTHROPIC_BASE_URL`, `ANTHROPIC_BETAS` (separated by commas),
    /// `ANTHROPIC_CUSTOM_HEADERS` (lines of `Name: value`), and the models that the aliases stand for
    /// (`ANTHROPIC_DEFAULT_OPUS_MODEL`, `ANTHROPIC_DEFAULT_SONNET_MODEL`, `ANTHROPIC_DEFAULT_HAIKU_MODEL`).
    ///
    /// # Errors
    /// There is neither key nor token, or a setting cannot be used.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// [`from_env`](Self::from_env) with another source of the variables.
    ///
    /// # Errors
    /// There is neither key nor token, or a setting cannot be used.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::builder().lookup(lookup).build()
    }

    /// A builder for all settings.
    pub fn builder() -> AnthropicBuilder {
        AnthropicBuilder::default()
    }

    pub(crate) fn assembled(
        client: HttpClient,
        headers: HeaderMap,
        betas: Vec<String>,
        secrets: Secrets,
        catalogue: Catalogue,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                client,
                headers,
                betas,
                secrets,
                catalogue,
                refuses_controls: AtomicBool::new(false),
            }),
        }
    }
}

impl Inner {
    fn headers(&self, request: &ModelRequest, info: &ModelInfo) -> Result<HeaderMap, ModelError> {
        let mut headers = self.headers.clone();
        let mut betas: Vec<&str> = Vec::new();
        let asked = self.betas.iter().chain(&request.betas).map(|beta| beta.trim());
        let controls = self.takes_controls(&request.model);
        let binds = controls && request::thinks_adaptively(request, info);
        let inline = controls && !request.added_tools.is_empty();
        let newer = [binds.then_some(beta::THINKING_BINDING), inline.then_some(beta::INLINE_TOOLS)];
        for beta in asked.chain(self.catalogue.betas(&request.model)).chain(newer.into_iter().flatten()) {
            if !beta.is_empty() && !betas.contains(&beta) {
                betas.push(beta);
            }
        }
        if !betas.is_empty() {
            // A custom header with betas of its own is added to, not replaced.
            let custom = headers.get("anthropic-beta").and_then(|value| value.to_str().ok());
            let list = match custom {
                Some(custom) => Cow::Owned(format!("{custom},{}", betas.join(","))),
                None => Cow::Owned(betas.join(",")),
            };
            let value = HeaderValue::from_str(&list).map_err(|_| {
                ModelError::new(ModelErrorKind::Configuration, "a beta holds a character that no header can carry")
            })?;
            headers.insert("anthropic-beta", value);
        }
        Ok(headers)
    }

    /// Whether a model binds reasoning to all before it, and the endpoint takes what controls that.
    fn takes_controls(&self, model: &str) -> bool {
        self.catalogue.binds_thinking(model) && !self.refuses_controls.load(Ordering::Relaxed)
    }

    /// Whether a refusal is about the controls of newer models, which this endpoint is not sent again then.
    fn gives_up_controls(&self, request: &ModelRequest, error: &ModelError) -> bool {
        const NAMES: [&str; 5] =
            ["block_binding", "thinking-binding-controls", "tool_addition", "inline-tools", "role 'system'"];
        let about =
            error.kind == ModelErrorKind::InvalidRequest && NAMES.iter().any(|name| error.message.contains(name));
        about && self.takes_controls(&request.model) && !self.refuses_controls.swap(true, Ordering::Relaxed)
    }

    async fn post(&self, request: &ModelRequest) -> Result<Response, ModelError> {
        let info = self.catalogue.info(&request.model);
        let mut headers = self.headers(request, &info)?;
        headers.insert("accept", HeaderValue::from_static("text/event-stream"));
        // A compressor on the way would hold deltas back to fill its window.
        headers.insert("accept-encoding", HeaderValue::from_static("identity"));
        let body = request::call(request, &info, self.takes_controls(&request.model));
        let response = self.client.post("/v1/messages", headers, body).await.map_err(from_http)?;
        if response.status() == 200 { Ok(response) } else { Err(self.refusal(response).await) }
    }

    async fn refusal(&self, response: Response) -> ModelError {
        let (status, headers) = (response.status(), response.headers().clone());
        // Without its body, or with half of it, an error is still worth its status.
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        from_answer(status, &headers, &body, &self.secrets)
    }

    /// An answer with status 200 that is no event stream: an error of a gateway,
    /// or the page of a server that is not the API at all.
    async fn not_a_stream(&self, response: Response) -> ModelError {
        let kind = response.header("content-type").unwrap_or_default().to_owned();
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        let tag: Option<Tag<'_>> = serde_json::from_str(&body).ok();
        if tag.is_some_and(|tag| tag.kind == "error") {
            return from_event(&body, &self.secrets);
        }
        let error = protocol(format_args!("the answer is {kind}, not an event stream; check ANTHROPIC_BASE_URL"));
        // A whole message may have been written and not streamed; a page is none.
        if kind.contains("json") { error } else { error.unbilled() }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Anthropic {
    fn name(&self) -> &str {
        "anthropic"
    }

    fn resolve_model(&self, name: &str) -> String {
        self.inner.catalogue.resolve(name)
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        self.inner.catalogue.similar(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        let mut info = self.inner.catalogue.info(model);
        info.api = Api::new(self.name(), Api::MESSAGES);
        info
    }

    fn ready(&self, _: &str) -> Result<(), ModelError> {
        Ok(())
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let inner = &*self.inner;
        let response = match inner.post(&request).await {
            Err(error) if inner.gives_up_controls(&request, &error) => inner.post(&request).await?,
            answer => answer?,
        };
        if response.header("content-type").is_some_and(|kind| !kind.starts_with("text/event-stream")) {
            return Err(inner.not_a_stream(response).await);
        }
        let request_id = response.header("request-id").map(str::to_owned);
        let limit = rate_limit(200, response.headers());
        let secrets = inner.secrets.clone();
        let stream = MessageStream::new(response.events(), secrets, request.raw_frames, request_id);
        Ok(Box::pin(stream.with_rate_limit(limit)))
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        #[derive(Deserialize)]
        struct Count {
            input_tokens: u64,
        }
        let inner = &*self.inner;
        let info = inner.catalogue.info(&request.model);
        let body = request::count(&request, &info, inner.takes_controls(&request.model));
        let headers = inner.headers(&request, &info)?;
        let response = inner.client.post("/v1/messages/count_tokens", headers, body).await.map_err(from_http)?;
        if response.status() != 200 {
            return Err(inner.refusal(response).await);
        }
        let text = response.text(MAX_BODY).await.map_err(from_http)?;
        let count: Count = serde_json::from_str(&text)
            .map_err(|error| protocol("the token count cannot be read").with_source(error))?;
        Ok(count.input_tokens)
    }
}
