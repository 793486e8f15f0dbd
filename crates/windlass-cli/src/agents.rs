//! The agent that a session is, those below it, and the list of agents.

mod below;

pub(crate) use below::{below, in_background, is_agent_tool, is_offered, listed};

use crate::args::AgentsListArgs;
use crate::failure::Usage;
use crate::jsonl;
use crate::permissions::check;
use crate::settings::{ProjectSettings, current_directory};
use crate::terminal::clean_line;
use serde_json::json;
use std::io::{Write, stderr, stdout};
use windlass::crates::project::{Agents, LoadedAgent};
use windlass::{
    AgentDefinition, Behavior, Effort, JsonText, PermissionMode, Permissions, Subagents, SystemPrompt, Toolkit,
};

/// What names and defines agents beside files.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct AgentFlags<'a> {
    /// `--agent`.
    pub(crate) agent: Option<&'a str>,
    /// `--agents`.
    pub(crate) agents: Option<&'a str>,
    /// What the host defines; it counts for more.
    pub(crate) host: Option<&'a JsonText>,
    /// Whether the command line lets the mode be bypassPermissions.
    pub(crate) bypass_allowed: bool,
}

/// The agent that a session is: what it says counts where nobody says something else by hand. Without one, nothing
/// is different.
#[derive(Debug, Default)]
pub(crate) struct MainAgent {
    main: Option<LoadedAgent>,
    /// The agents that its model can give tasks to.
    below: Subagents,
    /// What has no effect, in words.
    pub(crate) notes: Vec<String>,
}

impl MainAgent {
    /// Finds the agent that the flags or the settings name.
    ///
    /// # Errors
    /// It is not there or cannot be used: going on without it would allow more than was asked for.
    pub(crate) fn choose(flags: &AgentFlags<'_>, settings: &ProjectSettings, tools: &Toolkit) -> anyhow::Result<Self> {
        let agents = all(flags)?.or(settings.agents());
        let below = below(&agents);
        let Some(name) = flags.agent.filter(|name| !name.is_empty()).or(settings.agent()) else {
            return Ok(Self { main: None, below, notes: below::notes(&agents, None) });
        };
        let mut agent = agents.get(name).cloned().map_err(|error| Usage(error.to_string()))?;
        below::rename(&mut agent.definition);
        let mut notes = below::notes(&agents, Some(&agent));
        let own: Vec<String> = tools.tools().iter().map(|tool| tool.spec().name).collect();
        let is_known = |name: &&String| own.contains(name) || name.starts_with("mcp__") || is_agent_tool(name);
        let missing: Vec<&str> =
            agent.definition.tools.iter().flatten().filter(|name| !is_known(name)).map(String::as_str).collect();
        for (problem, names) in [
            ("does not get tools that are not there", missing.join(", ")),
            ("says what has no effect in this version", agent.without_effect.join(", ")),
        ] {
            if !names.is_empty() {
                notes.push(format!("the agent {name:?} {problem}: {names}"));
            }
        }
        // What it forbids must be usable.
        let warnings = check(&agent.definition.disallowed_tools, Behavior::Deny);
        notes.extend(warnings.map_err(|error| Usage(format!("the agent {name:?}: disallowedTools: {error}")))?);
        if agent.definition.permission_mode == Some(PermissionMode::BypassPermissions) && !flags.bypass_allowed {
            notes.push(format!(
                "the agent {name:?} wants the mode bypassPermissions, which the command line does not allow"
            ));
            agent.definition.permission_mode = None;
        }
        Ok(Self { main: Some(agent), below, notes })
    }

    fn definition(&self) -> Option<&AgentDefinition> {
        self.main.as_ref().map(|agent| &agent.definition)
    }

    /// The system prompt: `said` if that is a text, else the agent's, else `said` or the preset.
    pub(crate) fn system_prompt(&self, said: Option<String>) -> SystemPrompt {
        let own = self.definition().map(|agent| agent.prompt.clone());
        let text = said.clone().filter(|text| !text.is_empty()).or(own).or(said);
        text.map_or(SystemPrompt::Preset, SystemPrompt::Custom)
    }

    pub(crate) fn model(&self) -> Option<&str> {
        self.definition()?.model.as_deref()
    }

    pub(crate) fn effort(&self) -> Option<Effort> {
        self.definition()?.effort
    }

    /// Most turns of a run: the fewer ones.
    pub(crate) fn max_turns(&self, said: Option<u32>) -> Option<u32> {
        let own = self.definition().and_then(|agent| agent.max_turns);
        own.into_iter().chain(said).min()
    }

    /// The mode where `otherwise` would be in force and nobody chose one by hand.
    pub(crate) fn mode(&self, otherwise: PermissionMode) -> PermissionMode {
        self.main.as_ref().map_or(otherwise, |agent| agent.mode(otherwise))
    }

