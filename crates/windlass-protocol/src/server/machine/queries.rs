//! Questions of the host about the session.

use super::Machine;
use super::io::ContextFacts;
use crate::HOST_VERSION;
use crate::frame::WireModels;
use serde_json::{Value, json};

impl Machine {
    /// The models to offer.
    pub(super) fn models(&self) -> Vec<Value> {
        let models = self.config.models.iter();
        models
            .map(|(name, description)| json!({ "value": name, "displayName": name, "description": description }))
            .collect()
    }

    /// What the session has used, as a text and as numbers.
    pub(super) fn session_cost(&self) -> Value {
        json!({ "text": self.session.spent.text() })
    }

    pub(super) fn usage(&self) -> Value {
        let spent = &self.session.spent;
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

    /// What fills the context window: the fixed parts as they were estimated,
    /// and the rest of what the last model call was billed for.
    pub(super) fn context(&self, facts: &ContextFacts) -> Context {
        let (model, window) = facts.model.clone().unwrap_or_default();
        let mut parts: Vec<(String, String, u64)> =
            facts.parts.iter().map(|part| (part.id.clone(), part.name.clone(), part.tokens)).collect();
        let fixed: u64 = parts.iter().map(|(.., tokens)| tokens).sum();
        let billed = self.session.spent.context_tokens();
        // Estimates are high: what was billed is right.
        if billed > 0 && fixed > billed {
            for (.., tokens) in &mut parts {
                *tokens = (*tokens).saturating_mul(billed) / fixed;
            }
        }
        let known: u64 = parts.iter().map(|(.., tokens)| tokens).sum();
        parts.push(("messages".to_owned(), "Messages".to_owned(), billed.saturating_sub(known)));
        let usage = (billed > 0).then_some(self.session.spent.last);
        let auto_compact = self.session.facts.as_ref().is_none_or(|facts| !facts.compacts_on_request_only);
        Context { auto_compact, model, window, used: billed.max(known), parts, usage }
    }
}

/// Where the key of the provider comes from, if there is one.
pub(super) fn account(api_key_source: &str) -> Value {
    match api_key_source {
        "none" => json!({}),
        source => json!({ "apiKeySource": source }),
    }
}

pub(super) fn binary_version() -> Value {
    json!({ "version": HOST_VERSION, "buildTime": null })
}

/// What fills the context window, in tokens.
#[derive(Debug)]
pub(crate) struct Context {
    model: String,
    /// Zero when it is not known.
    window: u64,
    used: u64,
    /// Ids, names and tokens.
    parts: Vec<(String, String, u64)>,
    auto_compact: bool,
    /// What the last model call was billed for.
    usage: Option<windlass_types::Usage>,
}

impl Context {
    fn percentage(&self) -> f64 {
        if self.window == 0 { 0.0 } else { (self.used as f64 / self.window as f64 * 100.0).round() }
    }

    /// The answer to `get_context_usage`.
    pub(crate) fn json(&self) -> Value {
        let free = self.window.saturating_sub(self.used);
        let used = self
            .parts
            .iter()
            .map(|(id, name, tokens)| json!({ "id": id, "name": name, "tokens": tokens, "color": "", "kind": "used" }));
        let free = json!({ "id": "free_space", "name": "Free space", "tokens": free, "color": "", "kind": "free" });
        let usage = self.usage.map(|usage| {
            json!({
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cache_creation_input_tokens": usage.cache_creation_input_tokens,
                "cache_read_input_tokens": usage.cache_read_input_tokens,
            })
        });
        json!({
            "categories": used.chain([free]).collect::<Vec<_>>(),
            "totalTokens": self.used,
            "maxTokens": self.window,
            "rawMaxTokens": self.window,
            "percentage": self.percentage(),
            "gridRows": [],
            "model": self.model,
            "memoryFiles": [],
            "mcpTools": [],
            "agents": [],
            "isAutoCompactEnabled": self.auto_compact,
            "apiUsage": usage,
        })
    }

    /// What users read.
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![match self.window {
            0 => format!("{}: {} tokens", self.model, self.used),
            window => format!("{}: {} of {window} tokens ({} %)", self.model, self.used, self.percentage()),
        }];
        lines.extend(self.parts.iter().map(|(_, name, tokens)| format!("{name}: {tokens} tokens")));
        lines.push("Parts are estimated; the sum is what the provider counted last.".to_owned());
        lines.join("\n")
    }
}
