//! What a query and a session can be told.

use crate::resume::Branch;
use crate::{Home, Permissions, Resume, Toolkit};
#[cfg(feature = "tools")]
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::SystemPrompt;
use windlass_hook::Hook;
use windlass_model::ModelProvider;
use windlass_permission::OnlyTools;
use windlass_runtime::{Limits, UnpricedModels};
use windlass_session::{Checkpoints, SessionStore};
use windlass_subagent::Subagents;
use windlass_tool::{DynTool, Process, Workspace};
use windlass_types::{CacheTtl, Effort, JsonText, NanoUsd, PermissionMode, Thinking};

/// What a query and a session can be told. Made through their builders.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    pub(crate) provider: Option<Arc<dyn ModelProvider>>,
    pub(crate) model: Option<String>,
    pub(crate) fallback_model: Option<String>,
    pub(crate) toolkit: Toolkit,
    pub(crate) only_tools: OnlyTools,
    pub(crate) subagents: Option<Subagents>,
    pub(crate) background_tasks: Option<bool>,
    pub(crate) permissions: Permissions,
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) user_home: Option<PathBuf>,
    pub(crate) system_prompt: Option<SystemPrompt>,
    /// Goes behind the system prompt.
    pub(crate) appended_prompt: String,
    pub(crate) limits: Limits,
    pub(crate) max_retries: Option<u32>,
    pub(crate) structured_output_retries: Option<u32>,
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    pub(crate) betas: Vec<String>,
    pub(crate) cache: Option<CacheTtl>,
    #[cfg(feature = "tools")]
    pub(crate) env: Option<Vec<(OsString, OsString)>>,
    /// The environment of this process, as far as the program says it.
    #[cfg(feature = "tools")]
    pub(crate) host_environment: Option<Vec<(OsString, OsString)>>,
    #[cfg(all(feature = "store", feature = "tools"))]
    pub(crate) git_status: Option<bool>,
    pub(crate) send_user_id: Option<bool>,
    pub(crate) home: Option<Home>,
    pub(crate) store: Option<Arc<dyn SessionStore>>,
    pub(crate) resume: Resume,
    pub(crate) branch: Branch,
    pub(crate) raw_frames: bool,
    pub(crate) output_schema: Option<JsonText>,
    pub(crate) auto_compact: bool,
    pub(crate) auto_compact_window: Option<u64>,
    pub(crate) entrypoint: String,
    #[cfg(feature = "mcp")]
    pub(crate) mcp: Option<windlass_mcp::McpServers>,
    pub(crate) workspace: Option<Arc<dyn Workspace>>,
    pub(crate) process: Option<Arc<dyn Process>>,
    #[cfg(all(feature = "store", feature = "tools"))]
    pub(crate) file_checkpoints: bool,
    pub(crate) checkpoint_store: Option<Arc<dyn Checkpoints>>,
    #[cfg(feature = "project")]
    pub(crate) project: crate::project::Applied,
    /// The agents that the program gave, before those of the project were added.
    #[cfg(feature = "project")]
    pub(crate) base_subagents: Option<Subagents>,
    /// What a new session begins with, before its first prompt.
    #[cfg(feature = "project")]
    pub(crate) initial_prompt: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            provider: None,
            model: None,
            fallback_model: None,
            toolkit: Toolkit::default(),
            only_tools: OnlyTools::default(),
            subagents: None,
            background_tasks: None,
            permissions: Permissions::default(),
            hooks: Vec::new(),
            cwd: None,
            additional_directories: Vec::new(),
            user_home: None,
            system_prompt: None,
            appended_prompt: String::new(),
            limits: Limits::default(),
            max_retries: None,
            structured_output_retries: None,
            max_output_tokens: None,
            thinking: None,
            effort: None,
            betas: Vec::new(),
            cache: Some(CacheTtl::FiveMinutes),
            #[cfg(feature = "tools")]
            env: None,
            #[cfg(feature = "tools")]
            host_environment: None,
            #[cfg(all(feature = "store", feature = "tools"))]
            git_status: None,
            send_user_id: None,
            home: None,
            store: None,
            resume: Resume::New,
            branch: Branch::default(),
            raw_frames: false,
            output_schema: None,
            auto_compact: true,
            auto_compact_window: None,
            entrypoint: "sdk-rust".to_owned(),
            #[cfg(feature = "mcp")]
            mcp: None,
            workspace: None,
            process: None,
            #[cfg(all(feature = "store", feature = "tools"))]
            file_checkpoints: false,
            checkpoint_store: None,
            #[cfg(feature = "project")]
            project: crate::project::Applied::default(),
            #[cfg(feature = "project")]
            base_subagents: None,
            #[cfg(feature = "project")]
            initial_prompt: None,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("Options")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("toolkit", &self.toolkit)
            .field("permissions", &self.permissions)
            .field("cwd", &self.cwd)
            .field("resume", &self.resume)
            .finish_non_exhaustive()
    }
}

