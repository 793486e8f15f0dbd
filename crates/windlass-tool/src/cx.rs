//! Context of a running tool.

use crate::{Agents, Background, Calls, Cancel, Clock, Completions, Ids, Permit, Process, ToolError, Workspace};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use windlass_types::path::absolute;
use windlass_types::{JsonText, ModelInfo, SessionId, ToolUseId};

/// Context of a running tool. Cheap to clone.
///
/// A tool reaches files, programs, time and its host only through its context; it never sees the session itself.
#[derive(Clone)]
pub struct ToolCx(Arc<ToolCxParts>);

/// The parts of a [`ToolCx`], for drivers and test kits that build one.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "drivers must provide every part")]
pub struct ToolCxParts {
    /// Id of the session.
    pub session_id: SessionId,
    /// Id of the running tool use.
    pub tool_use_id: ToolUseId,
    /// Signal that is given when the call should stop.
    pub cancel: Cancel,
    /// Permit of the call.
    pub permit: Permit,
    /// Port for files.
    pub workspace: Arc<dyn Workspace>,
    /// Port for programs.
    pub process: Arc<dyn Process>,
    /// Port for time.
    pub clock: Arc<dyn Clock>,
    /// Source of random ids.
    pub ids: Arc<dyn Ids>,
    /// Place of the call.
    pub place: CallPlace,
    /// State that tools keep between calls of this session.
    pub state: Arc<SessionState>,
    /// Abilities that the session offers the call.
    pub abilities: CallAbilities,
    /// Closure that is called with the progress of the call.
    pub progress: Arc<dyn Fn(String) + Send + Sync>,
}

/// Place of a call: directories and environment.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "drivers must provide every part")]
pub struct CallPlace {
    /// Directory that relative paths start in; absolute.
    pub cwd: PathBuf,
    /// Directories of the workspace: the start directory first, then additional ones; absolute.
    pub directories: Arc<[PathBuf]>,
    /// Whole environment that programs get: they inherit no other variables.
    pub env: Arc<[(OsString, OsString)]>,
    /// Folder for large outputs; created when needed. `None` if the session keeps no files.
    pub artifacts: Option<PathBuf>,
}

/// Abilities that a session offers its calls. Default: none.
#[derive(Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "drivers must provide every part")]
pub struct CallAbilities {
    /// Runs work that continues after the call, if the session can.
    pub background: Option<Arc<dyn Background>>,
    /// Runs agents below this one, if the session can.
    pub agents: Option<Arc<dyn Agents>>,
    /// Makes calls of other tools, if the session can.
    pub calls: Option<Arc<dyn Calls>>,
    /// Has a model of the session write messages, if the session can.
    pub completions: Option<Arc<dyn Completions>>,
}

impl fmt::Debug for CallPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may contain secrets.
        f.debug_struct("CallPlace")
            .field("cwd", &self.cwd)
            .field("directories", &self.directories)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CallAbilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallAbilities").finish_non_exhaustive()
    }
}

impl ToolCx {
    /// Returns a context from its parts.
    pub fn new(parts: ToolCxParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> &SessionId {
        &self.0.session_id
    }

    /// Returns the id of the running tool use.
    pub fn tool_use_id(&self) -> &ToolUseId {
        &self.0.tool_use_id
    }

    /// Returns the signal that is given when the call should stop. A tool that does not check it is dropped instead, at
    /// its next await.
    pub fn cancel(&self) -> &Cancel {
        &self.0.cancel
    }

    /// Returns the permit of the call.
    pub fn permit(&self) -> &Permit {
        &self.0.permit
    }

    /// Returns the port for files.
    pub fn workspace(&self) -> &dyn Workspace {
        &*self.0.workspace
    }

    /// Returns the port for programs.
    pub fn process(&self) -> &dyn Process {
        &*self.0.process
    }

    /// Returns the port for time.
    pub fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    /// Returns the source of random ids.
    pub fn ids(&self) -> &dyn Ids {
        &*self.0.ids
    }

    /// Returns the directory that relative paths start in; absolute.
    pub fn cwd(&self) -> &Path {
        &self.0.place.cwd
    }

    /// Returns the directories of the workspace, the start directory first; absolute.
    pub fn directories(&self) -> &[PathBuf] {
        &self.0.place.directories
    }

    /// Returns the environment that programs get.
    pub fn env(&self) -> &[(OsString, OsString)] {
        &self.0.place.env
    }

    /// Returns the folder for large outputs, if the session keeps files.
    pub fn artifacts(&self) -> Option<&Path> {
        self.0.place.artifacts.as_deref()
    }

    /// Returns the state that tools keep between calls: one value of each type for the session.
    pub fn state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.0.state.get()
    }

