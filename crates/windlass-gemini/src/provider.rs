use crate::GeminiBuilder;
use crate::assembly::GeminiAssembly;
use crate::endpoint::{GeminiEndpoint, ModelMethod};
use crate::error::GeminiErrors;
use crate::models;
use crate::request::{self, GeminiTarget};
use crate::stream::GeminiStream;
use async_trait::async_trait;
use serde::Deserialize;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_http::provider::{
    Credential, CredentialKey, Credentials, from_http, google_credentials, other_credential,
};
use windlass_http::{Bytes, HeaderMap, HeaderValue, HttpClient, Response};
use windlass_model::{KnownModel, ModelError, ModelProvider, ModelStream, SessionFact, is_priced_otherwise};
use windlass_types::{Api, ModelErrorKind, ModelInfo, ModelRequest};

/// Maximum number of bytes read of an answer that is not a stream.
const MAX_BODY: usize = 64 * 1024;

/// Maximum total time to wait for the body of an error: its status is known already.
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);

/// Provider of Gemini models behind one service and one set of credentials.
///
/// Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Gemini {
    inner: Arc<GeminiState>,
}

struct GeminiState {
    client: HttpClient,
    headers: HeaderMap,
    key: RequestKey,
    endpoint: GeminiEndpoint,
    faults: GeminiErrors,
}

/// Authentication of requests.
pub(crate) enum RequestKey {
    InHeaders,
    Tokens(Arc<dyn Credentials>),
}

impl fmt::Debug for Gemini {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Gemini")
            .field("host", &self.inner.client.host())
            .field("endpoint", &self.inner.endpoint)
            .finish_non_exhaustive()
    }
}

impl Gemini {
    /// Creates a provider for the Gemini API with this key.
    ///
    /// # Errors
    /// Fails if the key is empty or cannot be a header.
    pub fn new(key: impl AsRef<str>) -> Result<Self, ModelError> {
        Self::builder().api_key(key).build()
    }

    /// Creates a provider from the environment: `GEMINI_API_KEY`, else `GOOGLE_API_KEY`, and `GOOGLE_GEMINI_BASE_URL`.
    /// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` name proxies, `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS`
    /// certificate authorities to trust.
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

    /// Returns the built-in models of the Gemini API; no key is needed.
    pub fn known() -> Vec<KnownModel> {
        models::known("gemini")
    }

    /// Returns a builder for the Gemini API.
    pub fn builder() -> GeminiBuilder {
        GeminiBuilder::new(GeminiEndpoint::Gemini)
    }

    /// Returns a builder for Vertex AI in a project and a location (`global`, `us`, `europe-west4`). Building needs a
    /// token or a source of tokens. The provider's name is `vertex`.
    pub fn vertex(project: impl Into<String>, location: impl Into<String>) -> GeminiBuilder {
        GeminiBuilder::new(GeminiEndpoint::Vertex { project: project.into(), location: location.into() })
    }

    /// Returns a [`vertex`](Self::vertex) builder with the settings of the vendor's own tools: the project in
    /// `GOOGLE_CLOUD_PROJECT` or `GCLOUD_PROJECT`, the location in `GOOGLE_CLOUD_LOCATION` or `CLOUD_ML_REGION`, the
    /// address in `GOOGLE_VERTEX_BASE_URL`, and the credentials that `GOOGLE_APPLICATION_CREDENTIALS` names, else those
    /// of the user who signed in with `gcloud auth application-default login`.
    ///
    /// # Errors
    /// `Configuration` if no project or no location is named; `Authentication` if no variable names the place of
    /// credentials.
    pub fn vertex_from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<GeminiBuilder, ModelError> {
        let get = |name: &str| lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let missing = |what: &str| ModelError::new(ModelErrorKind::Configuration, format!("no {what}")).unbilled();
        let project = get("GOOGLE_CLOUD_PROJECT").or_else(|| get("GCLOUD_PROJECT"));
        let project = project.ok_or_else(|| missing("project of Google Cloud: set GOOGLE_CLOUD_PROJECT"))?;
        let location = get("GOOGLE_CLOUD_LOCATION").or_else(|| get("CLOUD_ML_REGION"));
        let location =
            location.ok_or_else(|| missing("location: set GOOGLE_CLOUD_LOCATION, for example to `global`"))?;
        let builder = Self::vertex(project, location).lookup(&lookup).credentials(google_credentials(&lookup)?);
        Ok(match get("GOOGLE_VERTEX_BASE_URL") {
            Some(url) => builder.base_url(url),
            None => builder,
        })
    }

    pub(crate) fn assembled(
        client: HttpClient,
        headers: HeaderMap,
        key: RequestKey,
        endpoint: GeminiEndpoint,
        faults: GeminiErrors,
    ) -> Self {
        Self { inner: Arc::new(GeminiState { client, headers, key, endpoint, faults }) }
    }
}

