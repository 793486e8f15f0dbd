//! Put a complete coding agent into any program.
//!
//! [`query`] is a builder: it takes a prompt and yields a stream of typed
//! events, or its result when awaited. Everything else is optional.
//!
//! ```
//! use windlass::{EventKind, Script, ScriptedModel, Delta, query};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), windlass::Error> {
//! // A model that needs no key; with one, `Anthropic::from_env()?`.
//! let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Hello from a script.")));
//!
//! let mut run = query("Say hello").provider(model).stream();
//! while let Some(event) = run.try_next().await? {
//!     if let EventKind::BlockDelta { delta: Delta::Text(text), .. } = &event.kind {
//!         print!("{text}");
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Contents
//! - [`query`], [`session()`]: one prompt, or many by hand. [`agent`]: the options of both as a value.
//! - `coding_tools`: Read, Write, Edit, MultiEdit (or apply_patch, by the model), NotebookEdit, Glob, Grep, Bash,
//!   TaskStop, TodoWrite.
//! - [`Tool`], [`tool_fn`]: your own tools.
//! - `.output::<T>()`: the run ends with a value of a type, see [`Query::output`].
//! - [`Subagents`]: agents that the model can give tasks to.
//! - [`Permissions`]: rules, modes, and who is asked. Without any, the agent may
//!   only read inside its workspace.
//! - [`hook_fn`], [`Hook`]: your code at fixed points of a run.
//! - `Project`: the settings, agents, commands and servers of a directory, as the `windlass` command reads them.
//!   `project::load_plugins`: directories that bring commands, agents and MCP servers.
//! - [`Home`]: the directory of stored sessions, so that they survive a crash and can be resumed. Without it nothing is
//!   written. With file checkpoints ([`options::StorageOptions`]) files can be rewound to any prompt. Its methods list,
//!   search, show, rename, tag, copy, export and delete stored sessions.
//! - [`options`]: the groups of options that the builders take, such as [`options::LimitOptions`].
//!
//! The root has the names that most programs use. Everything else is in a module by subject: [`provider`], [`tool`],
//! [`hook`], [`permission`], [`session`](mod@session), [`store`], [`event`], [`text`], `project`, `mcp` and [`testing`] hold
//! the names needed to use that part or to write your own.
//!
//! # Features
//! By default: `anthropic`, `macros`, `project`, `rustls-ring`, `store`, `tools` and `validation`.
//! All add something and change nothing else. The second column
//! is the number of packages that a program compiles with these features alone, this one among them.
//!
//! | features | packages | what they bring |
//! |---|---|---|
//! | `none` | 57 | sessions with your own provider, tools and store; agents, hooks, permissions, scripted models |
//! | `anthropic` | 110 | `Anthropic`, the Messages API, over plain HTTP |
//! | `anthropic,rustls-ring` | 123 | the same with TLS, which the address of the API needs |
//! | `bedrock,rustls-ring` | 134 | Claude on Amazon Bedrock |
//! | `aws-chain,rustls-ring` | 190 | the same with the credential chain of AWS: profiles that sign in or take roles, containers, machines |
//! | `anthropic,google-adc,rustls-ring` | 167 | Claude on Vertex AI with service accounts, workload identities and machines of Google Cloud |
//! | `macros` | 58 | `#[derive(windlass::ToolInput)]` for inputs of tools |
//! | `project` | 94 | parts read from a project: `Project`, its settings, agents, commands and servers; brings `store` and `tools` |
//! | `store` | 59 | `.persist(..)`: sessions on disk, and with `tools` checkpoints of files |
//! | `session-index` | 67 | an index for lists of sessions and searches in them, SQLite; compiles C |
//! | `tools` | 87 | `coding_tools`, and the files, programs and environment of this machine, which sessions use unless they are given others |
//! | `images` | 108 | images that are too large for models are made smaller, and damaged ones refused; brings `tools` |
//! | `pdf` | 123 | Read shows the text of single pages of PDF documents; brings `tools` |
//! | `remote` | 94 | `.workspace(&remote)`: sessions that work in a container or on another machine; brings `tools` |
//! | `sandbox` | 93 | `.workspace(SandboxOptions::new())`: commands run in a sandbox of the system; brings `tools` |
//! | `lsp` | 88 | `lsp`: language servers, the tool `LSP`, and diagnostics behind edits; brings `tools` |
//! | `mcp` | 145 | `McpServers`: MCP servers as tools |
//! | `mcp,private-key-jwt` | 148 | the same, and programs log in to servers with a private key; compiles C |
//! | `program` | 69 | `program`: small programs of the model that call other tools; compiles C++ |
//! | `proxy` | 109 | `CredentialProxy`, through which programs reach the API without the key |
//! | `web` | 140 | `web`: the tools `WebFetch` and `WebSearch`, and a proxy with rules on hosts for sandboxed programs |
//! | `validation` | 59 | inputs of tools are checked against their JSON Schemas, and `.output::<T>()` can hold the model to one |
//! | `schema` | 57 | `schemars::JsonSchema` for events, results, and questions and their answers |
//! | `anthropic,gzip` | 120 | compressed answers of the API |
//! | `anthropic,project,store,tools,validation` | 141 | all but TLS: needs no C compiler, see below |
//! | `macros,project,store,tools,validation` | 95 | the default without the provider |
//! | `anthropic,macros,project,rustls-ring,store,tools,validation` | 155 | the default |
//!
//! # Without validation
//! With `validation`, an input that does not fit its tool's schema never reaches the tool, and the model reads the
//! mismatch. Without it, an input only has to be a strict JSON object. A tool with a typed input still refuses inputs
//! that do not deserialize; a tool made from a schema (`tool_json`) gets any object, so it must check for itself.
//! `.output::<T>()` and a schema of one's own are an error then, because nothing could enforce the schema. `mcp` enables
//! `validation`.
//!
//! # TLS
//! `anthropic`, `proxy`, `mcp` and `web` connect over TLS if one of these features selects the cryptography. Without
//! any of them an https address is a configuration error that names them, and plain HTTP works.
//!
//! - `rustls-ring`, in the default: ring. The lightest to compile.
//! - `rustls-aws-lc`: AWS-LC. It also has a key exchange that a quantum computer cannot break later (X25519MLKEM768)
//!   and signatures over P-521. It takes some 40 CPU-seconds to compile, and is used when both are enabled.
//! - `rustls-no-provider`: the provider installed by the program with
//!   `rustls::crypto::CryptoProvider::install_default`, for example a certified one; a request before that is a
//!   configuration error. An installed provider also precedes the other two.
//! - `native-tls`: TLS of the operating system, which is OpenSSL on Linux: its headers must be installed to build. Used
//!   only if none of the others is enabled, so set `default-features = false`.
//!
//! # Without a C compiler
//! C is compiled by the cryptography of TLS, and by `session-index`. With `default-features = false, features =
//! ["anthropic", "project", "store", "tools", "validation"]` no build script compiles C, so no C compiler is needed.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "lsp", feature = "mcp", feature = "project", feature = "remote", feature = "sandbox")),
    allow(dead_code, reason = "a build without some parts does not call all that the parts share")
)]