    /// Returns the port that starts and finds work that continues after the call.
    ///
    /// # Errors
    /// No work can continue here: the context is not that of a session.
    pub fn background(&self) -> Result<&dyn Background, ToolError> {
        let none = || ToolError::rejected("Background work is not available here.");
        self.0.abilities.background.as_deref().ok_or_else(none)
    }

    /// Returns the port that runs agents below this one.
    ///
    /// # Errors
    /// The context is not that of a session.
    pub fn agents(&self) -> Result<&Arc<dyn Agents>, ToolError> {
        let none = || ToolError::rejected("Agents are not available here.");
        self.0.abilities.agents.as_ref().ok_or_else(none)
    }

    /// Returns the port that makes calls of other tools.
    ///
    /// # Errors
    /// The context is not that of a session.
    pub fn calls(&self) -> Result<&Arc<dyn Calls>, ToolError> {
        let none = || ToolError::rejected("No calls of other tools can be made here.");
        self.0.abilities.calls.as_ref().ok_or_else(none)
    }

    /// Returns the port through which a model of the session writes messages that are not part of the conversation.
    ///
    /// # Errors
    /// The context is not that of a session.
    pub fn completions(&self) -> Result<&Arc<dyn Completions>, ToolError> {
        let none = || ToolError::rejected("No model can be asked here.");
        self.0.abilities.completions.as_ref().ok_or_else(none)
    }

    /// Returns the properties of the session's model, such as the maximum size of images ([`ModelInfo::media`]).
    /// Without a session, a model is assumed that sees images and documents.
    pub fn model(&self) -> ModelInfo {
        let assumed = || {
            let mut info = ModelInfo::new(200_000, 32_000);
            (info.vision, info.documents) = (true, true);
            info
        };
        self.0.abilities.completions.as_ref().map_or_else(assumed, |completions| completions.model_info(None))
    }

    /// Reports the progress of the call to the host. Only the latest text is kept.
    pub fn progress(&self, message: impl Into<String>) {
        (self.0.progress)(message.into());
    }

    /// Returns a path of an input as an absolute, lexically normal path: relative ones start at [`ToolCx::cwd`], `.`
    /// and `..` are resolved without following links.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        absolute(&self.0.place.cwd, path)
    }
}

impl fmt::Debug for ToolCx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCx")
            .field("session_id", &self.0.session_id)
            .field("tool_use_id", &self.0.tool_use_id)
            .field("cwd", &self.0.place.cwd)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolCxParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may contain secrets.
        f.debug_struct("ToolCxParts")
            .field("session_id", &self.session_id)
            .field("tool_use_id", &self.tool_use_id)
            .field("cwd", &self.place.cwd)
            .finish_non_exhaustive()
    }
}

/// State that tools keep between the calls of one session: one value of each type.
#[derive(Default)]
pub struct SessionState(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl SessionState {
    /// Returns the value of a type, created with `Default` the first time.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().unwrap_or_default()
    }
}

impl fmt::Debug for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionState").finish_non_exhaustive()
    }
}

/// Records in the session's log for its tools (`cx.state::<Recorded>()`). The driver sets them when the session opens,
/// and before each call of [`Access::Session`](windlass_types::Access::Session).
#[derive(Debug, Default)]
pub struct Recorded {
    todos: Mutex<Option<JsonText>>,
}

impl Recorded {
    /// Sets the to-do list, a JSON array. `None`: there is no list.
    pub fn set_todos(&self, todos: Option<JsonText>) {
        *self.todos.lock().unwrap_or_else(PoisonError::into_inner) = todos;
    }

    /// Returns the to-do list as recorded in the log, if it was ever written.
    pub fn todos(&self) -> Option<JsonText> {
        self.todos.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_one_value_of_each_type() {
        let state = SessionState::default();
        state.get::<Mutex<u32>>().lock().map(|mut n| *n += 1).unwrap();
        assert_eq!(*state.get::<Mutex<u32>>().lock().unwrap(), 1);
        assert_eq!(*state.get::<Mutex<u64>>().lock().unwrap(), 0);
    }
}
