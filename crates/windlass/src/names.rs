//! Checks of names given by a program that may be wrong: tools in rules, lists and agents, and models.
//!
//! A rule that silently matches nothing is worse than an error. A name that can never be right keeps the session from
//! opening; a name that may be right elsewhere is a notice. In a [strict](NameChecks::Strict) session every doubt
//! is an error.

use crate::error::Error;
use crate::offer::ToolOptions;
use crate::options::Options;
use crate::permissions::Permissions;
use std::collections::BTreeSet;
use windlass_model::ModelProvider;
use windlass_permission::{WELL_KNOWN_TOOLS, parse_rule};
use windlass_subagent::{AGENT_TOOL_NAME, AgentDefinition};
use windlass_types::Behavior;
use windlass_types::mcp_name::{PREFIX, server};
use windlass_types::near::{is_misspelt, is_same_but_for_case, nearest};

/// Consequences of doubtful names for a session: of tools in rules, lists and agents, and of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NameChecks {
    /// Names are not checked, for programs that pass on names from programs of other versions.
    Off,
    /// A deny or ask rule with a misspelt name of a known tool keeps the session from opening. Other unknown names and
    /// unreadable allow rules are [notices](crate::Run::notices), with suggestions.
    #[default]
    On,
    /// The session opens only if every name is that of an existing tool or model, and every rule is valid.
    Strict,
}

/// A doubtful name.
#[derive(Debug, PartialEq, Eq)]
struct Doubt {
    text: String,
    /// `true` if the name is nearly a known one.
    is_near: bool,
    /// `true` if the name can never be right.
    is_fatal: bool,
}

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
    let tools = Tools::of(options);
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

/// Consequence of a wrong name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// A call is not allowed that should be.
    Light,
    /// A tool is missing from a list.
    List,
    /// A call runs that was to be stopped.
    Guard,
}

/// Known names of tools.
pub(crate) struct Tools {
    /// Tools from the program, before rules and lists remove some of them.
    offered: BTreeSet<String>,
}

impl Tools {
    fn of(options: &Options) -> Self {
        Self::of_offer(&options.tools)
    }

    pub(crate) fn of_offer(offer: &ToolOptions) -> Self {
        let own = offer.toolkit.tools.iter().map(|tool| tool.name().into_owned());
        let agents = offer.subagents.is_some().then(|| AGENT_TOOL_NAME.to_owned());
        let output = offer.output_schema.is_some().then(|| "StructuredOutput".to_owned());
        Self { offered: own.chain(agents).chain(output).collect() }
    }

    /// Refuses agents that name an unknown tool, or forbid a misspelt one. A well-known tool that this session lacks is
    /// no error, because agents are shared with other programs.
    #[cfg(feature = "project")]
    pub(crate) fn checked(&self, agents: windlass_project::Agents) -> windlass_project::Agents {
        agents.refused(|agent| {
            let named = agent.definition.tools.iter().flatten();
            let named = named.filter(|name| !WELL_KNOWN_TOOLS.contains(&name.as_str()));
            let missing = named.filter_map(|name| self.doubt("`tools`", name, Weight::List));
            let rules = agent.definition.disallowed_tools.iter().filter_map(|rule| parse_rule(rule).ok());
            let forbidden = rules.filter_map(|rule| self.doubt("`disallowedTools`", rule.tool(), Weight::Guard));
            let first = missing.chain(forbidden.filter(|doubt| doubt.is_fatal)).next();
            first.map(|doubt| doubt.text)
        })
    }

    /// Doubt about a name, if there is one.
    fn doubt(&self, place: &str, name: &str, weight: Weight) -> Option<Doubt> {
        // Tools of servers are known later, and patterns match whatever exists.
        if name.starts_with(PREFIX) || name.contains('*') || self.offered.contains(name) {
            return None;
        }
        let known = || self.offered.iter().map(String::as_str).chain(WELL_KNOWN_TOOLS.iter().copied());
        if let Some(meant) = known().find(|known| *known != name && is_same_but_for_case(known, name)) {
            let text = format!("{place} can never match, since no tool is named {name:?}: did you mean {meant:?}?");
            return Some(Doubt { text, is_near: true, is_fatal: weight != Weight::Light });
        }
        let near = if WELL_KNOWN_TOOLS.contains(&name) { Vec::new() } else { nearest(name, known()) };
        let meant = near.first().map(|meant| format!(": did you mean {meant:?}?")).unwrap_or_default();
        let is_misspelt = near.iter().any(|known| is_misspelt(name, known));
        Some(Doubt {
            text: format!("{place} names {name:?}, which is no tool of this session{meant}"),
            is_near: is_misspelt,
            is_fatal: is_misspelt && weight == Weight::Guard,
        })
    }

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
        let doubts = options.hooks.code.iter().flat_map(|hook| {
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
    #[cfg(feature = "mcp")]
    let known: Vec<String> =
        options.tools.mcp.iter().flat_map(|servers| servers.status()).map(|one| one.name).collect();
    #[cfg(not(feature = "mcp"))]
    let known: Vec<String> = Vec::new();
    let prefixes: Vec<String> = known.iter().map(|name| format!("{PREFIX}{}", server(name))).collect();
    let doubts = rules(options).filter(|(behavior, _)| *behavior != Behavior::Allow).filter_map(|(behavior, text)| {
        let rule = parse_rule(text).ok()?;
        let named = rule.tool().strip_prefix(PREFIX)?;
        let named = named.split_once("__").map_or(named, |(server, _)| server);
        if named.is_empty() || named.contains('*') || prefixes.contains(&format!("{PREFIX}{}", server(named))) {
            return None;
        }
        let near = nearest(named, known.iter().map(String::as_str));
        let meant = near.first().map(|meant| format!(": did you mean {meant:?}?")).unwrap_or_default();
        let place = place_of_rule(behavior, text);
        let text = format!("{place} names the MCP server {named:?}, which this session does not have{meant}");
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
    #[cfg(feature = "project")]
    let own = options.tools.base_subagents.as_ref().or(options.tools.subagents.as_ref());
    #[cfg(not(feature = "project"))]
    let own = options.tools.subagents.as_ref();
    own.into_iter().flat_map(|agents| agents.definitions())
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
    let own = [options.model.name.as_deref(), options.model.fallback.as_deref()].into_iter().flatten();
    let agents = agents(options).filter_map(|agent| agent.model.as_deref()).filter(|name| *name != "inherit");
    own.chain(agents)
        .filter_map(|name| {
            let similar = provider.similar_models(name);
            let text = format!("the model {name:?} is not known: did you mean {:?}?", similar.first()?);
            Some(Doubt { text, is_near: false, is_fatal: false })
        })
        .collect()
}
