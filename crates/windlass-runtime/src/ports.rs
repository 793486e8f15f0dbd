//! Ports of a session: its connections to the world.

pub(crate) mod classifier;
pub(crate) mod diagnostics;
pub(crate) mod instructions;
pub(crate) mod mentions;
pub(crate) mod model_text;
pub(crate) mod seeded_ids;

use crate::ports::classifier::Classifier;
use crate::ports::diagnostics::Diagnostics;
use crate::ports::instructions::NestedInstructions;
use crate::ports::mentions::Mentions;
use crate::ports::seeded_ids::SeededIds;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_core::ModelProfile;
use windlass_hook::Hooks;
use windlass_model::ModelProvider;
use windlass_permission::{CanUseTool, RememberAnswer};
use windlass_schema::CheckedTools;
use windlass_session::Checkpoints;
use windlass_tool::{Clock, Ids, Process, SystemClock, SystemIds, ToolSet, Workspace};

/// Ways in which the host answers permission requests. Default: none; calls that would ask are denied, unless hooks
/// answer.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct HostAnswers {
    /// Callback that gets each request.
    pub callback: Option<Arc<dyn CanUseTool>>,
    /// `true` if requests wait for an answer through a [handle](crate::SessionHandle::answer), also without a callback.
    pub through_handles: bool,
    /// Persists answers beyond the session. `None`: they end with it.
    pub remember: Option<Arc<dyn RememberAnswer>>,
    /// `true` if runs wait for answers. A question is then kept in the log before it is asked, and another process can
    /// answer it. Without a host that answers it, the run ends as
    /// [`Outcome::Pending`](windlass_types::Outcome::Pending), to be [continued](crate::SessionHandle::continue_run)
    /// later. Default: `false`; without a host, calls that would ask are denied.
    pub wait: bool,
}

impl HostAnswers {
    /// Returns `true` if a request can be answered.
    pub(crate) fn are_possible(&self) -> bool {
        self.through_handles || self.callback.is_some()
    }
}

impl fmt::Debug for HostAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostAnswers")
            .field("callback", &self.callback.is_some())
            .field("through_handles", &self.through_handles)
            .field("remember", &self.remember.is_some())
            .field("wait", &self.wait)
            .finish()
    }
}

/// Ports of a session: its connections to the world.
#[derive(Clone)]
#[non_exhaustive]
pub struct Ports {
    /// Provider of models.
    pub provider: Arc<dyn ModelProvider>,
    /// Tools, with the schemas that their inputs are checked against.
    pub tools: CheckedTools,
    /// Access to files.
    pub workspace: Arc<dyn Workspace>,
    /// Access to programs.
    pub process: Arc<dyn Process>,
    /// Hooks.
    pub hooks: Hooks,
    /// Ways in which the host answers permission requests. Default: none.
    pub host: HostAnswers,
    /// Classifier that the mode auto asks about calls that rules leave undecided. `None`, the default: the mode asks
    /// the host.
    pub classifier: Option<Classifier>,
    /// Time, randomness and the environment.
    pub system: SystemPorts,
    /// Folders for files of the session.
    pub storage: StoragePorts,
    /// Sources of context that the model reads beside the conversation.
    pub context: ContextPorts,
    /// Optional reports.
    pub reports: Reports,
    /// `true` if calls, also those of agents, may start background work. Default: `true`.
    pub background: bool,
}

/// Time, randomness and the environment of a session.
#[derive(Clone)]
#[non_exhaustive]
pub struct SystemPorts {
    /// Clock. Default: that of this machine.
    pub clock: Arc<dyn Clock>,
    /// Source of random ids. Default: that of this machine.
    pub ids: Arc<dyn Ids>,
    /// The ids that the model reads, if the session is recorded or replayed. `None`, the default: they are random.
    pub recorded_ids: Option<SeededIds>,
    /// Environment of programs. Default: empty.
    pub env: Arc<[(OsString, OsString)]>,
}

/// Folders for files of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StoragePorts {
    /// Folder for large outputs.
    pub artifacts: Option<PathBuf>,
    /// Folder for files of the session when there is none for large outputs, such as the output of background work:
    /// made when needed, private, and removed when the session ends.
    pub scratch: Option<PathBuf>,
    /// Store of files before calls change them, so that they can be rewound. `None`: they cannot.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
}

/// Sources of context that a model reads beside the conversation.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ContextPorts {
    /// Instructions that the model reads once it uses files. `None`: none.
    pub instructions: Option<Arc<dyn NestedInstructions>>,
    /// Targets of mentions in prompts. `None`, the default: mentions are ordinary words.
    pub mentions: Option<Mentions>,
    /// Diagnostics of compilers and linters, so that the model reads those that an edit has introduced. `None`: none.
    pub diagnostics: Option<Arc<dyn Diagnostics>>,
}

/// Optional reports. Default: none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Reports {
    /// `true` if the model reads with a prompt which of its read files have changed since.
    pub file_changes: bool,
    /// `true` if previews of file changes are made before calls, for questions and for events.
    pub edits: bool,
    /// `true` if events report the start of hooks, not only their outcome.
    pub hook_starts: bool,
}

impl Default for SystemPorts {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock::default()),
            ids: Arc::new(SystemIds::default()),
            recorded_ids: None,
            env: Arc::from([]),
        }
    }
}

impl SystemPorts {
    /// Returns the ids that the model reads about the thing of this name, such as a tool use.
    pub fn ids_of(&self, name: &str) -> Arc<dyn Ids> {
        self.recorded_ids.as_ref().map_or_else(|| Arc::clone(&self.ids), |recorded| recorded.of(name))
    }
}

impl Ports {
    /// A provider, tools, files and programs; no hooks, no answers to permission requests, an empty environment, and
    /// this machine's time and randomness.
    pub fn new(
        provider: Arc<dyn ModelProvider>,
        tools: ToolSet,
        workspace: Arc<dyn Workspace>,
        process: Arc<dyn Process>,
    ) -> Self {
        Self {
            provider,
            tools: tools.into(),
            workspace,
            process,
            hooks: Hooks::default(),
            host: HostAnswers::default(),
            classifier: None,
            system: SystemPorts::default(),
            storage: StoragePorts::default(),
            context: ContextPorts::default(),
            reports: Reports::default(),
            background: true,
        }
    }
}

impl Ports {
    /// Returns the profile of a model by a name that the provider knows.
    pub(crate) fn model(&self, name: &str) -> ModelProfile {
        let id = self.provider.resolve_model(name);
        let info = self.provider.model_info(&id);
        ModelProfile::new(id, info)
    }

    /// Returns the doubt about a model's name: the provider does not know it, and knows a similar one.
    pub(crate) fn doubt(&self, name: &str) -> Option<String> {
        let similar = self.provider.similar_models(name);
        Some(format!("the model {name:?} is not known: did you mean {:?}?", similar.first()?))
    }
}

impl fmt::Debug for SystemPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("SystemPorts").field("clock", &self.clock).field("ids", &self.ids).finish_non_exhaustive()
    }
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports")
            .field("provider", &self.provider)
            .field("tools", &self.tools)
            .field("workspace", &self.workspace)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}
