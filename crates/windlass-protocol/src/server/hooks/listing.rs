//! Listing of the host's hooks.

use super::table::{HookTable, host_events};
use serde_json::{Value, json};
use windlass_types::HookEventName;
use windlass_types::hook::Subject;

impl HookTable {
    /// Registered hooks: the answer to `get_hooks_listing`.
    pub(crate) fn listing(&self) -> Value {
        let event = |event: HookEventName| {
            let supports_matcher = event.subject() != Subject::None;
            json!({ "name": event.as_str(), "summary": event.summary(), "supportsMatcher": supports_matcher })
        };
        let with_hooks = host_events().filter_map(|name| {
            let hooks = self.0.iter().filter(|registered| registered.event == name);
            let count: usize = hooks.map(|registered| registered.callback_ids.len()).sum();
            let mut entry = event(name);
            entry.as_object_mut()?.insert("hookCount".to_owned(), count.into());
            (count > 0).then_some(entry)
        });
        let rows = self.0.iter().flat_map(|registered| {
            registered.callback_ids.iter().map(move |callback| {
                json!({
                    "event": registered.event.as_str(),
                    "matcher": registered.matcher.text(),
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
            "eventCatalog": host_events().map(event).collect::<Vec<_>>(),
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
