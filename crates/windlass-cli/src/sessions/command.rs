//! The commands on stored sessions.

use super::agents::AgentsOfArgs;
use super::audit::AuditArgs;
use super::change::ForkArgs;
use super::gc::GcArgs;
use super::listing::{ListArgs, SearchArgs};
use super::pending::{AnswerArgs, PendingArgs};
use super::rewind::RewindArgs;
use super::stats::StatsArgs;
use super::title::TitleArgs;
use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions of this directory, the last changed first
    List(ListArgs),
    /// Search for sessions that contain all words of a text, the last changed first. Searches prompts, texts of the
    /// model, titles and tags
    Search(SearchArgs),
    /// Show totals of sessions: prompts, tokens, cost
    Stats(StatsArgs),
    /// Show the conversation of a session, for people
    Show {
        /// A session id or a file
        #[arg(value_name = "SESSION")]
        session: String,
        /// The conversation of an agent instead; needs the session's id
        #[arg(long, value_name = "AGENT_ID")]
        agent: Option<String>,
    },
    /// List the agents that worked for a session, the first to begin first
    Agents(AgentsOfArgs),
    /// Show why each call ran or did not, who was asked, which files changed, and whether the log was altered
    Audit(AuditArgs),
    /// List the questions that wait for an answer
    Pending(PendingArgs),
    /// Answer a question that waits: the call runs, or does not, when the session continues.
    /// Exit codes: 0 the answer is kept, 11 the question is not open, 12 the token is wrong, 13 it is answered already
    Answer(AnswerArgs),
    /// Check that sessions can be read, and show damage; no file is changed
    Check {
        /// Files or session ids
        #[arg(value_name = "FILE", required = true)]
        sessions: Vec<String>,
    },
    /// Restore the content of files from before a prompt, whether tools or programs of the session changed them. Without
    /// a prompt: list the prompts that can be rewound to
    Rewind(RewindArgs),
    /// Print a session in another format
    Export {
        /// A file or a session id
        #[arg(value_name = "FILE")]
        session: String,
        /// The conversation of an agent instead; needs the session's id
        #[arg(long, value_name = "AGENT_ID")]
        agent: Option<String>,
        /// messages: the message array that a request would carry
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        format: ExportFormat,
    },
    /// Give a session a title
    Rename {
        /// The session id
        #[arg(value_name = "SESSION")]
        session: String,
        /// Title of the session
        #[arg(value_name = "TITLE")]
        title: String,
    },
    /// Let a small model write titles of sessions. A title of yours takes precedence over one of a model
    Title(TitleArgs),
    /// Set or remove the tag of a session
    Tag {
        /// The session id
        #[arg(value_name = "SESSION")]
        session: String,
        /// Tag of the session
        #[arg(value_name = "TAG", required_unless_present = "clear")]
        tag: Option<String>,
        /// Remove the tag
        #[arg(long, conflicts_with = "tag")]
        clear: bool,
    },
    /// Delete the stored files for rewinding of sessions that were not used for long. Conversations stay, but for those
    /// that `cleanupPeriodDays` and `cleanupMaxBytes` of your settings let go
    Gc(GcArgs),
    /// Delete sessions and their files, for good
    Delete {
        /// Session ids
        #[arg(value_name = "SESSION", required = true)]
        sessions: Vec<String>,
    },
    /// Copy a session into a new one and print its id; the session may be in use and is not changed
    Fork(ForkArgs),
}

/// Format of an exported session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The message array that a request would carry.
    #[default]
    Messages,
}
