//! Ports of configured hooks.

use crate::request::RequestRules;
use crate::texts::HookTexts;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_hook::HookError;
use windlass_tool::Process;
use windlass_types::{AgentIdentity, HookOutcome, JsonText};

/// Ports of configured hooks.
#[derive(Clone)]
#[non_exhaustive]
pub struct HookPorts {
    /// Runs programs.
    pub process: Arc<dyn Process>,
    /// The environment of programs. Default: empty.
    pub env: Arc<[(OsString, OsString)]>,
    /// Path of the bash that reads command lines. Without one, hooks with a command line fail.
    pub bash: Option<PathBuf>,
    /// Directory of the project, which programs find in `CLAUDE_PROJECT_DIR` and `WINDLASS_PROJECT_DIR`.
    pub project: PathBuf,
    /// Transcript of the session, if it is kept in a file.
    pub transcript: Option<PathBuf>,
    /// Allowed URLs and header variables of requests. Default: every URL, and the variables that a hook names.
    pub requests: RequestRules,
    /// Handling of long texts. Default: they are cut.
    pub texts: HookTexts,
    /// Removes secrets from standard error of programs, which people and models read. Default: nothing is removed.
    pub mask: MaskErrors,
    /// Frames a hook's additions for the model; receives the hook's name. Default: the text is unchanged.
    pub frame: FrameContext,
    /// Access to models, servers and the session. Default: there are none, and hooks that need them fail.
    pub host: Arc<dyn HookHost>,
}

impl HookPorts {
    /// Creates the ports for programs of a project.
    pub fn new(process: Arc<dyn Process>, project: impl Into<PathBuf>) -> Self {
        Self {
            process,
            env: Arc::from([]),
            bash: None,
            project: project.into(),
            transcript: None,
            requests: RequestRules::default(),
            texts: HookTexts::cut(),
            mask: Arc::new(|text| text),
            frame: Arc::new(|_, text| text),
            host: Arc::new(Alone),
        }
    }
}

impl HookPorts {
    /// Returns an outcome with its additional context framed.
    pub(crate) fn framed(&self, hook: &str, mut said: HookOutcome) -> HookOutcome {
        for text in said.additional_context.iter_mut().filter(|text| !text.trim().is_empty()) {
            *text = (self.frame)(hook, std::mem::take(text));
        }
        said
    }
}

impl fmt::Debug for HookPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("HookPorts").field("bash", &self.bash).field("project", &self.project).finish_non_exhaustive()
    }
}

/// Function that removes secrets from a text.
pub type MaskErrors = Arc<dyn Fn(String) -> String + Send + Sync>;

/// Function that frames a hook's additional context.
pub type FrameContext = Arc<dyn Fn(&str, String) -> String + Send + Sync>;

/// A question of a hook to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelQuestion {
    /// The question, with the event.
    pub prompt: String,
    /// Model; `None` for the session's model.
    pub model: Option<String>,
    /// `true` if the model may look at files before it answers, in several turns.
    pub with_tools: bool,
}

/// An HTTP request made by a hook. It is sent once; no redirect is followed.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookRequest {
    /// URL of the request.
    pub url: String,
    /// Headers, with variables filled in: they may hold secrets.
    pub headers: BTreeMap<String, String>,
    /// The body, JSON.
    pub body: JsonText,
    /// Maximum number of bytes read of the response.
    pub most_bytes: usize,
}

impl fmt::Debug for HookRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookRequest").field("headers", &self.headers.len()).finish_non_exhaustive()
    }
}

/// A program of a hook before its start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookProgram {
    /// Name of the hook.
    pub hook: String,
    /// A line for bash, or the program if there are arguments.
    pub command: String,
    /// Arguments, which go to the program without a shell.
    pub args: Option<Vec<String>>,
    /// Directory of the plugin that brings the hook.
    pub plugin: Option<PathBuf>,
    /// Working directory of the program.
    pub cwd: PathBuf,
}

/// Response of a server to a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "hosts build one")]
pub struct HookResponse {
    /// HTTP status.
    pub status: u16,
    /// The body. Bytes that are not UTF-8 are replaced.
    pub body: String,
}

/// Services of the session for hooks other than programs. Each method fails by default.
///
/// ```
/// use windlass_hook::HookError;
/// use windlass_hook_runner::{HookHost, ModelQuestion};
///
/// /// Asks a model of the program.
/// #[derive(Debug)]
/// struct Judge;
///
/// #[async_trait::async_trait]
/// impl HookHost for Judge {
///     async fn ask_model(&self, question: ModelQuestion) -> Result<String, HookError> {
///         let _ = question;
///         Ok(r#"{"ok": true}"#.to_owned())
///     }
/// }
/// ```
#[async_trait]
pub trait HookHost: Send + Sync + 'static {
    /// Asks a model, and returns its last text. Dropping the future ends the question.
    ///
    /// # Errors
    /// There is no answer.
    async fn ask_model(&self, question: ModelQuestion) -> Result<String, HookError> {
        let _ = question;
        Err("this session has no model for hooks".into())
    }

    /// Posts an event. Dropping the future ends the request.
    ///
    /// # Errors
    /// There is no answer, or it is too long.
    async fn post(&self, request: HookRequest) -> Result<HookResponse, HookError> {
        let _ = request;
        Err("this program is built without requests of hooks".into())
    }

    /// Calls a tool of an MCP server, and returns its text. Dropping the future ends the call.
    ///
    /// # Errors
    /// The server is not connected, has no such tool, or the tool failed.
    async fn call_tool(&self, server: &str, tool: &str, input: JsonText) -> Result<String, HookError> {
        let _ = (server, tool, input);
        Err("this session has no MCP servers".into())
    }

    /// Reviews a program before it starts, such as one whose file changed since it was trusted. Default: every program
    /// may run.
    ///
    /// # Errors
    /// The reason why it must not run. The hook has failed then.
    async fn review_program(&self, program: HookProgram) -> Result<(), HookError> {
        let _ = program;
        Ok(())
    }

    /// Returns the time that [`review_program`](Self::review_program) may take beside the limit of the hook, such as
    /// for a person. Default: none.
    fn review_time(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns a variable that headers of requests may contain, from the environment at the start.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Returns `true` if an agent answers the question of a hook. Hooks that ask models are not asked about it, since
    /// that would never end.
    fn is_of_hook(&self, agent: &AgentIdentity) -> bool {
        let _ = agent;
        false
    }

    /// Wakes the model with a text, in the run in progress or in a new one.
    fn wake(&self, text: String) {
        let _ = text;
    }

    /// Adds variables to the environment of later programs.
    fn add_variables(&self, variables: Vec<(String, String)>) {
        let _ = variables;
    }
}

/// A host without a session.
struct Alone;

impl HookHost for Alone {}
