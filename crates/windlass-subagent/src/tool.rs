//! The tool `Agent`.

use crate::describe::describe;
use crate::input::{AgentInput, named};
use crate::report::{self, Task};
use crate::text::one_line;
use crate::{AGENT_TOOL_NAME, AgentDefinition, Subagents, background};
use std::borrow::Cow;
use std::sync::Arc;
use windlass_tool::{
    AgentSpec, Annotations, BoxFuture, DynTool, InterruptBehavior, PreparedCall, ToolCx, ToolError, ToolOutput,
    schema_of,
};
use windlass_types::names::present_tool;
use windlass_types::{Access, AgentId, JsonText, SectionScope, SystemSection, ToolSpec};

/// Maximum number of type names in an error, and of characters of each.
const MAX_NAMES: usize = 40;
const MAX_NAME_CHARS: usize = 100;

/// Gives a task to an agent. Made by [`Subagents::tool`].
///
/// A call waits for the agent and returns its report, or lets the agent work in the background and returns at once. The
/// call has no effect by itself: each call of the agent is judged on its own.
#[derive(Debug)]
pub struct AgentTool {
    agents: Subagents,
    description: String,
}

impl AgentTool {
    pub(crate) fn new(agents: Subagents) -> Self {
        let description = describe(agents.definitions(), agents.background_by_default);
        Self { agents, description }
    }

    /// Returns the agents, sorted by name.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &AgentDefinition> {
        self.agents.definitions()
    }

    fn unknown(&self, name: &str) -> ToolError {
        let known = self.definitions().take(MAX_NAMES).map(|known| one_line(&known.name, MAX_NAME_CHARS));
        let mut known = known.collect::<Vec<_>>().join(", ");
        let omitted = self.definitions().len().saturating_sub(MAX_NAMES);
        if omitted > 0 {
            known.push_str(&format!(" and {omitted} more"));
        }
        let name = one_line(name, MAX_NAME_CHARS);
        ToolError::invalid_input(format!("There is no agent of the type {name:?}. The types are: {known}."))
    }
}

impl DynTool for AgentTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(AGENT_TOOL_NAME, self.description.as_str(), schema_of::<AgentInput>())
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(AGENT_TOOL_NAME)
    }

    fn annotations(&self) -> Annotations {
        // A stopped agent settles its own calls and then reports its work so far, which would be lost otherwise.
        Annotations::default()
            .with_interrupt(InterruptBehavior::Block)
            .with_background_field("run_in_background")
            .with_foreign_output()
    }

    fn is_enabled(&self) -> bool {
        self.agents.max_depth > 0 && !self.agents.definitions.is_empty()
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        let input: AgentInput = input.to().map_err(|error| ToolError::invalid_input(error.to_string()))?;
        input.check()?;
        // Rules judge the type as written, so no other spelling may mean the same type.
        let found = self.agents.definitions.get(input.agent_type());
        let definition = found.cloned().ok_or_else(|| self.unknown(input.agent_type()))?;
        Ok(Box::new(AgentCall { tool: self, input, definition }))
    }
}

/// A call whose input was read.
struct AgentCall {
    tool: Arc<AgentTool>,
    input: AgentInput,
    definition: AgentDefinition,
}

impl PreparedCall for AgentCall {
    fn access(&self) -> Access {
        Access::Agents
    }

    fn title(&self) -> String {
        self.input.title()
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.run(&cx).await })
    }
}

impl AgentCall {
    async fn run(&self, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let agents = cx.agents()?;
        let (depth, max_depth) = (agents.depth(), self.tool.agents.max_depth);
        if depth >= max_depth {
            return Err(ToolError::rejected(format!(
                "No agent can be started from here: agents may be at most {max_depth} deep. Do the work yourself."
            )));
        }
        let mut spec = self.spec(cx, depth)?;
        let continued = agents.continues();
        spec.may_wait = true;
        spec.id = continued.clone().unwrap_or(spec.id);
        let notes = self.tool.agents.memories.index(&self.definition).await;
        spec.system.extend(notes.map(|text| SystemSection::new(text, SectionScope::Session)));
        let task = Task::new(&spec);
        // Without a background the call waits.
        if continued.is_none() && depth == 0 && self.in_background() && cx.background().is_ok() {
            return background::start(spec, &task, cx);
        }
        let ended = agents.run(spec, cx.cancel().clone()).await?;
        report::output(&task, &ended)
    }

    fn in_background(&self) -> bool {
        let requested = self.input.run_in_background.or(self.definition.background);
        requested.unwrap_or(self.tool.agents.background_by_default)
    }

    fn spec(&self, cx: &ToolCx, depth: u32) -> Result<AgentSpec, ToolError> {
        let Self { tool, input, definition } = self;
        let id = AgentId::new(format!("a{:016x}", cx.ids().bits() & u128::from(u64::MAX)));
        let mut spec = AgentSpec::new(id, definition.name.as_str(), input.prompt.as_str());
        spec.description = input.title();
        let prompt = Some(definition.prompt.as_str()).filter(|text| !text.is_empty());
        spec.system = prompt.map(|text| SystemSection::new(text, SectionScope::Session)).into_iter().collect();
        let present = |name: &String| present_tool(name).to_owned();
        spec.rights.tools = definition.tools.as_ref().map(|names| names.iter().map(present).collect());
        spec.rights.reads_by_default = definition.tools.is_none() && !definition.all_tools;
        spec.rights.tool_rules.clone_from(&definition.tool_rules);
        spec.rights.disallowed_tools = definition.disallowed_tools.iter().map(present).collect();
        let is_out = spec.rights.disallowed_tools.iter().any(|name| name == AGENT_TOOL_NAME);
        if depth.saturating_add(1) >= tool.agents.max_depth && !is_out {
            spec.rights.disallowed_tools.push(AGENT_TOOL_NAME.to_owned());
        }
        spec.model = input.model_or(definition.model.as_deref());
        spec.chooses_model = spec.model.is_some() && spec.model != named(definition.model.as_deref());
        spec.rights.permission_mode = definition.permission_mode;
        spec.max_turns = definition.max_turns;
        spec.effort = input.effort()?.or(definition.effort);
        Ok(spec)
    }
}
