//! Errors that keep a session of a project from opening.

use std::io;
use std::path::PathBuf;
use windlass_project::{AgentError, CommandError, KeepError, Origin, SettingsError};

/// Error that keeps a session of a project from opening. The text names the file and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The directory cannot be used.
    #[error("the project directory {} cannot be used: {problem}", path.display())]
    Directory {
        /// Path of the directory.
        path: PathBuf,
        /// Reason of the failure.
        problem: io::Error,
    },
    /// The session works in another directory than the project.
    #[error(
        "the session works in {}, and the project is that of {}: give both the same directory",
        cwd.display(), project.display()
    )]
    OtherDirectory {
        /// Working directory of the session.
        cwd: PathBuf,
        /// Start directory of the project.
        project: PathBuf,
    },
    /// A remote session was given an option that concerns this machine.
    #[error("the files are elsewhere, and there is no place there for {what}")]
    OfThisMachine {
        /// The option, and the reason.
        what: &'static str,
    },
    /// A hook runs a command of this machine in a remote session. Without it more could happen than its author intends.
    #[error(
        "the hook {hook} runs on this machine and can deny something, and the files are elsewhere: say \
         `\"onFailure\":\"continue\"` in it to start without it, or switch hooks off with `--settings '{{\"disableAllHooks\":true}}'`"
    )]
    HookElsewhere {
        /// Name of the hook.
        hook: String,
    },
    /// Settings require a sandbox of this machine, but programs run remotely.
    #[error(
        "{origin} requires a sandbox, and programs run elsewhere, where it does not apply: take `failIfUnavailable` out, \
         or leave the file out with `--setting-sources`"
    )]
    SandboxElsewhere {
        /// Origin of the requirement.
        origin: Origin,
    },
    /// A settings file cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A file requires a sandbox, and this program is built without the feature `sandbox`. Running without the
    /// requested protection would be a lie.
    #[error("{origin} requires a sandbox, which this program does not have: it is built without the feature `sandbox`")]
    Sandbox {
        /// Origin of the requirement.
        origin: Origin,
    },
    /// The main agent cannot be loaded. Without it more would be allowed than was requested.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The deny rules of the agent are unusable.
    #[error("the agent {agent:?}: disallowedTools: {problem}")]
    AgentRule {
        /// Name of the agent.
        agent: String,
        /// Problem with the rules.
        problem: String,
    },
    /// A custom command or a skill cannot be expanded to a prompt.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A program of a custom command or a skill has changed since it was trusted.
    #[error("{0}")]
    ChangedProgram(String),
    /// The scope of the trust in the project could not be recorded.
    #[error("what trust in this project covers cannot be recorded: {0}")]
    NotPinned(KeepError),
    /// Settings restrict the MCP servers that may be connected, and this one was not checked against them.
    #[error(
        "settings say which MCP servers may be connected, and the server {name:?} was added without asking them: add it \
         with `ProjectServers::connect`"
    )]
    UncheckedServer {
        /// Name of the server.
        name: String,
    },
}
