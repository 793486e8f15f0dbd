//! The methods by which a query and a session take their options.

#[cfg(feature = "store")]
use crate::Home;
use crate::names::NameChecks;
use crate::{
    Agent, Permissions, Query, SessionBuilder,
    session::{Options, Resume},
    tool::Toolkit,
};
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

            /// Says what a model is like: limits and prices that its provider does not know, or that are other ones behind a
            /// gateway. `model` is a name with the prefix of its provider (`openai/my-model`) or without, or the beginning
            /// of names; the longest that fits counts. Default: what the provider knows.
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

            /// Lets a name stand for a model, also where agents and settings name one.
            pub fn model_alias(self, alias: impl Into<String>, model: impl Into<String>) -> Self {
                self.with(|options| options.model.overrides.add_alias(alias, model))
            }

            /// The model that takes over when the first is overloaded.
            pub fn fallback_model(self, model: impl Into<String>) -> Self {
                self.with(|options| options.model.fallback = Some(model.into()))
            }

            /// Adds tools, such as [`coding_tools`](crate::coding_tools). Two of one name are an error when the session
            /// opens. Default: none.
            pub fn tools(self, tools: impl Into<Toolkit>) -> Self {
                self.with(|options| options.tools.toolkit.join(tools.into()))
            }

            /// Adds one tool.
            pub fn tool(self, tool: impl DynTool) -> Self {
                self.with(|options| options.tools.toolkit.tools.push(Arc::new(tool)))
            }

            /// Keeps only tools of these names, also of those that MCP servers bring later: `mcp__server` and
            /// `mcp__server__*` are all tools of a server, `mcp__*` those of all servers. Lists only narrow: a tool
            /// must be in each that was given. What takes [structured output](Self::output_schema) stays.
            /// Default: all.
            pub fn only_tools<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
                self.with(|options| options.tools.only.and(names.into_iter().map(Into::into).collect()))
            }

            /// Lets the model give tasks to agents below it, through the tool `Agent`:
            /// [`Subagents::new`](crate::Subagents::new) are the built-in ones, to which own ones can be added. An agent
            /// has a conversation of its own. It shares tools, hooks, budget and whoever answers permission requests,
            /// and may never do more than its parent; its events come under its own
            /// [`AgentPath`](crate::event::AgentPath). Default: no agents.
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

            /// Whether work may be left in the background, beside the conversation. Without it, calls of agents wait for
            /// the report whatever they and the agents' definitions say, commands that ask for the background are
            /// refused, and no tool offers it (`run_in_background`). Holds for agents of agents too. Default: yes.
            pub fn background_tasks(self, on: bool) -> Self {
                self.with(|options| options.tools.background = Some(on))
            }

            /// Who may do what. Default: read inside the workspace, nothing else.
            pub fn permissions(self, permissions: Permissions) -> Self {
                self.with(|options| options.permissions = permissions)
            }

            /// Sets the permission mode.
            pub fn permission_mode(self, mode: PermissionMode) -> Self {
                self.with(|options| options.permissions = std::mem::take(&mut options.permissions).mode(mode))
            }

            /// Adds a hook, made from closures with [`hook_fn`](crate::hook_fn) or an impl of [`Hook`]. Hooks count in
            /// the order in which they are added. With one that would never be asked about something that it listens
            /// to, the session does not open ([`Error::Hooks`](crate::Error::Hooks)).
            pub fn hook(self, hook: impl Hook) -> Self {
                self.with(|options| options.hooks.code.push(Arc::new(hook)))
            }

            /// Adds a hook that runs a program, a request or a model, as settings files have them:
            /// `.configured_hook(hook::command("./guard.sh").for_tools("Bash")?)`. They count behind those of a
            /// [project](Self::project) and before those in code.
            #[cfg(feature = "project")]
            pub fn configured_hook(self, hook: $crate::hook::HookDefinition) -> Self {
                self.with(|options| options.hooks.configured.push(hook))
            }

            /// The longest that a hook may take for an answer, unless it sets a
            /// [limit of its own](Hook::time_limit). One that takes longer has failed: a gate (before a tool, before a
            /// prompt, a permission request) denies, any other is skipped;
            /// [`EventKind::HookRan`](crate::EventKind::HookRan) says so. Default: ten minutes.
            pub fn hook_timeout(self, limit: Duration) -> Self {
                self.with(|options| options.limits.hook_time = Some(limit))
            }

            /// Finds out before a call what it would change in files: questions and events then have it as a diff
            /// (`PermissionRequest::edits`, `ToolStarted::edits`), for the built-in tools that edit and others with a
            /// [`preview`](windlass_tool::Tool::preview). Default: no.
            pub fn preview_edits(self, on: bool) -> Self {
                self.with(|options| options.surroundings.previews_edits = on)
            }

            /// Asks a host, such as an editor, what compilers and linters have to say of files before a call changes them and
            /// behind it. What the call has brought, the model reads with its next turn. Default: no one is asked.
            pub fn diagnostics(self, source: impl Diagnostics) -> Self {
                self.with(|options| options.surroundings.diagnostics = Some(Arc::new(source)))
            }

            /// Gives the model the tool `LSP` over these language servers, and the diagnostics that its edits have brought. They may
            /// be shared by sessions; each starts when it is first asked.
            #[cfg(feature = "lsp")]
            pub fn language_servers(self, servers: crate::lsp::LanguageServers) -> Self {
                self.with(|options| crate::lsp::give(options, &servers, true))
            }

            /// Whether events report also when hooks begin to be asked
            /// ([`EventKind::HooksStarted`](crate::EventKind::HooksStarted)), not only what they have answered. Default:
            /// no.
            pub fn include_hook_events(self, on: bool) -> Self {
                self.with(|options| options.limits.hook_starts = on)
            }

            /// Most times that Stop hooks keep a run going. When they want it to continue once more, the run ends as a
            /// success, and a notice in its events says so. Default 8.
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

            /// The user's home: where `~/` in rules and in commands starts, and what may never be removed. Default: `HOME` of the
            /// environment that programs get, else of this process. Programs go by their own `HOME`, so let both be the same.
            pub fn user_home(self, home: impl Into<PathBuf>) -> Self {
                self.with(|options| options.surroundings.user_home = Some(home.into()))
            }

            /// The system prompt. Default: windlass's own for coding agents.
            pub fn system_prompt(self, prompt: SystemPrompt) -> Self {
                self.with(|options| options.prompts.system = Some(prompt))
            }

            /// Adds a text behind the system prompt.
            pub fn append_system_prompt(self, text: &str) -> Self {
                self.with(|options| options.prompts.append(text))
            }

            /// Instructions for the model, beside those in files of a [project](Self::project): it reads them behind the first
            /// prompt, and again after a compaction. Unlike [`append_system_prompt`](Self::append_system_prompt) they may
            /// differ between sessions without costing the cache of what stands before. May be given several times; blank
            /// ones are left out.
            pub fn instructions(self, text: &str) -> Self {
                self.with(|options| options.prompts.instruct(text))
            }

            /// Whether what prompts mention is attached to them, as texts of their own behind the words of the user:
            /// `@src/a.rs`, with lines (`@src/a.rs:10-20`, `@src/a.rs#L10`), `@docs/`, `@"two words.txt"`, resources of
            /// MCP servers (`@server:uri`) and agents (`@agent-NAME`). A file is read as a call of Read would be: by the same
            /// rules and hooks, with the same limits, and Edit counts it as read. What would ask is left out with a notice, and
            /// a name that stands for nothing is a word like any other. Messages to a run in progress count as well.
            ///
            /// Default: no. A prompt of a program may hold words of others, and these would choose files to read; the command,
            /// where a user types them, has it on.
            pub fn mentions(self, attach: bool) -> Self {
                self.with(|options| options.prompts.mentions = attach)
            }

            /// Whether the model is reminded of a todo list with open tasks that it has not touched for ten messages (with the
            /// task in progress and the next one), of limits that are nearly reached (25, 10 and 5 percent of the money, the last
            /// two turns), and, with a prompt, of files that have changed since it read or wrote them, with the lines that differ.
            /// Each is a text of its own behind what was sent, once for each list, limit and change. Default: yes.
            pub fn reminders(self, on: bool) -> Self {
                self.with(|options| options.prompts.reminders = Some(on))
            }

            /// Most model messages in a run. Default: no limit.
            pub fn max_turns(self, turns: u32) -> Self {
                self.with(|options| options.limits.base.max_turns = Some(turns))
            }

            /// Most money for the session, in US dollars. Reserved before each call. Default: no limit.
            ///
            /// With a model that has no known price the session does not open, unless
            /// [`unpriced_models`](Self::unpriced_models) says what that means; nor does it with a negative amount or none.
            pub fn max_budget_usd(self, usd: f64) -> Self {
                self.with(|options| options.limits.budget_usd = Some(usd))
            }

            /// What happens to the [budget](Self::max_budget_usd) when a model has no known price: it is called, with a
            /// warning, or refused. Default: refused.
            pub fn unpriced_models(self, unpriced: UnpricedModels) -> Self {
                self.with(|options| options.limits.unpriced = Some(unpriced))
            }

            /// Whether the session opens only if every name that the program gave is that of a tool or a model that is
            /// there, and every rule can be used. By default a deny or ask rule with a misspelt name of a known tool is an
            /// error, and other names that mean nothing in this session are [notices](crate::Run::notices), with what may
            /// have been meant; so are allow rules that cannot be read. Default: no.
            pub fn strict(self, on: bool) -> Self {
                self.with(|options| options.names = if on { NameChecks::Strict } else { NameChecks::On })
            }

            /// Leaves names of tools and models unchecked, which [`strict`](Self::strict) describes: for programs that hand
            /// on what programs of other versions say.
            pub fn lenient_names(self) -> Self {
                self.with(|options| options.names = NameChecks::Off)
            }

            /// Most repeats of a failed model call. Default 10.
            pub fn max_retries(self, retries: u32) -> Self {
                self.with(|options| options.limits.max_retries = Some(retries))
            }

            /// How often a missing or unfit structured output is asked for again. Default 5.
            pub fn max_structured_output_retries(self, retries: u32) -> Self {
                self.with(|options| options.limits.structured_output_retries = Some(retries))
            }

            /// The longest that the repeats of one model call wait because the provider asks for it, all waits
            /// together. Default: 15 minutes.
            pub fn max_server_wait(self, wait: Duration) -> Self {
                self.with(|options| options.limits.base.max_server_wait = wait)
            }

            /// Most tokens in one answer. Default: the model's.
            pub fn max_output_tokens(self, tokens: u32) -> Self {
                self.with(|options| options.model.requests.max_output_tokens = Some(tokens))
            }

            /// How the model may reason. Default: as much as it sees fit, if it is a model that decides that
            /// itself, and not at all otherwise. Such a model takes no budget: with one it decides itself, too.
            pub fn thinking(self, thinking: Thinking) -> Self {
                self.with(|options| options.model.thinking = Some(thinking))
            }

            /// How much the model spends on an answer. A model that does not know it is asked for the next
            /// weaker one that it knows. Default: left to the model.
            pub fn effort(self, effort: Effort) -> Self {
                self.with(|options| options.model.effort = Some(effort))
            }

            /// Whether words of a prompt ask for more thought, for the run of that prompt: `think`, `think hard`, `think harder`
            /// and `ultrathink`, mapped to a budget or an effort as the model takes it. Only words of the user count, outside of
            /// code and quotations, and never those of tools, files and agents. Default: no.
            ///
            /// Where the provider caches this with the conversation, the first call of such a run and the first one after it
            /// are not served from the cache; [`CacheBroken`](crate::event::Status::CacheBroken) says so.
            pub fn thinking_keywords(self, count: bool) -> Self {
                self.with(|options| options.model.keywords = count)
            }

            /// What the session does otherwise for the model than for others: its tools for edits, what it says of tools and at
            /// the end of the system prompt, what words for more thought mean. Default: the profile of the family that the
            /// model's id names ([`HarnessProfile::of`](crate::HarnessProfile::of)).
            ///
            /// It is settled when the session opens, so that a change of the model edits nothing that was sent. Without
            /// a profile of the program, a model of a family with other tools for edits gets those too, where the
            /// conversation is when it is first called.
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

            /// The environment of programs that tools run, instead of the default: an allow-list of the process's
            /// variables. What is given here reaches them but for names that look like secrets or that change what
            /// programs load, see [`given_environment`](crate::tool::built_in::given_environment); a notice of the session names those.
            /// Needs the feature `tools`; without it the environment is empty.
            #[cfg(feature = "tools")]
            pub fn env<K: Into<OsString>, V: Into<OsString>>(self, env: impl IntoIterator<Item = (K, V)>) -> Self {
                self.with(|options| {
                    options.surroundings.environments.programs = Some(env.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
                })
            }

            /// Tells the model the branch and a short status of the git repository when a new session begins. This runs
            /// `git status` once, unless the permissions would not let the model run it without a question: say yes for
            /// directories whose content you trust. Default: no. Needs the features `store` and `tools`.
            #[cfg(all(feature = "store", feature = "tools"))]
            pub fn git_status(self, on: bool) -> Self {
                self.with(|options| options.surroundings.git_status = Some(on))
            }

            /// Keeps the session under a home directory. Default: nothing is kept. Needs the feature `store`.
            #[cfg(feature = "store")]
            pub fn persist(self, home: Home) -> Self {
                self.with(|options| options.storage.home = Some(home))
            }

            /// Members that are added to the body of each request as they are, a JSON object: settings of a vendor that
            /// windlass does not have. They win over members of the same name; objects are merged. Default: none.
            pub fn request_fields(self, fields: JsonText) -> Self {
                self.with(|options| options.model.requests.extra = Some(fields))
            }

            /// Whether the provider is sent an opaque id of the user with each request, by which it can tell users of one
            /// key apart: 128 random bits that are kept in the home of [`persist`](Self::persist), never an account, a name
            /// or a path. Default: yes. Without a home none is sent.
            pub fn send_user_id(self, on: bool) -> Self {
                self.with(|options| options.model.requests.send_user_id = Some(on))
            }

            /// Keeps the session in a store of your own.
            pub fn store(self, store: Arc<dyn SessionStore>) -> Self {
                self.with(|options| options.storage.store = Some(store))
            }

            /// Replaces secrets by `[redacted]` in the texts that the log keeps: those of known forms, and the values that were
            /// given. This changes history: a session that is resumed reads what was kept, the provider's cache does not
            /// serve its requests, and a masked call that waits for an answer is asked about anew. Checkpoints of files and
            /// large results beside the log stay exact. Default: the log is exact, and only its user can read it.
            pub fn mask_log(self, masks: crate::session::Masks) -> Self {
                self.with(|options| options.storage.masks = Some(masks))
            }

            /// The id of the new session, a UUID; if the working directory has a session of this id, that one is resumed.
            /// Default: random. A session that is resumed keeps its id, unless it is resumed in a copy.
            pub fn session_id(self, id: impl Into<String>) -> Self {
                self.with(|options| options.start.session_id = Some(id.into()))
            }

            /// Resumes a session of the working directory, kept by [`persist`](Self::persist) or
            /// [`store`](Self::store). Its id is in [`RunResult::session_id`](crate::RunResult::session_id).
            pub fn resume(self, id: impl Into<String>) -> Self {
                self.with(|options| options.start.from = Resume::Session(id.into()))
            }

            /// Resumes the session of the working directory that has this title, else the only one whose title begins
            /// with it. Upper and lower case make no difference. A title that several have is an error that names them.
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

            /// Resumes a copy of the session: a session of its own, with fresh ids, that is written before the
            /// first run. The other one is not changed, and may be in use. Default: the session itself is resumed.
            pub fn fork_session(self, on: bool) -> Self {
                self.with(|options| options.start.fork = on)
            }

            /// Resumes behind the entry with this id (a prompt, a message of the model or a block of it, a result)
            /// instead of at the end. A message is kept with the results of its calls. What follows stays in the
            /// log but is no longer part of the conversation; a copy does not get it.
            pub fn resume_at(self, id: impl Into<String>) -> Self {
                self.with(|options| options.start.at = Some(id.into()))
            }

            /// Refuses [`resume_at`](Self::resume_at) if it would drop anything but the turn of this prompt, such
            /// as a message that came in meanwhile. Default: whatever follows is dropped.
            pub fn resume_drops_turn(self, prompt: impl Into<String>) -> Self {
                self.with(|options| options.start.drops_turn = Some(prompt.into()))
            }

            /// Hands on every frame of the model's stream as the provider sent it. Default: off.
            pub fn include_partial_messages(self, on: bool) -> Self {
                self.with(|options| options.model.requests.raw_frames = on)
            }

            /// Compacts the conversation by itself before it fills the model's context window, and once when
            /// it was too long for the model. Default: yes.
            pub fn auto_compact(self, on: bool) -> Self {
                self.with(|options| options.compaction.auto = on)
            }

            /// Compacts as if the model's context window were no larger than this, in tokens.
            pub fn auto_compact_window(self, tokens: u64) -> Self {
                self.with(|options| options.compaction.window = Some(tokens))
            }

            /// How much of the model's context window instructions of files, the list of skills and the index of the memory may
            /// take up. What goes beyond is left out as a whole, named to the model and in a notice. Default: 15, 5 and 5 percent.
            pub fn context_shares(self, shares: crate::session::ContextShares) -> Self {
                self.with(|options| options.prompts.shares = shares)
            }

            /// When old results of tools are replaced by short notes before a summary has to be written. Default: from 20,000
            /// tokens on that become free, with the latest 40,000 tokens of results kept.
            pub fn trim_results(self, rules: crate::session::TrimRules) -> Self {
                self.with(|options| options.compaction.trim = rules)
            }

            /// The model that writes summaries of conversations, by id or alias, such as a smaller one. Its provider does not
            /// have the conversation in its cache. Default: the model of the session.
            pub fn summarizer_model(self, name: impl Into<String>) -> Self {
                self.with(|options| options.compaction.summarizer = Some(name.into()))
            }

            /// A function that writes summaries of conversations instead of a model, such as with an index or a program of its
            /// own. What is known from the log stands behind its summary as well. A summary that it does not give, because it
            /// fails or is empty, fails the compaction; the conversation then stays as it is. Default: none.
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

            /// Most tokens of the files that were read or changed last and are shown again behind a summary, a sixteenth of
            /// the model's context window at most. Default: 10,000. 0: none.
            pub fn restored_files(self, tokens: u64) -> Self {
                self.with(|options| options.compaction.restored_files = Some(tokens))
            }

            /// From which size on definitions of tools are withheld from requests until the model has searched for them with
            /// the tool `ToolSearch`. That concerns tools of MCP servers and tools that are
            /// [marked](crate::tool::ToolLoading). Default: when those take up more than a tenth of the model's context
            /// window together, and those of servers that are started at their first call beyond 1,500 tokens.
            pub fn tool_budget(self, budget: crate::tool::ToolBudget) -> Self {
                self.with(|options| options.tools.budget = Some(budget))
            }

            /// Each run must end with data that fits this JSON Schema, which must describe an object:
            /// [`RunResult::structured_output`](crate::RunResult::structured_output). The model is asked
            /// again when it gives none or one that does not fit, at most five times; then the run ends
            /// with [`Outcome::NoStructuredOutput`](crate::Outcome::NoStructuredOutput). Default: none.
            pub fn output_schema(self, schema: JsonText) -> Self {
                self.with(|options| options.tools.output_schema = Some(schema))
            }

            /// How the program is named in the session log. Default: `sdk-rust`.
            pub fn entrypoint(self, name: impl Into<String>) -> Self {
                self.with(|options| options.storage.entrypoint = Some(name.into()))
            }

            /// MCP servers, whose tools the model is offered beside the others. Opening
            /// the session waits for them for up to five seconds, longer for servers
            /// inside the host; tools that come or change later are put in place then.
            /// The session keeps the servers until it ends. Default: none.
            #[cfg(feature = "mcp")]
            pub fn mcp_servers(self, servers: windlass_mcp::McpServers) -> Self {
                self.with(|options| options.tools.mcp = Some(servers))
            }

            /// Gives the session a skill: instructions that the model reads when it needs them, through the tool `Skill`. Of a
            /// [query](crate::query()) the prompt `/name` is the skill. It counts before those of files of the same name, but the
            /// administrator's. May be given several times.
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

            /// Has the session obey the files of a project as the `windlass` command does: settings in layers with their
            /// permission rules, agents, custom commands, MCP servers and remembered answers. See
            /// [`Project`](crate::Project). What this builder says counts for more, before and after this call, except
            /// where a file forbids something. Default: no file is read.
            #[cfg(feature = "project")]
            pub fn project(self, project: impl Into<crate::project::ProjectInput>) -> Self {
                self.with(|options| options.project = crate::project::Applied::Given(project.into()))
            }

            /// Gives the session a memory of small notes, which later sessions have too: the model reads its index behind the
            /// first prompt and has the tool `Memory`. See [`Memory`](crate::memory::Memory). Default: no memory.
            #[cfg(feature = "project")]
            pub fn memory(self, memory: crate::memory::Memory) -> Self {
                self.with(|options| options.remember(memory))
            }

            /// Keeps files as they are before tools and programs (Bash, MCP servers) change them, beside the session:
            /// [`SessionHandle::rewind_files`](crate::SessionHandle::rewind_files) puts them back. Before the first
            /// program that is not known to only read, the workspace is copied, without what git ignores. Needs
            /// [`persist`](Self::persist). A call whose files cannot be kept because the disk is full does not run. Default: off.
            /// Needs the features `store` and `tools`.
            #[cfg(all(feature = "store", feature = "tools"))]
            pub fn file_checkpoints(self, on: bool) -> Self {
                self.with(|options| options.storage.file_checkpoints = on)
            }

            /// How much [`file_checkpoints`](Self::file_checkpoints) keep: the largest file, all contents, and the copy of the
            /// workspace. Default: 64 MiB, 1 GiB, 1 GiB.
            #[cfg(all(feature = "store", feature = "tools"))]
            pub fn checkpoint_limits(self, limits: windlass_store::CheckpointLimits) -> Self {
                self.with(|options| options.storage.checkpoint_limits = limits)
            }

            /// Keeps files in a place of your own, see [`file_checkpoints`](Self::file_checkpoints).
            pub fn checkpoint_store(self, checkpoints: Arc<dyn Checkpoints>) -> Self {
                self.with(|options| options.storage.checkpoints = Some(checkpoints))
            }

            /// Files, instead of this machine's (without the feature `tools`: instead of none). Where they are not on this machine
            /// (`Workspace::is_local`), the directory of the session is one of theirs, and programs run only by a
            /// [`process`](Self::process) that is given as well.
            pub fn workspace(self, workspace: Arc<dyn Workspace>) -> Self {
                self.with(|options| options.surroundings.files.workspace = Some(workspace))
            }

            /// Whole files of the [`workspace`](Self::workspace) that was given, for [`file_checkpoints`](Self::file_checkpoints).
            pub fn file_tree(self, tree: Arc<dyn FileTree>) -> Self {
                self.with(|options| options.surroundings.files.tree = Some(tree))
            }

            /// Works in a container or on another machine: its files, its programs with its environment, and its home
            /// directory. The directory of the session is one there. What is not possible there is an error: a
            /// [`project`](Self::project), a sandbox. Needs the feature `remote`.
            #[cfg(feature = "remote")]
            pub fn remote(self, remote: &windlass_remote::Remote) -> Self {
                self.with(|options| options.surroundings.move_to(remote))
            }

            /// Programs, instead of this machine's (without the feature `tools`: instead of none).
            pub fn process(self, process: Arc<dyn Process>) -> Self {
                self.with(|options| options.surroundings.process = Some(process))
            }

            /// Runs commands in a sandbox of the system. Settings of a [`project`](Self::project) may ask for one as well; what
            /// is said here counts for more. Default: none. Needs the feature `sandbox`.
            #[cfg(feature = "sandbox")]
            pub fn sandbox(self, sandbox: crate::sandbox::SandboxOptions) -> Self {
                self.with(|options| options.surroundings.sandbox.options = Some(sandbox))
            }

            /// The program that becomes the helper of the sandbox: any whose `main` calls
            /// [`become_helper`](crate::sandbox::become_helper) first, such as this one (`std::env::current_exe()`). Without it only
            /// bubblewrap can be used, and holds less.
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

/// Writes the same method for builders whose runs the program reads itself.
macro_rules! output_method {
    ($builder:ty) => {
        impl $builder {
            /// Each run must end with data of this type: [`RunResult::output`](crate::RunResult::output).
            /// See [`Self::output_schema`].
            pub fn output<T: windlass_tool::schemars::JsonSchema>(self) -> Self {
                self.output_schema(windlass_tool::schema_of::<T>())
            }
        }
    };
}

output_method!(SessionBuilder);
output_method!(Agent);
