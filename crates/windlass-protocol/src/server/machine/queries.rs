//! Queries of the host about the session.

use super::ServerMachine;
use crate::HOST_VERSION;
use crate::frame::WireModels;
use crate::server::options::HostModel;
use serde_json::{Map, Value, json};
use std::path::Path;
use windlass_conversation::{ContextReport, is_of_server};
use windlass_types::{ContextKind, ContextSection, ContextUsage};

impl ServerMachine {
    /// Models to offer.
    pub(super) fn models(&self) -> Vec<Value> {
        self.config.models.iter().map(model).collect()
    }

    /// Cost of the session as a text.
    pub(super) fn session_cost(&self) -> Value {
        json!({ "text": self.conversation.spent().text() })
    }

    pub(super) fn usage(&self) -> Value {
        let spent = self.conversation.spent();
        json!({
            "session": {
                "total_cost_usd": spent.cost.usd(),
                "total_api_duration_ms": spent.duration_api_ms,
                "total_duration_ms": spent.duration_ms,
                "model_usage": WireModels(&spent.models),
            },
            "subscription_type": null,
            "rate_limits_available": false,
            "rate_limits": null,
            "behaviors": null,
        })
    }
}

/// A model for lists of hosts. Missing abilities are left out, as for an unknown model.
fn model(model: &HostModel) -> Value {
    let HostModel { name, description, id, efforts, adaptive_thinking, auto_mode } = model;
    let efforts: Vec<&str> = efforts.iter().map(|effort| effort.as_str()).collect();
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    add("value", json!(name));
    if let Some(id) = id {
        add("resolvedModel", json!(id));
    }
    add("displayName", json!(name));
    add("description", json!(description));
    if !efforts.is_empty() {
        add("supportsEffort", json!(true));
        add("supportedEffortLevels", json!(efforts));
    }
    if *adaptive_thinking {
        add("supportsAdaptiveThinking", json!(true));
    }
    if *auto_mode {
        add("supportsAutoMode", json!(true));
    }
    Value::Object(fields)
}

/// Source of the provider's key, if there is one.
pub(super) fn account(api_key_source: &str) -> Value {
    match api_key_source {
        "none" => json!({}),
        "apiKeyHelper" => json!({ "apiKeySource": "apiKeyHelper", "tokenSource": "apiKeyHelper" }),
        source => json!({ "apiKeySource": source }),
    }
}

pub(super) fn binary_version() -> Value {
    json!({ "version": HOST_VERSION, "buildTime": null })
}

/// Answer to `get_context_usage`.
pub(super) fn context(report: &ContextReport) -> Value {
    let (model, window) = report.model();
    let free = window.saturating_sub(report.used);
    let used = report
        .parts
        .iter()
        .map(|part| json!({ "id": part.id, "name": part.name, "tokens": part.tokens, "color": "", "kind": "used" }));
    let withheld = report.usage.as_ref().map(ContextUsage::withheld).filter(|tokens| *tokens > 0);
    let withheld = withheld.map(|tokens| {
        json!({
            "id": "deferred_tools", "name": "Deferred tools", "tokens": tokens, "color": "", "kind": "deferred",
            "isDeferred": true,
        })
    });
    let free = json!({ "id": "free_space", "name": "Free space", "tokens": free, "color": "", "kind": "free" });
    let usage = report.billed.map(|usage| {
        json!({
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_creation_input_tokens": usage.cache_creation_input_tokens,
            "cache_read_input_tokens": usage.cache_read_input_tokens,
        })
    });
    // Texts that do not come from a single file, such as the list of skills, appear only in the categories.
    let is_file =
        |section: &&ContextSection| section.kind == ContextKind::Instructions && Path::new(&section.name).is_absolute();
    let files = report
        .sections()
        .filter(is_file)
        .map(|section| json!({ "path": section.name, "type": capitalised(&section.source), "tokens": section.tokens }));
    let servers = report
        .sections()
        .filter(|section| is_of_server(section))
        .map(|section| json!({ "name": section.name, "serverName": section.source, "tokens": section.tokens }));
    json!({
        "categories": used.chain(withheld).chain([free]).collect::<Vec<_>>(),
        "totalTokens": report.used,
        "maxTokens": window,
        "rawMaxTokens": window,
        "percentage": report.percentage(),
        "gridRows": [],
        "model": model,
        "memoryFiles": files.collect::<Vec<_>>(),
        "mcpTools": servers.collect::<Vec<_>>(),
        "agents": [],
        "isAutoCompactEnabled": report.auto_compact,
        "apiUsage": usage,
    })
}

/// Capitalizes a name: `project` becomes `Project`.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
