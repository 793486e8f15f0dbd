//! Systems without `/proc`: the tree is the process group.

use rustix::process::{Pid, Signal};

use super::tree::Tree;

/// Whether the group has no members. Processes outside of it are not known here.
pub(super) fn none_is_left(tree: &Tree) -> bool {
    !tree.group_exists()
}

/// Whether the group has members. It is signalled as a whole elsewhere.
#[derive(Debug)]
pub(super) struct Members(bool);

impl Members {
    pub(super) fn len(&self) -> usize {
        usize::from(self.0)
    }

    pub(super) fn signal(&self, _tree: &Tree, _signal: Signal) {}
}

pub(super) fn members(tree: &Tree, _wide: bool) -> Members {
    Members(tree.group_exists())
}

/// There is none here.
pub(super) fn keeper_of(_pid: Pid) -> Option<i32> {
    None
}

/// Not asked for here.
pub(super) fn start_of(_pid: Pid) -> Option<u64> {
    None
}