/// Writes the same builder methods for every builder that holds [`Options`].
macro_rules! option_methods {
    ($builder:ty) => {
        impl $builder {
            /// The model provider. Required.
            pub fn provider(mut self, provider: impl ModelProvider) -> Self {
                self.options.provider = Some(Arc::new(provider));
                self
            }

            /// The model, by id or alias (`opus`, `sonnet`, `haiku`). Default: the provider's best.
            pub fn model(mut self, model: impl Into<String>) -> Self {
                self.options.model = Some(model.into());
                self
            }

            /// The model that takes over when the first is overloaded.
            pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
                self.options.fallback_model = Some(model.into());
                self
            }

            /// The tools, such as [`coding_tools`](crate::coding_tools). Default: none.
            pub fn tools(mut self, tools: impl Into<Toolkit>) -> Self {
                let tools = tools.into();
                self.options.toolkit.tools.extend(tools.tools);
                self.options.toolkit.cwd = tools.cwd.or(self.options.toolkit.cwd);
                self.options.toolkit.bash = tools.bash.or(self.options.toolkit.bash);
                self
            }

            /// Adds one tool.
            pub fn tool(mut self, tool: impl DynTool) -> Self {
                self.options.toolkit.tools.push(Arc::new(tool));
                self
            }

            /// Keeps only tools of these names, also of those that MCP servers bring later: `mcp__server` and
            /// `mcp__server__*` are all tools of a server, `mcp__*` those of all servers. Lists only narrow: a tool
            /// must be in each that was given. What takes [structured output](Self::output_schema) stays.
            /// Default: all.
            pub fn only_tools<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
                self.options.only_tools.and(names.into_iter().map(Into::into).collect());
                self
            }

            /// Lets the model give tasks to agents below it, through the tool `Agent`:
            /// [`Subagents::new`](crate::Subagents::new) are the built-in ones, to which own ones can be added. An agent
            /// has a conversation of its own. It shares tools, hooks, budget and whoever answers permission requests,
            /// and may never do more than the agent above it; its events come under its own
            /// [`AgentPath`](crate::AgentPath). Default: no agents.
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
            pub fn subagents(mut self, agents: Subagents) -> Self {
                self.options.subagents = Some(agents);
                self
            }

            /// Whether work may go on in the background, beside the conversation. Without it, calls of agents wait for
            /// the report whatever they and the agents' definitions say, commands that ask for the background are
            /// refused, and no tool offers it (`run_in_background`). Holds for agents of agents too. Default: yes.
            pub fn background_tasks(mut self, on: bool) -> Self {
                self.options.background_tasks = Some(on);
                self
            }

            /// Who may do what. Default: read inside the workspace, nothing else.
            pub fn permissions(mut self, permissions: Permissions) -> Self {
                self.options.permissions = permissions;
                self
            }

            /// Sets the permission mode.
            pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
                self.options.permissions = self.options.permissions.mode(mode);
                self
            }

            /// Adds a hook. Hooks count in the order in which they are added.
            pub fn hook(mut self, hook: impl Hook) -> Self {
                self.options.hooks.push(Arc::new(hook));
                self
            }

            /// The directory that the agent works in. Default: the tools', else the process's.
            pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
                self.options.cwd = Some(cwd.into());
                self
            }

            /// Adds a directory to the workspace.
            pub fn add_dir(mut self, directory: impl Into<PathBuf>) -> Self {
                self.options.additional_directories.push(directory.into());
                self
            }

            /// The user's home: where `~/` in rules starts, and what may never be removed. Default: `HOME`.
            pub fn user_home(mut self, home: impl Into<PathBuf>) -> Self {
                self.options.user_home = Some(home.into());
                self
            }

            /// The system prompt. Default: windlass's own for coding agents.
            pub fn system_prompt(mut self, prompt: SystemPrompt) -> Self {
                self.options.system_prompt = Some(prompt);
                self
            }

            /// Adds a text behind the system prompt.
            pub fn append_system_prompt(mut self, text: &str) -> Self {
                let appended = &mut self.options.appended_prompt;
                if !appended.is_empty() && !text.is_empty() {
                    appended.push_str("\n\n");
                }
                appended.push_str(text);
                self
            }

            /// Most model messages in a run. Default: no limit.
            pub fn max_turns(mut self, turns: u32) -> Self {
                self.options.limits.max_turns = Some(turns);
                self
            }

            /// Most money for the session, in US dollars. Reserved before each call. Default: no limit.
            pub fn max_budget_usd(mut self, usd: f64) -> Self {
                self.options.limits.max_budget = Some(NanoUsd::from_usd(usd));
                self
            }

            /// What happens to the budget when a model has no known price. Default: it is called, with a warning.
            pub fn unpriced_models(mut self, unpriced: UnpricedModels) -> Self {
                self.options.limits.unpriced = unpriced;
                self
            }

            /// Most repeats of a failed model call. Default 10.
            pub fn max_retries(mut self, retries: u32) -> Self {
                self.options.max_retries = Some(retries);
                self
            }

            /// How often a missing or unfit structured output is asked for again. Default 5.
            pub fn max_structured_output_retries(mut self, retries: u32) -> Self {
                self.options.structured_output_retries = Some(retries);
                self
            }

            /// The longest that the repeats of one model call wait because the provider asks for it, all waits
            /// together. Default: 15 minutes.
            pub fn max_server_wait(mut self, wait: Duration) -> Self {
                self.options.limits.max_server_wait = wait;
                self
            }

            /// Most tokens in one answer. Default: the model's.
            pub fn max_output_tokens(mut self, tokens: u32) -> Self {
                self.options.max_output_tokens = Some(tokens);
                self
            }

            /// How the model may reason. Default: as much as it sees fit, if it is a model that decides that
            /// itself, and not at all otherwise. Such a model takes no budget: with one it decides itself, too.
            pub fn thinking(mut self, thinking: Thinking) -> Self {
                self.options.thinking = Some(thinking);
                self
            }

            /// How much the model spends on an answer. A model that does not know it is asked for the next
            /// weaker one that it knows. Default: left to the model.
            pub fn effort(mut self, effort: Effort) -> Self {
                self.options.effort = Some(effort);
                self
            }

            /// Adds a beta of the provider.
            pub fn beta(mut self, beta: impl Into<String>) -> Self {
                self.options.betas.push(beta.into());
                self
            }

            /// Lifetime of prompt-cache entries; nothing switches caching off. Default: five minutes.
            pub fn cache(mut self, cache: Option<CacheTtl>) -> Self {
                self.options.cache = cache;
                self
            }

            /// The environment of programs that tools run, instead of the default: an allow-list of the process's
            /// variables. What is given here reaches them but for names that look like secrets or that change what
            /// programs load, see [`given_environment`](crate::given_environment); a notice of the session names those.
            /// Needs the feature `tools`; without it the environment is empty.
            #[cfg(feature = "tools")]
            pub fn env<K: Into<OsString>, V: Into<OsString>>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self {
                self.options.env = Some(env.into_iter().map(|(k, v)| (k.into(), v.into())).collect());
                self
            }

            /// Tells the model the branch and a short status of the git repository when a new session begins. This runs
            /// `git status` once, unless the permissions would not let the model run it without a question: say yes for
            /// directories whose content you trust. Default: no. Needs the features `store` and `tools`.
            #[cfg(all(feature = "store", feature = "tools"))]
            pub fn git_status(mut self, on: bool) -> Self {
                self.options.git_status = Some(on);
                self
            }

            /// Keeps the session under a home directory. Default: nothing is kept. Needs the feature `store`.
            #[cfg(feature = "store")]
            pub fn persist(mut self, home: Home) -> Self {
                self.options.home = Some(home);
                self
            }

            /// Whether the provider is sent an opaque id of the user with each request, by which it can tell users of one
            /// key apart: 128 random bits that are kept in the home of [`persist`](Self::persist), never an account, a name
            /// or a path. Default: yes. Without a home none is sent.
            pub fn send_user_id(mut self, on: bool) -> Self {
                self.options.send_user_id = Some(on);
                self
            }

            /// Keeps the session in a store of your own.
            pub fn store(mut self, store: Arc<dyn SessionStore>) -> Self {
                self.options.store = Some(store);
                self
            }

            /// The id of the new session, a UUID; if the working directory has a session of this id, it goes on.
            /// Default: random. A session that is resumed keeps its id, unless it goes on in a copy.
            pub fn session_id(mut self, id: impl Into<String>) -> Self {
                self.options.branch.session_id = Some(id.into());
                self
            }

            /// Goes on with a session of the working directory, kept by [`persist`](Self::persist) or
            /// [`store`](Self::store). Its id is in [`RunResult::session_id`](crate::RunResult::session_id).
            pub fn resume(mut self, id: impl Into<String>) -> Self {
                self.options.resume = Resume::Session(id.into());
                self
            }

            /// Goes on with the last session of the working directory.
            pub fn continue_latest(mut self) -> Self {
                self.options.resume = Resume::Latest;
                self
            }

            /// Goes on with the last session of the working directory, or begins a new one if there is none.
            pub fn continue_or_begin(mut self) -> Self {
                self.options.resume = Resume::LatestOrNew;
                self
            }

            /// Goes on in a copy of the session: a session of its own, with fresh ids, that is written before the
            /// first run. The other one is not changed, and may be in use. Default: goes on in the session itself.
            pub fn fork_session(mut self, on: bool) -> Self {
                self.options.branch.fork = on;
                self
            }

            /// Goes on behind the entry with this id (a prompt, a message of the model or a block of it, a result)
            /// instead of at the end. A message is kept with the results of its calls. What follows stays in the
            /// log but is no longer part of the conversation; a copy does not get it.
            pub fn resume_at(mut self, id: impl Into<String>) -> Self {
                self.options.branch.at = Some(id.into());
                self
            }

            /// Refuses [`resume_at`](Self::resume_at) if it would drop anything but the turn of this prompt, such
            /// as a message that came in meanwhile. Default: whatever follows is dropped.
            pub fn resume_drops_turn(mut self, prompt: impl Into<String>) -> Self {
                self.options.branch.drops_turn = Some(prompt.into());
                self
            }

            /// Hands on every frame of the model's stream as the provider sent it. Default: off.
            pub fn include_partial_messages(mut self, on: bool) -> Self {
                self.options.raw_frames = on;
                self
            }

            /// Compacts the conversation by itself before it fills the model's context window, and once when
            /// it was too long for the model. Default: yes.
            pub fn auto_compact(mut self, on: bool) -> Self {
                self.options.auto_compact = on;
                self
            }

            /// Compacts as if the model's context window were no larger than this, in tokens.
            pub fn auto_compact_window(mut self, tokens: u64) -> Self {
                self.options.auto_compact_window = Some(tokens);
                self
            }

            /// Each run must end with data that fits this JSON Schema, which must describe an object:
            /// [`RunResult::structured_output`](crate::RunResult::structured_output). The model is asked
            /// again when it gives none or one that does not fit, at most five times; then the run ends
            /// with [`Outcome::NoStructuredOutput`](crate::Outcome::NoStructuredOutput). Default: none.
            pub fn output_schema(mut self, schema: JsonText) -> Self {
                self.options.output_schema = Some(schema);
                self
            }

            /// Each run must end with data of this type: [`RunResult::output`](crate::RunResult::output).
            /// See [`Self::output_schema`].
            pub fn output<T: windlass_tool::schemars::JsonSchema>(self) -> Self {
                self.output_schema(windlass_tool::schema_of::<T>())
            }

            /// How the program is named in the session log. Default: `sdk-rust`.
            pub fn entrypoint(mut self, name: impl Into<String>) -> Self {
                self.options.entrypoint = name.into();
                self
            }

            /// MCP servers, whose tools the model is offered beside the others. Opening
            /// the session waits for them for up to five seconds, longer for servers
            /// inside the host; tools that come or change later are put in place then.
            /// The session keeps the servers until it ends. Default: none.
            #[cfg(feature = "mcp")]
            pub fn mcp_servers(mut self, servers: windlass_mcp::McpServers) -> Self {
                self.options.mcp = Some(servers);
                self
            }

            /// Has the session obey the files of a project as the `windlass` command does: settings in layers with their
            /// permission rules, agents, custom commands, MCP servers and remembered answers. See
            /// [`Project`](crate::Project). What this builder says counts for more, before and after this call, except
            /// where a file forbids something. Default: no file is read.
            #[cfg(feature = "project")]
            pub fn project(mut self, project: impl Into<crate::ProjectInput>) -> Self {
                self.options.project = crate::project::Applied::Given(project.into());
                self
            }

            /// Keeps files as they are before Write, Edit and the like change them, beside the session:
            /// [`SessionHandle::rewind_files`](crate::SessionHandle::rewind_files) puts them back. What programs
            /// do (Bash, MCP servers) is not tracked. Needs [`persist`](Self::persist). A call whose
            /// files cannot be kept because the disk is full does not run. Default: off. Needs the features `store` and
            /// `tools`.
            #[cfg(all(feature = "store", feature = "tools"))]
            pub fn file_checkpoints(mut self, on: bool) -> Self {
                self.options.file_checkpoints = on;
                self
            }

            /// Keeps files in a place of your own, see [`file_checkpoints`](Self::file_checkpoints).
            pub fn checkpoint_store(mut self, checkpoints: Arc<dyn Checkpoints>) -> Self {
                self.options.checkpoint_store = Some(checkpoints);
                self
            }

            /// Files, instead of this machine's (without the feature `tools`: instead of none).
            pub fn workspace(mut self, workspace: Arc<dyn Workspace>) -> Self {
                self.options.workspace = Some(workspace);
                self
            }

            /// Programs, instead of this machine's (without the feature `tools`: instead of none).
            pub fn process(mut self, process: Arc<dyn Process>) -> Self {
                self.options.process = Some(process);
                self
            }
        }
    };
}

option_methods!(crate::Query);
option_methods!(crate::SessionBuilder);
