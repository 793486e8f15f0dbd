//! Configured hooks of windlass, from settings files, skills, agents and plugins.
//!
//! [`read_hooks`] reads the key `hooks` of such a file. [`configured_hooks`] makes hooks of a session from the result:
//! programs that read the event on standard input, requests to servers, tools of MCP servers, and questions to models.
//! Their verdicts merge like those of hooks in code.
//!
//! A hook of a gate (PreToolUse, PermissionRequest, UserPromptSubmit) fails if its program is missing, takes too long,
//! is ended by a signal, exits with another code than 0 and 2, or prints an output that is not understood. A failure
//! closes the gate, unless the hook has `"onFailure": "continue"`.
//!
//! [`read_output`] reads the answer of any hook in another process; the host protocol uses it, too.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod command;
mod condition;
mod configured;
mod definition;
mod embedded;
mod events;
mod exit;
mod grammar;
mod input;
mod late;
mod matcher;
mod output;
mod ports;
mod question;
mod request;
mod scope;
mod texts;
mod tool;
mod variables;

pub use condition::Condition;
pub use configured::{ConfiguredHook, HookStart, configured_hooks};
pub use definition::{
    Background, CommandHandler, HookDefinition, HookHandler, HttpHandler, McpToolHandler, ModelHandler, OnFailure,
};
pub use grammar::{BrokenHook, ReadHooks, read_hooks};
pub use input::hook_input;
pub use matcher::HookMatcher;
pub use output::read_output;
pub use ports::{FrameContext, HookHost, HookPorts, HookProgram, HookRequest, HookResponse, MaskErrors, ModelQuestion};
pub use request::RequestRules;
pub use scope::HookScope;
pub use texts::HookTexts;
