//! What keeps a session of a project from being opened.

use std::io;
use std::path::PathBuf;
use windlass_project::{AgentError, CommandError, KeepError, Origin, SettingsError};

/// What keeps a session of a project from being opened. The text names the file and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The directory cannot be used.
    #[error("the project directory {} cannot be used: {problem}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        problem: io::Error,
    },
    /// The session works in another directory than the one whose settings it was given.
    #[error(
        "the session works in {}, and the project is that of {}: give both the same directory",
        cwd.display(), project.display()
    )]
    OtherDirectory {
        /// Where the session works.
        cwd: PathBuf,
        /// Where the project's session starts.
        project: PathBuf,
    },
    /// A session whose files are elsewhere was given what is about this machine.
    #[error("the files are elsewhere, and there is no place there for {what}")]
    OfThisMachine {
        /// What, and why.
        what: &'static str,
    },
    /// A hook runs a command of this machine, and the files are elsewhere. Without it more could happen than its writer wants.
    #[error(
        "the hook {hook} runs on this machine and can deny something, and the files are elsewhere: say \
         `\"onFailure\":\"continue\"` in it to start without it, or switch hooks off with `--settings '{{\"disableAllHooks\":true}}'`"
    )]
    HookElsewhere {
        /// The hook.
        hook: String,
    },
    /// Settings require a sandbox of this machine, and programs run elsewhere.
    #[error(
        "{origin} requires a sandbox, and programs run elsewhere, where it does not apply: take `failIfUnavailable` out, \
         or leave the file out with `--setting-sources`"
    )]
    SandboxElsewhere {
        /// Who asks.
        origin: Origin,
    },
    /// A settings file cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A file requires a sandbox. Running without the protection that was asked for would be a lie.
    #[cfg(not(feature = "sandbox"))]
    #[error("{origin} requires a sandbox, which this program does not have: it is built without the feature `sandbox`")]
    Sandbox {
        /// Who asks.
        origin: Origin,
    },
    /// The agent that the session is to be cannot be had. Without it more would be allowed than was asked for.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// What the agent forbids cannot be used.
    #[error("the agent {agent:?}: disallowedTools: {problem}")]
    AgentRule {
        /// The agent.
        agent: String,
        /// What is wrong.
        problem: String,
    },
    /// A custom command or a skill does not become a prompt.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A program of a custom command or a skill has changed since it was trusted.
    #[error("{0}")]
    ChangedProgram(String),
    /// It could not be recorded what trust in the project covers.
    #[error("what trust in this project covers cannot be recorded: {0}")]
    NotPinned(KeepError),
    /// Settings say which MCP servers may be connected, and nobody asked them about this one.
    #[error(
        "settings say which MCP servers may be connected, and the server {name:?} was added without asking them: add it \
         with `ProjectServers::connect`"
    )]
    UncheckedServer {
        /// The server.
        name: String,
    },
}
