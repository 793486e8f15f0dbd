//! Lines of a cassette.

use super::asked::{AskedMessage, AskedTool, RecordedRequest, VolatileSettings};
use crate::{ModelError, wire};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use windlass_types::{JsonText, ModelErrorKind, ModelItem, RateLimit};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CassetteLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) windlass_cassette: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fact: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) count: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<CassetteRequest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) item_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) raw: Option<RawLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<CassetteEnd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<CassetteErrorLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<CassetteErrorLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CassetteRequest {
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<AskedTool>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    same_messages: usize,
    messages: Vec<AskedMessage>,
    settings: VolatileSettings,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RawLine {
    Same(bool),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CassetteEnd {
    Complete,
    Dropped,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CassetteErrorLine {
    kind: ModelErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    should_retry: Option<bool>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unbilled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate_limit: Option<RateLimit>,
}

impl CassetteErrorLine {
    pub(super) fn of(error: &ModelError, clean: impl Fn(&str) -> String) -> Self {
        Self {
            kind: error.kind,
            message: clean(&error.message),
            status: error.status,
            retry_after_ms: error.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            should_retry: error.should_retry,
            unbilled: error.unbilled,
            request_id: error.request_id.clone(),
            rate_limit: error.rate_limit.as_deref().cloned(),
        }
    }

    pub(super) fn error(&self) -> ModelError {
        let mut error = ModelError::new(self.kind, self.message.clone())
            .with_retry_after(self.retry_after_ms.map(Duration::from_millis))
            .with_should_retry(self.should_retry)
            .with_request_id(self.request_id.clone())
            .with_rate_limit(self.rate_limit.clone());
        (error.status, error.unbilled) = (self.status, self.unbilled);
        error
    }
}

impl CassetteRequest {
    /// Returns the line of a request that follows another in the file.
    pub(super) fn new(asked: &RecordedRequest, settings: VolatileSettings, before: Option<&RecordedRequest>) -> Self {
        let same_messages = before.map_or(0, |before| before.shared_messages(asked));
        Self {
            model: asked.model.clone(),
            system: before.is_none_or(|it| it.system != asked.system).then(|| asked.system.clone()),
            tools: before.is_none_or(|it| it.tools != asked.tools).then(|| asked.tools.clone()),
            same_messages,
            messages: asked.messages.iter().skip(same_messages).cloned().collect(),
            settings,
        }
    }

    /// Reads the request, or describes the error in its line.
    pub(super) fn read(self, before: Option<&RecordedRequest>) -> Result<RecordedRequest, String> {
        let missing = || "it leaves out what the request before it does not have".to_owned();
        let shared = before.map(|before| before.messages.as_slice()).unwrap_or_default();
        let mut messages = shared.get(..self.same_messages).ok_or_else(missing)?.to_vec();
        messages.extend(self.messages);
        Ok(RecordedRequest {
            model: self.model,
            system: self.system.or_else(|| before.map(|it| it.system.clone())).ok_or_else(missing)?,
            tools: self.tools.or_else(|| before.map(|it| it.tools.clone())).ok_or_else(missing)?,
            messages,
        })
    }
}

impl CassetteLine {
    pub(super) fn of_item(item: &ModelItem) -> Self {
        let json = wire::event_json(&item.event);
        let raw = item.raw.as_ref().map(|raw| match raw == &json {
            true => RawLine::Same(true),
            false => RawLine::Text(raw.as_str().to_owned()),
        });
        if json.as_str().contains(['\n', '\r']) {
            Self { item_text: Some(json.as_str().to_owned()), raw, ..Self::default() }
        } else {
            Self { item: Some(json), raw, ..Self::default() }
        }
    }

    /// Reads the item of a line, if it contains one.
    pub(super) fn read_item(&self) -> Option<serde_json::Result<ModelItem>> {
        let text = self.item_text.as_deref().or(self.item.as_ref().map(JsonText::as_str))?;
        Some(wire::read_event(text).and_then(|event| {
            let raw = match &self.raw {
                None | Some(RawLine::Same(false)) => return Ok(ModelItem::from(event)),
                Some(RawLine::Same(true)) => text,
                Some(RawLine::Text(raw)) => raw,
            };
            let raw = JsonText::parse(raw).map_err(serde::de::Error::custom)?;
            Ok(ModelItem::with_raw(event, raw))
        }))
    }
}
