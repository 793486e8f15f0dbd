//! Usage of the context window.

use super::Machine;
use windlass_context::{estimate_blocks, estimate_text, estimate_tool};
use windlass_types::{ContentBlock, ContextKind, ContextSection, ContextUsage, ToolSpec, mcp_name};

/// Source name of the runtime's texts and the built-in tools.
const OWN_SOURCE: &str = "windlass";

impl Machine {
    /// Returns the usage of the context window by the next request, part by part. Includes instructions that the model
    /// reads with the next prompt.
    pub fn context_usage(&self) -> ContextUsage {
        let (config, state) = (&self.session.config, &self.session.state);
        let model = self.session.current_model();
        let mut usage = ContextUsage::new(model.id.as_str(), model.info.context_window);
        usage.counted = state.context_tokens();
        let system = config.request.system.iter();
        usage.sections.extend(
            system.map(|section| text_section(ContextKind::SystemPrompt, "system prompt", OWN_SOURCE, &section.text)),
        );
        usage.sections.extend(self.session.offered_now().iter().map(|spec| tool_section(spec)));
        for spec in self.session.withheld_now() {
            let mut section = tool_section(&spec);
            (section.withheld, section.tokens) = (section.tokens, 0);
            usage.sections.push(section);
        }
        let files = self.session.instructions_within();
        for file in &files {
            let mut section = text_section(ContextKind::Instructions, &file.path, file.source.as_str(), &file.text);
            (section.left_out, section.reason) = (file.left_out as u64, file.reason.clone());
            usage.sections.push(section);
        }
        for server in config.tools.instructions.iter() {
            let name = server.prefix.trim_end_matches('_');
            usage.sections.push(text_section(ContextKind::Instructions, name, name, &server.text));
        }
        let messages = state.transcript().messages();
        let message_tokens: u64 = messages.iter().map(|message| estimate_blocks(&message.content)).sum();
        // The instructions among the messages are listed above.
        let servers = &config.tools.instructions;
        let is_listed =
            |text: &str| files.iter().any(|file| file.is_in(text)) || servers.iter().any(|server| server.text == text);
        let listed = messages.iter().flat_map(|message| &message.content);
        let listed = listed.filter_map(ContentBlock::as_text).filter(|text| is_listed(text));
        let rest = message_tokens.saturating_sub(listed.map(estimate_text).sum());
        usage.sections.push(ContextSection::new(ContextKind::Messages, "messages", OWN_SOURCE, rest));
        usage
    }

    /// Returns the maximum tokens of all results of the next message; `None` if the model's window is unknown.
    pub fn room_for_results(&self) -> Option<u64> {
        self.session.room_for_results()
    }
}

fn text_section(kind: ContextKind, name: &str, source: &str, text: &str) -> ContextSection {
    ContextSection::new(kind, name, source, estimate_text(text))
}

fn tool_section(spec: &ToolSpec) -> ContextSection {
    let server = spec.name.strip_prefix(mcp_name::PREFIX).and_then(|rest| rest.split_once("__"));
    let source = server.map_or(OWN_SOURCE, |(server, _)| server);
    ContextSection::new(ContextKind::Tool, spec.name.as_str(), source, estimate_tool(spec))
}
