//! What keeps a run from starting.

use std::fmt;
use std::path::PathBuf;
use windlass_hook::HooksError;
use windlass_permission::{ModeError, RuleError};
use windlass_runtime::{OpenError, SessionError};
use windlass_session::{BadAnnotation, SessionSummary, StoreError};
use windlass_tool::ToolSetError;
use windlass_types::{AgentId, QuestionId, SessionId};

/// What keeps a run from starting, or a session from continuing. The text says
/// what to do about it.
///
/// A run that started always has a result; failures of the model, of tools and
/// of permissions are in there, see [`Outcome`](crate::Outcome).
///
/// Its `Debug` is the same text, since that is what a program prints that returns it from `main`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No model provider was given.
    #[error(
        "no model provider is set: call `.provider(Anthropic::from_env()?)`, or `.provider(ScriptedModel::new(..))` in tests"
    )]
    NoProvider,
    /// The model provider cannot be used.
    #[error(transparent)]
    Model(#[from] windlass_model::ModelError),
    /// The files of the project keep the session from being opened.
    #[cfg(feature = "project")]
    #[error(transparent)]
    Project(#[from] crate::project::ProjectError),
    /// The prompt of an MCP server that the prompt names cannot be had.
    #[cfg(feature = "mcp")]
    #[error(transparent)]
    ServerPrompt(#[from] windlass_mcp::McpPromptError),
    /// The prompt has no content.
    #[error("the prompt is empty: give it a text or at least one content block")]
    EmptyPrompt,
    /// A directory cannot be used.
    #[error("{role} {path:?} cannot be used: {problem}", path = path.display().to_string())]
    Directory {
        /// Which directory.
        role: &'static str,
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Commands would have no sandbox that holds what it has to.
    #[cfg(feature = "sandbox")]
    #[error(transparent)]
    Sandbox(#[from] windlass_sandbox::SandboxError),
    /// A permission rule cannot be used.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The permission mode is not permitted.
    #[error("{0}: call `Permissions::allow_bypass()` if you accept the risk")]
    Mode(#[from] ModeError),
    /// A hook would never be asked about something that it listens to, such as calls of tools whose names can never match.
    #[error(transparent)]
    Hooks(#[from] HooksError),
    /// The tools do not make a set.
    #[error(transparent)]
    Tools(#[from] ToolSetError),
    /// The schema of the structured output cannot be used.
    #[error(transparent)]
    OutputSchema(#[from] windlass_schema::OutputSchemaError),
    /// The home of sessions is not known.
    #[error(
        "there is no place for sessions: set WINDLASS_HOME or HOME to an absolute path, or give one with `Home::new`"
    )]
    NoHome,
    /// A variable names a home that is not absolute.
    #[error("{variable} is {value:?}, and must be an absolute path")]
    RelativeHome {
        /// The variable.
        variable: &'static str,
        /// What it says.
        value: String,
    },
    /// A session was to be resumed, but there is no place where it could be.
    #[error("a session can only be resumed from a store: call `.persist(Home::from_env()?)`")]
    NoStore,
    /// Files cannot be kept as it was asked for.
    #[error("file checkpoints cannot be kept: {problem}")]
    Checkpoints {
        /// What is missing, and what to do.
        problem: &'static str,
    },
    /// There is no session to continue in this directory.
    #[error("No conversation found to continue in {}", cwd.display())]
    NothingToContinue {
        /// The directory.
        cwd: PathBuf,
    },
    /// No session of this directory has the title of the one that was to be resumed.
    #[error("No conversation found with the title {title:?} in {}", cwd.display())]
    NoTitle {
        /// The title.
        title: String,
        /// The directory.
        cwd: PathBuf,
    },
    /// Several sessions of this directory have the title of the one that was to be resumed, or begin with it.
    #[error("{title:?} may mean {} sessions: {}; give more of the title, or an id", sessions.len(), candidates(sessions))]
    AmbiguousTitle {
        /// The title.
        title: String,
        /// The sessions, the last changed first.
        sessions: Vec<SessionSummary>,
    },
    /// The session that was to be resumed is that of another directory.
    #[error("No conversation found with session ID: {id} in {}: it is kept in {}, and can be resumed from there",
        cwd.display(), kept_in.display())]
    KeptElsewhere {
        /// The id.
        id: String,
        /// The directory in which it was to be resumed.
        cwd: PathBuf,
        /// The directory that it works in, or the file of its log, if that does not say.
        kept_in: PathBuf,
    },
    /// There is no agent of this id in the session.
    #[error("the session {id} has no agent {agent:?}: `Home::session_agents` lists those that it has")]
    NoAgent {
        /// The session.
        id: SessionId,
        /// The id.
        agent: AgentId,
    },
    /// A session cannot be deleted, since it is in a home that is only read.
    #[error("the session {id} is not in {} but in {}, which is only read: delete it through a `Home` there",
        home.display(), log.display())]
    OnlyRead {
        /// The session.
        id: SessionId,
        /// The home that is written.
        home: PathBuf,
        /// The file of its log.
        log: PathBuf,
    },
    /// A question cannot be answered like this.
    #[error("question {question} cannot be answered: {problem}")]
    Answer {
        /// The question.
        question: QuestionId,
        /// Why not.
        problem: AnswerProblem,
    },
    /// A title or a tag without anything that can be seen.
    #[error(transparent)]
    Annotation(#[from] BadAnnotation),
    /// A new session was to be a copy, or to begin at an earlier point, of none.
    #[error(
        "only a session that is resumed can be forked or resumed at a message: call `.resume(id)` or `.continue_latest()`"
    )]
    NothingToBranchFrom,
    /// A session was to be resumed under another id.
    #[error("a session that is resumed keeps its id: with another one, call `.fork_session(true)` as well")]
    IdOfResumed,
    /// What a resume at a message may drop is not clear.
    #[error("Resume rejected by --resume-drops-turn: {reason}")]
    TurnGuard {
        /// Why not.
        reason: String,
    },
    /// A session id that is not one.
    #[error("{id:?} is not a session id: it must be a UUID such as 12345678-1234-4234-8234-123456789abc")]
    BadSessionId {
        /// The text.
        id: String,
    },
    /// The run did not succeed. From [`RunResult::success`](crate::RunResult::success).
    #[error(transparent)]
    Unsuccessful(#[from] windlass_types::Unsuccessful),
    /// The session could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The session store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A query was awaited for a value, and the output of its run fits the schema, but not the type.
    #[error("the output of the run does not fit its type: {problem}")]
    UnfitOutput {
        /// What does not fit.
        problem: String,
    },
    /// The session was to be opened outside of a tokio runtime, or in one without timers or I/O.
    #[error(
        "{missing}: call this from `#[tokio::main]`, or inside `Runtime::block_on` of a runtime that was built with `enable_all()`"
    )]
    NoRuntime {
        /// What is not there.
        missing: &'static str,
    },
    /// Names of tools or models mean nothing in the session.
    #[error("{}", problems.join("; "))]
    Names {
        /// What is wrong with each, and what may have been meant.
        problems: Vec<String>,
    },
    /// The name of a model is empty.
    #[error("the name of the {role} is empty: give an id or an alias such as `sonnet`, or leave it out")]
    EmptyModelName {
        /// Which model.
        role: &'static str,
    },
    /// What [`request_fields`](crate::SessionBuilder::request_fields) was given is no JSON object.
    #[error("request_fields is {given}: give a JSON object with the members to add")]
    RequestFields {
        /// The JSON.
        given: String,
    },
    /// A limit is no number that limits anything.
    #[error("{option} is {value}: give a number that is not negative")]
    BadLimit {
        /// The option.
        option: &'static str,
        /// What it was set to.
        value: String,
    },
    /// There is a budget, and a model whose price is not known.
    #[error(
        "the model {model:?} has no known price, so the budget cannot hold: name one that has, give its price to the provider, or call `.unpriced_models(UnpricedModels::Allow)`"
    )]
    UnpricedBudget {
        /// The model.
        model: String,
    },
    /// The session ended before its time.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// The first few sessions, by id and title.
fn candidates(sessions: &[SessionSummary]) -> String {
    /// How many are named.
    const MOST: usize = 5;
    let named = sessions.iter().take(MOST).map(|one| format!("{} ({:?})", one.session_id, one.summary));
    let mut named: Vec<String> = named.collect();
    named.extend((sessions.len() > MOST).then(|| "…".to_owned()));
    named.join(", ")
}

/// Why a question of a stored session cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerProblem {
    /// No such question is open.
    #[error("it is not open: it was answered or withdrawn, or the session never asked it")]
    NotOpen,
    /// The token is wrong.
    #[error("the token is not that of the question")]
    WrongToken,
    /// There is an answer already.
    #[error("it is answered already: the first answer counts, and this one was not kept")]
    Answered,
    /// The answer changes the input or the permissions, or stops the run, which only a host can do that is asked.
    #[error("an answer from outside allows or denies exactly what was asked, and nothing else")]
    NotPlain,
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let reason = error.to_string();
            // Most errors name their cause themselves.
            if !text.contains(&reason) {
                text = format!("{text}: {reason}");
            }
            cause = error.source();
        }
        f.write_str(&text)
    }
}
