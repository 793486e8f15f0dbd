//! Checks of names given by a program that may be wrong: tools in rules, lists and agents, and models.
//!
//! A rule that silently matches nothing is worse than an error. A name that can never be right keeps the session from
//! opening; a name that may be right elsewhere is a notice. In a [strict](NameChecks::Strict) session every doubt
//! is an error.

use crate::error::Error;
use crate::options::Options;
use crate::permissions::Permissions;
use crate::tool_names::{Doubt, KnownTools, NameChecks, Weight};
use windlass_model::ModelProvider;
use windlass_permission::parse_rule;
use windlass_subagent::AgentDefinition;
use windlass_types::Behavior;
use windlass_types::mcp_name::{PREFIX, server};
use windlass_types::near::nearest;

/// Checks the names of the options. Returns notices.
///
/// # Errors
/// A name can never be right, or the session is strict and a name is doubtful.
pub(crate) fn check(options: &Options, provider: &dyn ModelProvider) -> Result<Vec<String>, Error> {
    check_models_are_named(options)?;
    if agents(options).any(|agent| agent.name.trim().is_empty()) {
        let problem = "an agent has no name, so the model could not call it: give `AgentDefinition::new` a name";
        return Err(Error::Names { problems: vec![problem.to_owned()] });
    }
    let tools = KnownTools::new(&options.tools);
    // Files are shared by all programs that read them, so only their rules on misspelt tools are doubtful.
    let of_files = tools.of_rules(options, false).into_iter().filter(|doubt| doubt.is_near);
    if options.names == NameChecks::Off {
        return outcome(of_files.filter(|doubt| doubt.is_fatal).collect(), false);
    }
    let mut doubts: Vec<Doubt> = tools.of_rules(options, true);
    doubts.extend(of_files);
    doubts.extend(servers_of_rules(options));
    doubts.extend(tools.of_lists(options));
    doubts.extend(tools.of_agents(options));
    doubts.extend(tools.of_hooks(options));
    doubts.extend(models(options, provider));
    let is_strict = options.names == NameChecks::Strict;
    if is_strict {
        doubts.extend(unusable_allow_rules(options));
    }
    outcome(doubts, is_strict)
}

/// Returns notices, or errors if one doubt is fatal or all are.
fn outcome(doubts: Vec<Doubt>, is_strict: bool) -> Result<Vec<String>, Error> {
    let (errors, notices): (Vec<_>, Vec<_>) = doubts.into_iter().partition(|doubt| is_strict || doubt.is_fatal);
    if errors.is_empty() {
        return Ok(notices.into_iter().map(|doubt| doubt.text).collect());
    }
    Err(Error::Names { problems: errors.into_iter().map(|doubt| doubt.text).collect() })
}

impl KnownTools {
    /// Doubts about rules of the program, or of files.
    fn of_rules(&self, options: &Options, of_program: bool) -> Vec<Doubt> {
        let doubt = |(behavior, text): (Behavior, &String)| {
            // Unreadable rules have errors and notices of their own.
            let rule = parse_rule(text).ok()?;
            // An allow rule that does not match allows nothing by mistake.
            let weight = if behavior == Behavior::Allow { Weight::Light } else { Weight::Guard };
            self.doubt(&place_of_rule(behavior, text), rule.tool(), weight)
        };
        rules_of(options, of_program).filter_map(doubt).collect()
    }

    fn of_lists(&self, options: &Options) -> Vec<Doubt> {
        let names = options.tools.only.names().filter_map(|name| self.doubt("the list of tools", name, Weight::List));
        names.collect()
    }

    /// Doubts about tools that hooks name one by one. A gate for a misspelt tool never closes.
    fn of_hooks(&self, options: &Options) -> Vec<Doubt> {
        let doubts = options.hooks.iter().flat_map(|hook| {
            let place = format!("the hook {:?}", hook.name());
            let interests = hook.interests().into_iter();
            let named = interests.flat_map(|interest| {
                let weight = if interest.event.is_gating() { Weight::Guard } else { Weight::Light };
                interest.tools.into_iter().map(move |matcher| (matcher, weight))
            });
            named.filter_map(|(matcher, weight)| self.doubt(&place, matcher.tool()?, weight)).collect::<Vec<_>>()
        });
        doubts.collect()
    }

