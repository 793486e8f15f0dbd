//! Option methods of queries, sessions and agents.

use crate::agent::Agent;
#[cfg(feature = "store")]
use crate::home::Home;
use crate::hook::HookSource;
use crate::options::{
    CompactionOptions, ContextOptions, HostOptions, LimitOptions, ModelOptions, Options, StorageOptions, ToolSource,
    WorkspaceOptions,
};
use crate::permissions::Permissions;
use crate::query::Query;
use crate::resume::Resume;
use crate::session_builder::SessionBuilder;
use crate::tool_names::NameChecks;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_context::SystemPrompt;
use windlass_model::ModelProvider;
use windlass_subagent::Subagents;
use windlass_types::PermissionMode;

/// Writes the same methods for every builder that holds [`Options`].
macro_rules! option_methods {
    ($builder:ty $(, $output:ident)?) => {
        impl$(<$output>)? $builder {
            fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
                change(&mut self.options);
                self
            }

            /// The model provider. Required.
            pub fn provider(self, provider: impl ModelProvider) -> Self {
                self.with(|options| options.model.provider = Some(Arc::new(provider)))
            }

            /// The model, by id or alias (`opus`, `sonnet`, `haiku`), or [`ModelOptions`]: its fallback, its thinking, its
            /// requests. Default: the provider's best.
            pub fn model(self, model: impl Into<ModelOptions>) -> Self {
                self.with(|options| model.into().apply(options))
            }

            /// Adds a tool, or tools such as [`coding_tools`](crate::coding_tools). Duplicate names are an error when the
            /// session opens. [`ToolSetOptions`](crate::options::ToolSetOptions) choose among the tools. Default: none.
            pub fn tools<Kind>(self, tools: impl ToolSource<Kind>) -> Self {
                self.with(|options| tools.add_to(options))
            }

            /// Lets the model give tasks to agents below it, through the tool `Agent`.
            /// [`Subagents::new`](crate::Subagents::new) holds the built-in agents; add your own to it. An agent has a
            /// conversation of its own. It shares tools, hooks, budget and the answerer of permission requests, and may
            /// never do more than its parent. Its events come under its own [`AgentPath`](crate::event::AgentPath).
            /// Default: no agents.
            ///
            /// ```
            /// use windlass::{AgentDefinition, Subagents, coding_tools, query};
            ///
            /// let reviewer = AgentDefinition::new("reviewer", "Reviews a change.", "You review changes: …")
            ///     .with_tools(["Read", "Grep", "Bash"]);
            /// let query = query("Fix the bug, then let the reviewer look at it")
            ///     .tools(coding_tools("."))
            ///     .subagents(Subagents::new().with(reviewer));
            /// ```
            pub fn subagents(self, agents: Subagents) -> Self {
                self.with(|options| options.tools.subagents = Some(agents))
            }

            /// MCP servers, whose tools are offered to the model beside the others. Opening the session waits for them
            /// for up to five seconds, longer for servers inside the host. Tools that come or change later are added
            /// then. The session keeps the servers until it ends. Default: none.
            #[cfg(feature = "mcp")]
            pub fn mcp_servers(self, servers: windlass_mcp::McpServers) -> Self {
                self.with(|options| options.tools.mcp = servers.into())
            }

            /// Permission rules, the mode and the host that answers. Default: reads inside the workspace are allowed,
            /// nothing else.
            pub fn permissions(self, permissions: Permissions) -> Self {
                self.with(|options| options.permissions = permissions)
            }

            /// Sets the permission mode, beside the other [permissions](Self::permissions).
            pub fn permission_mode(self, mode: PermissionMode) -> Self {
                self.with(|options| options.permissions = std::mem::take(&mut options.permissions).mode(mode))
            }

            /// Adds a hook, made from closures with [`hook_fn`](crate::hook_fn) or an impl of [`Hook`](crate::Hook), or
            /// (with the feature `project`) a definition as in settings files, which runs a program, a request or a
            /// model: `.hook(hook::command("./guard.sh").for_tools("Bash")?)`.
            ///
            /// Hooks run in the order in which they are added, after those of a [project](Self::project); definitions run
            /// before hooks in code. A hook that could never be called for an event it listens to keeps the session from
            /// opening ([`Error::Hooks`](crate::Error::Hooks)).
            pub fn hook<Kind>(self, hook: impl HookSource<Kind>) -> Self {
                self.with(|options| hook.add_to(options))
            }

            /// Applies the files of a project as the `windlass` command does: settings in layers with their permission
            /// rules, agents, custom commands, MCP servers and remembered answers. See [`Project`](crate::Project).
            /// Options of this builder override the files, before and after this call, except where a file forbids
            /// something. Default: no file is read.
            #[cfg(feature = "project")]
            pub fn project(self, project: impl Into<crate::project::ProjectInput>) -> Self {
                self.with(|options| options.project.input = crate::project::Applied::Given(project.into()))
            }

            /// The directory that the agent works in. Default: the tools', else the process's.
            pub fn cwd(self, cwd: impl Into<PathBuf>) -> Self {
                self.with(|options| options.surroundings.cwd = Some(cwd.into()))
            }

            /// Further directories, the environment of programs, or another place than this machine: a
            /// sandbox, a container, another machine, files of your own.
            pub fn workspace(self, workspace: impl Into<WorkspaceOptions>) -> Self {
                self.with(|options| workspace.into().apply(options))
            }

            /// The system prompt. Default: windlass's own for coding agents.
            pub fn system_prompt(self, prompt: SystemPrompt) -> Self {
                self.with(|options| options.prompts.system = Some(prompt))
            }

            /// Further texts that the model reads: instructions, skills, memory, mentioned files, reminders.
            pub fn context(self, context: impl Into<ContextOptions>) -> Self {
                self.with(|options| context.into().apply(options))
            }

            /// Maximum number of model messages in a run. Default: no limit.
            pub fn max_turns(self, turns: u32) -> Self {
                self.with(|options| options.limits.base.max_turns = Some(turns))
            }

            /// Maximum cost of the session, in US dollars. Reserved before each call. Default: no limit.
            ///
            /// The session does not open with a negative or non-numeric amount, nor with a model without a known price,
            /// unless [`LimitOptions::unpriced_models`] permits the latter.
            pub fn max_budget_usd(self, usd: f64) -> Self {
                self.with(|options| options.limits.budget_usd = Some(usd))
            }

            /// Further limits: of retries, waits and hooks.
            pub fn limits(self, limits: LimitOptions) -> Self {
                self.with(|options| limits.apply(options))
            }

            /// Shortening of conversations that fill the model's context window.
            pub fn compaction(self, compaction: CompactionOptions) -> Self {
                self.with(|options| compaction.apply(options))
            }

            /// Stores the session under a home directory. Default: nothing is stored. Needs the feature `store`.
            #[cfg(feature = "store")]
            pub fn persist(self, home: Home) -> Self {
                self.with(|options| options.storage.home = Some(home))
            }

            /// A store of your own, or further options of storage: checkpoints of files, masked logs.
            pub fn storage(self, storage: impl Into<StorageOptions>) -> Self {
                self.with(|options| storage.into().apply(options))
            }

            /// Id of the new session, a UUID. If the working directory has a session of this id, that session is
            /// resumed. Default: random. A resumed session keeps its id, unless it is resumed as a fork.
            pub fn session_id(self, id: impl Into<String>) -> Self {
                self.with(|options| options.start.session_id = Some(id.into()))
            }

            /// Resumes a session of the working directory, kept by [`persist`](Self::persist) or
            /// [`storage`](Self::storage): by its id ([`RunResult::session_id`](crate::RunResult::session_id)), or as
            /// [`Resume`] chooses it.
            pub fn resume(self, session: impl Into<Resume>) -> Self {
                self.with(|options| options.start.resume = session.into())
            }

            /// Checks of the names of tools and models, and of rules, that the program gives. Default:
            /// [`NameChecks::On`].
            pub fn names(self, checks: NameChecks) -> Self {
                self.with(|options| options.names = checks)
            }

            /// Options of the events that a host gets, and of what an editor contributes.
            pub fn host(self, host: impl Into<HostOptions>) -> Self {
                self.with(|options| host.into().apply(options))
            }
        }
    };
}

option_methods!(Query<O>, O);
option_methods!(SessionBuilder);
option_methods!(Agent);

/// Writes the same method for builders whose typed output the program reads itself.
macro_rules! output_method {
    ($builder:ty) => {
        impl $builder {
            /// Type of the data that each run must end with: [`RunResult::output`](crate::RunResult::output). See
            /// [`ToolSetOptions::output_schema`](crate::options::ToolSetOptions::output_schema).
            pub fn output<T: windlass_tool::schemars::JsonSchema>(self) -> Self {
                self.with(|options| options.tools.output_schema = Some(windlass_tool::schema_of::<T>()))
            }
        }
    };
}

output_method!(SessionBuilder);
output_method!(Agent);
