use crate::BedrockBuilder;
use crate::assembly::ConverseAssembly;
use crate::endpoint::{self, Operation};
use crate::error::{ConverseErrors, request_id};
use crate::models;
use crate::request::{self, ConverseTarget};
use crate::service::{RegionalService, ServiceRegion};
use crate::stream::ConverseStream;
use crate::whole::{self, WholeModels};
use async_trait::async_trait;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_http::provider::{Clock, Credential, Credentials, from_http, other_credential, stable_hash};
use windlass_http::{Bytes, HeaderMap, HeaderValue, Response};
use windlass_model::{KnownModel, ModelError, ModelProvider, ModelStream, SessionFact};
use windlass_types::{Api, ModelErrorKind, ModelInfo, ModelRequest};

/// Maximum number of bytes read of an answer that is not a stream.
const MAX_BODY: usize = 64 * 1024;

/// Maximum number of bytes read of an answer that comes in one piece.
const MAX_ANSWER: usize = 32 << 20;

/// Maximum total time to wait for the body of an error: its status is known already.
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);

/// Media type of streams.
const EVENT_STREAM: &str = "application/vnd.amazon.eventstream";

/// Provider of Amazon Bedrock models behind one set of credentials, over the Converse API.
///
/// Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Bedrock {
    inner: Arc<ConverseState>,
}

pub(crate) struct ConverseState {
    pub(crate) service: RegionalService,
    pub(crate) headers: HeaderMap,
    /// Source of credentials. `None` if the headers authenticate.
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    /// Models behind ids that do not show them.
    pub(crate) stand_ins: BTreeMap<String, String>,
    pub(crate) faults: ConverseErrors,
    pub(crate) clock: Clock,
    /// Models that do not stream.
    pub(crate) whole: WholeModels,
}

/// Request without its credential.
struct UnsignedRequest {
    site: ServiceRegion,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl fmt::Debug for Bedrock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Bedrock").field("host", &self.inner.service.host()).finish_non_exhaustive()
    }
}

impl Bedrock {
    /// Creates a provider from the environment. Credentials are the first available of `AWS_BEARER_TOKEN_BEDROCK`, the
    /// profile in `AWS_PROFILE`, the keys in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, and
    /// the profile `default`; the region is that of `AWS_REGION`, `AWS_DEFAULT_REGION`, or of the profile. The address
    /// of another host is the first set one of `AWS_ENDPOINT_URL_BEDROCK_RUNTIME`, `AWS_ENDPOINT_URL` and
    /// `ANTHROPIC_BEDROCK_BASE_URL`.
    ///
    /// # Errors
    /// Fails if there are no credentials, there is no region, or a setting is unusable.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// Does the same as [`from_env`](Self::from_env) with another source of the variables.
    ///
    /// # Errors
    /// Fails if there are no credentials, there is no region, or a setting is unusable.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        Self::builder().lookup(lookup).build()
    }

    /// Returns the built-in models, each by the prefix of its name; no credentials are needed.
    pub fn known() -> Vec<KnownModel> {
        models::known("bedrock")
    }

    /// Returns a builder.
    pub fn builder() -> BedrockBuilder {
        BedrockBuilder::default()
    }

    /// `true` if a name belongs to this API: that of a model of another vendor than Anthropic, an alias of one, or a
    /// resource whose name does not show the model. Claude does more over its own API, which Bedrock has as well.
    pub fn is_for(name: &str) -> bool {
        models::is_for_converse(name)
    }

    pub(crate) fn assembled(inner: ConverseState) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

impl ConverseState {
    /// Returns the model behind a name, as far as it is known.
    fn behind<'a>(&'a self, model: &'a str) -> &'a str {
        self.stand_ins.get(model).map_or(model, String::as_str)
    }

    fn info(&self, model: &str) -> ModelInfo {
        let mut info = models::info(self.behind(model));
        info.api = Api::new("bedrock", Api::CONVERSE);
        info
    }

