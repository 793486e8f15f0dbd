//! The hooks that a host has registered.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use windlass_hook_runner::HookMatcher;
use windlass_types::HookEventName;

/// Time limit of the callbacks of a matcher without `timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the events for which a host can register hooks.
pub(super) fn host_events() -> impl Iterator<Item = HookEventName> {
    HookEventName::ALL.iter().copied().filter(|event| event.is_for_hosts())
}

/// Hook registration in the `initialize` request: event names with their matchers.
pub(crate) type HookConfig = BTreeMap<String, Vec<MatcherConfig>>;

/// A matcher and its callbacks.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MatcherConfig {
    #[serde(default)]
    matcher: Option<String>,
    #[serde(default)]
    hook_callback_ids: Vec<String>,
    /// Time limit in seconds.
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    on_failure: Option<String>,
}

/// The hooks that a host has registered.
#[derive(Debug, Clone, Default)]
pub(crate) struct HookTable(pub(super) Arc<[RegisteredMatcher]>);

#[derive(Debug)]
pub(super) struct RegisteredMatcher {
    pub(super) event: HookEventName,
    pub(super) matcher: HookMatcher,
    pub(super) callback_ids: Vec<String>,
    pub(super) timeout: Duration,
    /// `true` if a failing callback denies the guarded action: for every `onFailure` other than `continue`.
    pub(super) blocks_on_failure: bool,
}

impl HookTable {
    /// Parses the registration of a host.
    ///
    /// # Errors
    /// The pattern of a matcher cannot be parsed.
    pub(crate) fn read(config: HookConfig) -> Result<Self, String> {
        let mut table = Vec::new();
        for (event, matchers) in config {
            let Some(event) = HookEventName::named(&event).filter(|event| event.is_for_hosts()) else {
                tracing::warn!(event, "hooks for this event are never asked");
                continue;
            };
            for config in matchers {
                let timeout = config.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                table.push(RegisteredMatcher {
                    event,
                    matcher: HookMatcher::parse(config.matcher.as_deref(), event)?,
                    callback_ids: config.hook_callback_ids,
                    timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
                    blocks_on_failure: config.on_failure.is_some_and(|policy| policy != "continue"),
                });
            }
        }
        Ok(Self(table.into()))
    }
}
