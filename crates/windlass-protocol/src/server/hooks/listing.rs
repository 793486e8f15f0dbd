//! The hooks of the host, listed.

use super::table::{EVENTS, HookTable};
use serde_json::{Value, json};
use windlass_types::HookEventName;

fn summary(event: HookEventName) -> &'static str {
    match event {
        HookEventName::PreToolUse => "Before a tool runs",
        HookEventName::PermissionRequest => "Before the user is asked about a call",
        HookEventName::PostToolUse => "After a tool ran",
        HookEventName::PostToolUseFailure => "After a tool failed",
        HookEventName::UserPromptSubmit => "Before a prompt enters the conversation",
        HookEventName::Stop => "Before a run ends because the model is done",
        HookEventName::SubagentStart => "When an agent begins that another one started",
        HookEventName::SubagentStop => "Before such an agent ends because its model is done",
        HookEventName::PreCompact => "Before the conversation is replaced by a summary",
        _ => "",
    }
}

impl HookTable {
    /// What is registered: the answer to `get_hooks_listing`.
    pub(crate) fn listing(&self) -> Value {
        let event = |event: HookEventName| {
            let matches = !matches!(event, HookEventName::UserPromptSubmit | HookEventName::Stop);
            json!({ "name": event.as_str(), "summary": summary(event), "supportsMatcher": matches })
        };
        let with_hooks = EVENTS.into_iter().filter_map(|name| {
            let hooks = self.0.iter().filter(|registered| registered.event == name);
            let count: usize = hooks.map(|registered| registered.callbacks.len()).sum();
            let mut listed = event(name);
            listed.as_object_mut()?.insert("hookCount".to_owned(), count.into());
            (count > 0).then_some(listed)
        });
        let rows = self.0.iter().flat_map(|registered| {
            registered.callbacks.iter().map(move |callback| {
                json!({
                    "event": registered.event.as_str(),
                    "matcher": registered.text,
                    "source": "sdk",
                    "sourceLabel": "The host",
                    "type": "callback",
                    "displayText": callback,
                    "commandText": callback,
                    "contentLabel": "Callback",
                    "timeout": registered.timeout.as_secs_f64(),
                })
            })
        });
        json!({
            "events": with_hooks.collect::<Vec<_>>(),
            "hooks": rows.collect::<Vec<_>>(),
            "eventCatalog": EVENTS.map(event),
            "policy": {
                "disabledByPolicy": false,
                "managedOnly": false,
                "pluginOnly": false,
                "allDisabled": false,
                "policyHookCount": 0,
            },
        })
    }
}
