//! Option methods of the query and session builders.

use crate::agent::Agent;
#[cfg(feature = "store")]
use crate::home::Home;
use crate::names::NameChecks;
use crate::options::Options;
use crate::permissions::Permissions;
use crate::query::Query;
use crate::resume::Resume;
use crate::session_builder::SessionBuilder;
use crate::toolkit::Toolkit;
#[cfg(feature = "tools")]
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::SystemPrompt;
use windlass_hook::Hook;
use windlass_model::{ModelOverride, ModelProvider, Summarizer, SummaryError, SummaryRequest};
use windlass_runtime::{Diagnostics, UnpricedModels};
use windlass_session::{Checkpoints, SessionStore};
use windlass_subagent::Subagents;
use windlass_tool::{DynTool, FileTree, Process, Workspace};
use windlass_types::{CacheTtl, Effort, JsonText, PermissionMode, Thinking};

/// Writes the same methods for every builder that holds [`Options`](crate::session::Options).
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

            /// The model, by id or alias (`opus`, `sonnet`, `haiku`). Default: the provider's best.
            pub fn model(self, model: impl Into<String>) -> Self {
                self.with(|options| options.model.name = Some(model.into()))
            }

            /// Overrides facts about a model: limits and prices that its provider does not know, or that differ behind
            /// a gateway. `model` is a name with or without the prefix of its provider (`openai/my-model`), or a prefix
            /// of names; the longest match applies. Default: the provider's values.
            ///
            /// ```
            /// use windlass::provider::ModelOverride;
            ///
            /// let mine = ModelOverride::new().context_window(64_000).input_price(0.25).output_price(1.5);
            /// let query = windlass::query("Hello").model("openai/my-model").model_override("openai/my-model", mine);
            /// ```
            pub fn model_override(self, model: impl Into<String>, values: ModelOverride) -> Self {
                self.with(|options| options.model.overrides.add(model, values))
            }

            /// Adds an alias for a model. Agents and settings may use it as well.
            pub fn model_alias(self, alias: impl Into<String>, model: impl Into<String>) -> Self {
                self.with(|options| options.model.overrides.add_alias(alias, model))
            }

            /// The model that takes over when the first is overloaded.
            pub fn fallback_model(self, model: impl Into<String>) -> Self {
                self.with(|options| options.model.fallback = Some(model.into()))
            }

            /// Adds tools, such as [`coding_tools`](crate::coding_tools). Duplicate names are an error when the session
            /// opens. Default: none.
            pub fn tools(self, tools: impl Into<Toolkit>) -> Self {
                self.with(|options| options.tools.toolkit.join(tools.into()))
            }

            /// Adds one tool.
            pub fn tool(self, tool: impl DynTool) -> Self {
                self.with(|options| options.tools.toolkit.tools.push(Arc::new(tool)))
            }

            /// Keeps only tools of these names, including tools that MCP servers bring later. `mcp__server` and
            /// `mcp__server__*` are all tools of a server, `mcp__*` those of all servers. Lists only narrow: a tool
            /// must be in each list. The tool for [structured output](Self::output_schema) always stays. Default: all.
            pub fn only_tools<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
                self.with(|options| options.tools.only.and(names.into_iter().map(Into::into).collect()))
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

            /// Allows work in the background, beside the conversation. Without it, agent calls wait for the report
            /// whatever the calls and the agents' definitions request. Commands that request the background are
            /// refused, and no tool offers `run_in_background`. Also applies to agents of agents. Default: `true`.
            pub fn background_tasks(self, on: bool) -> Self {
                self.with(|options| options.tools.background = Some(on))
            }

            /// Permission rules, the mode and the answer callback. Default: reads inside the workspace are allowed,
            /// nothing else.
            pub fn permissions(self, permissions: Permissions) -> Self {
                self.with(|options| options.permissions = permissions)
            }

            /// Sets the permission mode.
            pub fn permission_mode(self, mode: PermissionMode) -> Self {
                self.with(|options| options.permissions = std::mem::take(&mut options.permissions).mode(mode))
            }

            /// Adds a hook, made from closures with [`hook_fn`](crate::hook_fn) or an impl of [`Hook`]. Hooks run in
            /// the order in which they are added. A hook that could never be called for an event it listens to keeps
            /// the session from opening ([`Error::Hooks`](crate::Error::Hooks)).
            pub fn hook(self, hook: impl Hook) -> Self {
                self.with(|options| options.hooks.code.push(Arc::new(hook)))
            }

            /// Adds a hook that runs a program, a request or a model, as in settings files:
            /// `.configured_hook(hook::command("./guard.sh").for_tools("Bash")?)`. These hooks run after those of a
            /// [project](Self::project) and before those in code.
            #[cfg(feature = "project")]
            pub fn configured_hook(self, hook: $crate::hook::HookDefinition) -> Self {
                self.with(|options| options.hooks.configured.push(hook))
            }

            /// Time limit for a hook's answer, unless the hook sets a [limit of its own](Hook::time_limit). A hook that
            /// takes longer has failed: a gate (before a tool, before a prompt, a permission request) denies, any other
            /// is skipped. [`EventKind::HookRan`](crate::EventKind::HookRan) reports the failure. Default: ten minutes.
            pub fn hook_timeout(self, limit: Duration) -> Self {
                self.with(|options| options.limits.hook_time = Some(limit))
            }

            /// Computes the file changes of a call as a diff before the call runs. Permission requests and events carry
            /// the diff (`PermissionRequest::edits`, `ToolStarted::edits`). Covers the built-in editing tools and
            /// others with a [`preview`](windlass_tool::Tool::preview). Default: `false`.
            pub fn preview_edits(self, on: bool) -> Self {
                self.with(|options| options.surroundings.previews_edits = on)
            }

            /// Source of compiler and linter diagnostics, such as an editor. Asked about files before and after a call
            /// changes them. The model reads new diagnostics with its next turn. Default: none.
            pub fn diagnostics(self, source: impl Diagnostics) -> Self {
                self.with(|options| options.surroundings.diagnostics = Some(Arc::new(source)))
            }

            /// Gives the model the tool `LSP` over these language servers, and the diagnostics that its edits cause.
            /// Sessions may share servers; each server starts at its first request.
            #[cfg(feature = "lsp")]
            pub fn language_servers(self, servers: crate::lsp::LanguageServers) -> Self {
                self.with(|options| crate::lsp::give(options, &servers, true))
            }

            /// Reports the start of hooks as an event ([`EventKind::HooksStarted`](crate::EventKind::HooksStarted)),
            /// not only their outcomes. Default: `false`.
            pub fn include_hook_events(self, on: bool) -> Self {
                self.with(|options| options.limits.hook_starts = on)
            }

            /// Maximum number of times that Stop hooks keep a run going. At the next such request the run ends as a
            /// success, and a notice in its events reports that. Default: 8.
            pub fn max_stop_continuations(self, times: u32) -> Self {
                self.with(|options| options.limits.base.max_stop_continuations = times)
            }

            /// The directory that the agent works in. Default: the tools', else the process's.
            pub fn cwd(self, cwd: impl Into<PathBuf>) -> Self {
                self.with(|options| options.surroundings.cwd = Some(cwd.into()))
            }

            /// Adds a directory to the workspace.
            pub fn add_dir(self, directory: impl Into<PathBuf>) -> Self {
                self.with(|options| options.surroundings.additional_directories.push(directory.into()))
            }

            /// User's home directory: the start of `~/` in rules and commands, and protected from removal. Default:
            /// `HOME` of the environment of programs, else of this process. Programs use their own `HOME`, so keep both
            /// the same.
            pub fn user_home(self, home: impl Into<PathBuf>) -> Self {
                self.with(|options| options.surroundings.user_home = Some(home.into()))
            }

            /// The system prompt. Default: windlass's own for coding agents.
            pub fn system_prompt(self, prompt: SystemPrompt) -> Self {
                self.with(|options| options.prompts.system = Some(prompt))
            }

            /// Appends a text to the system prompt.
            pub fn append_system_prompt(self, text: &str) -> Self {
                self.with(|options| options.prompts.append(text))
            }

            /// Adds instructions for the model, beside those in files of a [project](Self::project). The model reads
            /// them after the first prompt, and again after a compaction. Unlike
            /// [`append_system_prompt`](Self::append_system_prompt), they may differ between sessions without
            /// invalidating the cache of the preceding content. May be called several times; blank texts are left out.
            pub fn instructions(self, text: &str) -> Self {
                self.with(|options| options.prompts.instruct(text))
            }

            /// Attaches the content of mentions in prompts, as separate texts after the user's words: `@src/a.rs`, with
            /// lines (`@src/a.rs:10-20`, `@src/a.rs#L10`), `@docs/`, `@"two words.txt"`, resources of MCP servers
            /// (`@server:uri`) and agents (`@agent-NAME`). A file is read as by a Read call: under the same rules,
            /// hooks and limits, and Edit treats it as read. A mention that would need a permission request is left out
            /// with a notice. An unknown name remains a plain word. Messages to a run in progress are included.
            ///
            /// Default: `false`. A program's prompt may hold other people's words, which would then choose files to
            /// read. The command, where a user types the prompt, enables it.
            pub fn mentions(self, attach: bool) -> Self {
                self.with(|options| options.prompts.mentions = attach)
            }

            /// Sends the model reminders of three kinds. First: a todo list with open tasks, untouched for ten
            /// messages, with the task in progress and the next one. Second: limits that are nearly reached (25, 10 and
            /// 5 percent of the budget, the last two turns). Third, with a prompt: files changed since the model read
            /// or wrote them, with the differing lines. Each reminder is a separate text after the sent content, once
            /// for each list, limit and change. Default: `true`.
            pub fn reminders(self, on: bool) -> Self {
                self.with(|options| options.prompts.reminders = Some(on))
            }

            /// Maximum number of model messages in a run. Default: no limit.
            pub fn max_turns(self, turns: u32) -> Self {
                self.with(|options| options.limits.base.max_turns = Some(turns))
            }

            /// Maximum cost of the session, in US dollars. Reserved before each call. Default: no limit.
            ///
            /// The session does not open with a negative or non-numeric amount, nor with a model without a known price,
            /// unless [`unpriced_models`](Self::unpriced_models) permits the latter.
            pub fn max_budget_usd(self, usd: f64) -> Self {
                self.with(|options| options.limits.budget_usd = Some(usd))
            }

            /// Treatment of models without a known price under a [budget](Self::max_budget_usd): called with a warning,
            /// or refused. Default: refused.
            pub fn unpriced_models(self, unpriced: UnpricedModels) -> Self {
                self.with(|options| options.limits.unpriced = Some(unpriced))
            }

            /// Opens the session only if every name given by the program is that of an existing tool or model, and
            /// every rule is valid. Otherwise only a deny or ask rule with a misspelt name of a known tool is an error.
            /// Other unknown names and unreadable allow rules are [notices](crate::Run::notices), with suggestions.
            /// Default: `false`.
            pub fn strict(self, on: bool) -> Self {
                self.with(|options| options.names = if on { NameChecks::Strict } else { NameChecks::On })
            }

            /// Disables the checks of tool and model names that [`strict`](Self::strict) describes. For programs that
            /// pass on names from programs of other versions.
            pub fn lenient_names(self) -> Self {
                self.with(|options| options.names = NameChecks::Off)
            }

            /// Maximum number of retries of a failed model call. Default: 10.
            pub fn max_retries(self, retries: u32) -> Self {
                self.with(|options| options.limits.max_retries = Some(retries))
            }

            /// Maximum number of times that a missing or unfit structured output is requested again. Default: 5.
            pub fn max_structured_output_retries(self, retries: u32) -> Self {
                self.with(|options| options.limits.structured_output_retries = Some(retries))
            }

            /// Maximum total wait of one model call's retries at the provider's request, all waits together. Default:
            /// 15 minutes.
            pub fn max_server_wait(self, wait: Duration) -> Self {
                self.with(|options| options.limits.base.max_server_wait = wait)
            }

            /// Maximum number of tokens in one answer. Default: the model's.
            pub fn max_output_tokens(self, tokens: u32) -> Self {
                self.with(|options| options.model.requests.max_output_tokens = Some(tokens))
            }

            /// Thinking of the model. Default: decided by the model if it supports that, and off otherwise. A model
            /// that decides itself takes no thinking budget and ignores one.
            pub fn thinking(self, thinking: Thinking) -> Self {
                self.with(|options| options.model.thinking = Some(thinking))
            }

            /// Effort that the model spends on an answer. For an effort unknown to the model, the next weaker known one
            /// is requested. Default: left to the model.
            pub fn effort(self, effort: Effort) -> Self {
                self.with(|options| options.model.effort = Some(effort))
            }

            /// Lets words of a prompt request more thinking for the run of that prompt: `think`, `think hard`, `think
            /// harder` and `ultrathink`, mapped to a budget or an effort as the model supports it. Only the user's
            /// words are considered, outside of code and quotations, never those of tools, files and agents. Default:
            /// `false`.
            ///
            /// If the provider caches the thinking setting with the conversation, the first call of such a run and the
            /// first one after it miss the cache; [`CacheBroken`](crate::event::Status::CacheBroken) reports that.
            pub fn thinking_keywords(self, count: bool) -> Self {
                self.with(|options| options.model.keywords = count)
            }

            /// Model-specific behaviour: editing tools, descriptions of tools, the end of the system prompt, the
            /// meaning of thinking keywords. Default: the profile of the family that the model's id names
            /// ([`HarnessProfile::of`](crate::HarnessProfile::of)).
            ///
            /// The profile is settled when the session opens, so a change of the model edits nothing that was sent.
            /// Without a profile from the program, a model of a family with other editing tools also gets those. They
            /// come at the point in the conversation where the model is first called.
            pub fn profile(self, profile: $crate::HarnessProfile) -> Self {
                self.with(|options| options.model.harness = Some(profile))
            }

            /// Adds a beta of the provider.
            pub fn beta(self, beta: impl Into<String>) -> Self {
                self.with(|options| options.model.requests.betas.push(beta.into()))
            }

            /// Lifetime of prompt-cache entries; `None` switches caching off. Default: five minutes.
            pub fn cache(self, cache: Option<CacheTtl>) -> Self {
                self.with(|options| options.model.requests.cache = cache)
            }

            /// Environment of programs that tools run, instead of the default: an allow-list of the process's
            /// variables. Variables given here reach the programs, except for names that look like secrets or that
            /// change which code programs load, see [`given_environment`](crate::tool::environment::given_environment); a
            /// notice of the session names the exceptions. Needs the feature `tools`; without it the environment is
            /// empty.
            #[cfg(feature = "tools")]
            pub fn env<K: Into<OsString>, V: Into<OsString>>(self, env: impl IntoIterator<Item = (K, V)>) -> Self {
                self.with(|options| {
                    options.surroundings.environments.programs = Some(env.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
                })
            }

            /// Adds the branch and a short status of the git repository to a new session's context. This runs `git
            /// status` once, unless the permissions would require a permission request for it. Enable it for
            /// directories whose content you trust. Default: `false`. Needs the features `store` and `tools`.
            #[cfg(all(feature = "store", feature = "tools"))]
            pub fn git_status(self, on: bool) -> Self {
                self.with(|options| options.surroundings.git_status = Some(on))
            }

            /// Stores the session under a home directory. Default: nothing is stored. Needs the feature `store`.
            #[cfg(feature = "store")]
            pub fn persist(self, home: Home) -> Self {
                self.with(|options| options.storage.home = Some(home))
            }

            /// JSON object of members added unchanged to the body of each request: settings of a vendor without an
            /// option in windlass. They override members of the same name; objects are merged. Default: none.
            pub fn request_fields(self, fields: JsonText) -> Self {
                self.with(|options| options.model.requests.extra = Some(fields))
            }

            /// Sends the provider an opaque user id with each request, so it can tell users of one key apart: 128
            /// random bits stored in the home of [`persist`](Self::persist), never an account, a name or a path.
            /// Default: `true`. Without a home none is sent.
            pub fn send_user_id(self, on: bool) -> Self {
                self.with(|options| options.model.requests.send_user_id = Some(on))
            }

            /// Stores the session in a store of your own.
            pub fn store(self, store: Arc<dyn SessionStore>) -> Self {
                self.with(|options| options.storage.store = Some(store))
            }

            /// Replaces secrets by `[redacted]` in the texts of the log: those of known forms, and the given values.
            /// This changes history: a resumed session reads the masked texts, the provider's cache does not serve its
            /// requests, and a masked call with an open permission request is asked about anew. Checkpoints of files
            /// and large results beside the log stay exact. Default: the log is exact, and only its user can read it.
            pub fn mask_log(self, masks: crate::session::Masks) -> Self {
                self.with(|options| options.storage.masks = Some(masks))
            }

            /// Id of the new session, a UUID. If the working directory has a session of this id, that session is
            /// resumed. Default: random. A resumed session keeps its id, unless it is resumed as a fork.
            pub fn session_id(self, id: impl Into<String>) -> Self {
                self.with(|options| options.start.session_id = Some(id.into()))
            }

            /// Resumes a session of the working directory, kept by [`persist`](Self::persist) or
            /// [`store`](Self::store). Its id is in [`RunResult::session_id`](crate::RunResult::session_id).
            pub fn resume(self, id: impl Into<String>) -> Self {
                self.with(|options| options.start.from = Resume::Session(id.into()))
            }

            /// Resumes the session of the working directory with this title, else the only one whose title begins with
            /// it. Matching ignores case. An ambiguous title is an error that names the candidates.
            pub fn resume_titled(self, title: impl Into<String>) -> Self {
                self.with(|options| options.start.from = Resume::Titled(title.into()))
            }

            /// Resumes the last session of the working directory.
            pub fn continue_latest(self) -> Self {
                self.with(|options| options.start.from = Resume::Latest)
            }

            /// Resumes the last session of the working directory, or begins a new one if there is none.
            pub fn continue_or_begin(self) -> Self {
                self.with(|options| options.start.from = Resume::LatestOrNew)
            }

            /// Resumes a fork of the session: a separate session with fresh ids, written before the first run. The
            /// original is not changed, and may be in use. Default: the session itself is resumed.
            pub fn fork_session(self, on: bool) -> Self {
                self.with(|options| options.start.fork = on)
            }

            /// Resumes after the entry with this id (a prompt, a message of the model or a block of it, a result)
            /// instead of at the end. A message is kept with the results of its calls. Later entries stay in the log
            /// but leave the conversation; a fork does not get them.
            pub fn resume_at(self, id: impl Into<String>) -> Self {
                self.with(|options| options.start.at = Some(id.into()))
            }

            /// Refuses [`resume_at`](Self::resume_at) if it would drop anything but the turn of this prompt, such as a
            /// message that arrived meanwhile. Default: all later entries are dropped.
            pub fn resume_drops_turn(self, prompt: impl Into<String>) -> Self {
                self.with(|options| options.start.drops_turn = Some(prompt.into()))
            }

            /// Emits every frame of the model's stream as the provider sent it. Default: `false`.
            pub fn include_partial_messages(self, on: bool) -> Self {
                self.with(|options| options.model.requests.raw_frames = on)
            }

            /// Compacts the conversation automatically before it fills the model's context window, and once after a
            /// call failed because it was too long. Default: `true`.
            pub fn auto_compact(self, on: bool) -> Self {
                self.with(|options| options.compaction.auto = on)
            }

            /// Upper bound of the context window for automatic compaction, in tokens.
            pub fn auto_compact_window(self, tokens: u64) -> Self {
                self.with(|options| options.compaction.window = Some(tokens))
            }

            /// Shares of the model's context window for instruction files, the list of skills and the index of the
            /// memory. An item beyond its share is left out as a whole, named to the model and in a notice. Default:
            /// 15, 5 and 5 percent.
            pub fn context_shares(self, shares: crate::session::ContextShares) -> Self {
                self.with(|options| options.prompts.shares = shares)
            }

            /// Rules for replacing old tool results by short notes before a summary has to be written. Default: when at
            /// least 20,000 tokens become free, with the latest 40,000 tokens of results kept.
            pub fn trim_results(self, rules: crate::session::TrimRules) -> Self {
                self.with(|options| options.compaction.trim = rules)
            }

            /// Model that writes summaries of conversations, by id or alias, such as a smaller one. Its provider does
            /// not have the conversation in its cache. Default: the model of the session.
            pub fn summarizer_model(self, name: impl Into<String>) -> Self {
                self.with(|options| options.compaction.summarizer = Some(name.into()))
            }

            /// Function that writes summaries of conversations instead of a model, such as with an index or a program
            /// of its own. Facts from the log are added after its summary as well. An error or an empty summary fails
            /// the compaction; the conversation then stays unchanged. Default: none.
            ///
            /// ```
            /// use windlass::session;
            ///
            /// let session = session().summarizer(|request| async move {
            ///     Ok(format!("A conversation of {} messages about bees.", request.messages.len()))
            /// });
            /// ```
            pub fn summarizer<Fut>(self, write: impl Fn(SummaryRequest) -> Fut + Send + Sync + 'static) -> Self
            where
                Fut: Future<Output = Result<String, SummaryError>> + Send + 'static,
            {
                self.with(|options| options.compaction.own_summarizer = Some(Summarizer::new(write)))
            }

            /// Maximum number of tokens of the last read or changed files, shown again after a summary. Limited to a
            /// sixteenth of the model's context window. Default: 10,000. 0: none.
            pub fn restored_files(self, tokens: u64) -> Self {
                self.with(|options| options.compaction.restored_files = Some(tokens))
            }

            /// Size from which tool definitions are withheld from requests until the model searches for them with the
            /// tool `ToolSearch`. Applies to tools of MCP servers and tools that are
            /// [marked](crate::tool::ToolLoading). Default: when together they take more than a tenth of the model's
            /// context window, and for servers started at their first call beyond 1,500 tokens.
            pub fn tool_budget(self, budget: crate::tool::ToolBudget) -> Self {
                self.with(|options| options.tools.budget = Some(budget))
            }

            /// JSON Schema of the data that each run must end with; it must describe an object. See
            /// [`RunResult::structured_output`](crate::RunResult::structured_output). The model is asked again for
            /// missing or unfit data, at most five times; then the run ends with
            /// [`Outcome::NoStructuredOutput`](crate::Outcome::NoStructuredOutput). Default: none.
            pub fn output_schema(self, schema: JsonText) -> Self {
                self.with(|options| options.tools.output_schema = Some(schema))
            }

            /// Name of the program in the session log. Default: `sdk-rust`.
            pub fn entrypoint(self, name: impl Into<String>) -> Self {
                self.with(|options| options.storage.entrypoint = Some(name.into()))
            }

            /// MCP servers, whose tools are offered to the model beside the others. Opening the session waits for them
            /// for up to five seconds, longer for servers inside the host. Tools that come or change later are added
            /// then. The session keeps the servers until it ends. Default: none.
            #[cfg(feature = "mcp")]
            pub fn mcp_servers(self, servers: windlass_mcp::McpServers) -> Self {
                self.with(|options| options.tools.mcp = Some(servers))
            }

            /// Gives the session a skill: instructions that the model reads on demand, through the tool `Skill`. In a
            /// [query](crate::query()), the prompt `/name` invokes the skill. It precedes skills of the same name from
            /// files, except the administrator's. May be called several times.
            ///
            /// ```
            /// use windlass::{Skill, session};
            ///
            /// let notes = Skill::new("release-notes", "Writes release notes.", "List the commits since $ARGUMENTS.");
            /// let session = session().skill(notes);
            /// ```
            #[cfg(feature = "project")]
            pub fn skill(self, skill: crate::Skill) -> Self {
                self.with(|options| options.prompts.skills.push(skill))
            }

            /// Applies the files of a project as the `windlass` command does: settings in layers with their permission
            /// rules, agents, custom commands, MCP servers and remembered answers. See [`Project`](crate::Project).
            /// Options of this builder override the files, before and after this call, except where a file forbids
            /// something. Default: no file is read.
            #[cfg(feature = "project")]
            pub fn project(self, project: impl Into<crate::project::ProjectInput>) -> Self {
                self.with(|options| options.project = crate::project::Applied::Given(project.into()))
            }

            /// Gives the session a memory of small notes, shared with later sessions. The model reads the index after
            /// the first prompt and has the tool `Memory`. See [`Memory`](crate::memory::Memory). Default: no memory.
            #[cfg(feature = "project")]
            pub fn memory(self, memory: crate::memory::Memory) -> Self {
                self.with(|options| options.remember(memory))
            }

            /// Saves files before tools and programs (Bash, MCP servers) change them, beside the session.
            /// [`SessionHandle::rewind_files`](crate::SessionHandle::rewind_files) restores them. Before the first
            /// program that is not known to be read-only, the workspace is copied, without files that git ignores.
            /// Needs [`persist`](Self::persist). A call whose files cannot be saved because the disk is full does not
            /// run. Default: `false`. Needs the features `store` and `tools`.
            #[cfg(all(feature = "store", feature = "tools"))]
            pub fn file_checkpoints(self, on: bool) -> Self {
                self.with(|options| options.storage.file_checkpoints = on)
            }

            /// Limits of [`file_checkpoints`](Self::file_checkpoints): the largest file, all contents, and the copy of
            /// the workspace. Default: 64 MiB, 1 GiB, 1 GiB.
            #[cfg(all(feature = "store", feature = "tools"))]
            pub fn checkpoint_limits(self, limits: windlass_store::CheckpointLimits) -> Self {
                self.with(|options| options.storage.checkpoint_limits = limits)
            }

            /// Disk space for the outputs of programs that are too large for the model: of this session, and of all sessions
            /// of the home. The setting `outputLimits` of a [`project`](Self::project) says otherwise where this is left out.
            /// Default: 4 GiB and 16 GiB.
            #[cfg(feature = "tools")]
            pub fn output_limits(self, limits: windlass_local::KeptLimits) -> Self {
                self.with(|options| options.storage.output_limits = limits)
            }

            /// Stores file checkpoints in a store of your own, see [`file_checkpoints`](Self::file_checkpoints).
            pub fn checkpoint_store(self, checkpoints: Arc<dyn Checkpoints>) -> Self {
                self.with(|options| options.storage.checkpoints = Some(checkpoints))
            }

            /// Workspace of the session, instead of this machine's files (without the feature `tools`: instead of
            /// none). If it is not local (`Workspace::is_local`), the session's directory is one of the workspace, and
            /// programs run only through a [`process`](Self::process) given as well.
            pub fn workspace(self, workspace: Arc<dyn Workspace>) -> Self {
                self.with(|options| options.surroundings.files.workspace = Some(workspace))
            }

            /// Tree of whole files of the given [`workspace`](Self::workspace), for
            /// [`file_checkpoints`](Self::file_checkpoints).
            pub fn file_tree(self, tree: Arc<dyn FileTree>) -> Self {
                self.with(|options| options.surroundings.files.tree = Some(tree))
            }

            /// Runs the session in a container or on another machine: with its files, its programs and their
            /// environment, and its home directory. The session's directory is one there. Unsupported options are an
            /// error: a [`project`](Self::project), a sandbox. Needs the feature `remote`.
            #[cfg(feature = "remote")]
            pub fn remote(self, remote: &windlass_remote::Remote) -> Self {
                self.with(|options| options.surroundings.move_to(remote))
            }

            /// Process port that runs programs, instead of this machine's (without the feature `tools`: instead of
            /// none).
            pub fn process(self, process: Arc<dyn Process>) -> Self {
                self.with(|options| options.surroundings.process = Some(process))
            }

            /// Runs commands in a sandbox of the system. Settings of a [`project`](Self::project) may request one as
            /// well; these options override them. Default: none. Needs the feature `sandbox`.
            #[cfg(feature = "sandbox")]
            pub fn sandbox(self, sandbox: crate::sandbox::SandboxOptions) -> Self {
                self.with(|options| options.surroundings.sandbox.options = Some(sandbox))
            }

            /// Program that becomes the helper of the sandbox: any whose `main` calls
            /// [`become_helper`](crate::sandbox::become_helper) first, such as this one (`std::env::current_exe()`).
            /// Without it only bubblewrap is available, and enforces less.
            #[cfg(feature = "sandbox")]
            pub fn sandbox_helper(self, program: impl Into<PathBuf>) -> Self {
                self.with(|options| options.surroundings.sandbox.helper = Some(program.into()))
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
            /// [`Self::output_schema`].
            pub fn output<T: windlass_tool::schemars::JsonSchema>(self) -> Self {
                self.output_schema(windlass_tool::schema_of::<T>())
            }
        }
    };
}

output_method!(SessionBuilder);
output_method!(Agent);
