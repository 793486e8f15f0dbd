//! Answers to the requests of a server: elicitation, roots and sampling.
//!
//! Servers of older revisions send requests of their own. Servers of newer revisions ask in place of a result, and the
//! request is sent again with the answers.

#![expect(
    deprecated,
    reason = "roots and sampling are left out of newer revisions, and servers of older ones ask for them"
)]

use crate::{
    Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest, McpOptions, McpServerConfig, McpVisit,
    Sampling, SamplingLimits, SamplingRequest,
};
use futures_util::future::try_join_all;
use rmcp::model::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability, InputRequest, InputRequests,
    InputResponses, JsonObject, ListRootsResult, Root, RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use windlass_types::JsonText;

/// Maximum number of elicitations of a server that wait for a person.
const MAX_ELICITATIONS: usize = 4;
/// Maximum number of sampling requests of a server that are open.
const MAX_SAMPLING_REQUESTS: usize = 2;
/// Maximum number of inputs that a server requests in place of one result.
const MAX_INPUTS: usize = 16;
const NOT_OFFERED: &str = "the server asks for what the client does not offer";
/// Maximum length of a page address, in bytes.
const MAX_URL_BYTES: usize = 2000;
/// JSON-RPC code of an error that names pages to visit.
const VISIT_NEEDED: i32 = -32042;
/// Maximum length of an elicitation text, in characters.
const MAX_TEXT_CHARS: usize = 4000;

/// Answers the requests of one server.
pub(crate) struct Answers {
    server: String,
    elicitation: Option<Arc<dyn Elicitation>>,
    questions: Semaphore,
    roots: Vec<PathBuf>,
    sampling: Option<Arc<dyn Sampling>>,
    /// Sampling limits for models of a session; `None` if the program supplies its own [`Sampling`].
    limits: Option<SamplingLimits>,
    samples: Semaphore,
}

impl Answers {
    pub(crate) fn new(server: &str, config: &McpServerConfig, options: &McpOptions) -> Self {
        let of_session = || config.sampling.map(|_| Arc::new(options.samplers.clone()) as Arc<dyn Sampling>);
        Self {
            server: server.to_owned(),
            elicitation: options.elicitation.clone(),
            questions: Semaphore::new(MAX_ELICITATIONS),
            roots: options.roots.clone(),
            sampling: options.sampling.clone().or_else(of_session),
            limits: config.sampling,
            samples: Semaphore::new(MAX_SAMPLING_REQUESTS),
        }
    }

