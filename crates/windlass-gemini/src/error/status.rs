//! Parser of `google.rpc.FailureStatus`, in the JSON form of the API.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Status of a failure.
#[derive(Debug, Default)]
pub(super) struct FailureStatus {
    /// HTTP status code.
    pub(super) code: Option<u16>,
    pub(super) message: Option<String>,
    /// Name of the code: `RESOURCE_EXHAUSTED`.
    pub(super) status: Option<String>,
    details: Vec<StatusDetail>,
}

/// Window of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuotaWindow {
    /// Window of at most an hour.
    Short,
    /// Window of a day or longer.
    Long,
}

#[derive(Deserialize)]
struct StatusBody<'a> {
    #[serde(borrow)]
    error: StatusOutline<'a>,
}

/// Members of an error, read one by one, so that an odd one does not hide the others.
#[derive(Deserialize)]
struct StatusOutline<'a> {
    #[serde(borrow, default)]
    code: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
    #[serde(borrow, default)]
    details: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StatusDetail {
    reason: Option<String>,
    metadata: HashMap<String, serde_json::Value>,
    violations: Vec<QuotaViolation>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct QuotaViolation {
    quota_id: Option<String>,
    quota_metric: Option<String>,
}

impl FailureStatus {
    /// Reads a body: the object, or an array with it, as in streams.
    pub(super) fn read(body: &str) -> Option<Self> {
        let is_array = body.trim_start().starts_with('[');
        let object = if is_array { part_of_array(body)? } else { body };
        // Serde would read the members of an array as those of the object.
        if !object.trim_start().starts_with('{') {
            return None;
        }
        let outline = serde_json::from_str::<StatusBody<'_>>(object).ok()?.error;
        let details = part::<Vec<&RawValue>>(outline.details).unwrap_or_default();
        Some(Self {
            code: part(outline.code),
            message: part(outline.message),
            status: part(outline.status),
            details: details.into_iter().filter_map(|detail| part(Some(detail))).collect(),
        })
    }

    pub(super) fn has_reason(&self, reason: &str) -> bool {
        self.details.iter().any(|detail| detail.reason.as_deref() == Some(reason))
    }

    /// Returns a text among the metadata of the details.
    pub(super) fn metadata(&self, name: &str) -> Option<&str> {
        self.details.iter().find_map(|detail| detail.metadata.get(name)?.as_str())
    }

    /// Returns the window of the limit, if the details name one. If several limits are exceeded, the longest window is
    /// returned.
    pub(super) fn window(&self) -> Option<QuotaWindow> {
        let of_violations = self.details.iter().flat_map(|detail| &detail.violations);
        let names =
            of_violations.flat_map(|violation| [violation.quota_id.as_deref(), violation.quota_metric.as_deref()]);
        let named = ["quota_limit", "quotaLimit", "quota_id"].map(|name| self.metadata(name));
        let windows = names.chain(named).flatten().filter_map(|name| {
            let name = name.to_lowercase().replace([' ', '_', '-'], "");
            let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
            if has(&["perday", "perweek", "permonth"]) {
                Some(QuotaWindow::Long)
            } else {
                has(&["perminute", "persecond", "perhour"]).then_some(QuotaWindow::Short)
            }
        });
        windows.fold(None, |longest, window| match longest {
            Some(QuotaWindow::Long) => longest,
            _ => Some(window),
        })
    }
}

fn part_of_array(body: &str) -> Option<&str> {
    serde_json::from_str::<Vec<&RawValue>>(body).ok()?.first().map(|first| first.get())
}

fn part<'a, T: Deserialize<'a>>(json: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(json?.get()).ok()
}
