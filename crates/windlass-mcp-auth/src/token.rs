//! Requests for tokens.

use crate::client::AuthClient;
use crate::error::words;
use crate::fetch::Fetch;
use crate::{AuthError, SecretText};
use serde::Deserialize;

/// Fields whose values must not appear in a returned text.
const SECRET_FIELDS: &[&str] = &[
    "code",
    "code_verifier",
    "refresh_token",
    "client_secret",
    "assertion",
    "client_assertion",
    "subject_token",
    "token",
];

/// Token answer of an authorisation server.
#[derive(Debug, Deserialize)]
pub(crate) struct TokenAnswer {
    pub(crate) access_token: SecretText,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default)]
    pub(crate) refresh_token: Option<SecretText>,
    /// Lifetime in seconds. Some servers write it as a string.
    #[serde(default)]
    expires_in: serde_json::Value,
    #[serde(default)]
    pub(crate) scope: Option<String>,
}

impl TokenAnswer {
    /// Returns the lifetime of the access token in seconds, if the server gives it.
    pub(crate) fn seconds(&self) -> Option<u64> {
        let text = self.expires_in.as_str().and_then(|text| text.parse().ok());
        self.expires_in.as_u64().or(text)
    }
}

#[derive(Default, Deserialize)]
struct TokenRefusal {
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    error_description: Option<String>,
}

/// Fields of a request for tokens.
pub(crate) type TokenFields = Vec<(&'static str, String)>;

/// Requests tokens.
///
/// # Errors
/// Fails if the server refuses, cannot be reached, or issues a token that is not of the type `Bearer`.
pub(crate) async fn request(
    fetch: &Fetch,
    endpoint: &str,
    client: &AuthClient,
    fields: TokenFields,
) -> Result<TokenAnswer, AuthError> {
    let tokens: TokenAnswer = post(fetch, endpoint, client, fields).await?;
    match tokens.token_type.as_deref() {
        None => Ok(tokens),
        Some(kind) if kind.eq_ignore_ascii_case("bearer") => Ok(tokens),
        Some(kind) => Err(AuthError::Discovery(format!(
            "the authorisation server gave a token of the type {:?}, which is not supported",
            words(kind)
        ))),
    }
}

/// Requests an assertion that another server accepts (RFC 8693).
///
/// # Errors
/// Fails if the server refuses or cannot be reached.
pub(crate) async fn exchange(
    fetch: &Fetch,
    endpoint: &str,
    client: &AuthClient,
    fields: TokenFields,
) -> Result<SecretText, AuthError> {
    post(fetch, endpoint, client, fields).await.map(|tokens| tokens.access_token)
}

async fn post(
    fetch: &Fetch,
    endpoint: &str,
    client: &AuthClient,
    mut fields: TokenFields,
) -> Result<TokenAnswer, AuthError> {
    let authorization = client.prove(&mut fields);
    let borrowed: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let answer = fetch.form(endpoint, authorization.as_deref(), &borrowed).await?;
    if answer.is_success()
        && let Some(tokens) = answer.json::<TokenAnswer>()
    {
        return Ok(tokens);
    }
    let refusal = answer.json::<TokenRefusal>().unwrap_or_default();
    let code = refusal.error.unwrap_or_else(|| format!("status {}", answer.status));
    let description = refusal.error_description.map(|text| format!(": {text}")).unwrap_or_default();
    let [code, description] =
        [code, description].map(|text| words(&without_secrets(text, &fields, authorization.as_deref())));
    Err(AuthError::Refused { code, description })
}

/// Masks sent secrets in a server's text, which may repeat them.
fn without_secrets(text: String, fields: &TokenFields, authorization: Option<&str>) -> String {
    let password = authorization.and_then(|value| value.split_once(' ')).map(|(_, value)| value);
    let sent = fields.iter().filter(|(name, _)| SECRET_FIELDS.contains(name)).map(|(_, value)| value.as_str());
    let hidden = sent.chain(password).filter(|value| !value.is_empty());
    hidden.fold(text, |text, value| text.replace(value, "[redacted]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_numbers_and_as_texts() {
        let seconds = |value: &str| {
            let text = format!(r#"{{"access_token":"a","expires_in":{value}}}"#);
            serde_json::from_str::<TokenAnswer>(&text).unwrap().seconds()
        };
        assert_eq!(
            [seconds("3600"), seconds("\"60\""), seconds("null"), seconds("-1")],
            [Some(3600), Some(60), None, None]
        );
    }

    #[test]
    fn what_was_sent_does_not_come_back_in_an_error() {
        let fields = vec![("refresh_token", "r-1".to_owned()), ("grant_type", "refresh_token".to_owned())];
        assert_eq!(
            without_secrets("bad r-1 refresh_token d29yZA==".to_owned(), &fields, Some("Basic d29yZA==")),
            "bad [redacted] refresh_token [redacted]"
        );
    }
}
