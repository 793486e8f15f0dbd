//! The tools that the model of a session is offered.

use crate::{Error, Options};
use std::collections::BTreeMap;
#[cfg(feature = "mcp")]
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(feature = "mcp")]
use windlass_mcp::McpServers;
use windlass_permission::{OnlyTools, Policy};
use windlass_runtime::SessionHandle;
use windlass_schema::StructuredOutput;
use windlass_subagent::{AGENT_TOOL_NAME, Subagents};
use windlass_tool::{Annotations, DynTool, PreparedCall, ToolError, ToolSet};
use windlass_types::{JsonText, ToolSpec};

/// Most unusable tools of servers that are reported to the host.
#[cfg(feature = "mcp")]
const MOST_TOLD: usize = 200;

/// What says which tools are offered: those that were chosen and that no rule denies as a whole, without those that
/// are a question where nobody can be asked, and the one that takes structured output.
pub(crate) struct Offer {
    tools: Vec<Arc<dyn DynTool>>,
    output: Option<Arc<dyn DynTool>>,
    can_ask: bool,
    only: OnlyTools,
    policy: Policy,
    background: bool,
    #[cfg(feature = "mcp")]
    pub(crate) servers: Option<McpServers>,
}

impl Offer {
    pub(crate) fn new(options: &Options, policy: &Policy) -> Result<Self, Error> {
        let output = options.output_schema.clone().map(StructuredOutput::new).transpose()?;
        Ok(Self {
            tools: options.toolkit.tools.clone(),
            output: output.map(|tool| Arc::new(tool) as Arc<dyn DynTool>),
            can_ask: options.permissions.can_use_tool.is_some(),
            only: options.only_tools.clone(),
            policy: policy.clone(),
            background: options.background_tasks.unwrap_or(true),
            #[cfg(feature = "mcp")]
            servers: options.mcp.clone(),
        })
    }

    /// The tools with these agents.
    pub(crate) fn tools(&self, agents: Option<&Subagents>) -> Result<ToolSet, Error> {
        let agents = agents.map(|agents| agents.tool() as Arc<dyn DynTool>);
        let own = self.tools.iter().chain(&agents).filter(|tool| self.offers(tool)).chain(&self.output);
        let own = ToolSet::new(own.map(|tool| self.limited(tool)))?;
        #[cfg(feature = "mcp")]
        if let Some(servers) = &self.servers {
            return Ok(crate::mcp::join(&own, servers, |name| self.only.keeps(name) && !self.policy.is_hidden(name)));
        }
        Ok(own)
    }

    fn offers(&self, tool: &Arc<dyn DynTool>) -> bool {
        let name = tool.spec().name;
        (self.can_ask || !tool.annotations().requires_user_interaction)
            && self.only.keeps(&name)
            && !self.policy.is_hidden(&name)
    }

    fn limited(&self, tool: &Arc<dyn DynTool>) -> Arc<dyn DynTool> {
        match tool.annotations().background_field {
            Some(field) if !self.background => Arc::new(Waiting { tool: Arc::clone(tool), field }),
            _ => Arc::clone(tool),
        }
    }
}

/// A tool without the field with which calls ask to continue in the background, for sessions without such work.
struct Waiting {
    tool: Arc<dyn DynTool>,
    field: &'static str,
}

impl DynTool for Waiting {
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

/// A schema without the field, if it has it.
fn without(schema: &JsonText, field: &str) -> Option<JsonText> {
    let mut fields: BTreeMap<String, JsonText> = schema.to().ok()?;
    let mut properties: BTreeMap<String, JsonText> = fields.get("properties")?.to().ok()?;
    properties.remove(field)?;
    fields.insert("properties".to_owned(), JsonText::of(&properties).ok()?);
    JsonText::of(&fields).ok()
}

/// The tools of an open session, as far as they can be others than at its beginning. Cheap to clone. See
/// [`SessionBuilder::open_with_tools`](crate::SessionBuilder::open_with_tools).
#[derive(Clone)]
pub struct SessionTools(Arc<Open>);

struct Open {
    offer: Offer,
    handle: SessionHandle,
    agents: Mutex<Option<Subagents>>,
    /// What the host was told of tools that cannot be used.
    #[cfg(feature = "mcp")]
    told: Mutex<BTreeSet<String>>,
}

impl SessionTools {
    pub(crate) fn new(offer: Offer, agents: Option<Subagents>, handle: SessionHandle) -> Self {
        Self(Arc::new(Open {
            offer,
            handle,
            agents: Mutex::new(agents),
            #[cfg(feature = "mcp")]
            told: Mutex::default(),
        }))
    }

    /// Offers these agents instead of those before, from the next request to the model on. Agents that work already go
    /// on as they are. The description of the tool `Agent` is another one then, so the provider reads the whole
    /// conversation anew instead of from its cache; agents that are the same as before change nothing.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_subagents(&self, agents: Subagents) -> Result<(), Error> {
        let mut current = self.0.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref() == Some(&agents) {
            return Ok(());
        }
        // The order holds what the order before it holds, since nobody else computes one meanwhile.
        let tools = self.0.offer.tools(Some(&agents))?;
        self.0.handle.set_tools(tools)?;
        *current = Some(agents);
        Ok(())
    }

    /// Puts in place what the servers offer now. Whether the session is still open.
    #[cfg(feature = "mcp")]
    pub(crate) fn renew(&self) -> bool {
        let current = self.0.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = self.0.offer.tools(current.as_ref()).inspect_err(|error| {
            tracing::warn!(%error, "the tools of MCP servers cannot be used");
        });
        let Some(servers) = &self.0.offer.servers else { return true };
        // It fails only when the session is closed, as the next order does.
        let _ = self.0.handle.set_instructions(crate::mcp::instructions(servers));
        self.tell_left_out();
        tools.map_or(true, |tools| self.0.handle.set_tools(tools).is_ok())
    }

    /// Tells the host which tools of servers cannot be used, each once.
    #[cfg(feature = "mcp")]
    pub(crate) fn tell_left_out(&self) {
        let Some(servers) = &self.0.offer.servers else { return };
        let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        for line in crate::mcp::left_out(servers) {
            if told.len() < MOST_TOLD && told.insert(line.clone()) {
                let _ = self.0.handle.notice(line);
            }
        }
    }

    /// The agents that the model can give tasks to now; `None` if it has no tool for that.
    pub fn subagents(&self) -> Option<Subagents> {
        let offer = &self.0.offer;
        let is_offered = offer.only.keeps(AGENT_TOOL_NAME) && !offer.policy.is_hidden(AGENT_TOOL_NAME);
        self.0.agents.lock().unwrap_or_else(PoisonError::into_inner).clone().filter(|_| is_offered)
    }

    #[cfg(any(feature = "mcp", feature = "project"))]
    pub(crate) fn handle(&self) -> &SessionHandle {
        &self.0.handle
    }
}

impl fmt::Debug for SessionTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTools").field("session", self.0.handle.session_id()).finish_non_exhaustive()
    }
}