    /// The only tools that there are, if not all.
    pub(crate) fn tools(&self) -> Option<&[String]> {
        self.definition()?.tools.as_deref()
    }

    /// Leaves out the tools that the agent does not have.
    pub(crate) fn keep(&self, tools: Toolkit) -> Toolkit {
        match self.tools() {
            Some(names) => tools.only(&names.iter().map(String::as_str).collect::<Vec<_>>()),
            None => tools,
        }
    }

    /// Adds what the agent forbids.
    pub(crate) fn forbid(&self, permissions: Permissions) -> Permissions {
        let rules = self.definition().into_iter().flat_map(|agent| agent.disallowed_tools.iter().cloned());
        permissions.deny(rules)
    }

    /// What a new session begins with.
    pub(crate) fn initial_prompt(&self) -> Option<&str> {
        self.main.as_ref()?.initial_prompt.as_deref()
    }
}

/// The agents of `--agents`: JSON text, or a file that holds it.
fn given(agents: Option<&str>) -> Result<Agents, Usage> {
    let Some(given) = agents.filter(|given| !given.trim().is_empty()) else { return Ok(Agents::default()) };
    let text = if given.trim_start().starts_with('{') {
        given.to_owned()
    } else {
        std::fs::read_to_string(given).map_err(|error| Usage(format!("--agents {given}: {error}")))?
    };
    Agents::parse(&text).map_err(|error| Usage(format!("--agents: {error}")))
}

/// The agents that the host and the command line define.
pub(crate) fn all(flags: &AgentFlags<'_>) -> Result<Agents, Usage> {
    let host = match flags.host {
        Some(json) => Agents::parse(json.as_str()).map_err(|error| Usage(format!("agents: {error}")))?,
        None => Agents::default(),
    };
    Ok(host.or(given(flags.agents)?))
}

/// Prints the agents, and returns the exit code.
pub(crate) fn print(args: &AgentsListArgs) -> anyhow::Result<i32> {
    let settings = ProjectSettings::pinned(&current_directory()?, &args.settings.flags())?;
    let settings = settings.with_plugins(args.plugins.directories());
    let agents = given(args.agents.as_deref())?.or(settings.agents());
    let mut out = stdout().lock();
    for found in &agents.agents {
        let agent = &found.definition;
        if args.json {
            let tools = agent.tools.as_ref();
            jsonl::write(
                &mut out,
                &json!({
                    "name": agent.name, "source": found.source.to_string(), "description": agent.description,
                    "path": found.path, "tools": tools, "disallowedTools": agent.disallowed_tools, "model": agent.model,
                    "permissionMode": agent.permission_mode, "maxTurns": agent.max_turns,
                    "effort": agent.effort.map(Effort::as_str), "background": agent.background, "withoutEffect": found.without_effect,
                }),
            )?;
        } else {
            let path = found.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            // Tabs separate them.
            let [name, description, path] = [&agent.name, &agent.description, &path].map(|text| clean_line(text));
            writeln!(out, "{name}\t{}\t{description}\t{path}", found.source)?;
        }
    }
    for error in &settings.plugins().errors {
        writeln!(stderr(), "windlass: {}", clean_line(&error.to_string()))?;
    }
    for note in &agents.notes {
        writeln!(stderr(), "windlass: {}", clean_line(&note.to_string()))?;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(fields: &str) -> MainAgent {
        let agents = Agents::parse(&format!(r#"{{"a":{{"prompt":"Own."{fields}}}}}"#)).unwrap();
        MainAgent { main: Some(agents.get("a").unwrap().clone()), ..MainAgent::default() }
    }

    #[test]
    fn what_is_said_by_hand_counts_for_more() {
        let (none, own) = (MainAgent::default(), agent(""));
        let custom = |text: &str| SystemPrompt::Custom(text.to_owned());
        for (said, without, with) in [
            (None, SystemPrompt::Preset, custom("Own.")),
            (Some(""), custom(""), custom("Own.")),
            (Some("Said."), custom("Said."), custom("Said.")),
        ] {
            assert_eq!(none.system_prompt(said.map(str::to_owned)), without);
            assert_eq!(own.system_prompt(said.map(str::to_owned)), with);
        }
    }

    #[test]
    fn turns_are_the_fewer_ones() {
        let own = agent(r#","maxTurns":3"#);
        for (said, least) in [(None, 3), (Some(2), 2), (Some(3), 3), (Some(9), 3)] {
            assert_eq!(own.max_turns(said), Some(least));
        }
        assert_eq!((MainAgent::default().max_turns(Some(9)), agent("").max_turns(None)), (Some(9), None));
    }
}
