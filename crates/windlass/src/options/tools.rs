//! Tools of a session: what [`tools`](crate::SessionBuilder::tools) takes.

use super::Options;
use crate::toolkit::Toolkit;
use std::sync::Arc;
use windlass_context::ToolBudget;
use windlass_tool::DynTool;
use windlass_types::JsonText;

/// Choice among the tools of a session, and the treatment of their definitions. Values that are not set stay as they
/// are.
///
/// ```
/// use windlass::{coding_tools, options::ToolSetOptions, query};
///
/// let reading = ToolSetOptions::new().only(["Read", "Grep", "mcp__docs"]);
/// let query = query("Where is the parser?").tools(coding_tools(".")).tools(reading);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ToolSetOptions {
    only: Vec<Vec<String>>,
    budget: Option<ToolBudget>,
    background: Option<bool>,
    output_schema: Option<JsonText>,
}

impl ToolSetOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps only tools of these names, including tools that MCP servers bring later. `mcp__server` and `mcp__server__*`
    /// are all tools of a server, `mcp__*` those of all servers. Lists only narrow: a tool must be in each list. The tool
    /// for [structured output](Self::output_schema) always stays. Default: all.
    pub fn only<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.only.push(names.into_iter().map(Into::into).collect());
        self
    }

    /// Size from which tool definitions are withheld from requests until the model searches for them with the tool
    /// `ToolSearch`. Applies to tools of MCP servers and tools that are [marked](crate::tool::ToolLoading). Default: when
    /// together they take more than a tenth of the model's context window, and for servers started at their first call
    /// beyond 1,500 tokens.
    pub fn budget(mut self, budget: ToolBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Allows work in the background, beside the conversation. Without it, agent calls wait for the report whatever the
    /// calls and the agents' definitions request. Commands that request the background are refused, and no tool offers
    /// `run_in_background`. Also applies to agents of agents. Default: `true`.
    pub fn background(mut self, on: bool) -> Self {
        self.background = Some(on);
        self
    }

    /// JSON Schema of the data that each run must end with; it must describe an object. See
    /// [`RunResult::structured_output`](crate::RunResult::structured_output). The model is asked again for missing or
    /// unfit data, at most five times; then the run ends with
    /// [`Outcome::NoStructuredOutput`](crate::Outcome::NoStructuredOutput). Default: none.
    pub fn output_schema(mut self, schema: JsonText) -> Self {
        self.output_schema = Some(schema);
        self
    }

    pub(crate) fn apply(self, options: &mut Options) {
        let tools = &mut options.tools;
        for names in self.only {
            tools.only.and(names);
        }
        tools.budget = self.budget.or(tools.budget);
        tools.background = self.background.or(tools.background);
        tools.output_schema = self.output_schema.or(tools.output_schema.take());
    }
}

/// Argument of [`tools`](crate::SessionBuilder::tools): a tool, a [`Toolkit`], a list of shared tools, or
/// [`ToolSetOptions`]. `Kind` tells them apart; the compiler infers it.
///
/// ```
/// use windlass::{Agent, options::ToolSource};
///
/// fn extended<Kind>(agent: Agent, more: impl ToolSource<Kind>) -> Agent {
///     agent.tools(more)
/// }
/// let agent = extended(windlass::agent(), windlass::coding_tools("."));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "neither a tool nor a `Toolkit`",
    note = "implement `windlass::Tool`, or make one with `windlass::tool_fn` from an async closure that takes the input \
            and a `ToolCx`, both by value, and returns `Result<_, ToolError>`"
)]
pub trait ToolSource<Kind> {
    /// Adds the tools to the options of a session.
    fn add_to(self, options: &mut Options);
}

impl<T: DynTool> ToolSource<()> for T {
    fn add_to(self, options: &mut Options) {
        options.tools.toolkit.tools.push(Arc::new(self));
    }
}

impl<T: Into<Toolkit>> ToolSource<Toolkit> for T {
    fn add_to(self, options: &mut Options) {
        options.tools.toolkit.join(self.into());
    }
}

impl ToolSource<Self> for ToolSetOptions {
    fn add_to(self, options: &mut Options) {
        self.apply(options);
    }
}
