//! The configured hooks of a project.

use super::elsewhere::{closes_a_gate, runs_a_command};
use super::starts::HookStarts;
use super::{LoadedProject, ProjectError, ProjectNoticeKind};
use windlass_hook_runner::{ConfiguredHook, HookDefinition, HookScope, HookStart};
use windlass_project::{AgentSource, Agents, Command, CommandSource, Commands, LoadedAgent, ProgramAuthor};
use windlass_types::HookEventName;

impl LoadedProject {
    /// Checks that no hook is missing that could deny or block.
    pub(crate) fn check_hooks(&self) -> Result<(), ProjectError> {
        self.resolved().check_hooks()?;
        if self.resolved().hooks.others_count {
            self.plugins().check_hooks()?;
        }
        Ok(())
    }

    /// Active hooks of settings files, plugins and agents, in order. A hook whose program does not start is noted, and
    /// is kept only if it closes a gate.
    pub(crate) fn configured_hooks(&self, agents: &Agents) -> Vec<ConfiguredHook> {
        if self.place_elsewhere().is_some() {
            return self
                .all_hooks(agents)
                .into_iter()
                .map(|(hook, _)| hook)
                .filter(|hook| !runs_a_command(hook))
                .collect();
        }
        let all = self.all_hooks(agents);
        if !all.iter().any(|(hook, _)| runs_a_command(hook)) {
            return all.into_iter().map(|(hook, _)| hook).collect();
        }
        let starts = HookStarts::of(self);
        let placed = |(hook, author): (ConfiguredHook, ProgramAuthor)| starts.placed(hook, &author);
        let mut hooks: Vec<ConfiguredHook> = all.into_iter().map(placed).collect();
        hooks.retain(|hook| {
            let HookStart::Never(refusal) = &hook.start else { return true };
            let (event, closes) = (hook.definition.event, closes_a_gate(hook));
            let then = if closes { ", so what it decides on is denied" } else { "" };
            self.note(ProjectNoticeKind::Setting, format!("a hook of {event} is not started{then}: {refusal}"));
            closes
        });
        hooks
    }

    /// All active hooks with their authors, wherever the files are and whether or not their programs start.
    pub(super) fn all_hooks(&self, agents: &Agents) -> Vec<(ConfiguredHook, ProgramAuthor)> {
        let resolved = &self.resolved().hooks;
        let of_settings = resolved
            .all
            .iter()
            .map(|hook| (ConfiguredHook::new(hook.value.clone()), ProgramAuthor::of_layer(hook.layer)));
        let mut hooks: Vec<(ConfiguredHook, ProgramAuthor)> = of_settings.collect();
        if !resolved.others_count {
            return hooks;
        }
        for plugin in &self.plugins().plugins {
            let author = ProgramAuthor::Plugin(plugin.root.clone());
            let of_plugin = |hook: &HookDefinition| ConfiguredHook::new(hook.clone()).of_plugin(&plugin.root);
            hooks.extend(plugin.hooks.all.iter().map(|hook| (of_plugin(hook), author.clone())));
        }
        let of_commands = hooks_of_commands(&self.commands()).into_iter();
        hooks.extend(of_commands.map(|(hook, source)| (hook, author_of_command(source))));
        let named = self.choice.agent.as_deref().filter(|name| !name.is_empty());
        let main = named.or(self.resolved().agent.as_ref().map(|agent| agent.value.as_str()));
        for agent in &agents.agents {
            let author = author_of_agent(agent.source);
            let mut add = |hook: ConfiguredHook| hooks.push((hook, author.clone()));
            if main == Some(agent.name()) {
                agent.hooks.iter().cloned().map(ConfiguredHook::new).for_each(&mut add);
            }
            agent.hooks.iter().map(|hook| below(agent, hook)).for_each(add);
        }
        hooks
    }
}

/// Author of a command or skill. Hooks of skills that the program gives belong to it, like those of the project.
fn author_of_command(source: CommandSource) -> ProgramAuthor {
    match source {
        CommandSource::Project | CommandSource::Host => ProgramAuthor::Project,
        CommandSource::Managed => ProgramAuthor::Managed,
        _ => ProgramAuthor::User,
    }
}

fn author_of_agent(source: AgentSource) -> ProgramAuthor {
    match source {
        AgentSource::Project => ProgramAuthor::Project,
        _ => ProgramAuthor::User,
    }
}

/// Hooks of commands and skills, for the runs that use them.
pub(super) fn of_commands(commands: &Commands) -> Vec<ConfiguredHook> {
    hooks_of_commands(commands).into_iter().map(|(hook, _)| hook).collect()
}

/// Hooks of commands and skills, each with the source of its command.
fn hooks_of_commands(commands: &Commands) -> Vec<(ConfiguredHook, CommandSource)> {
    let of_command = |command: &Command, hook: &HookDefinition| {
        let hook = ConfiguredHook::new(hook.clone()).in_scope(HookScope::Skill(command.name.clone()));
        command.plugin_root().into_iter().fold(hook, ConfiguredHook::of_plugin)
    };
    let hooks = |command: &Command| {
        let all: Vec<_> = command.hooks().iter().map(|hook| (of_command(command, hook), command.source)).collect();
        all
    };
    commands.commands.iter().flat_map(hooks).collect()
}

/// Hook of an agent that runs as a subagent: a hook for its stop listens to the stop of a subagent.
fn below(agent: &LoadedAgent, hook: &HookDefinition) -> ConfiguredHook {
    let event = if hook.event == HookEventName::Stop { HookEventName::SubagentStop } else { hook.event };
    ConfiguredHook::new(hook.clone().on(event)).in_scope(HookScope::Agent(agent.name().to_owned()))
}
