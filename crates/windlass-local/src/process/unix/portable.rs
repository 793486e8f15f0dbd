//! Systems without `/proc`: the tree is the process group.

use rustix::process::{Pid, Signal};

use super::tree::Tree;

/// `true` if the group has no members. Processes outside of it are unknown here.
pub(super) fn none_is_left(tree: &Tree) -> bool {
    !tree.group_exists()
}

/// `true` if the group has members. [`Tree::signal`] signals it as a whole.
#[derive(Debug)]
pub(super) struct Members(bool);

impl Members {
    pub(super) fn len(&self) -> usize {
        usize::from(self.0)
    }

    pub(super) fn signal(&self, _tree: &Tree, _signal: Signal) {}
}

pub(super) fn members(tree: &Tree, _with_pipe_holders: bool) -> Members {
    Members(tree.group_exists())
}

/// `None`: there are no keepers here.
pub(super) fn keeper_of(_pid: Pid) -> Option<i32> {
    None
}

/// `None`: not needed here.
pub(super) fn start_of(_pid: Pid) -> Option<u64> {
    None
}
