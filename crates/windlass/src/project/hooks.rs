//! The configured hooks of a project.

use super::elsewhere::runs_a_command;
use super::{LoadedProject, ProjectError};
use windlass_hooks::{ConfiguredHook, HookDefinition, HookScope};
use windlass_project::{Command, Commands, LoadedAgent};
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

    /// The hooks of settings files, plugins and agents that count, in order.
    pub(crate) fn configured_hooks(&self) -> Vec<ConfiguredHook> {
        let mut hooks = self.all_hooks();
        if self.place_elsewhere().is_some() {
            hooks.retain(|hook| !runs_a_command(hook));
        }
        hooks
    }

    /// The same wherever the files are.
    pub(super) fn all_hooks(&self) -> Vec<ConfiguredHook> {
        let resolved = &self.resolved().hooks;
        let mut hooks: Vec<ConfiguredHook> =
            resolved.all.iter().map(|hook| ConfiguredHook::new(hook.value.clone())).collect();
        if !resolved.others_count {
            return hooks;
        }
        for plugin in &self.plugins().plugins {
            let of_plugin = |hook: &HookDefinition| ConfiguredHook::new(hook.clone()).of_plugin(&plugin.root);
            hooks.extend(plugin.hooks.all.iter().map(of_plugin));
        }
        hooks.extend(of_commands(&self.commands()));
        let agents = self.known_agents();
        let named = self.choice.agent.as_deref().filter(|name| !name.is_empty());
        let main = named.or(self.resolved().agent.as_ref().map(|agent| agent.value.as_str()));
        for agent in &agents.agents {
            if main == Some(agent.name()) {
                hooks.extend(agent.hooks.iter().cloned().map(ConfiguredHook::new));
            }
            hooks.extend(agent.hooks.iter().map(|hook| below(agent, hook)));
        }
        hooks
    }
}

/// The hooks of commands and skills, for the runs that use them.
pub(super) fn of_commands(commands: &Commands) -> Vec<ConfiguredHook> {
    let of_command = |command: &Command, hook: &HookDefinition| {
        let hook = ConfiguredHook::new(hook.clone()).in_scope(HookScope::Skill(command.name.clone()));
        command.plugin_root().into_iter().fold(hook, ConfiguredHook::of_plugin)
    };
    let hooks = |command| Command::hooks(command).iter().map(move |hook| of_command(command, hook));
    commands.commands.iter().flat_map(hooks).collect()
}

/// A hook of an agent while it works below the main one: what it says of its end is the end of such an agent.
fn below(agent: &LoadedAgent, hook: &HookDefinition) -> ConfiguredHook {
    let event = if hook.event == HookEventName::Stop { HookEventName::SubagentStop } else { hook.event };
    ConfiguredHook::new(hook.clone().on(event)).in_scope(HookScope::Agent(agent.name().to_owned()))
}
