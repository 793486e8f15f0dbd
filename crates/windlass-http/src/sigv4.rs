//! AWS signatures, version 4.
//!
//! Implemented here because the signature takes a page, and the crate of the vendor brings 69 packages. The results are
//! compared with the test suite that the vendor publishes.

mod canonical;

use crate::provider::{AwsKeys, Credential, CredentialKey};
use crate::{HeaderMap, HeaderValue, HttpError, HttpErrorKind, Secret};
use canonical::{Signature, Signed};
use reqwest::Url;
use windlass_types::Timestamp;

/// Signer of requests to one service of AWS in one region, for a client of the same base URL.
#[derive(Clone, Debug)]
pub struct Signer {
    host: String,
    base_path: String,
    region: String,
    service: &'static str,
}

impl Signer {
    /// Creates a signer for requests below a base URL.
    ///
    /// # Errors
    /// Fails if the URL is not an absolute http or https URL.
    pub fn new(base_url: &str, region: impl Into<String>, service: &'static str) -> Result<Self, HttpError> {
        let invalid = || HttpError::new(HttpErrorKind::Configuration, "the base URL is not an http or https URL");
        let url = Url::parse(base_url.trim()).map_err(|error| invalid().with_source(error))?;
        let name = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https")).ok_or_else(invalid)?;
        // As sent by the client: without the default port of the scheme.
        let host = url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        let base_path = url.path().trim_end_matches('/').to_owned();
        Ok(Self { host, base_path, region: region.into(), service })
    }

    /// Adds authentication to the headers of a POST: a bearer token unchanged, or the signature of AWS keys over path,
    /// body, and the headers `content-type` and `x-amz-…`. The path is the one passed to the client.
    ///
    /// # Errors
    /// Fails if a header cannot carry the credential.
    pub fn authorize(
        &self,
        credential: &Credential,
        headers: &mut HeaderMap,
        path: &str,
        body: &[u8],
        at: Timestamp,
    ) -> Result<(), HttpError> {
        match &credential.key {
            CredentialKey::Bearer(token) => {
                headers.insert("authorization", token.header("Bearer ")?);
                Ok(())
            }
            CredentialKey::Aws(keys) => self.sign(keys, headers, path, body, at),
        }
    }

    fn sign(
        &self,
        keys: &AwsKeys,
        headers: &mut HeaderMap,
        path: &str,
        body: &[u8],
        at: Timestamp,
    ) -> Result<(), HttpError> {
        let time = canonical::time(at);
        headers.insert("x-amz-date", value(&time)?);
        if let Some(token) = &keys.session_token {
            headers.insert("x-amz-security-token", token.header("")?);
        }
        let path = format!("{}{path}", self.base_path);
        let signature = Signature::of(&Signed {
            method: "POST",
            path_and_query: &path,
            headers: self.signed(headers),
            body,
            time: &time,
            region: &self.region,
            service: self.service,
        });
        let text = signature.header(keys.access_key_id.expose(), keys.secret_access_key.expose());
        headers.insert("authorization", Secret::new(text).header("")?);
        Ok(())
    }

    /// Returns the headers to sign. Others may be changed on the way.
    fn signed<'a>(&'a self, headers: &'a HeaderMap) -> Vec<(&'a str, &'a [u8])> {
        let signed = |name: &str| name == "content-type" || name.starts_with("x-amz-");
        let others = headers.iter().filter(|(name, _)| signed(name.as_str()));
        let mut all: Vec<_> = others.map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        all.push(("host", self.host.as_bytes()));
        all
    }
}

fn value(text: &str) -> Result<HeaderValue, HttpError> {
    HeaderValue::from_str(text).map_err(|error| {
        HttpError::new(HttpErrorKind::Configuration, "the time cannot be written as a header").with_source(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer::new("https://bedrock-runtime.eu-west-1.amazonaws.com/anthropic/", "eu-west-1", "bedrock").unwrap()
    }

    fn authorized(credential: &Credential, headers: &mut HeaderMap) {
        let at = Timestamp::parse("2026-11-23T06:00:00.250Z").unwrap();
        signer().authorize(credential, headers, "/v1/messages", b"{}", at).unwrap();
    }

    #[test]
    fn a_signature_covers_host_date_token_and_content_type_and_no_more() {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept-encoding", HeaderValue::from_static("identity"));
        headers.insert("user-agent", HeaderValue::from_static("x"));
        let keys = AwsKeys::new("AKID", "secret-key").with_session_token("session-token");
        authorized(&Credential::aws(keys), &mut headers);
        let text = headers["authorization"].to_str().unwrap();
        assert!(
            text.starts_with("AWS4-HMAC-SHA256 Credential=AKID/20261123/eu-west-1/bedrock/aws4_request, "),
            "{text}"
        );
        assert!(text.contains("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, "), "{text}");
        assert_eq!(headers["x-amz-date"], "20261123T060000Z");
        assert_eq!(headers["x-amz-security-token"], "session-token");
        assert!(!format!("{headers:?}").contains("session-token"), "{headers:?}");
        assert!(!text.contains("secret-key"));
    }

    /// The expected signatures were made by botocore 1.43 from the same requests.
    #[test]
    fn another_implementation_signs_the_same() {
        let sign = |base: &str, path: &str, body: &str, token: &str| {
            let signer = Signer::new(base, "eu-west-1", "bedrock").unwrap();
            let mut headers = HeaderMap::new();
            headers.insert("content-type", HeaderValue::from_static("application/json"));
            let keys = AwsKeys::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
            let credential = Credential::aws(keys.with_session_token(token));
            let at = Timestamp::parse("2026-11-23T06:00:00Z").unwrap();
            signer.authorize(&credential, &mut headers, path, body.as_bytes(), at).unwrap();
            let text = headers["authorization"].to_str().unwrap();
            text.rsplit_once("Signature=").unwrap().1.to_owned()
        };
        let base = "https://bedrock-runtime.eu-west-1.amazonaws.com";
        assert_eq!(
            sign(&format!("{base}/anthropic"), "/v1/messages", r#"{"model":"claude","text":"é"}"#, "session/token=="),
            "e4d448b9a41e0d3018e28c3de84ab65ebbce558d8271fde50d2bb0be83172300"
        );
        let path = "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse-stream";
        assert_eq!(sign(base, path, "{}", ""), "2a05f677fe2284eca577c5c497548f2b47919ccb4b567d96b631955eb4f0d79a");
    }

    #[test]
    fn the_base_path_and_the_body_are_signed() {
        let sign = |path: &str, body: &[u8]| {
            let mut headers = HeaderMap::new();
            let credential = Credential::aws(AwsKeys::new("AKID", "secret-key"));
            signer().authorize(&credential, &mut headers, path, body, Timestamp::from_millis(0)).unwrap();
            headers["authorization"].clone()
        };
        assert_eq!(sign("/v1/messages", b"{}"), sign("/v1/messages", b"{}"));
        assert_ne!(sign("/v1/messages", b"{}"), sign("/v1/messages", b"[]"));
        assert_ne!(sign("/v1/messages", b"{}"), sign("/v1/other", b"{}"));
    }

    #[test]
    fn a_token_is_sent_as_it_is() {
        let mut headers = HeaderMap::new();
        authorized(&Credential::bearer("bedrock-key"), &mut headers);
        assert_eq!(headers["authorization"], "Bearer bedrock-key");
        assert_eq!(headers.len(), 1);
    }
}
