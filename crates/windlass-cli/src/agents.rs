//! The list of agents.

use crate::args::AgentsListArgs;
use crate::failure::of_project;
use crate::jsonl;
use crate::launch;
use crate::settings::current_directory;
use crate::terminal::clean_line;
use serde_json::json;
use std::io::{Write, stderr, stdout};
use windlass::project::{Agents, LoadedAgent};
use windlass::tool::MemoryScope;
use windlass::{AgentDefinition, Effort, Subagents};
use windlass_protocol::HostAgent;

/// Returns the agents as hosts list them.
pub(crate) fn listed(agents: &Subagents) -> Vec<HostAgent> {
    let listed =
        |agent: &AgentDefinition| HostAgent::new(agent.name.clone(), agent.description.clone(), agent.model.clone());
    agents.definitions().map(listed).collect()
}

/// Returns a row for each agent: name, source, description and file, with tabs between them.
pub(crate) fn rows(agents: &Agents) -> Vec<String> {
    let row = |found: &LoadedAgent| {
        let agent = &found.definition;
        let path = found.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let [name, description, path] = [&agent.name, &agent.description, &path].map(|text| clean_line(text));
        format!("{name}\t{}\t{description}\t{path}", found.source)
    };
    agents.agents.iter().map(row).collect()
}

/// Prints the agents, and returns the exit code.
pub(crate) fn print(args: &AgentsListArgs) -> anyhow::Result<i32> {
    let project = launch::project(&args.settings, &current_directory()?)?.plugins(args.plugins.directories());
    let project = project.review().map_err(of_project)?;
    let agents = launch::agents(args.agents.as_deref())?.or(project.known_agents());
    let mut out = stdout().lock();
    for found in &agents.agents {
        let agent = &found.definition;
        if args.json {
            let tools = agent.tool_list();
            jsonl::write(
                &mut out,
                &json!({
                    "name": agent.name, "source": found.source.to_string(), "description": agent.description,
                    "path": found.path, "tools": tools, "disallowedTools": agent.disallowed_tools, "model": agent.model,
                    "permissionMode": agent.permission_mode, "maxTurns": agent.max_turns,
                    "effort": agent.effort.map(Effort::as_str), "background": agent.background,
                    "memory": agent.memory.map(MemoryScope::as_str), "skills": agent.skills, "withoutEffect": found.without_effect,
                }),
            )?;
        }
    }
    if !args.json {
        for row in rows(&agents) {
            writeln!(out, "{row}")?;
        }
    }
    for error in &project.plugins().errors {
        writeln!(stderr(), "windlass: {}", clean_line(&error.to_string()))?;
    }
    for note in &agents.notes {
        writeln!(stderr(), "windlass: {}", clean_line(&note.to_string()))?;
    }
    Ok(0)
}
