//! Notices of a project for the program.

use crate::lock::Lock;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use windlass_runtime::SessionHandle;

/// Maximum number of remembered notices, so that none is given twice.
const MAX_REMEMBERED: usize = 4_096;

/// A notice about a part of the project without effect, or with less effect than its author may expect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectNotice {
    /// Subject of the notice.
    pub kind: ProjectNoticeKind,
    /// Text of the notice, one sentence that names the file. It may quote files that others wrote: escape it for
    /// terminals.
    pub text: String,
}

impl fmt::Display for ProjectNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Subject of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProjectNoticeKind {
    /// A setting is ignored, or has no effect in this version.
    Setting,
    /// The scope of trust could not be recorded, so it covers nothing.
    Trust,
    /// The permission mode differs from the requested one.
    Mode,
    /// A directory of the workspace does not exist.
    Directory,
    /// A part of a plugin cannot be used.
    Plugin,
    /// An agent cannot be used, or not in full.
    Agent,
    /// An instruction file, or an import of one, is left out in whole or in part.
    Instructions,
    /// A variable of the environment is ignored.
    Variable,
    /// An MCP server is not connected, or language servers cannot be used.
    Server,
    /// An answer that was to be remembered applies to the session only.
    Answer,
}

/// Destination of notices.
#[derive(Default)]
enum Sink {
    /// Notices wait until they are taken, or a session is opened.
    #[default]
    Waiting,
    /// A function of the program.
    Program(Arc<dyn Fn(&ProjectNotice) + Send + Sync>),
    /// Events of the session that was opened last.
    Session(SessionHandle),
}

/// Notices of a loaded project.
#[derive(Default)]
pub(crate) struct Notices(Lock<NoticeState>);

#[derive(Default)]
struct NoticeState {
    waiting: Vec<ProjectNotice>,
    seen: BTreeSet<String>,
    sink: Sink,
}

impl Notices {
    /// Adds a notice, unless the same one was given before.
    pub(crate) fn add(&self, kind: ProjectNoticeKind, text: impl Into<String>) {
        let text = text.into();
        {
            let mut state = self.0.lock();
            if state.seen.len() < MAX_REMEMBERED && !state.seen.insert(text.clone()) {
                return;
            }
        }
        self.give(ProjectNotice { kind, text });
    }

    /// Gives a notice, also one that was given before.
    pub(crate) fn give(&self, notice: ProjectNotice) {
        let program = {
            let mut state = self.0.lock();
            match &state.sink {
                Sink::Program(program) => Arc::clone(program),
                Sink::Session(handle) if handle.notice(notice.text.clone()).is_ok() => return,
                _ => {
                    state.waiting.push(notice);
                    return;
                }
            }
        };
        // The function may block.
        program(&notice);
    }

    /// Pending notices.
    pub(crate) fn waiting(&self) -> Vec<ProjectNotice> {
        self.0.lock().waiting.clone()
    }

    pub(crate) fn take(&self) -> Vec<ProjectNotice> {
        std::mem::take(&mut self.0.lock().waiting)
    }

    /// Sends all further notices to a function of the program, the pending ones first.
    pub(crate) fn listen(&self, listener: impl Fn(&ProjectNotice) + Send + Sync + 'static) {
        let program: Arc<dyn Fn(&ProjectNotice) + Send + Sync> = Arc::new(listener);
        let waiting = {
            let mut state = self.0.lock();
            state.sink = Sink::Program(Arc::clone(&program));
            std::mem::take(&mut state.waiting)
        };
        waiting.iter().for_each(|notice| program(notice));
    }

    /// Returns the pending notices for a session that was opened. Later ones become its events, unless the program
    /// listens.
    pub(crate) fn opened(&self, handle: &SessionHandle) -> Vec<String> {
        let mut state = self.0.lock();
        if !matches!(state.sink, Sink::Program(_)) {
            state.sink = Sink::Session(handle.weak());
        }
        std::mem::take(&mut state.waiting).into_iter().map(|notice| notice.text).collect()
    }
}