    /// Returns the body that a function makes for the model of a request.
    fn body(&self, request: &ModelRequest, make: fn(&ModelRequest, ConverseTarget<'_>) -> Bytes) -> Bytes {
        let info = self.info(&request.model);
        make(request, ConverseTarget { family: models::family(self.behind(&request.model)), info: &info })
    }

    fn call(&self, model: &str, operation: Operation, body: Bytes) -> Result<UnsignedRequest, ModelError> {
        let (path, site) = (endpoint::path(model, operation)?, self.service.site_of(model)?);
        let mut headers = self.headers.clone();
        if operation == Operation::ConverseStream {
            headers.insert("accept", HeaderValue::from_static(EVENT_STREAM));
            // Compression on the way would delay chunks to fill its window.
            headers.insert("accept-encoding", HeaderValue::from_static("identity"));
        }
        Ok(UnsignedRequest { site, path, headers, body })
    }

    /// Sends a request, and once more if its credential is refused and the source then has another. Returns the answer,
    /// and the factory of errors of this call, which masks its credential too.
    async fn send(&self, call: &UnsignedRequest) -> Result<(Response, ConverseErrors), ModelError> {
        let Some(source) = &self.credentials else { return self.send_with(call, None).await };
        let credential = source.credential().await?;
        match self.send_with(call, Some(&credential)).await {
            // Access to a model is refused with the same status, and is not the fault of the credential.
            Err(error) if error.kind == ModelErrorKind::Authentication => {
                match other_credential(source, &credential).await {
                    Some(other) => self.send_with(call, Some(&other)).await,
                    None => Err(error),
                }
            }
            answer => answer,
        }
    }

    async fn send_with(
        &self,
        call: &UnsignedRequest,
        credential: Option<&Credential>,
    ) -> Result<(Response, ConverseErrors), ModelError> {
        let UnsignedRequest { site, path, headers, body } = call;
        let (mut headers, mut faults) = (headers.clone(), self.faults.clone());
        if let Some(credential) = credential {
            site.authorize(credential, &mut headers, path, body, self.clock.now())?;
            credential.keep_out(&mut faults.secrets);
        }
        let response = site.client.post(path, headers, body.clone()).await.map_err(from_http)?;
        if response.status() == 200 {
            return Ok((response, faults));
        }
        let (status, headers) = (response.status(), response.headers().clone());
        // An error without its body, or with half of it, still has its status.
        let body = response.excerpt(MAX_BODY, ERROR_BODY_TIME).await;
        Err(faults.answer(status, &headers, &body))
    }
}

impl ConverseState {
    async fn streamed(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let call = self.call(&request.model, Operation::ConverseStream, self.body(request, request::call))?;
        let (response, faults) = self.send(&call).await?;
        if response.header("content-type").is_some_and(|kind| !kind.starts_with(EVENT_STREAM)) {
            return Err(not_a_stream(response, &faults).await);
        }
        let request_id = request_id(response.headers());
        let assembly = assembly(request, &call, request_id.as_deref(), faults);
        Ok(Box::pin(ConverseStream::new(response.body(), assembly, request_id, request.raw_frames)))
    }

    async fn in_one_piece(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let call = self.call(&request.model, Operation::Converse, self.body(request, request::call))?;
        let (response, faults) = self.send(&call).await?;
        let request_id = request_id(response.headers());
        let mut assembly = assembly(request, &call, request_id.as_deref(), faults.clone());
        let body = response.text(MAX_ANSWER).await.map_err(from_http)?;
        whole::read(&body, &mut assembly, &faults).map_err(|error| error.with_request_id(request_id))?;
        Ok(Box::pin(ConverseStream::whole(assembly, request.raw_frames)))
    }
}

/// Creates the assembly of a call's message. A gateway may drop the id of the request; the hash of the body differs
/// from call to call.
fn assembly(
    request: &ModelRequest,
    call: &UnsignedRequest,
    id: Option<&str>,
    faults: ConverseErrors,
) -> ConverseAssembly {
    let id = id.map_or_else(|| format!("msg_{:032x}", stable_hash(&call.body)), str::to_owned);
    ConverseAssembly::new(request.model.clone(), id, faults)
}

/// Returns the error of an answer with status 200 that is no event stream: the page of a server that is not the API at
/// all.
async fn not_a_stream(response: Response, faults: &ConverseErrors) -> ModelError {
    let kind = response.header("content-type").unwrap_or_default().to_owned();
    let setting = &faults.vendor.base_url;
    let error = faults.protocol(format_args!("the answer is {kind}, not an event stream; check {setting}"));
    // A whole message may have been written and not streamed; a page is no message.
    if kind.contains("json") { error } else { error.unbilled() }
}

/// Converts the error of a token count. Few models have the operation; the API refuses it for others like an invalid
/// request.
fn cannot_count(model: &str, error: ModelError) -> ModelError {
    if error.kind != ModelErrorKind::InvalidRequest || !error.message.contains("counting tokens") {
        return error;
    }
    let text = format!("bedrock cannot count the tokens of a request to {model}: {}", error.message);
    ModelError::new(ModelErrorKind::Configuration, text).with_request_id(error.request_id.clone()).unbilled()
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ModelProvider for Bedrock {
    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn resolve_model(&self, name: &str) -> String {
        models::resolve(name, self.inner.service.region())
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        models::similar(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        self.inner.info(model)
    }

    fn known_models(&self) -> Vec<KnownModel> {
        models::known(self.name())
    }

    fn answering_model(&self, _: &str, _: &str) -> Option<String> {
        // No model of the table has a price.
        None
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        // A built provider has credentials.
        endpoint::path(model, Operation::ConverseStream).map(drop)
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
        if !inner.whole.contains(&request.model) {
            match inner.streamed(&request).await {
                Err(error) if inner.whole.learn(&request.model, &error) => {}
                answer => return answer,
            }
        }
        inner.in_one_piece(&request).await
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ConverseTokens {
            input_tokens: u64,
        }
        let inner = &*self.inner;
        let body = inner.body(&request, request::count);
        let call = inner.call(&request.model, Operation::CountTokens, body)?;
        let (response, faults) = inner.send(&call).await.map_err(|error| cannot_count(&request.model, error))?;
        let text = response.text(MAX_BODY).await.map_err(from_http)?;
        match serde_json::from_str::<ConverseTokens>(&text) {
            Ok(count) => Ok(count.input_tokens),
            Err(error) => Err(faults.unreadable("the token count", &error)),
        }
    }
}
