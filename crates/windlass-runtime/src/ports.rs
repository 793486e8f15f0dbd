//! What a session reaches the world through.

use crate::classify::Classifier;
use crate::edits::Diagnostics;
use crate::mentions::Mentions;
use crate::nested::NestedInstructions;
use crate::seeded::SeededIds;
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

/// How the host answers permission requests. By default it does not: what would ask is denied, unless hooks answer.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct HostAnswers {
    /// Is called with each request.
    pub callback: Option<Arc<dyn CanUseTool>>,
    /// Whether requests wait for an answer through a [handle](crate::SessionHandle::answer), also without a callback.
    pub through_handles: bool,
    /// Keeps answers for longer than the session. `None`: they end with it.
    pub remember: Option<Arc<dyn RememberAnswer>>,
    /// Whether runs wait for answers. A question is kept in the log then before it is asked, and can be answered by
    /// another process. Without a host that answers it, the run ends as [`Outcome::Pending`](windlass_types::Outcome::Pending),
    /// to be [continued](crate::SessionHandle::continue_run) later. Default: no, and what would ask without a host is denied.
    pub wait: bool,
}

impl HostAnswers {
    /// Whether a request can be answered.
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

/// What a session reaches the world through.
#[derive(Clone)]
#[non_exhaustive]
pub struct Ports {
    /// Models.
    pub provider: Arc<dyn ModelProvider>,
    /// Tools, with the schemas that their inputs are checked against.
    pub tools: CheckedTools,
    /// Files.
    pub workspace: Arc<dyn Workspace>,
    /// Programs.
    pub process: Arc<dyn Process>,
    /// Hooks.
    pub hooks: Hooks,
    /// How the host answers permission requests. Default: it does not.
    pub host: HostAnswers,
    /// Whom the mode auto asks about calls that rules leave undecided. `None`, the default: it asks the host.
    pub classifier: Option<Classifier>,
    /// Time, chance and the environment.
    pub system: SystemPorts,
    /// Where files that go with the session are kept.
    pub storage: StoragePorts,
    /// What the model reads beside the conversation.
    pub context: ContextPorts,
    /// What is found out and reported beside what always is.
    pub reports: Reports,
    /// Whether calls may leave work behind that runs in the background, also those of agents. Default: yes.
    pub background: bool,
}

/// Time, chance and the environment of a session.
#[derive(Clone)]
#[non_exhaustive]
pub struct SystemPorts {
    /// Time. Default: that of this machine.
    pub clock: Arc<dyn Clock>,
    /// Chance. Default: that of this machine.
    pub ids: Arc<dyn Ids>,
    /// The ids that the model reads, where the session is recorded or replayed. `None`, the default: they are left to chance.
    pub recorded_ids: Option<SeededIds>,
    /// The environment that programs get. Default: an empty one.
    pub env: Arc<[(OsString, OsString)]>,
}

/// Where files that go with a session are kept.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StoragePorts {
    /// Where large outputs are kept.
    pub artifacts: Option<PathBuf>,
    /// A folder for what goes with the session when there is no place for large outputs, such as the output of
    /// background work: made when needed, private, and removed when the session ends.
    pub scratch: Option<PathBuf>,
    /// Where files are kept before calls change them, so that they can be rewound. `None`: they cannot.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
}

/// What a model reads beside the conversation.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ContextPorts {
    /// What the model reads once it uses files. `None`: nothing.
    pub instructions: Option<Arc<dyn NestedInstructions>>,
    /// What mentions in prompts may stand for. `None`, the default: they are words like any other.
    pub mentions: Option<Mentions>,
    /// Says what compilers and linters have to say of files, so that the model reads what an edit has brought. `None`: no one
    /// is asked.
    pub diagnostics: Option<Arc<dyn Diagnostics>>,
}

/// What is found out and reported beside what always is. Default: none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Reports {
    /// Whether the model reads with a prompt which of the files that it has read have changed since.
    pub file_changes: bool,
    /// Whether it is found out beforehand what calls would change in files, for questions and for events.
    pub edits: bool,
    /// Whether events report when hooks begin to be asked, not only what they have answered.
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
    /// The ids that the model reads about what has this name, such as a tool use.
    pub fn ids_of(&self, name: &str) -> Arc<dyn Ids> {
        self.recorded_ids.as_ref().map_or_else(|| Arc::clone(&self.ids), |recorded| recorded.of(name))
    }
}

impl Ports {
    /// A provider, tools, files and programs; no hooks, no answers to permission requests, an empty
    /// environment, and this machine's time and chance.
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
    /// The model of a name, as the provider knows it.
    pub(crate) fn model(&self, name: &str) -> ModelProfile {
        let id = self.provider.resolve_model(name);
        let info = self.provider.model_info(&id);
        ModelProfile::new(id, info)
    }

    /// What makes a name of a model doubtful: the provider does not know it, and one that it knows is near.
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
