//! Configuration of the login to a server.

use crate::SecretText;
use crate::metadata::scopes;
use serde_json::Value;
use std::fmt;

/// Configuration of the tokens for a server. Everything may be left out: a client is registered then, and the user logs
/// in with a browser.
#[derive(Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OAuthConfig {
    /// Id of a client that is registered already. Default: `None`, the authorisation server is asked to register one.
    pub client_id: Option<String>,
    /// Secret of that client. Default: `None`, a public client.
    pub client_secret: Option<SecretText>,
    /// Address of a document that describes the client. Used as the id of the client if the authorisation server
    /// supports such documents and no `client_id` is given.
    pub client_metadata_url: Option<String>,
    /// Port of this machine to which the browser returns. Default: a free one. Clients that are registered already
    /// often need a fixed one.
    pub callback_port: Option<u16>,
    /// Address of the authorisation server's metadata, for servers that do not name it.
    pub metadata_url: Option<String>,
    /// Scopes to request, in place of those that the server names.
    pub scopes: Vec<String>,
    /// Name that distinguishes several logins to one server. Default: empty.
    pub account: String,
    /// Grant by which tokens are requested. Default: the user, with a browser.
    pub grant: OAuthGrant,
}

/// Grant by which tokens are requested.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OAuthGrant {
    /// Login of the user, with a browser (`authorization_code`).
    #[default]
    Browser,
    /// Login of the program itself (`client_credentials`), with the client's secret or with this key.
    ClientCredentials {
        /// Private key in PKCS #8 form, PEM: of P-256, P-384 or RSA. Needs the feature `private-key-jwt`.
        private_key: Option<SecretText>,
    },
    /// Login of the program, with an assertion of its platform (`urn:ietf:params:oauth:grant-type:jwt-bearer`).
    JwtBearer {
        /// Assertion, a JSON web token.
        assertion: SecretText,
    },
    /// Login of the user at an identity provider: its token is exchanged for one that the authorisation server accepts.
    IdentityProvider(IdentityProvider),
}

/// Identity provider that vouches for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdentityProvider {
    /// Token endpoint of the provider.
    pub token_endpoint: String,
    /// Id of the client at the provider.
    pub client_id: String,
    /// Secret of the client at the provider.
    pub client_secret: Option<SecretText>,
    /// Identity token of the user.
    pub id_token: SecretText,
}

impl IdentityProvider {
    /// Creates an identity provider with a public client.
    #[must_use]
    pub fn new(token_endpoint: impl Into<String>, client_id: impl Into<String>, id_token: SecretText) -> Self {
        Self { token_endpoint: token_endpoint.into(), client_id: client_id.into(), client_secret: None, id_token }
    }
}

impl OAuthGrant {
    /// `true` if tokens are requested without a person at a browser.
    #[must_use]
    pub fn is_automatic(&self) -> bool {
        !matches!(self, Self::Browser)
    }
}

impl OAuthConfig {
    /// Reads `{"clientId"?, "clientSecret"?, "clientMetadataUrl"?, "callbackPort"?, "authServerMetadataUrl"?,
    /// "scopes"?, "account"?, "grant"?}`. `scopes` is a text with spaces or a list. `grant` is `authorization_code`
    /// (the default), `client_credentials` with `privateKey`?, `jwt_bearer` with `assertion`, or `identity_provider`
    /// with `identityProvider`: `{"tokenEndpoint", "clientId", "clientSecret"?, "idToken"}`. `expand` replaces
    /// variables in each text. Unknown members are ignored.
    ///
    /// # Errors
    /// Returns the reason, without values, if a member has the wrong form or `expand` fails.
    pub fn from_json(value: &Value, expand: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, String> {
        let read = ConfigMembers { value, expand };
        if !value.is_object() {
            return Err("its `oauth` is not an object".to_owned());
        }
        let port = match value.get("callbackPort") {
            None | Some(Value::Null) => None,
            Some(port) => Some(
                port.as_u64()
                    .and_then(|port| u16::try_from(port).ok())
                    .filter(|port| *port > 0)
                    .ok_or("its `oauth.callbackPort` is not a port")?,
            ),
        };
        Ok(Self {
            client_id: read.text("clientId")?,
            client_secret: read.secret("clientSecret")?,
            client_metadata_url: read.text("clientMetadataUrl")?,
            callback_port: port,
            metadata_url: read.text("authServerMetadataUrl")?,
            scopes: match value.get("scopes") {
                Some(Value::Array(list)) => scopes(list.iter().filter_map(Value::as_str)),
                _ => scopes(read.text("scopes")?.as_deref()),
            },
            account: read.text("account")?.unwrap_or_default(),
            grant: read.grant()?,
        })
    }
}

/// Members of an object.
struct ConfigMembers<'a> {
    value: &'a Value,
    expand: &'a dyn Fn(&str) -> Result<String, String>,
}

