//! What a program should know of a project.

use crate::lock::Lock;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use windlass_runtime::SessionHandle;

/// Most notices that are remembered, so that none is given twice.
const MOST_SEEN: usize = 4_096;

/// Something that has no effect, or less than its writer may think.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectNotice {
    /// What it is about.
    pub kind: ProjectNoticeKind,
    /// What it is, in one sentence that names the file. It may quote files that others wrote: escape it for terminals.
    pub text: String,
}

impl fmt::Display for ProjectNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProjectNoticeKind {
    /// A setting does not count, or has no effect in this version.
    Setting,
    /// What trust covers could not be recorded, so it covers nothing.
    Trust,
    /// The permission mode is another one than somebody chose.
    Mode,
    /// A directory of the workspace is not there.
    Directory,
    /// A part of a plugin cannot be used.
    Plugin,
    /// An agent cannot be used, or not in full.
    Agent,
    /// A file with instructions, or an import of one, is left out in whole or in part.
    Instructions,
    /// A variable of the environment does not count.
    Variable,
    /// An MCP server is not connected, or language servers cannot be used.
    Server,
    /// An answer that was to be remembered holds for the session only.
    Answer,
}

/// Where notices go.
#[derive(Default)]
enum Sink {
    /// They wait until somebody takes them, or a session is opened.
    #[default]
    Waiting,
    /// A function of the program.
    Program(Arc<dyn Fn(&ProjectNotice) + Send + Sync>),
    /// The events of the session that was opened last.
    Session(SessionHandle),
}

/// The notices of a loaded project.
#[derive(Default)]
pub(crate) struct Notices(Lock<NoticeState>);

#[derive(Default)]
struct NoticeState {
    waiting: Vec<ProjectNotice>,
    seen: BTreeSet<String>,
    sink: Sink,
}

impl Notices {
    /// Gives a notice, unless the same one was given before.
    pub(crate) fn add(&self, kind: ProjectNoticeKind, text: impl Into<String>) {
        let text = text.into();
        {
            let mut state = self.0.lock();
            if state.seen.len() < MOST_SEEN && !state.seen.insert(text.clone()) {
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
        // It may take as long as it likes.
        program(&notice);
    }

    /// The notices that wait.
    pub(crate) fn waiting(&self) -> Vec<ProjectNotice> {
        self.0.lock().waiting.clone()
    }

    pub(crate) fn take(&self) -> Vec<ProjectNotice> {
        std::mem::take(&mut self.0.lock().waiting)
    }

    /// From now on a function of the program gets the notices, those that wait first.
    pub(crate) fn listen(&self, listener: impl Fn(&ProjectNotice) + Send + Sync + 'static) {
        let program: Arc<dyn Fn(&ProjectNotice) + Send + Sync> = Arc::new(listener);
        let waiting = {
            let mut state = self.0.lock();
            state.sink = Sink::Program(Arc::clone(&program));
            std::mem::take(&mut state.waiting)
        };
        waiting.iter().for_each(|notice| program(notice));
    }

    /// A session was opened: its own notices are those that wait, and its events report later ones, unless the program
    /// listens.
    pub(crate) fn opened(&self, handle: &SessionHandle) -> Vec<String> {
        let mut state = self.0.lock();
        if !matches!(state.sink, Sink::Program(_)) {
            state.sink = Sink::Session(handle.weak());
        }
        std::mem::take(&mut state.waiting).into_iter().map(|notice| notice.text).collect()
    }
}
