//! The host protocol of windlass: another program drives a session with JSON lines.
//!
//! Hosts that drive an agent as a child process read and write one JSON object per line. [`Server`] serves one host
//! over any pair of byte streams: prompts and control requests come in, frames go out, and permission requests and
//! hooks are sent to the host as control requests. A closure opens the session.
//!
//! [`client`] is the other end: a Rust host that spawns such a process, or connects to one over any pair of byte
//! streams, with the same callbacks, hooks and tools as in process.
//!
//! [`FrameMapper`] is the output side alone: it writes the lines from the events of a session. The mapper is pure: no
//! clock, no files, and no randomness except what it is given.
//!
//! ```
//! # #[cfg(feature = "server")] {
//! use windlass_protocol::{FrameMapper, FrameOptions};
//! use windlass_types::{Event, EventKind, PermissionMode, RunId, RunStarted, SessionId};
//!
//! let mut next = 0;
//! let mut mapper = FrameMapper::new(FrameOptions::default(), move || {
//!     next += 1; // a real host gives random bits
//!     next
//! });
//! let started = RunStarted::new("/w".into(), "opus".into(), vec!["Read".into()], PermissionMode::Default, false);
//! let event = Event::new(0, SessionId::from("s"), RunId::from("r"), 0, EventKind::RunStarted(started));
//!
//! let mut lines = Vec::new();
//! mapper.map(&event, &mut lines);
//! assert!(lines.starts_with(br#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Read"]"#));
//! # }
//! ```
//!
//! # Features
//! Both are enabled by default. A host that only drives other processes needs `default-features = false, features =
//! ["client"]`, which compiles neither a runtime nor a model.
//! - `client`: the module `client`.
//! - `server`: [`Server`], [`FrameMapper`] and their types.
//!
//! # Frames
//! | event | frames |
//! |---|---|
//! | `RunStarted` | `system/init` |
//! | `ModelFrame` | `stream_event`, with partial messages; pings are left out |
//! | `BlockFinished` | `assistant`, one block a frame, just before the block's `content_block_stop` |
//! | `MessageWithdrawn` | what closes the stream, then `system/message_withdrawn` |
//! | `ToolFinished` | `user` with the result, and the structured output as `tool_use_result` |
//! | `ToolProgress` | `tool_progress` |
//! | `PermissionResolved` | `system/permission_denied`, unless the host itself denied |
//! | `HookRan` | `system/informational` for messages of hooks; with hook events, `hook_started` and `hook_response` for hooks that are not the host's |
//! | `Status` | `system/status`, `api_retry`, `model_fallback`, `informational` |
//! | `Compacted` | `system/status`, `system/compact_boundary`, and the summary as `user` |
//! | `TaskStarted`, `TaskProgress`, `TaskEnded` | `system/task_started`, `task_progress`, `task_notification`; `background_tasks_changed` with all running work |
//! | `StateChanged` | `system/status` for the permission mode |
//! | `RunFinished` | what explains the end (`assistant` or `user`), then `result` |
//!
//! For subagents, `assistant` frames with calls (with all blocks, if requested), `user` frames with results, and the
//! frames of hooks, denials, progress, tasks and notices are written. Their `parent_tool_use_id` is the call that
//! started the agent. Other events of their runs have no frame.
//!
//! `assistant` and `stream_event` frames are provisional until the next frame of another kind: a `message_withdrawn`
//! withdraws them. No line is longer than [`MAX_LINE`] bytes; content beyond it is left out, and the frame reports
//! that.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

#[cfg(any(feature = "client", feature = "server"))]
mod channel;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
mod frame;
#[cfg(any(feature = "client", feature = "server"))]
mod input;
#[cfg(any(feature = "client", feature = "server"))]
mod line;
#[cfg(feature = "server")]
mod mapper;
#[cfg(feature = "server")]
mod outcome;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod stream;

#[cfg(any(feature = "client", feature = "server"))]
pub use line::MAX_LINE;
#[cfg(feature = "server")]
pub use mapper::{FrameMapper, FrameOptions};
#[cfg(feature = "server")]
pub use server::{
    CommandOptions, Expanded, Expansion, HostAgent, HostElicitation, HostElicitationAnswer, HostHooks, HostMcp,
    HostMcpError, HostMcpServer, HostModel, HostPermissions, HostPlugin, HostPluginError, HostSetup, Initialize,
    McpControl, McpControlError, McpServersChanged, McpSetup, McpStatus, Mirror, OpenFailure, OpenSession, Opened,
    PermissionOptions, PluginControl, PluginListing, PluginOffer, PluginReload, PluginSource, PluginsReloaded,
    ReportOptions, Served, Server, ServerError, ServerOptions, SessionSettings, SlashCommand,
};
#[cfg(feature = "server")]
pub use windlass_conversation::is_error;
#[cfg(feature = "server")]
pub use windlass_permission::{ReadAnswer, read_permission_answer};

/// Version of the host protocol's reference whose frames these are: `claude_code_version` in `system/init`.
pub const HOST_VERSION: &str = "2.1.328";
