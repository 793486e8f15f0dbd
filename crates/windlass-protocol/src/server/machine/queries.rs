//! Questions of the host about the session.

use super::Machine;
use crate::HOST_VERSION;
use crate::frame::WireModels;
use crate::server::options::HostModel;
use serde_json::{Map, Value, json};
use std::path::Path;
use windlass_types::{ContextKind, ContextSection, ContextUsage, Usage};

impl Machine {
    /// The models to offer.
    pub(super) fn models(&self) -> Vec<Value> {
        self.config.models.iter().map(model).collect()
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
    pub(super) fn context(&self, usage: Option<&ContextUsage>) -> Context {
        let billed = self.session.spent.context_tokens();
        let mut parts = usage.map(parts).unwrap_or_default();
        let fixed: u64 = parts.iter().map(|(.., tokens)| tokens).sum();
        // Estimates are high: what was billed is right.
        if billed > 0 && fixed > billed {
            for (.., tokens) in &mut parts {
                *tokens = (*tokens).saturating_mul(billed) / fixed;
            }
        }
        let known: u64 = parts.iter().map(|(.., tokens)| tokens).sum();
        parts.push(("messages", "Messages", billed.saturating_sub(known)));
        Context {
            auto_compact: self.session.facts.as_ref().is_none_or(|facts| !facts.compacts_on_request_only),
            used: billed.max(known),
            usage: usage.cloned(),
            parts,
            billed: (billed > 0).then_some(self.session.spent.last),
        }
    }
}

/// The parts that the conversation does not change, each with its id, its name and its tokens. Servers and files are left out where there are
/// none.
fn parts(usage: &ContextUsage) -> Vec<(&'static str, &'static str, u64)> {
    let of_servers = |section: &&ContextSection| is_of_server(section);
    let tools = usage.of_kind(ContextKind::Tool);
    let of_mcp: u64 = usage.sections.iter().filter(of_servers).map(|section| section.tokens).sum();
    let all = [
        ("system_prompt", "System prompt", usage.of_kind(ContextKind::SystemPrompt)),
        ("system_tools", "Tools", tools.saturating_sub(of_mcp)),
        ("mcp_tools", "MCP tools", of_mcp),
        ("memory_files", "Instructions", usage.of_kind(ContextKind::Instructions)),
    ];
    let is_usual = |id: &str| matches!(id, "system_prompt" | "system_tools");
    all.into_iter().filter(|(id, _, tokens)| *tokens > 0 || is_usual(id)).collect()
}

fn is_of_server(section: &ContextSection) -> bool {
    section.kind == ContextKind::Tool && section.source != "windlass"
}

/// A model as hosts list it. Abilities that it lacks are left out, as for a model that is not known.
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

/// The source of the provider's key, if there is one.
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

/// What fills the context window, in tokens.
#[derive(Debug)]
pub(crate) struct Context {
    /// `None` before the session is open.
    usage: Option<ContextUsage>,
    used: u64,
    /// Ids, names and tokens.
    parts: Vec<(&'static str, &'static str, u64)>,
    auto_compact: bool,
    /// What the last model call was billed for.
    billed: Option<Usage>,
}

impl Context {
    /// The id of the model, and its window; zero when it is not known.
    fn model(&self) -> (&str, u64) {
        self.usage.as_ref().map(|usage| (usage.model.as_str(), usage.window)).unwrap_or_default()
    }

    fn percentage(&self) -> f64 {
        match self.model().1 {
            0 => 0.0,
            window => (self.used as f64 / window as f64 * 100.0).round(),
        }
    }

    fn sections(&self) -> impl Iterator<Item = &ContextSection> {
        self.usage.iter().flat_map(|usage| &usage.sections)
    }

    /// The answer to `get_context_usage`.
    pub(crate) fn json(&self) -> Value {
        let (model, window) = self.model();
        let free = window.saturating_sub(self.used);
        let used = self
            .parts
            .iter()
            .map(|(id, name, tokens)| json!({ "id": id, "name": name, "tokens": tokens, "color": "", "kind": "used" }));
        let withheld = self.usage.as_ref().map(ContextUsage::withheld).filter(|tokens| *tokens > 0);
        let withheld = withheld.map(|tokens| {
            json!({
                "id": "deferred_tools", "name": "Deferred tools", "tokens": tokens, "color": "", "kind": "deferred",
                "isDeferred": true,
            })
        });
        let free = json!({ "id": "free_space", "name": "Free space", "tokens": free, "color": "", "kind": "free" });
        let usage = self.billed.map(|usage| {
            json!({
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cache_creation_input_tokens": usage.cache_creation_input_tokens,
                "cache_read_input_tokens": usage.cache_read_input_tokens,
            })
        });
        // Texts that are of no single file, such as the list of skills, are among the categories alone.
        let is_file = |section: &&ContextSection| {
            section.kind == ContextKind::Instructions && Path::new(&section.name).is_absolute()
        };
        let files = self.sections().filter(is_file).map(
            |section| json!({ "path": section.name, "type": capitalised(&section.source), "tokens": section.tokens }),
        );
        let servers = self
            .sections()
            .filter(|section| is_of_server(section))
            .map(|section| json!({ "name": section.name, "serverName": section.source, "tokens": section.tokens }));
        json!({
            "categories": used.chain(withheld).chain([free]).collect::<Vec<_>>(),
            "totalTokens": self.used,
            "maxTokens": window,
            "rawMaxTokens": window,
            "percentage": self.percentage(),
            "gridRows": [],
            "model": model,
            "memoryFiles": files.collect::<Vec<_>>(),
            "mcpTools": servers.collect::<Vec<_>>(),
            "agents": [],
            "isAutoCompactEnabled": self.auto_compact,
            "apiUsage": usage,
        })
    }

    /// What users read.
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![match self.model() {
            (model, 0) => format!("{model}: {} tokens", self.used),
            (model, window) => format!("{model}: {} of {window} tokens ({} %)", self.used, self.percentage()),
        }];
        lines.extend(self.parts.iter().map(|(_, name, tokens)| format!("{name}: {tokens} tokens")));
        if let Some(saved) = self.usage.as_ref().map(ContextUsage::withheld).filter(|tokens| *tokens > 0) {
            lines.push(format!("Tools that are loaded when they are searched for: {saved} tokens saved"));
        }
        lines.push("Parts are estimated; the sum is what the provider counted last.".to_owned());
        lines.join("\n")
    }
}

/// `project` as `Project`.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