    /// Returns the client capabilities that are announced to the server.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.elicitation.is_some().then(|| {
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default())
        });
        capabilities.sampling = self.sampling.as_ref().map(|sampling| {
            let mut capability = SamplingCapability::default();
            capability.tools = sampling.takes_tools().then(JsonObject::new);
            capability
        });
        capabilities.roots = (!self.roots.is_empty()).then(RootsCapabilities::default);
        capabilities
    }

    /// Returns the project directories announced to the server.
    pub(crate) fn roots(&self) -> ListRootsResult {
        ListRootsResult::new(self.roots.iter().filter_map(|root| file_url(root)).map(Root::new).collect())
    }

    /// Answers an elicitation. Dropping the future withdraws the elicitation.
    pub(crate) async fn elicit(&self, params: ElicitRequestParams) -> ElicitResult {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let (Some(elicitation), Ok(_place)) = (&self.elicitation, self.questions.try_acquire()) else {
            return declined;
        };
        let Some(question) = self.question(params) else {
            return declined;
        };
        let schema = match &question.kind {
            ElicitationKind::Form { schema } => schema.to::<Value>().unwrap_or_default(),
            ElicitationKind::Url { .. } => Value::Null,
        };
        match elicitation.elicit(question).await {
            ElicitationAnswer::Accept(content) => {
                let given = content.and_then(|content| content.to::<Value>().ok());
                let accepted = ElicitResult::new(ElicitationAction::Accept);
                match with_defaults(given, &schema) {
                    Some(content) => accepted.with_content(content),
                    None => accepted,
                }
            }
            ElicitationAnswer::Decline => declined,
            ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        }
    }

    fn question(&self, params: ElicitRequestParams) -> Option<ElicitationRequest> {
        let (message, kind) = match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                (message, ElicitationKind::Form { schema: JsonText::of(&requested_schema).ok()? })
            }
            ElicitRequestParams::UrlElicitationParams { message, url, elicitation_id, .. } => {
                (message, ElicitationKind::Url { url, id: elicitation_id })
            }
            _ => return None,
        };
        let message: String = message.chars().take(MAX_TEXT_CHARS).collect();
        Some(ElicitationRequest::new(&self.server, message, kind))
    }

    /// Answers a sampling request. Dropping the future withdraws the request.
    ///
    /// # Errors
    /// Fails if sampling is not offered, or if the request is refused or fails.
    pub(crate) async fn sample(&self, params: &CreateMessageRequestParams) -> Result<CreateMessageResult, ErrorData> {
        let broken = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
        let answer = self.message(serde_json::to_value(params).map_err(broken)?).await?;
        serde_json::from_value(answer).map_err(broken)
    }

    /// Answers a sampling request given as unchecked JSON parameters.
    pub(crate) async fn message(&self, params: Value) -> Result<Value, ErrorData> {
        let refused = |why: String| ErrorData::invalid_request(why, None);
        let Some(sampling) = &self.sampling else { return Err(refused(NOT_OFFERED.to_owned())) };
        let Ok(_place) = self.samples.try_acquire() else {
            return Err(refused("too many requests are open".to_owned()));
        };
        let invalid = |why: String| ErrorData::invalid_params(why, None);
        let takes_tools = sampling.takes_tools();
        let mut request = SamplingRequest::read(&self.server, params, takes_tools).map_err(invalid)?;
        if let Some(limits) = self.limits {
            (request.max_tokens, request.limits) = (request.max_tokens.min(limits.max_tokens), limits);
        }
        let names = request.names.clone();
        let answer = sampling.sample(request).await.map_err(refused)?;
        answer.result(&names).map_err(refused)
    }

    /// Asks a person to visit pages, one after the other. An accepted visit is not necessarily completed.
    pub(crate) async fn visit(&self, visits: &[McpVisit]) {
        for McpVisit { url, message, id } in visits {
            let (message, url, elicitation_id) = (message.clone(), url.clone(), id.clone());
            self.elicit(ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id }).await;
        }
    }

    /// Answers the input requests that a server sent in place of a result, concurrently.
    ///
    /// # Errors
    /// Fails if the server requests an input that the client does not offer, or too many inputs at once.
    pub(crate) async fn input(&self, requests: InputRequests) -> Result<InputResponses, ErrorData> {
        if requests.len() > MAX_INPUTS {
            return Err(ErrorData::invalid_request("the server asks for too much at once", None));
        }
        let answers = requests.into_iter().map(|(key, request)| async move { Ok((key, self.one(request).await?)) });
        Ok(try_join_all(answers).await?.into_iter().collect())
    }

    async fn one(&self, request: InputRequest) -> Result<Value, ErrorData> {
        let written = match request {
            InputRequest::Elicitation(request) => serde_json::to_value(self.elicit(request.params).await),
            InputRequest::ListRoots(_) if !self.roots.is_empty() => serde_json::to_value(self.roots()),
            InputRequest::CreateMessage(request) => serde_json::to_value(self.sample(&request.params).await?),
            _ => return Err(ErrorData::invalid_request(NOT_OFFERED, None)),
        };
        written.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// Returns the pages named by an error with the code `VISIT_NEEDED`.
pub(crate) fn visits(error: &ErrorData) -> Vec<McpVisit> {
    let listed = error.data.as_ref().and_then(|data| data.get("elicitations")).and_then(Value::as_array);
    let named = listed.filter(|_| error.code.0 == VISIT_NEEDED).into_iter().flatten();
    let read = named.filter_map(|entry| serde_json::from_value::<McpVisit>(entry.clone()).ok());
    read.filter(|visit| !visit.url.is_empty() && visit.url.len() <= MAX_URL_BYTES).take(MAX_ELICITATIONS).collect()
}

/// Returns the person's values, completed with the schema's default for each property without a value.
fn with_defaults(given: Option<Value>, schema: &Value) -> Option<Value> {
    let mut content = match given {
        Some(Value::Object(content)) => content,
        Some(other) => return Some(other),
        None => Map::new(),
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return (!content.is_empty()).then_some(Value::Object(content));
    };
    for (name, property) in properties {
        if let Some(default) = property.get("default")
            && !content.contains_key(name)
        {
            content.insert(name.clone(), default.clone());
        }
    }
    Some(Value::Object(content))
}

/// Converts a directory to a `file:` URL; `None` if the path is not absolute.
fn file_url(path: &std::path::Path) -> Option<String> {
    reqwest::Url::from_directory_path(path).ok().map(|url| {
        let url = url.to_string();
        // Servers compare roots with parent directories of files, which have no trailing slash.
        if url.len() > "file:///".len() { url.trim_end_matches('/').to_owned() } else { url }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_fill_what_is_missing() {
        let schema = json!({ "properties": {
            "name": { "type": "string", "default": "John" }, "age": { "default": 30 }, "free": { "type": "string" },
        } });
        for (given, expected) in [
            (None, Some(json!({ "name": "John", "age": 30 }))),
            (Some(json!({})), Some(json!({ "name": "John", "age": 30 }))),
            (Some(json!({ "name": "Ada", "age": null })), Some(json!({ "name": "Ada", "age": null }))),
            (Some(json!([1])), Some(json!([1]))),
        ] {
            assert_eq!(with_defaults(given.clone(), &schema), expected, "{given:?}");
        }
        // An answer without values.
        assert_eq!(with_defaults(None, &Value::Null), None);
        assert_eq!(with_defaults(Some(json!({ "a": 1 })), &Value::Null), Some(json!({ "a": 1 })));
    }

    #[cfg(unix)]
    #[test]
    fn roots_are_addresses_of_directories() {
        use std::path::Path;
        assert_eq!(file_url(Path::new("/a b/ü")).as_deref(), Some("file:///a%20b/%C3%BC"));
        assert_eq!(file_url(Path::new("/")).as_deref(), Some("file:///"));
        assert_eq!(file_url(Path::new("relative")), None);
    }
}
