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
    /// The sessions of this directory, the last changed first
    List(ListArgs),
    /// The sessions in which all words of a text stand, the last changed first. Searched are prompts, texts of the
    /// model, titles and tags
    Search(SearchArgs),
    /// What sessions add up to: prompts, tokens, cost
    Stats(StatsArgs),
    /// The conversation of a session, for people
    Show {
        /// A session id or a file
        #[arg(value_name = "SESSION")]
        session: String,
        /// That of an agent instead; needs the session's id
        #[arg(long, value_name = "AGENT_ID")]
        agent: Option<String>,
    },
    /// The agents that worked for a session, the first to begin first
    Agents(AgentsOfArgs),
    /// Why each call ran or did not, who was asked, which files changed, and whether the log was altered
    Audit(AuditArgs),
    /// The questions that wait for an answer
    Pending(PendingArgs),
    /// Answer a question that waits: the call runs, or does not, when the session continues.
    /// Exit codes: 0 the answer is kept, 3 the question is not open, 4 the token is wrong, 5 it is answered already
    Answer(AnswerArgs),
    /// Whether sessions can be read and what is damaged; no file is changed
    Check {
        /// Files or session ids
        #[arg(value_name = "FILE", required = true)]
        sessions: Vec<String>,
    },
    /// Give files the content that they had before a prompt. Tracked is what Write and Edit change, not what
    /// programs do. Without a prompt: list those that can be rewound to
    Rewind(RewindArgs),
    /// A session in another format
    Export {
        /// A file or a session id
        #[arg(value_name = "FILE")]
        session: String,
        /// That of an agent instead; needs the session's id
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
        /// Its title
        #[arg(value_name = "TITLE")]
        title: String,
    },
    /// Have a small model make up titles of sessions. A title that you gave counts before one that a model made up
    Title(TitleArgs),
    /// Give a session a tag, or take it away
    Tag {
        /// The session id
        #[arg(value_name = "SESSION")]
        session: String,
        /// Its tag
        #[arg(value_name = "TAG", required_unless_present = "clear")]
        tag: Option<String>,
        /// Take the tag away
        #[arg(long, conflicts_with = "tag")]
        clear: bool,
    },
    /// Drop what sessions keep for rewinding files, of those that were not used for long. Conversations stay
    Gc(GcArgs),
    /// Delete sessions and what belongs to them, for good
    Delete {
        /// Session ids
        #[arg(value_name = "SESSION", required = true)]
        sessions: Vec<String>,
    },
    /// Copy a session into a new one and print its id; the session may be in use and is not changed
    Fork(ForkArgs),
}

/// What a session is exported as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The message array that a request would carry.
    #[default]
    Messages,
}
