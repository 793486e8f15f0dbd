//! Use of the context window.

use crate::spent::Spent;
use windlass_types::{ContextKind, ContextSection, ContextUsage, Usage};

/// Use of the context window, in tokens: the fixed parts as they were estimated, and the rest of the last bill.
#[derive(Debug)]
#[non_exhaustive]
pub struct ContextReport {
    /// Estimates of the fixed parts. `None` before the session is open.
    pub usage: Option<ContextUsage>,
    /// Tokens in use.
    pub used: u64,
    /// Parts of the context, in the order in which they are sent.
    pub parts: Vec<ContextPart>,
    /// `true` if the conversation is compacted by itself.
    pub auto_compact: bool,
    /// Usage that the last model call was billed for.
    pub billed: Option<Usage>,
}

/// One part of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextPart {
    /// Identifier, such as `system_prompt`.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Tokens.
    pub tokens: u64,
}

impl ContextReport {
    pub(crate) fn new(usage: Option<&ContextUsage>, spent: &Spent, auto_compact: bool) -> Self {
        let billed = spent.context_tokens();
        let mut parts = usage.map(fixed_parts).unwrap_or_default();
        let fixed: u64 = parts.iter().map(|part| part.tokens).sum();
        // Estimates are high: the bill is right.
        if billed > 0 && fixed > billed {
            for part in &mut parts {
                part.tokens = part.tokens.saturating_mul(billed) / fixed;
            }
        }
        let known_tokens: u64 = parts.iter().map(|part| part.tokens).sum();
        parts.push(ContextPart { id: "messages", name: "Messages", tokens: billed.saturating_sub(known_tokens) });
        Self {
            auto_compact,
            used: billed.max(known_tokens),
            usage: usage.cloned(),
            parts,
            billed: (billed > 0).then_some(spent.last),
        }
    }

    /// Id of the model, and its window in tokens; empty and zero while they are unknown.
    pub fn model(&self) -> (&str, u64) {
        self.usage.as_ref().map(|usage| (usage.model.as_str(), usage.window)).unwrap_or_default()
    }

    /// Used share of the window, in percent.
    pub fn percentage(&self) -> f64 {
        match self.model().1 {
            0 => 0.0,
            window => (self.used as f64 / window as f64 * 100.0).round(),
        }
    }

    /// Sections of the fixed parts.
    pub fn sections(&self) -> impl Iterator<Item = &ContextSection> {
        self.usage.iter().flat_map(|usage| &usage.sections)
    }

    /// Report for people.
    pub fn text(&self) -> String {
        let mut lines = vec![match self.model() {
            (model, 0) => format!("{model}: {} tokens", self.used),
            (model, window) => format!("{model}: {} of {window} tokens ({} %)", self.used, self.percentage()),
        }];
        lines.extend(self.parts.iter().map(|part| format!("{}: {} tokens", part.name, part.tokens)));
        if let Some(saved) = self.usage.as_ref().map(ContextUsage::withheld).filter(|tokens| *tokens > 0) {
            lines.push(format!("Tools that are loaded when they are searched for: {saved} tokens saved"));
        }
        lines.push("Parts are estimated; the sum is what the provider counted last.".to_owned());
        lines.join("\n")
    }
}

/// The parts that the conversation does not change. Servers and files are left out where there are none.
fn fixed_parts(usage: &ContextUsage) -> Vec<ContextPart> {
    let tools = usage.of_kind(ContextKind::Tool);
    let of_mcp: u64 = usage.sections.iter().filter(|section| is_of_server(section)).map(|section| section.tokens).sum();
    let candidates = [
        ("system_prompt", "System prompt", usage.of_kind(ContextKind::SystemPrompt)),
        ("system_tools", "Tools", tools.saturating_sub(of_mcp)),
        ("mcp_tools", "MCP tools", of_mcp),
        ("memory_files", "Instructions", usage.of_kind(ContextKind::Instructions)),
    ];
    let is_usual = |id: &str| matches!(id, "system_prompt" | "system_tools");
    let parts = candidates.into_iter().filter(|(id, _, tokens)| *tokens > 0 || is_usual(id));
    parts.map(|(id, name, tokens)| ContextPart { id, name, tokens }).collect()
}

/// `true` if a section is a tool of an MCP server.
pub fn is_of_server(section: &ContextSection) -> bool {
    section.kind == ContextKind::Tool && section.source != "windlass"
}
