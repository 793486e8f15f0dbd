//! Tools that are offered to the model of a session.

use crate::error::Error;
use crate::profile::Profile;
use crate::session_servers::SessionServers;
use crate::toolkit::Toolkit;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_context::{ServerInstructions, ToolBudget};
use windlass_permission::{OnlyTools, Policy};
use windlass_schema::{StructuredOutput, ToolSearch};
use windlass_subagent::Subagents;
use windlass_tool::{Annotations, DynTool, PreparedCall, ToolError, ToolSet};
use windlass_types::{JsonText, ToolSpec};

/// Tool options of the program.
#[derive(Clone, Default)]
pub(crate) struct ToolOptions {
    pub(crate) toolkit: Toolkit,
    pub(crate) only: OnlyTools,
    pub(crate) subagents: Option<Subagents>,
    /// Agents from the program, before those of the project were added.
    pub(crate) base_subagents: Option<Subagents>,
    /// `true` if work may continue in the background; `None` if unset.
    pub(crate) background: Option<bool>,
    pub(crate) output_schema: Option<JsonText>,
    /// Size from which tool definitions are withheld.
    pub(crate) budget: Option<ToolBudget>,
    pub(crate) mcp: SessionServers,
}

impl ToolOptions {
    /// Tools that the lists keep.
    pub(crate) fn kept(&self) -> Toolkit {
        let kept = self.toolkit.tools.iter().filter(|tool| self.only.keeps(&tool.name()));
        Toolkit::from(kept.cloned().collect::<Vec<_>>())
    }

    pub(crate) fn allows_background(&self) -> bool {
        self.background.unwrap_or(true)
    }
}

/// Decides which tools are offered: the kept tools that no rule denies as a whole, and the tool for structured output.
/// Tools that always need a permission request are left out if nobody can be asked.
pub(crate) struct Offer {
    options: ToolOptions,
    output: Option<Arc<dyn DynTool>>,
    can_ask: bool,
    policy: Policy,
    profile: Profile,
}

impl Offer {
    pub(crate) fn new(options: &ToolOptions, can_ask: bool, policy: &Policy, profile: Profile) -> Result<Self, Error> {
        let output = options.output_schema.clone().map(StructuredOutput::new).transpose()?;
        let output = output.map(|tool| Arc::new(tool) as _);
        Ok(Self { options: options.clone(), output, can_ask, policy: policy.clone(), profile })
    }

    /// Tool options of the program.
    pub(crate) fn options(&self) -> &ToolOptions {
        &self.options
    }

    /// Profile of the session for its model.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// MCP servers whose tools are offered too.
    pub(crate) fn servers(&self) -> &SessionServers {
        &self.options.mcp
    }

    /// Usage instructions of the servers, and the missing servers.
    pub(crate) fn instructions(&self) -> Vec<ServerInstructions> {
        self.servers().instructions(|prefix| {
            let is_hidden = self.policy.is_hidden(&format!("{prefix}x"));
            self.options.only.keeps_some_of(prefix) && !is_hidden
        })
    }

    /// `true` if the choice of tools and the rules leave a tool of this name.
    pub(crate) fn allows(&self, name: &str) -> bool {
        is_allowed(name, &self.options, &self.policy)
    }

    /// Set of the offered tools, with these agents.
    pub(crate) fn tools(&self, agents: Option<&Subagents>) -> Result<ToolSet, Error> {
        let agents = agents.map(|agents| agents.tool() as Arc<dyn DynTool>);
        let kit = self.profile.tools(&self.options.toolkit);
        let offered_tools = kit.iter().chain(&agents).filter(|tool| self.offers(tool)).chain(&self.output);
        let offered_tools = ToolSet::new(offered_tools.map(|tool| self.limited(tool)))?;
        self.searchable(self.servers().join(offered_tools, |name| self.allows(name)))
    }

    /// Adds the search tool if any tool may be withheld.
    fn searchable(&self, tools: ToolSet) -> Result<ToolSet, Error> {
        let may_be_withheld = tools.specs().iter().any(|spec| spec.may_be_withheld());
        if !may_be_withheld || tools.get(ToolSearch::NAME).is_some() || !self.allows(ToolSearch::NAME) {
            return Ok(tools);
        }
        let all = tools.names().filter_map(|name| tools.get(name)).cloned();
        Ok(ToolSet::new(all.chain([Arc::new(ToolSearch::default()) as Arc<dyn DynTool>]))?)
    }

    /// Names of tools that the program named and that the session's model cannot use.
    pub(crate) fn unsuited(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let tools = self.options.toolkit.tools.iter().filter(|tool| !self.profile.suits(tool));
        let is_named = |name: &str| {
            self.options.only.names().any(|named| named == name) || self.options.toolkit.named.iter().any(|n| n == name)
        };
        tools.map(|tool| tool.name()).filter(move |name| is_named(name))
    }

    fn offers(&self, tool: &Arc<dyn DynTool>) -> bool {
        is_offered(tool, &self.options, &self.policy, &self.profile, self.can_ask)
    }

    fn limited(&self, tool: &Arc<dyn DynTool>) -> Arc<dyn DynTool> {
        match tool.annotations().background_field {
            Some(field) if !self.options.allows_background() => {
                Arc::new(ForegroundTool { tool: Arc::clone(tool), field })
            }
            _ => Arc::clone(tool),
        }
    }
}

/// `true` if the choice of tools and the rules leave a tool of this name.
fn is_allowed(name: &str, options: &ToolOptions, policy: &Policy) -> bool {
    options.only.keeps(name) && !policy.is_hidden(name)
}

/// `true` if the model is offered a tool of the program.
pub(crate) fn is_offered(
    tool: &Arc<dyn DynTool>,
    options: &ToolOptions,
    policy: &Policy,
    profile: &Profile,
    can_ask: bool,
) -> bool {
    let is_askable = can_ask || !tool.annotations().requires_user_interaction;
    is_askable && tool.is_enabled() && profile.suits(tool) && is_allowed(&tool.name(), options, policy)
}

/// A tool without the field that requests the background, for sessions without background work.
struct ForegroundTool {
    tool: Arc<dyn DynTool>,
    field: &'static str,
}

impl DynTool for ForegroundTool {
    fn spec(&self) -> ToolSpec {
        let spec = self.tool.spec();
        match without(&spec.input_schema, self.field) {
            Some(schema) => {
                let lines = spec.description.lines().filter(|line| !line.contains(self.field));
                ToolSpec::new(spec.name, lines.collect::<Vec<_>>().join("\n"), schema)
            }
            None => spec,
        }
    }

    fn name(&self) -> Cow<'_, str> {
        self.tool.name()
    }

    fn annotations(&self) -> Annotations {
        self.tool.annotations()
    }

    fn is_enabled(&self) -> bool {
        self.tool.is_enabled()
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        Arc::clone(&self.tool).prepare(input)
    }
}

/// Removes the field from a schema; `None` if the schema lacks it.
fn without(schema: &JsonText, field: &str) -> Option<JsonText> {
    let mut fields: BTreeMap<String, JsonText> = schema.to().ok()?;
    let mut properties: BTreeMap<String, JsonText> = fields.get("properties")?.to().ok()?;
    properties.remove(field)?;
    fields.insert("properties".to_owned(), JsonText::of(&properties).ok()?);
    JsonText::of(&fields).ok()
}
