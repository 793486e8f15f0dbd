//! Errors that keep a run from starting.

use std::fmt;
use std::path::PathBuf;
use windlass_hook::HooksError;
use windlass_permission::{ModeError, RuleError};
use windlass_runtime::{OpenError, SessionError};
use windlass_session::{BadAnnotation, SessionSummary, StoreError};
use windlass_tool::ToolSetError;
use windlass_types::{AgentId, QuestionId, SessionId};

/// Error that keeps a run from starting, or a session from continuing. The text names the remedy.
///
/// A run that started always has a result; failures of the model, of tools and of permissions are reported there, see
/// [`Outcome`](crate::Outcome).
///
/// `Debug` prints the same text, because a program that returns the error from `main` prints it that way.
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
    /// The model is in no list of known models, and cannot be called as things are.
    #[error("{}", unknown_model(model, similar, source))]
    UnknownModel {
        /// The name as it was given.
        model: String,
        /// Names that may be meant, the nearest first.
        similar: Vec<String>,
        /// The reason why it cannot be called.
        source: Box<windlass_model::ModelError>,
    },
    /// The files of the project keep the session from being opened.
    #[cfg(feature = "project")]
    #[error(transparent)]
    Project(#[from] crate::project::ProjectError),
    /// The prompt names the prompt of an MCP server, which cannot be fetched.
    #[cfg(feature = "mcp")]
    #[error(transparent)]
    ServerPrompt(#[from] windlass_mcp::McpPromptError),
    /// The prompt has no content.
    #[error("the prompt is empty: give it a text or at least one content block")]
    EmptyPrompt,
    /// A directory cannot be used.
    #[error("{role} {path:?} cannot be used: {problem}", path = path.display().to_string())]
    Directory {
        /// Role of the directory, such as "the working directory".
        role: &'static str,
        /// Path of the directory.
        path: PathBuf,
        /// Problem with the directory.
        problem: String,
    },
    /// The sandbox for commands cannot meet the requirements.
    #[cfg(feature = "sandbox")]
    #[error(transparent)]
    Sandbox(#[from] windlass_sandbox::SandboxError),
    /// A permission rule cannot be used.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The permission mode is not permitted.
    #[error("{0}: call `Permissions::allow_bypass()` if you accept the risk")]
    Mode(#[from] ModeError),
    /// A hook would never run for something that it listens to, such as calls of tools whose names can never match.
    #[error(transparent)]
    Hooks(#[from] HooksError),
    /// The tools do not make a set.
    #[error(transparent)]
    Tools(#[from] ToolSetError),
    /// The schema of the structured output cannot be used.
    #[error(transparent)]
    OutputSchema(#[from] windlass_schema::OutputSchemaError),
    /// The home of sessions is unknown.
    #[error(
        "there is no place for sessions: set WINDLASS_HOME or HOME to an absolute path, or give one with `Home::new`"
    )]
    NoHome,
    /// A variable names a home that is not absolute.
    #[error("{variable} is {value:?}, and must be an absolute path")]
    RelativeHome {
        /// Name of the variable.
        variable: &'static str,
        /// Value of the variable.
        value: String,
    },
    /// A later version has written the home in a format that this version does not know.
    #[error(
        "the home {} has format {found}, and this version knows {known}: nothing was changed. Install the version that wrote it, \
         or set WINDLASS_HOME to another directory",
        home.display()
    )]
    LaterHome {
        /// Root of the home.
        home: PathBuf,
        /// Format of the home.
        found: u64,
        /// Latest format that this version knows.
        known: u64,
    },
    /// A session was to be resumed, but there is no store.
    #[error("a session can only be resumed from a store: call `.persist(Home::from_env()?)`")]
    NoStore,
    /// File checkpoints cannot be stored.
    #[error("file checkpoints cannot be kept: {problem}")]
    Checkpoints {
        /// The missing requirement and its remedy.
        problem: &'static str,
    },
    /// There is no session to continue in this directory.
    #[error("No conversation found to continue in {}", cwd.display())]
    NothingToContinue {
        /// Working directory of the request.
        cwd: PathBuf,
    },
    /// No session of this directory has the title of the one that was to be resumed.
    #[error("No conversation found with the title {title:?} in {}", cwd.display())]
    NoTitle {
        /// Requested title.
        title: String,
        /// Working directory of the request.
        cwd: PathBuf,
    },
    /// Several sessions of this directory have the title of the one that was to be resumed, or begin with it.
    #[error("{title:?} may mean {} sessions: {}; give more of the title, or an id", sessions.len(), candidates(sessions))]
    AmbiguousTitle {
        /// Requested title.
        title: String,
        /// Matching sessions, the last changed first.
        sessions: Vec<SessionSummary>,
    },
    /// The session to resume belongs to another directory.
    #[error("No conversation found with session ID: {id} in {}: it is kept in {}, and can be resumed from there",
        cwd.display(), kept_in.display())]
    KeptElsewhere {
        /// Id of the session.
        id: String,
        /// Directory in which it was to be resumed.
        cwd: PathBuf,
        /// Working directory of the session, or the file of its log if that names none.
        kept_in: PathBuf,
    },
    /// The session has no agent of this id.
    #[error("the session {id} has no agent {agent:?}: `Home::session_agents` lists those that it has")]
    NoAgent {
        /// Id of the session.
        id: SessionId,
        /// Requested agent.
        agent: AgentId,
    },
    /// A session cannot be deleted because it is in a read-only home.
    #[error("the session {id} is not in {} but in {}, which is only read: delete it through a `Home` there",
        home.display(), log.display())]
    OnlyRead {
        /// Id of the session.
        id: SessionId,
        /// The home that is written.
        home: PathBuf,
        /// File of the session's log.
        log: PathBuf,
    },
    /// The question cannot be answered with this answer.
    #[error("question {question} cannot be answered: {problem}")]
    Answer {
        /// Id of the question.
        question: QuestionId,
        /// Reason of the refusal.
        problem: AnswerProblem,
    },
    /// A title or a tag has no visible characters.
    #[error(transparent)]
    Annotation(#[from] BadAnnotation),
    /// A fork, or a start at an earlier point, was requested without a session to resume.
    #[error("only a session that is resumed can be forked or resumed at a message: call `.resume(id)`")]
    NothingToBranchFrom,
    /// A session was to be resumed under another id.
    #[error("a session that is resumed keeps its id: with another one, call `.fork_session(true)` as well")]
    IdOfResumed,
    /// The content that a resume at a message would drop does not match the request.
    #[error("Resume rejected by --resume-drops-turn: {reason}")]
    TurnGuard {
        /// Reason of the refusal.
        reason: String,
    },
    /// The session id is malformed.
    #[error("{id:?} is not a session id: it must be a UUID such as 12345678-1234-4234-8234-123456789abc")]
    BadSessionId {
        /// Malformed session id.
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
        /// Mismatch between the output and the type.
        problem: String,
    },
    /// The session was to be opened outside of a tokio runtime, or in one without timers or I/O.
    #[error(
        "{missing}: call this from `#[tokio::main]`, or inside `Runtime::block_on` of a runtime that was built with `enable_all()`"
    )]
    NoRuntime {
        /// Missing part of the runtime.
        missing: &'static str,
    },
    /// The system starts no thread for work with files.
    #[error(
        "no thread can be started: end other programs, or raise the limit on processes of this account (`ulimit -u`)"
    )]
    NoThread,
    /// Names of tools or models are unknown in the session.
    #[error("{}", problems.join("; "))]
    Names {
        /// Problem of each name, with suggestions.
        problems: Vec<String>,
    },
    /// The name of a model is empty.
    #[error("the name of the {role} is empty: give an id or an alias such as `sonnet`, or leave it out")]
    EmptyModelName {
        /// Role of the model.
        role: &'static str,
    },
    /// The value of [`RequestOptions::fields`](crate::options::RequestOptions::fields) is no JSON object.
    #[error("request_fields is {given}: give a JSON object with the members to add")]
    RequestFields {
        /// The rejected JSON.
        given: String,
    },
    /// The value of a limit is negative or not a number.
    #[error("{option} is {value}: give a number that is not negative")]
    BadLimit {
        /// Name of the option.
        option: &'static str,
        /// Value of the option.
        value: String,
    },
    /// A budget is set, and the price of a model is unknown.
    #[error(
        "the model {model:?} has no known price, so the budget cannot hold: name one that has, give its price to the provider, or call `.limits(LimitOptions::new().unpriced_models(UnpricedModels::Allow))`"
    )]
    UnpricedBudget {
        /// Name of the model.
        model: String,
    },
    /// The session ended early.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// A missing key would be that of the provider of a name that is wrong.
