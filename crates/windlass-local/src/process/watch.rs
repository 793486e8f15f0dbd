//! [`LocalProcess`] as the port that ends programs outside of calls.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use windlass_tool::{EndSignal, ProgramWatch, WatchedProgram};

use super::local::LocalProcess;
use super::sys::{self, Force, Tree, Watchdog};

impl ProgramWatch for LocalProcess {
    fn mark(&self) -> (OsString, OsString) {
        self.watchdog().ready();
        (Self::MARK.into(), self.next_mark().into())
    }

    fn watch(&self, leader: u32, mark: &OsStr) -> Arc<dyn WatchedProgram> {
        let tree = sys::tree_of(leader, format!("{}={}", Self::MARK, mark.to_string_lossy()));
        if let Some(tree) = &tree {
            self.watchdog().add(tree.id());
        }
        Arc::new(Watched { tree, watchdog: Arc::clone(self.watchdog()) })
    }
}

/// A program on the list of the watchdog.
#[derive(Debug)]
struct Watched {
    tree: Option<Tree>,
    watchdog: Arc<Watchdog>,
}

impl WatchedProgram for Watched {
    fn signal(&self, signal: EndSignal) -> usize {
        let force = match signal {
            EndSignal::Ask => Force::Ask,
            EndSignal::Kill => Force::Kill,
        };
        self.tree.as_ref().map_or(0, |tree| tree.signal(force, false))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(tree) = &self.tree {
            self.watchdog.remove(tree.id());
        }
    }
}
