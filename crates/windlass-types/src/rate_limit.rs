//! Used share of a subscription's allowance.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The allowance of a subscription, as its provider reports it: its status, and the time at which the deciding window
/// resets.
///
/// Only the status is always known. This is not the limit on requests or tokens a minute, which a provider enforces
/// independently of a subscription.
///
/// ```
/// # mod windlass { pub mod event { pub use windlass_types::*; } }
/// use windlass::event::{RateLimit, RateLimitKind, RateLimitStatus, Utilization};
///
/// let limit = RateLimit::new(RateLimitStatus::AllowedWarning)
///     .with_kind(Some(RateLimitKind::FiveHour))
///     .with_utilization(Utilization::new(0.82))
///     .with_resets_at(Some(1_795_170_000));
/// assert_eq!(limit.utilization.map(Utilization::get), Some(0.82));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RateLimit {
    /// Status of requests within the allowance.
    pub status: RateLimitStatus,
    /// Time at which the window resets, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
    /// The window that decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RateLimitKind>,
    /// Used share of that window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Utilization>,
    /// Status of requests beyond the allowance, at extra cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_status: Option<RateLimitStatus>,
    /// Time at which the overage window resets, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_resets_at: Option<u64>,
    /// Reason why requests beyond the allowance are not served, as the provider names it, such as `out_of_credits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_disabled_reason: Option<String>,
    /// `true` if this request was beyond the allowance and served at extra cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_using_overage: Option<bool>,
}

impl RateLimit {
    /// A limit with a status only.
    pub fn new(status: RateLimitStatus) -> Self {
        Self {
            status,
            resets_at: None,
            kind: None,
            utilization: None,
            overage_status: None,
            overage_resets_at: None,
            overage_disabled_reason: None,
            is_using_overage: None,
        }
    }

    /// Sets the time at which the window resets, in seconds since the Unix epoch.
    #[must_use]
    pub fn with_resets_at(mut self, seconds: Option<u64>) -> Self {
        self.resets_at = seconds;
        self
    }

    /// Sets the window that decides.
    #[must_use]
    pub fn with_kind(mut self, kind: Option<RateLimitKind>) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the used share of the window.
    #[must_use]
    pub fn with_utilization(mut self, utilization: Option<Utilization>) -> Self {
        self.utilization = utilization;
        self
    }

    /// Sets the status of requests beyond the allowance, and the time at which their window resets. Also derives
    /// `is_using_overage`: the allowance is used up, and the request was served all the same.
    #[must_use]
    pub fn with_overage(mut self, status: Option<RateLimitStatus>, resets_at: Option<u64>) -> Self {
        self.is_using_overage = status.as_ref().map(|overage| {
            let served = matches!(overage, RateLimitStatus::Allowed | RateLimitStatus::AllowedWarning);
            served && self.status == RateLimitStatus::Rejected
        });
        (self.overage_status, self.overage_resets_at) = (status, resets_at);
        self
    }

    /// Sets the reason why requests beyond the allowance are not served.
    #[must_use]
    pub fn with_overage_disabled_reason(mut self, reason: Option<String>) -> Self {
        self.overage_disabled_reason = reason;
        self
    }
}

/// Status of a subscription's requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum RateLimitStatus {
    /// Requests are served.
    Allowed,
    /// Requests are served, and the allowance is nearly used up.
    AllowedWarning,
    /// The allowance is used up.
    Rejected,
    /// A status that is not known here.
    Other(String),
}

impl RateLimitStatus {
    /// The status as providers and hosts write it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Allowed => "allowed",
            Self::AllowedWarning => "allowed_warning",
            Self::Rejected => "rejected",
            Self::Other(other) => other,
        }
    }
}

impl From<&str> for RateLimitStatus {
    fn from(text: &str) -> Self {
        match text {
            "allowed" => Self::Allowed,
            "allowed_warning" => Self::AllowedWarning,
            "rejected" => Self::Rejected,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl From<String> for RateLimitStatus {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<RateLimitStatus> for String {
    fn from(status: RateLimitStatus) -> Self {
        status.as_str().to_owned()
    }
}

impl fmt::Display for RateLimitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The window of time, and perhaps the models, that an allowance is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum RateLimitKind {
    /// Five hours.
    FiveHour,
    /// A week.
    SevenDay,
    /// A week of the models called Opus.
    SevenDayOpus,
    /// A week of the models called Sonnet.
    SevenDaySonnet,
    /// A week of the models that are included beyond the plan.
    SevenDayOverageIncluded,
    /// Paid use beyond the plan.
    Overage,
    /// A window that is not known here.
    Other(String),
}

impl RateLimitKind {
    /// The window as providers and hosts write it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::FiveHour => "five_hour",
            Self::SevenDay => "seven_day",
            Self::SevenDayOpus => "seven_day_opus",
            Self::SevenDaySonnet => "seven_day_sonnet",
            Self::SevenDayOverageIncluded => "seven_day_overage_included",
            Self::Overage => "overage",
            Self::Other(other) => other,
        }
    }
}

impl From<&str> for RateLimitKind {
    fn from(text: &str) -> Self {
        match text {
            "five_hour" => Self::FiveHour,
            "seven_day" => Self::SevenDay,
            "seven_day_opus" => Self::SevenDayOpus,
            "seven_day_sonnet" => Self::SevenDaySonnet,
            "seven_day_overage_included" => Self::SevenDayOverageIncluded,
            "overage" => Self::Overage,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl From<String> for RateLimitKind {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<RateLimitKind> for String {
    fn from(kind: RateLimitKind) -> Self {
        kind.as_str().to_owned()
    }
}

impl fmt::Display for RateLimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Used share of an allowance: from zero (none of it) to one (all of it).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Utilization(f64);

/// `Eq` is valid because the value is never NaN.
impl Eq for Utilization {}

impl Utilization {
    /// Wraps a fraction. Values above one become one; a number below zero, or NaN, gives `None`.
    pub fn new(fraction: f64) -> Option<Self> {
        // The comparison is false for NaN, and adding zero makes a negative zero a plain one.
        (fraction >= 0.0).then(|| Self(fraction.min(1.0) + 0.0))
    }

    /// The fraction, 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Utilization {
    type Error = &'static str;

    fn try_from(fraction: f64) -> Result<Self, Self::Error> {
        Self::new(fraction).ok_or("a utilization is a number from 0 to 1")
    }
}

impl From<Utilization> for f64 {
    fn from(utilization: Utilization) -> Self {
        utilization.0
    }
}

#[cfg(test)]
mod tests;