mod agent;
mod assembly;
mod builder;
mod contributions;
#[cfg(feature = "conversation")]
pub mod conversation;
#[cfg(all(feature = "store", feature = "tools"))]
mod disk;
#[cfg(not(all(feature = "store", feature = "tools")))]
#[path = "absent/disk.rs"]
mod disk;
mod elsewhere;
mod error;
pub mod event;
mod first_call;
mod git_places;
mod home;
pub mod hook;
#[cfg(feature = "tools")]
mod local;
#[cfg(not(feature = "tools"))]
#[path = "absent/local.rs"]
mod local;
mod lock;
#[cfg(feature = "lsp")]
pub mod lsp;
mod machine;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "project")]
pub mod memory;
mod model;
mod names;
mod offer;
mod open;
pub mod options;
pub mod permission;
mod permissions;
mod profile;
#[cfg(feature = "project")]
pub mod project;
#[cfg(not(feature = "project"))]
#[path = "absent/project.rs"]
mod project;
mod prompt;
pub mod provider;
mod providers;
mod query;
mod recorded;
#[cfg(feature = "remote")]
pub mod remote;
mod resume;
mod run;
mod runtime;
#[cfg(feature = "sandbox")]
pub mod sandbox;
#[cfg(not(feature = "sandbox"))]
#[path = "absent/sandbox.rs"]
mod sandbox;
mod server_guard;
pub mod session;
mod session_builder;
mod session_lookup;
#[cfg(feature = "mcp")]
mod session_servers;
#[cfg(not(feature = "mcp"))]
#[path = "absent/session_servers.rs"]
mod session_servers;
mod session_tools;
#[cfg(feature = "store")]
mod sessions;
mod stopped;
mod storage;
pub mod store;
#[cfg(feature = "store")]
mod stored_files;
#[cfg(not(feature = "store"))]
#[path = "absent/stored_files.rs"]
mod stored_files;
#[cfg(feature = "project")]
mod stored_keys;
pub mod testing;
pub mod text;
pub mod tool;
mod tool_names;
mod toolkit;
mod typed;
mod unlisted;
mod user_id;