impl GeminiState {
    fn target<'a>(&'a self, model: &'a str) -> GeminiTarget<'a> {
        GeminiTarget {
            model,
            family: models::family(model),
            searches: models::info(model).web_search.is_some(),
            endpoint: &self.endpoint,
        }
    }

    /// Posts a body. Returns the answer, and the factory of errors of this call, which masks its token too. A refused
    /// token is replaced once, if its source has another.
    async fn post(
        &self,
        model: &str,
        method: ModelMethod,
        body: Bytes,
    ) -> Result<(Response, GeminiErrors), ModelError> {
        let path = self.endpoint.path(model, method)?;
        let RequestKey::Tokens(source) = &self.key else { return self.post_with(None, &path, method, body).await };
        let credential = source.credential().await?;
        match self.post_with(Some(&credential), &path, method, body.clone()).await {
            Err(error) if matches!(error.status, Some(401 | 403)) => {
                match other_credential(source, &credential).await {
                    Some(other) => self.post_with(Some(&other), &path, method, body).await,
                    None => Err(error),
                }
            }
            answer => answer,
        }
    }

    async fn post_with(
        &self,
        credential: Option<&Credential>,
        path: &str,
        method: ModelMethod,
        body: Bytes,
    ) -> Result<(Response, GeminiErrors), ModelError> {
        let (mut headers, mut faults) = (self.headers.clone(), self.faults.clone());
        if let Some(credential) = credential {
            let CredentialKey::Bearer(token) = &credential.key else {
                let text = "the source of credentials gave keys of AWS; Google Cloud takes access tokens";
                return Err(ModelError::new(ModelErrorKind::Configuration, text).unbilled());
            };
            headers.insert("authorization", token.header("Bearer ").map_err(from_http)?);
            credential.keep_out(&mut faults.secrets);
        }
        if method == ModelMethod::Stream {
            headers.insert("accept", HeaderValue::from_static("text/event-stream"));
            // Compression on the way would delay chunks to fill its window.
            headers.insert("accept-encoding", HeaderValue::from_static("identity"));
        }
        let response = self.client.post(path, headers, body).await.map_err(from_http)?;
        if response.status() == 200 {
            return Ok((response, faults));
        }
        let (status, headers) = (response.status(), response.headers().clone());
        // An error without its body, or with half of it, still has its status.
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        Err(faults.answer(status, &headers, &body))
    }
}

/// Returns the error of an answer with status 200 that is no event stream: an error of a gateway, or the page of a
/// server that is not the API at all.
async fn not_a_stream(response: Response, faults: &GeminiErrors) -> ModelError {
    let kind = response.header("content-type").unwrap_or_default().to_owned();
    let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
    if faults.is_error(&body) {
        return faults.in_stream(&body);
    }
    let setting = &faults.vendor.base_url;
    let error = faults.protocol(format_args!("the answer is {kind}, not an event stream; check {setting}"));
    // A whole message may have been written and not streamed; a page is no message.
    if kind.contains("json") { error } else { error.unbilled() }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Gemini {
    fn name(&self) -> &str {
        match self.inner.endpoint {
            GeminiEndpoint::Gemini => "gemini",
            GeminiEndpoint::Vertex { .. } => "vertex",
        }
    }

    fn resolve_model(&self, name: &str) -> String {
        models::resolve(name)
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        models::similar(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        let mut info = models::info(model);
        info.api = Api::new(self.name(), Api::GEMINI);
        info
    }

    fn known_models(&self) -> Vec<KnownModel> {
        models::known(self.name())
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        is_priced_otherwise(&self.model_info(asked), &self.model_info(answered)).then(|| answered.to_owned())
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        // A built provider has a key or a source of tokens.
        self.inner.endpoint.path(model, ModelMethod::Stream).map(drop)
    }

    async fn prepare(&self, _: &str) {}

    fn opening_notice(&self, _: &str) -> Option<String> {
        None
    }

    fn recorded_fact(&self, _: SessionFact, _: &str) -> Option<String> {
        None
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let inner = &*self.inner;
        let body = request::call(&request, &inner.target(&request.model));
        let (response, faults) = inner.post(&request.model, ModelMethod::Stream, body).await?;
        if response.header("content-type").is_some_and(|kind| !kind.starts_with("text/event-stream")) {
            return Err(not_a_stream(response, &faults).await);
        }
        let assembly = GeminiAssembly::new(request.model.clone(), faults);
        Ok(Box::pin(GeminiStream::new(response.events(), assembly, request.raw_frames)))
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct TokenCountResponse {
            total_tokens: u64,
        }
        let inner = &*self.inner;
        let body = request::count(&request, &inner.target(&request.model));
        let (response, faults) = inner.post(&request.model, ModelMethod::CountTokens, body).await?;
        let text = response.text(MAX_BODY).await.map_err(from_http)?;
        if faults.is_error(&text) {
            return Err(faults.in_stream(&text));
        }
        match serde_json::from_str::<TokenCountResponse>(&text) {
            Ok(count) => Ok(count.total_tokens),
            Err(error) => Err(faults.unreadable("the token count", &error)),
        }
    }
}