fn unknown_model(model: &str, similar: &[String], source: &windlass_model::ModelError) -> String {
    let is_key = source.kind == windlass_types::ModelErrorKind::Authentication;
    let besides = if is_key { format!("; besides, {source}") } else { String::new() };
    match similar {
        [] => format!("the model {model:?} is in no list of known models: check its name{besides}"),
        near => format!("the model {model:?} is not known: did you mean {}?{besides}", near.join(" or ")),
    }
}

/// Text of the first few sessions, by id and title.
fn candidates(sessions: &[SessionSummary]) -> String {
    /// Maximum number of sessions in the text.
    const MAX_LISTED_SESSIONS: usize = 5;
    let shown = sessions
        .iter()
        .take(MAX_LISTED_SESSIONS)
        .map(|session| format!("{} ({:?})", session.session_id, session.summary));
    let mut shown: Vec<String> = shown.collect();
    shown.extend((sessions.len() > MAX_LISTED_SESSIONS).then(|| "…".to_owned()));
    shown.join(", ")
}

/// Reason why a question of a stored session cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerProblem {
    /// The question is not open.
    #[error("it is not open: it was answered or withdrawn, or the session never asked it")]
    NotOpen,
    /// The token does not match the question.
    #[error("the token is not that of the question")]
    WrongToken,
    /// The question was answered before.
    #[error("it is answered already: the first answer counts, and this one was not kept")]
    Answered,
    /// The answer changes the input or the permissions, or stops the run. Only a host that is asked directly can do
    /// that.
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
