//! Errors of the API as [`ModelError`]s.

mod status;

use status::{FailureStatus, QuotaWindow};
use std::time::SystemTime;
use windlass_http::HeaderMap;
use windlass_http::provider::{Failure, Secrets, Vendor, classify, hinted_wait, retry_after, should_retry};
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, Timestamp};

/// Factory of the errors of one provider.
#[derive(Clone, Debug)]
pub(crate) struct GeminiErrors {
    pub(crate) vendor: Vendor,
    pub(crate) secrets: Secrets,
}

impl GeminiErrors {
    /// Reads the error of an answer with a status other than 200.
    #[expect(clippy::disallowed_methods, reason = "a server names the time of a repeat from now on")]
    pub(crate) fn answer(&self, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
        let now = SystemTime::now();
        let error = self.error(Some(status), body, now);
        let wait = retry_after(headers, now).or(error.retry_after);
        error.with_retry_after(wait).with_should_retry(should_retry(headers))
    }

    /// Reads the error of a chunk, or of a body behind a status 200.
    #[expect(clippy::disallowed_methods, reason = "a server names the time of a reset from now on")]
    pub(crate) fn in_stream(&self, data: &str) -> ModelError {
        self.error(None, data, SystemTime::now())
    }

    /// `true` if a text is an error of the API.
    pub(crate) fn is_error(&self, body: &str) -> bool {
        FailureStatus::read(body).is_some()
    }

    /// Creates the error of an answer that breaks the rules of the API's stream.
    pub(crate) fn protocol(&self, what: impl std::fmt::Display) -> ModelError {
        let text = self.secrets.redact(format!("the API broke its protocol: {what}"));
        ModelError::new(ModelErrorKind::Protocol, text)
    }

    /// Creates the error of a text that is not the expected JSON. The parser's words hold nothing of the text.
    pub(crate) fn unreadable(&self, what: &str, error: &serde_json::Error) -> ModelError {
        let place = format!("{:?} error in column {}", error.classify(), error.column());
        self.protocol(format_args!("{what} cannot be read: {place}"))
    }

    fn error(&self, http_status: Option<u16>, body: &str, now: SystemTime) -> ModelError {
        let Some(status) = FailureStatus::read(body) else {
            // A proxy or a gateway on the way has its own form of error bodies.
            return self.vendor.error(&Failure { status: http_status, code: "", text: body }, &self.secrets);
        };
        let code = status.status.as_deref().unwrap_or_default();
        let text = status.message.as_deref().filter(|text| !text.is_empty()).unwrap_or(body);
        // Inside a stream only the body holds the status.
        let failure = Failure { status: http_status.or(status.code), code, text };
        let wait = hinted_wait(body);
        let kind = kind(&status, &failure, wait.is_some());
        let shown = Failure { status: http_status, ..failure };
        let error = self.vendor.error_of(kind, &shown, &self.secrets);
        if kind != ModelErrorKind::QuotaExhausted {
            return error.with_retry_after(wait);
        }
        // The wait that the API asks for is the window of a minute, even if the quota of the day is used up.
        error.with_retry_after(None).with_resets_at(resets_at(&status, now))
    }
}

/// Returns the kind of a failure, with cases that the shared table cannot see: reasons and windows among the details,
/// and texts of this API alone.
fn kind(status: &FailureStatus, failure: &Failure<'_>, names_a_wait: bool) -> ModelErrorKind {
    let text = failure.text.to_lowercase();
    let has = |part: &str| text.contains(part);
    let is_limit = failure.status == Some(429) || failure.code == "RESOURCE_EXHAUSTED";
    match failure.code {
        _ if is_limit => match status.window() {
            Some(QuotaWindow::Long) => return ModelErrorKind::QuotaExhausted,
            Some(QuotaWindow::Short) => return ModelErrorKind::RateLimited,
            None => {}
        },
        // The service aborted the request, not the caller.
        "CANCELLED" | "ABORTED" => return ModelErrorKind::Server,
        _ if status.has_reason("API_KEY_INVALID") || has("api key not valid") || has("api key expired") => {
            return ModelErrorKind::Authentication;
        }
        "INVALID_ARGUMENT" if has("input token count") && has("only supports up to") => {
            return ModelErrorKind::PromptTooLong;
        }
        "INVALID_ARGUMENT" if has("payload size exceeds") => return ModelErrorKind::RequestTooLarge,
        "INVALID_ARGUMENT" if has("thought_signature") || has("thought signature") => {
            return ModelErrorKind::ReplayRejected;
        }
        _ => {}
    }
    match classify(failure) {
        // Limits of a minute come with the prose on billing; with a wait they remain limits.
        ModelErrorKind::Billing if is_limit && names_a_wait => ModelErrorKind::RateLimited,
        kind => kind,
    }
}

fn resets_at(status: &FailureStatus, now: SystemTime) -> Option<Timestamp> {
    if let Some(at) = status.metadata("quotaResetTimeStamp").and_then(Timestamp::parse) {
        return Some(at);
    }
    let delay = status.metadata("quotaResetDelay")?;
    let wait = hinted_wait(&format!("\"retryDelay\":\"{delay}\""))?;
    let since = now.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(0).after(since).after(wait))
}