    fn of_agents(&self, options: &Options) -> Vec<Doubt> {
        let doubts = agents(options).flat_map(|agent| {
            let place = format!("the list of tools of the agent {:?}", agent.name);
            let names = agent.tools.iter().flatten();
            names.filter_map(move |name| self.doubt(&place, name, Weight::List)).collect::<Vec<_>>()
        });
        doubts.collect()
    }
}

/// Rules of the program.
fn rules(options: &Options) -> impl Iterator<Item = (Behavior, &String)> {
    rules_of(options, true)
}

/// Rules of the program, or those of files.
fn rules_of(options: &Options, of_program: bool) -> impl Iterator<Item = (Behavior, &String)> {
    let sets = options.permissions.rules.iter().filter(move |set| set.noted == of_program);
    sets.flat_map(|set| set.rules.iter().map(|rule| (set.behavior, rule)))
}

fn place_of_rule(behavior: Behavior, text: &str) -> String {
    let kind = match behavior {
        Behavior::Deny => "deny",
        Behavior::Ask => "ask",
        Behavior::Allow => "allow",
    };
    format!("the {kind} rule `{text}`")
}

/// Doubts about deny and ask rules for missing MCP servers. Servers may join later, so this is no error by itself.
fn servers_of_rules(options: &Options) -> Vec<Doubt> {
    let server_names = options.tools.mcp.names();
    let prefixes: Vec<String> = server_names.iter().map(|name| format!("{PREFIX}{}", server(name))).collect();
    let doubts = rules(options).filter(|(behavior, _)| *behavior != Behavior::Allow).filter_map(|(behavior, text)| {
        let rule = parse_rule(text).ok()?;
        let server_name = rule.tool().strip_prefix(PREFIX)?;
        let server_name = server_name.split_once("__").map_or(server_name, |(server, _)| server);
        if server_name.is_empty()
            || server_name.contains('*')
            || prefixes.contains(&format!("{PREFIX}{}", server(server_name)))
        {
            return None;
        }
        let near = nearest(server_name, server_names.iter().map(String::as_str));
        let meant = near.first().map(|meant| format!(": did you mean {meant:?}?")).unwrap_or_default();
        let place = place_of_rule(behavior, text);
        let text = format!("{place} names the MCP server {server_name:?}, which this session does not have{meant}");
        Some(Doubt { text, is_near: false, is_fatal: false })
    });
    doubts.collect()
}

/// Doubts about allow rules that would be left out.
fn unusable_allow_rules(options: &Options) -> Vec<Doubt> {
    let allowed = rules(options).filter(|(behavior, _)| *behavior == Behavior::Allow);
    let problems = allowed.filter_map(|(behavior, rule)| {
        Permissions::check_rules(behavior, std::slice::from_ref(rule)).err().map(|text| Doubt {
            text,
            is_near: false,
            is_fatal: true,
        })
    });
    problems.collect()
}

/// Agents from the program.
fn agents(options: &Options) -> impl Iterator<Item = &AgentDefinition> {
    let configured = options.tools.base_subagents.as_ref().or(options.tools.subagents.as_ref());
    configured.into_iter().flat_map(|agents| agents.definitions())
}

fn check_models_are_named(options: &Options) -> Result<(), Error> {
    let model = options.model.name.as_deref().map(|name| ("model", name));
    let fallback = options.model.fallback.as_deref().map(|name| ("fallback model", name));
    match model.into_iter().chain(fallback).find(|(_, name)| name.trim().is_empty()) {
        Some((role, _)) => Err(Error::EmptyModelName { role }),
        None => Ok(()),
    }
}

/// Doubts about models that the provider does not know, and whose names are close to known ones.
fn models(options: &Options, provider: &dyn ModelProvider) -> Vec<Doubt> {
    let session_models = [options.model.name.as_deref(), options.model.fallback.as_deref()].into_iter().flatten();
    let agents = agents(options).filter_map(|agent| agent.model.as_deref()).filter(|name| *name != "inherit");
    session_models
        .chain(agents)
        .filter_map(|name| {
            let similar = provider.similar_models(name);
            let text = format!("the model {name:?} is not known: did you mean {:?}?", similar.first()?);
            Some(Doubt { text, is_near: false, is_fatal: false })
        })
        .collect()
}
