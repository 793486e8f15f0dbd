//! Client of an authorisation server, and the proof of its identity.

use crate::error::words;
use crate::fetch::Fetch;
use crate::metadata::ServerMetadata;
use crate::{AuthError, OAuthConfig, SecretText};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Method by which a client proves its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientProof {
    None,
    ClientSecretBasic,
    ClientSecretPost,
}

impl ClientProof {
    fn named(name: &str) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "client_secret_basic" => Some(Self::ClientSecretBasic),
            "client_secret_post" => Some(Self::ClientSecretPost),
            _ => None,
        }
    }

    /// Returns the method that both sides support. A server that names none supports Basic, according to RFC 8414.
    fn fitting(server: &ServerMetadata, has_secret: bool) -> Self {
        let listed = server.token_endpoint_auth_methods_supported.as_deref();
        let takes = |name: &str| listed.is_none_or(|listed| listed.iter().any(|one| one == name));
        match has_secret {
            false => Self::None,
            true if takes("client_secret_basic") => Self::ClientSecretBasic,
            true if takes("client_secret_post") => Self::ClientSecretPost,
            // The server has not asked for the secret.
            true if takes("none") => Self::None,
            true => Self::ClientSecretBasic,
        }
    }
}

/// Client of one authorisation server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuthClient {
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<SecretText>,
    proof: ClientProof,
    /// Address to which the browser returns, for clients that were registered with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) redirect_uri: Option<String>,
}

impl AuthClient {
    /// Returns the client of the configuration, if it has one.
    pub(crate) fn configured(config: &OAuthConfig, server: &ServerMetadata) -> Option<Self> {
        let id = config.client_id.clone()?;
        let secret = config.client_secret.clone();
        let proof = ClientProof::fitting(server, secret.is_some());
        Some(Self { id, secret, proof, redirect_uri: None })
    }

    /// Returns the client that a metadata document describes, if the server supports such documents.
    pub(crate) fn described(config: &OAuthConfig, server: &ServerMetadata) -> Option<Self> {
        let id = config.client_metadata_url.clone().filter(|_| server.client_id_metadata_document_supported)?;
        Some(Self { id, secret: None, proof: ClientProof::None, redirect_uri: None })
    }

    /// Creates a client without an id, for grants that need none.
    pub(crate) fn anonymous() -> Self {
        Self { id: String::new(), secret: None, proof: ClientProof::None, redirect_uri: None }
    }

    /// Registers a client (RFC 7591).
    ///
    /// # Errors
    /// Fails if the server does not register clients, or refuses this one.
    pub(crate) async fn register(
        fetch: &Fetch,
        server: &ServerMetadata,
        name: &str,
        redirect_uri: &str,
    ) -> Result<Self, AuthError> {
        let Some(endpoint) = &server.registration_endpoint else {
            return Err(AuthError::Client(
                "the authorisation server registers no clients: register one there and put its id into the \
                 configuration as `oauth.clientId`"
                    .to_owned(),
            ));
        };
        let listed = server.token_endpoint_auth_methods_supported.as_deref().unwrap_or_default();
        let is_public = listed.is_empty() || listed.iter().any(|one| one == "none");
        let method = if is_public {
            "none"
        } else {
            listed.iter().find(|one| ClientProof::named(one).is_some()).map_or("none", String::as_str)
        };
        let asked = json!({
            "client_name": name,
            "application_type": "native",
            "redirect_uris": [redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
        });
        let answer = fetch.json(endpoint, &asked).await?;
        let registered = answer.json::<RegisteredClient>().filter(|_| answer.is_success());
        let Some(registered) = registered.filter(|registered| !registered.client_id.is_empty()) else {
            let refusal = answer.json::<RegistrationRefusal>().unwrap_or_default();
            let code = refusal.error.unwrap_or_else(|| format!("status {}", answer.status));
            let text = refusal.error_description.unwrap_or_default();
            return Err(AuthError::Client(format!(
                "the authorisation server does not register this client: {}",
                words(&format!("{code} {text}"))
            )));
        };
        let secret = registered.client_secret;
        let agreed = registered.token_endpoint_auth_method.as_deref().and_then(ClientProof::named);
        let agreed = agreed.filter(|proof| secret.is_some() || *proof == ClientProof::None);
        let proof = agreed.unwrap_or_else(|| ClientProof::fitting(server, secret.is_some()));
        Ok(Self { id: registered.client_id, secret, proof, redirect_uri: Some(redirect_uri.to_owned()) })
    }

    /// Adds the proof of identity to a request. Returns the value of the header `Authorization`, if one is needed.
    pub(crate) fn prove(&self, fields: &mut Vec<(&'static str, String)>) -> Option<String> {
        let secret = self.secret.as_ref().map(SecretText::expose).unwrap_or_default();
        let escaped = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        match self.proof {
            ClientProof::ClientSecretBasic => {
                let pair = format!("{}:{}", escaped(&self.id), escaped(secret));
                return Some(format!("Basic {}", STANDARD.encode(pair)));
            }
            ClientProof::ClientSecretPost => {
                fields.push(("client_id", self.id.clone()));
                fields.push(("client_secret", secret.to_owned()));
            }
            ClientProof::None if self.id.is_empty() => {}
            ClientProof::None => fields.push(("client_id", self.id.clone())),
        }
        None
    }
}

#[derive(Deserialize)]
struct RegisteredClient {
    client_id: String,
    #[serde(default)]
    client_secret: Option<SecretText>,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
}

#[derive(Default, Deserialize)]
struct RegistrationRefusal {
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    error_description: Option<String>,
}
