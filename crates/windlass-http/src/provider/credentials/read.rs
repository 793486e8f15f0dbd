//! Parser of credentials that programs and files hold.

use super::{AwsKeys, Credential};
use crate::Secret;
use serde::Deserialize;
use windlass_types::Timestamp;

/// Maximum number of bytes of a program's output or a file.
pub(super) const MAX_BYTES: u64 = 64 * 1024;

/// Output of programs for AWS (`credential_process`), and for tokens.
#[derive(Deserialize)]
struct ProgramOutput {
    #[serde(rename = "Version")]
    version: Option<u64>,
    #[serde(rename = "AccessKeyId")]
    access_key_id: Option<String>,
    #[serde(rename = "SecretAccessKey")]
    secret_access_key: Option<String>,
    #[serde(rename = "SessionToken")]
    session_token: Option<String>,
    #[serde(rename = "Expiration")]
    expiration: Option<String>,
    access_token: Option<String>,
    #[serde(alias = "expires_at")]
    token_expiry: Option<String>,
    /// Token of `gcloud config config-helper --format=json`, which is one level deeper.
    credential: Option<Box<ProgramOutput>>,
}

/// Reads the credential in a text, or returns the reason why there is none. The reasons repeat no part of the text.
pub(super) fn credential_in(text: &str) -> Result<Credential, &'static str> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("is empty");
    }
    if !text.starts_with('{') {
        // A token is one word: a page of help or an error message is none.
        return match text.split_whitespace().count() {
            1 => Ok(Credential::bearer(text)),
            _ => Err("holds more than a token"),
        };
    }
    let written: ProgramOutput = serde_json::from_str(text).map_err(|_| "holds JSON that is no credential")?;
    of(written)
}

fn of(written: ProgramOutput) -> Result<Credential, &'static str> {
    let time = |text: Option<String>| match text {
        None => Ok(None),
        Some(text) => Timestamp::parse(&text).map(Some).ok_or("has a time of expiry that is none"),
    };
    if let Some(inner) = written.credential {
        return of(*inner);
    }
    if let Some(token) = written.access_token.filter(|token| !token.trim().is_empty()) {
        return Ok(Credential::bearer(token).expiring_at(time(written.token_expiry)?));
    }
    let (Some(id), Some(secret)) = (written.access_key_id, written.secret_access_key) else {
        return Err("holds JSON that is no credential");
    };
    if written.version.is_some_and(|version| version != 1) {
        return Err("has a version other than 1");
    }
    let mut keys = AwsKeys::new(id, secret);
    keys.session_token = written.session_token.map(Secret::new).filter(|token| !token.is_empty());
    Ok(Credential::aws(keys).expiring_at(time(written.expiration)?))
}