impl ConfigMembers<'_> {
    fn text(&self, name: &str) -> Result<Option<String>, String> {
        match self.value.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => (self.expand)(text).map(Some),
            Some(_) => Err(format!("its `oauth.{name}` is not a text")),
        }
    }

    fn secret(&self, name: &str) -> Result<Option<SecretText>, String> {
        Ok(self.text(name)?.map(SecretText::new))
    }

    fn grant(&self) -> Result<OAuthGrant, String> {
        let needs = |name: &str| format!("its `oauth` needs `{name}` for this grant");
        match self.text("grant")?.as_deref() {
            None | Some("authorization_code") => Ok(OAuthGrant::Browser),
            Some("client_credentials") => Ok(OAuthGrant::ClientCredentials { private_key: self.secret("privateKey")? }),
            Some("jwt_bearer") => {
                let assertion = self.secret("assertion")?.ok_or_else(|| needs("assertion"))?;
                Ok(OAuthGrant::JwtBearer { assertion })
            }
            Some("identity_provider") => {
                let value = self.value.get("identityProvider").ok_or_else(|| needs("identityProvider"))?;
                let read = ConfigMembers { value, expand: self.expand };
                let provider = IdentityProvider {
                    token_endpoint: read.text("tokenEndpoint")?.ok_or_else(|| needs("tokenEndpoint"))?,
                    client_id: read.text("clientId")?.ok_or_else(|| needs("clientId"))?,
                    client_secret: read.secret("clientSecret")?,
                    id_token: read.secret("idToken")?.ok_or_else(|| needs("idToken"))?,
                };
                Ok(OAuthGrant::IdentityProvider(provider))
            }
            Some(other) => Err(format!("its `oauth.grant` {other:?} is not known")),
        }
    }
}

impl fmt::Debug for OAuthConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthConfig")
            .field("client_id", &self.client_id)
            .field("account", &self.account)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ConfigMembers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Members").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<OAuthConfig, String> {
        OAuthConfig::from_json(value, &|text| match text {
            "${SECRET}" => Ok("word".to_owned()),
            "${UNSET}" => Err("the variable UNSET is not set".to_owned()),
            text => Ok(text.to_owned()),
        })
    }

    #[test]
    fn configurations_are_read() {
        assert_eq!(read(&json!({})), Ok(OAuthConfig::default()));
        let config = read(&json!({
            "clientId": "c", "clientSecret": "${SECRET}", "callbackPort": 8080, "scopes": "a b", "account": "work",
            "authServerMetadataUrl": "https://a/b", "later": [1]
        }))
        .unwrap();
        assert_eq!((config.client_id.as_deref(), config.callback_port), (Some("c"), Some(8080)));
        assert_eq!(config.client_secret.as_ref().map(SecretText::expose), Some("word"));
        assert_eq!(
            (config.scopes.as_slice(), config.account.as_str()),
            (&["a".to_owned(), "b".to_owned()][..], "work")
        );
        assert!(!format!("{config:?}").contains("word"));
        assert_eq!(read(&json!({"scopes": ["a", "b", 3]})).unwrap().scopes, ["a", "b"]);
        let machine = read(&json!({"grant": "client_credentials", "privateKey": "k"})).unwrap();
        assert!(machine.grant.is_automatic());
        let provider = json!({"tokenEndpoint": "https://i/t", "clientId": "c", "idToken": "${SECRET}"});
        let provider = read(&json!({"grant": "identity_provider", "identityProvider": provider})).unwrap();
        assert!(matches!(provider.grant, OAuthGrant::IdentityProvider(_)));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (value, problem) in [
            (json!([]), "not an object"),
            (json!({"clientId": 3}), "`oauth.clientId` is not a text"),
            (json!({"clientSecret": "${UNSET}"}), "UNSET"),
            (json!({"callbackPort": 0}), "not a port"),
            (json!({"callbackPort": 70_000}), "not a port"),
            (json!({"callbackPort": "80"}), "not a port"),
            (json!({"grant": "password"}), "not known"),
            (json!({"grant": "jwt_bearer"}), "needs `assertion`"),
            (json!({"grant": "identity_provider"}), "needs `identityProvider`"),
        ] {
            let error = read(&value).unwrap_err();
            assert!(error.contains(problem), "{value}: {error}");
        }
    }
}
