//! Failures of an API as errors of model calls.

use super::{Failure, classify, hinted_wait, named_window, refuses_images};
use crate::{HttpError, HttpErrorKind, Secret};
use std::borrow::{Borrow, Cow};
use windlass_context::Masks;
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Maximum length of a server's text that an error repeats, in characters.
const MAX_TEXT: usize = 600;

/// Credentials in use, which are masked in texts of a server, together with other texts that look like secrets.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Masks);

impl Secrets {
    /// Adds a secret.
    pub fn push(&mut self, secret: impl Borrow<Secret>) {
        self.0.add(secret.borrow().expose());
    }

    /// Masks the secrets in a text.
    pub fn redact(&self, text: String) -> String {
        match self.0.mask(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }
}

/// Names of a vendor's settings, for the texts of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plumbing: each provider names its own settings")]
pub struct Vendor {
    /// Variable or setting of the key: `ANTHROPIC_API_KEY`.
    pub key: Cow<'static, str>,
    /// Variable or setting of the address: `ANTHROPIC_BASE_URL`.
    pub base_url: Cow<'static, str>,
}

impl Vendor {
    /// Creates a vendor with the names of its settings.
    pub const fn new(key: &'static str, base_url: &'static str) -> Self {
        Self { key: Cow::Borrowed(key), base_url: Cow::Borrowed(base_url) }
    }

    /// Returns the error of a refusal: its kind by [`classify`], a sentence with advice, the server's text on one line
    /// without credentials, and the wait that the text asks for.
    pub fn error(&self, failure: &Failure<'_>, secrets: &Secrets) -> ModelError {
        self.error_of(classify(failure), failure, secrets)
    }

    /// Does the same as [`Vendor::error`] with a kind that the provider knows better.
    pub fn error_of(&self, kind: ModelErrorKind, failure: &Failure<'_>, secrets: &Secrets) -> ModelError {
        let what = self.sentence(kind);
        let status = failure.status.map_or_else(String::new, |status| format!(" ({status})"));
        let text = readable(failure.text);
        let message = if text.is_empty() { format!("{what}{status}") } else { format!("{what}{status}: {text}") };
        let window = if kind == ModelErrorKind::PromptTooLong { named_window(failure.text) } else { None };
        let error = ModelError::new(kind, secrets.redact(message)).with_retry_after(hinted_wait(failure.text));
        let is_refused = kind == ModelErrorKind::InvalidRequest && refuses_images(failure.text);
        let error = error.with_context_window(window).with_refused_images(is_refused);
        match failure.status {
            Some(status) => error.with_status(status),
            None => error,
        }
    }

    fn sentence(&self, kind: ModelErrorKind) -> Cow<'static, str> {
        Cow::Borrowed(match kind {
            ModelErrorKind::Authentication => {
                return format!("the API did not accept the key; check {}", self.key).into();
            }
            ModelErrorKind::NotFound => {
                return format!("no such model or endpoint; check the model name and {}", self.base_url).into();
            }
            ModelErrorKind::Configuration => {
                return format!("the base URL answers with a redirect; set {} to its target", self.base_url).into();
            }
            ModelErrorKind::PermissionDenied => "the key may not do this",
            ModelErrorKind::Billing => "credit or plan is exhausted; see the billing page of the account",
            ModelErrorKind::QuotaExhausted => "the quota is used up",
            ModelErrorKind::PromptTooLong => "the prompt does not fit the context window",
            ModelErrorKind::RequestTooLarge => "the request is too large for the API",
            ModelErrorKind::ReplayRejected => "the API refused what was sent back of its earlier messages",
            ModelErrorKind::RateLimited => "too many requests or tokens for now",
            ModelErrorKind::Overloaded => "the API is overloaded",
            ModelErrorKind::Timeout => "the API did not answer in time",
            ModelErrorKind::Server => "the API failed",
            _ => "the API refused the request",
        })
    }
}

/// Converts a failure below the API.
pub fn from_http(error: HttpError) -> ModelError {
    let kind = match error.kind() {
        HttpErrorKind::Configuration | HttpErrorKind::Tls => ModelErrorKind::Configuration,
        HttpErrorKind::Connection => ModelErrorKind::Connection,
        HttpErrorKind::Timeout => ModelErrorKind::Timeout,
        HttpErrorKind::Cut => ModelErrorKind::Cut,
        _ => ModelErrorKind::Protocol,
    };
    let (unsent, refused_here) = (error.is_unsent(), error.is_refused_here());
    let message = if refused_here { format!("{error}; is its server running?") } else { error.to_string() };
    let error = ModelError::new(kind, message).with_source(error);
    let error = if refused_here { error.with_should_retry(Some(false)) } else { error };
    if unsent { error.unbilled() } else { error }
}

/// Returns a server's text on one line, shortened to 600 characters. Bodies of proxies can be whole HTML pages.
pub fn readable(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|char: char| char.is_whitespace() || char.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => {
            line.truncate(at);
            line.push('…');
            line
        }
        None => line,
    }
}