pub use agent::{Agent, agent};
pub use error::{AnswerProblem, Error};
pub use home::Home;
#[cfg(feature = "tools")]
pub use local::coding_tools;
pub use permissions::Permissions;
#[cfg(feature = "project")]
pub use project::Project;
pub use query::{Query, query};
pub use run::Run;
pub use session_builder::{SessionBuilder, session};
pub use typed::Typed;

#[cfg(feature = "anthropic")]
pub use windlass_anthropic::Anthropic;
pub use windlass_context::{HarnessProfile, SystemPrompt};
pub use windlass_hook::{Hook, HookContext, HookError, PreToolUseAction, async_trait, hook_fn};
/// ```
/// use windlass::{ToolCx, tool_fn};
///
/// #[derive(windlass::ToolInput)]
/// #[serde(rename_all = "camelCase")]
/// struct Forecast {
///     /// City to look up.
///     city: String,
///     /// How many days.
///     #[serde(default)]
///     days_ahead: u32,
///     units: Option<Units>,
/// }
///
/// #[derive(windlass::ToolInput)]
/// enum Units {
///     Celsius,
///     Fahrenheit,
/// }
///
/// let forecast = tool_fn("forecast", "The weather to come.", |input: Forecast, _: ToolCx| async move {
///     Ok(format!("Sunny in {} in {} days.", input.city, input.days_ahead))
/// });
/// ```
///
#[cfg(feature = "macros")]
pub use windlass_macros::ToolInput;
pub use windlass_model::{ModelError, ModelProvider, Script, ScriptedModel, ScriptedTurn};
#[cfg(feature = "project")]
pub use windlass_project::Skill;
pub use windlass_runtime::{Prompt, Session, SessionHandle};
pub use windlass_subagent::{AgentDefinition, Subagents};
pub use windlass_tool::{Json, Tool, ToolCx, ToolError, ToolOutput, schemars, tool_fn};
// The trait alone: `windlass_tool` may have a derive macro of this name, for those who depend on it.
pub use windlass_tool::derived::ToolInput;
pub use windlass_types::{
    Access, ContentBlock, Delta, Effort, Event, EventKind, JsonText, Outcome, PermissionAnswer, PermissionMode,
    PermissionRequest, RunResult, SessionId, Thinking,
};

/// The tool with which a model calls others from small programs: `.tools(windlass::program::Program::default())`.
#[cfg(feature = "program")]
pub mod program {
    pub use windlass_program::{Program, ProgramLimits};
}

/// The tools that reach the web, and the proxy for sandboxed programs.
#[cfg(feature = "web")]
pub mod web {
    pub use windlass_web::HttpOptions;

    /// Reading of pages: the tool `WebFetch`.
    pub mod fetch {
        pub use windlass_web::fetch::{FetchOptions, Reader, WebFetch};
    }

    /// The proxy for sandboxed programs.
    pub mod proxy {
        pub use windlass_web::proxy::{EgressOptions, EgressProxy};
    }

    /// Searches: the tool `WebSearch`, and the services behind it.
    pub mod search {
        pub use windlass_web::search::{BraveSearch, ModelSearch, TavilySearch, WebSearch};
    }
}
