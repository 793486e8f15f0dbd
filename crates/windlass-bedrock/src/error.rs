//! Errors of the API as [`ModelError`]s.
//!
//! Source: <https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html>, and the
//! exceptions of the service's published model.

use crate::event::Exception;
use std::borrow::Cow;
use std::time::SystemTime;
use windlass_http::HeaderMap;
use windlass_http::provider::{Failure, Secrets, Vendor, classify, retry_after, should_retry};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Factory of the errors of one call.
#[derive(Clone, Debug)]
pub(crate) struct ConverseErrors {
    pub(crate) vendor: Vendor,
    pub(crate) secrets: Secrets,
}

impl ConverseErrors {
    /// Reads the error of an answer with a status other than 200.
    #[expect(clippy::disallowed_methods, reason = "a server names the time of a repeat from now on")]
    pub(crate) fn answer(&self, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
        let header = headers.get("x-amzn-errortype").and_then(|code| code.to_str().ok()).unwrap_or_default();
        let error = self.error(Some(status), header, body);
        let wait = retry_after(headers, SystemTime::now()).or(error.retry_after);
        error.with_retry_after(wait).with_should_retry(should_retry(headers)).with_request_id(request_id(headers))
    }

    /// Reads the error of an exception inside a stream: its name, and its JSON or text.
    pub(crate) fn in_stream(&self, code: &str, body: &str) -> ModelError {
        self.error(None, code, body)
    }

    /// Creates the error of an answer that breaks the rules of the API's stream.
    pub(crate) fn protocol(&self, what: impl std::fmt::Display) -> ModelError {
        let text = self.secrets.redact(format!("the API broke its protocol: {what}"));
        ModelError::new(ModelErrorKind::Protocol, text)
    }

    /// Creates the error of a text that is not the expected JSON. The parser's words do not quote the text.
    pub(crate) fn unreadable(&self, what: &str, error: &serde_json::Error) -> ModelError {
        let place = format!("{:?} error in column {}", error.classify(), error.column());
        self.protocol(format_args!("{what} cannot be read: {place}"))
    }

    fn error(&self, status: Option<u16>, header: &str, body: &str) -> ModelError {
        let exception = Exception::read(body).unwrap_or_default();
        let code = name(if header.is_empty() { exception.code.as_deref().unwrap_or_default() } else { header });
        let text = match (exception.message, exception.original_message) {
            (Some(text), Some(original)) if !text.contains(&original) => Cow::Owned(format!("{text} ({original})")),
            (Some(text), _) | (None, Some(text)) if !text.is_empty() => Cow::Owned(text),
            // A gateway on the way has its own form of error bodies.
            _ => Cow::Borrowed(body),
        };
        let failure = Failure { status, code, text: &text };
        self.vendor.error_of(kind(&failure), &failure, &self.secrets)
    }
}

/// Returns the API's id of a request.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    headers.get("x-amzn-requestid")?.to_str().ok().map(str::to_owned)
}

/// Returns the bare name of an exception, such as in `ThrottlingException:http://internal.amazon.com/…`,
/// `com.amazon.coral.service#ValidationException`.
fn name(code: &str) -> &str {
    let code = code.split(':').next().unwrap_or(code);
    code.rsplit('#').next().unwrap_or(code).trim()
}

/// Returns the kind of a failure, with cases that the shared table cannot see: names of this API alone, and different
/// causes under one name.
fn kind(failure: &Failure<'_>) -> ModelErrorKind {
    let (code, text) = (failure.code.to_ascii_lowercase(), failure.text.to_lowercase());
    let has = |part: &str| text.contains(part);
    match &*code {
        "servicequotaexceededexception" => return ModelErrorKind::QuotaExhausted,
        "incompletesignature"
        | "invalidclienttokenid"
        | "invalidtokenexception"
        | "missingauthenticationtoken"
        | "signaturedoesnotmatch"
        | "invalidsignatureexception"
        | "requestexpired" => {
            return ModelErrorKind::Authentication;
        }
        // An invalid API key is refused like a forbidden action.
        _ if failure.status == Some(403) && (has("api key") || has("bearer token") || has("security token")) => {
            return ModelErrorKind::Authentication;
        }
        "validationexception" if has("model identifier is invalid") || has("model identifier provided is invalid") => {
            return ModelErrorKind::NotFound;
        }
        "validationexception" if has("input tokens exceed") || has("exceeds maximum length") => {
            return ModelErrorKind::PromptTooLong;
        }
        _ => {}
    }
    // Inside a stream the name implies the status.
    let implied = match &*code {
        "validationexception" | "conflictexception" => Some(400),
        _ => None,
    };
    classify(&Failure { status: failure.status.or(implied), ..*failure })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: Option<u16>, code: &str, body: &str) -> ModelError {
        let vendor = Vendor::new("AWS_BEARER_TOKEN_BEDROCK", "the region");
        ConverseErrors { vendor, secrets: Secrets::default() }.error(status, code, body)
    }

    #[test]
    fn names_are_read_wherever_they_stand() {
        assert_eq!(name("ThrottlingException:http://internal.amazon.com/coral/"), "ThrottlingException");
        assert_eq!(name("com.amazon.coral.service#AccessDeniedException"), "AccessDeniedException");
        for body in [r#"{"__type":"a#ServiceQuotaExceededException"}"#, r#"{"code":"ServiceQuotaExceededException"}"#] {
            assert_eq!(error(Some(400), "", body).kind, ModelErrorKind::QuotaExhausted, "{body}");
        }
    }

    #[test]
    fn texts_say_what_went_wrong() {
        let told = |body: &str| error(Some(424), "ModelStreamErrorException", body).message;
        let both = told(r#"{"message":"The model failed.","originalStatusCode":500,"originalMessage":"boom"}"#);
        assert_eq!(both, "the API failed (424): The model failed. (boom)");
        assert_eq!(told(r#"{"Message":"The model failed."}"#), "the API failed (424): The model failed.");
        assert_eq!(told(r#"{"message":7}"#), "the API failed (424): {\"message\":7}");
        assert_eq!(told("<html>bad gateway</html>"), "the API failed (424): <html>bad gateway</html>");
        assert_eq!(told(r#"["message"]"#), "the API failed (424): [\"message\"]");
    }
}
