//! File checkpoints: the conformance kit, random histories, crashes, damage, and unusual files.

mod attacks;
mod collecting;
mod damage;
mod kill;
mod kit;
mod large;
mod limits;
mod odd;
mod random;
mod random_commands;
mod secrets;
mod stopped;
mod surveys;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_local::LocalWorkspace;
use windlass_session::{Checkpoints, RewindOptions};
use windlass_store::FileCheckpoints;
use windlass_testkit::fake::ManualClock;
use windlass_tool::{Clock, FileTree, Ids};
use windlass_types::{EntryId, ToolUseId};

/// Ids as in programs: a session that continues in another process gets no id twice.
#[derive(Debug)]
struct RandomIds;

impl Ids for RandomIds {
    fn bits(&self) -> u128 {
        use std::hash::{BuildHasher, RandomState};
        u128::from(RandomState::new().hash_one(0)) << 64 | u128::from(RandomState::new().hash_one(1))
    }
}

fn ports() -> (Arc<dyn FileTree>, Arc<dyn Clock>, Arc<dyn Ids>) {
    (Arc::new(LocalWorkspace::new()), Arc::new(ManualClock::new()), Arc::new(RandomIds))
}

fn at(directory: &Path) -> FileCheckpoints {
    let (tree, clock, ids) = ports();
    FileCheckpoints::new(directory, tree, clock, ids)
}

/// A home and a workspace.
struct World {
    home: tempfile::TempDir,
    work: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), work: tempfile::tempdir().unwrap() }
    }

    fn directory(&self) -> PathBuf {
        FileCheckpoints::directory_in(&self.home.path().join("session"))
    }

    fn root(&self) -> PathBuf {
        self.work.path().canonicalize().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn options(&self) -> RewindOptions {
        RewindOptions::within([self.root()])
    }
}

fn prompt(number: u128) -> EntryId {
    EntryId::from_bits(number)
}

/// Changes a file as a tool does.
async fn change(checkpoints: &dyn Checkpoints, number: u128, path: &Path, content: &[u8]) {
    let id = ToolUseId::from("call");
    let paths = [path.to_owned()];
    checkpoints.keep(&prompt(number), &id, &paths).await.unwrap();
    std::fs::write(path, content).unwrap();
    checkpoints.changed(&id, &paths).await.unwrap();
}
