//! Configuration with which a host has started the process.

use super::flags::Flags;
use super::mcp::HostServers;
use super::sessions;
use crate::args::RunArgs;
use crate::launch::{self, Driver};
use crate::mcp::configured::Configured;
use crate::notes::note_to_stderr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass::PermissionMode;
use windlass::conversation::SlashCommand;
use windlass::project::LoadedProject;
use windlass::session::SessionTools;
use windlass_protocol::Mirror;

/// Options from the command line and the environment. Clones share the parts that a host may change.
#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) flags: Flags,
    pub(super) args: Arc<RunArgs>,
    pub(super) project: LoadedProject,
    pub(super) mode: PermissionMode,
    pub(super) mirror: Option<Mirror>,
    pub(super) mcp: Arc<HostServers>,
    pub(super) tools: Arc<Mutex<Option<SessionTools>>>,
}

impl Host {
    pub(super) fn new(flags: Flags) -> anyhow::Result<Self> {
        let cwd = std::env::current_dir()?.canonicalize()?;
        let args = flags.first_args()?;
        let project = launch::load(&args, &cwd, Driver::Host)?;
        project.on_notice(|notice| note_to_stderr(&notice.text));
        let mode = launch::first_mode(&args, &project);
        let mirror = sessions::mirror(&flags);
        let configured = Configured::read(args.mcp.mcp_config.iter().map(String::as_str))?;
        let mcp = Arc::new(HostServers::start(configured, &project));
        Ok(Self { flags, args: Arc::new(args), project, mode, mirror, mcp, tools: Arc::default() })
    }

    /// Returns the slash commands before a session is open, unless they are disabled.
    pub(super) fn slash_commands(&self) -> Vec<SlashCommand> {
        if self.flags.has("disable-slash-commands") { Vec::new() } else { self.project.slash_commands() }
    }

    pub(super) fn open_tools(&self) -> MutexGuard<'_, Option<SessionTools>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
