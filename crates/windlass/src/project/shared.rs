//! State shared by the sessions of a project.

use super::notice::Notices;
use super::open_settings::OpenSettings;
use super::program_reviewer::ProgramReview;
use super::request::Choice;
use super::servers::SharedServers;
use crate::lock::Lock;
use crate::sandbox::ProgramSandbox;
use crate::session_tools::SessionTools;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use windlass_project::{Commands, CommandsStamp, PluginDir, Plugins};
use windlass_runtime::SessionHandle;
use windlass_subagent::Subagents;
use windlass_types::SessionId;

/// Commands of files and plugins, and the stamp of the files when they were read.
pub(super) type ReadCommands = (CommandsStamp, Arc<Commands>);

/// Skills that the models of open sessions have read about, by session: the line of each in a list.
pub(crate) type ListedSkills = BTreeMap<SessionId, BTreeMap<String, String>>;

/// State shared by all sessions of a project.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) notices: Arc<Notices>,
    pub(super) plugins: Lock<LoadedPlugins>,
    pub(super) commands: Lock<Option<ReadCommands>>,
    pub(super) programs: Arc<ProgramReview>,
    /// Skills that the models of open sessions have read about.
    pub(crate) listed_skills: Lock<ListedSkills>,
    pub(super) settings: Lock<BTreeMap<SessionId, OpenSettings>>,
    /// Held while settings are read again.
    pub(super) refreshing: tokio::sync::Mutex<()>,
    pub(super) sessions: Lock<Vec<OpenSession>>,
    pub(super) servers: SharedServers,
    /// Sandbox options of the first session's program.
    pub(super) sandbox: Arc<OnceLock<ProgramSandbox>>,
}

impl Shared {
    /// Drops the state of a session once it has ended. Its tools hold the project, which would otherwise hold them.
    pub(super) fn forget_at_end(self: &Arc<Self>, session: &SessionHandle) {
        let (ended, forget) = (session.ended(), Forget(Arc::downgrade(self), session.session_id().clone()));
        tokio::spawn(async move {
            ended.await;
            drop(forget);
        });
    }

    fn forget_ended(&self, session: &SessionId) {
        let mut settings = self.settings.lock();
        settings.retain(|_, open| !open.has_ended());
        let is_open = settings.contains_key(session);
        drop(settings);
        if !is_open {
            self.listed_skills.lock().remove(session);
        }
        let mut sessions = self.sessions.lock();
        // Ended sessions may hold this project, so they are dropped when nothing is locked any more.
        let ended: Vec<OpenSession> = sessions.extract_if(.., |open| open.tools.handle().has_ended()).collect();
        drop(sessions);
        drop(ended);
    }
}

/// Forgets an ended session on drop, which also happens when the runtime ends.
struct Forget(Weak<Shared>, SessionId);

impl Drop for Forget {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.forget_ended(&self.1);
        }
    }
}

/// The directories that were named as plugins, and the loaded plugins.
#[derive(Debug, Default)]
pub(super) struct LoadedPlugins {
    pub(super) directories: Vec<PluginDir>,
    pub(super) plugins: Arc<Plugins>,
}

/// An open session whose model may give tasks to agents.
pub(crate) struct OpenSession {
    pub(super) tools: SessionTools,
    pub(super) choice: Choice,
    /// Agents from the program, before files and plugins were added.
    pub(super) base: Subagents,
    pub(super) current: Subagents,
}
