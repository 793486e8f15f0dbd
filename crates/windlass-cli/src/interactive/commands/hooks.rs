//! `/hooks`: hooks with their events, conditions and sources.

use super::context::{CommandContext, lines};
use crate::terminal::clean_line;
use windlass::hook::{HookDefinition, HookHandler};
use windlass_terminal::app::CommandReply;

pub(super) fn view(context: &CommandContext) -> anyhow::Result<CommandReply> {
    let project = &context.project;
    let hooks = &project.resolved().hooks;
    let mut rows: Vec<String> = hooks
        .all
        .iter()
        .map(|hook| clean_line(&format!("{}  ({}, {})", described(&hook.value), hook.layer, hook.origin)))
        .collect();
    for plugin in &project.plugins().plugins {
        let hooks = plugin.hooks.all.iter();
        rows.extend(hooks.map(|hook| clean_line(&format!("{}  (plugin {})", described(hook), plugin.name))));
    }
    Ok(lines(&rows, "No hook is configured here. docs/hooks.md shows how to add one."))
}

fn described(hook: &HookDefinition) -> String {
    let handler = match &hook.handler {
        HookHandler::Command(program) => {
            let arguments = program.args.iter().flatten().map(|argument| format!(" {argument}"));
            format!("$ {}{}", program.command, arguments.collect::<String>())
        }
        HookHandler::Http(request) => format!("POST {}", request.url),
        HookHandler::McpTool(tool) => format!("tool {} of the server {}", tool.tool, tool.server),
        HookHandler::Prompt(_) => "asks a model".to_owned(),
        HookHandler::Agent(_) => "asks an agent".to_owned(),
        _ => "another handler".to_owned(),
    };
    format!("{}  {handler}", hook.event)
}
