//! Services that speak the Messages API: the API itself, and those of clouds.

#[cfg(feature = "bedrock")]
mod bedrock;
mod vertex;

#[cfg(feature = "bedrock")]
pub(crate) use bedrock::BedrockEndpoints;
pub(crate) use vertex::Vertex;

use windlass_http::provider::{Clock, Credential, CredentialKey, Vendor, from_http};
use windlass_http::{HeaderMap, HttpClient};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

use crate::form::MessagesForm;

/// Operation on a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PlatformMethod {
    Stream,
    CountTokens,
}

/// Service, with its connections.
#[derive(Debug)]
pub(crate) enum Platform {
    Anthropic(HttpClient),
    #[cfg(feature = "bedrock")]
    Bedrock(Box<BedrockEndpoints>),
    Vertex(Vertex),
}

/// Route of a request, and its authentication there.
pub(crate) struct PlatformRoute {
    pub(crate) client: HttpClient,
    pub(crate) path: String,
    #[cfg(feature = "bedrock")]
    signer: Option<windlass_http::sigv4::Signer>,
}

impl PlatformRoute {
    fn new(client: HttpClient, path: impl Into<String>) -> Self {
        Self {
            client,
            path: path.into(),
            #[cfg(feature = "bedrock")]
            signer: None,
        }
    }

    /// Adds the authentication by a credential to the headers of a request.
    pub(crate) fn authorize(
        &self,
        credential: &Credential,
        headers: &mut HeaderMap,
        body: &[u8],
        clock: &Clock,
    ) -> Result<(), ModelError> {
        #[cfg(feature = "bedrock")]
        if let Some(signer) = &self.signer {
            return signer.authorize(credential, headers, &self.path, body, clock.now()).map_err(from_http);
        }
        let _ = (body, clock);
        let CredentialKey::Bearer(token) = &credential.key else {
            let text = "the source of credentials gave keys of AWS; this service takes tokens";
            return Err(ModelError::new(ModelErrorKind::Configuration, text).unbilled());
        };
        headers.insert("authorization", token.header("Bearer ").map_err(from_http)?);
        // A source of tokens may return a key of the API, which takes it under this name.
        if token.begins_with("sk-ant-api") {
            headers.insert("x-api-key", token.header("").map_err(from_http)?);
        }
        Ok(())
    }
}

impl Platform {
    /// Returns the name of the provider, which messages keep as their origin.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Anthropic(_) => "anthropic",
            #[cfg(feature = "bedrock")]
            Self::Bedrock(_) => "bedrock",
            Self::Vertex(_) => "vertex",
        }
    }

    pub(crate) fn host(&self) -> &str {
        match self {
            Self::Anthropic(client) => client.host(),
            #[cfg(feature = "bedrock")]
            Self::Bedrock(bedrock) => bedrock.host(),
            Self::Vertex(vertex) => vertex.host(),
        }
    }

    /// `true` if the service knows fewer betas than the API, so that refused ones are left out. The API itself refuses
    /// only wrong ones, which the user must see.
    pub(crate) fn knows_fewer_betas(&self) -> bool {
        !matches!(self, Self::Anthropic(_))
    }

    /// `true` if the service searches the web for its models.
    pub(crate) fn searches_the_web(&self) -> bool {
        matches!(self, Self::Anthropic(_) | Self::Vertex(_))
    }

    /// Returns the basic form of requests.
    pub(crate) fn form(&self) -> MessagesForm {
        match self {
            Self::Vertex(_) => MessagesForm { version: Some(vertex::VERSION), model: false, ..MessagesForm::default() },
            _ => MessagesForm::default(),
        }
    }

    /// Returns the id under which the service knows a model of the vendor.
    pub(crate) fn id(&self, model: String) -> String {
        match self {
            Self::Anthropic(_) => model,
            #[cfg(feature = "bedrock")]
            Self::Bedrock(bedrock) => bedrock.id(model),
            Self::Vertex(_) => vertex::id(model),
        }
    }

    /// Route of the list of models at a server of the user. `None` for the vendor's API and those of clouds: a table has their models.
    pub(crate) fn model_list(&self) -> Option<PlatformRoute> {
        match self {
            Self::Anthropic(client) if !is_of_vendor(client.host()) => {
                Some(PlatformRoute::new(client.clone(), "/v1/models"))
            }
            _ => None,
        }
    }

    /// Returns the route of a request for a model.
    ///
    /// # Errors
    /// Fails if the name is no valid model name there.
    pub(crate) fn route(&self, model: &str, method: PlatformMethod) -> Result<PlatformRoute, ModelError> {
        match self {
            Self::Anthropic(client) => Ok(PlatformRoute::new(client.clone(), messages(method))),
            #[cfg(feature = "bedrock")]
            Self::Bedrock(bedrock) => bedrock.route(model, method),
            Self::Vertex(vertex) => vertex.route(model, method),
        }
    }
}

/// `true` for the vendor's own hosts.
fn is_of_vendor(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "anthropic.com" || name.ends_with(".anthropic.com")
}

fn messages(method: PlatformMethod) -> &'static str {
    match method {
        PlatformMethod::Stream => "/v1/messages",
        PlatformMethod::CountTokens => "/v1/messages/count_tokens",
    }
}

/// Returns the names of a service's settings for errors.
pub(crate) fn vendor(name: &str) -> Vendor {
    match name {
        "bedrock" => Vendor::new("AWS_BEARER_TOKEN_BEDROCK, or the credentials of AWS", "the region and the base URL"),
        "vertex" => Vendor::new("the credentials of Google Cloud", "the project, the region and the base URL"),
        _ => Vendor::new("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    }
}

/// Checks a name that becomes part of an address.
///
/// # Errors
/// `Configuration` if the name holds characters that would change the address.
pub(crate) fn check_name(what: &str, name: &str, also: &[u8]) -> Result<(), ModelError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || also.contains(&byte);
    if name.is_empty() || !name.bytes().all(plain) || name.starts_with(['-', '.']) {
        let text = format!("the {what} {name:?} is none: it holds letters, digits and hyphens");
        return Err(ModelError::new(ModelErrorKind::Configuration, text).unbilled());
    }
    Ok(())
}

/// Renames a model whose cloud name is in a table, and keeps the suffix of a long context window.
fn renamed(model: &str, rename: impl Fn(&str) -> Option<String>) -> Option<String> {
    let base = windlass_model::Catalogue::wire_id(model);
    let suffix = model.get(base.len()..).unwrap_or_default();
    Some(format!("{}{suffix}", rename(base)?))
}
