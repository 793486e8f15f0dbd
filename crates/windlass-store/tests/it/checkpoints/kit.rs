use super::*;
use async_trait::async_trait;
use windlass_session::{
    Checkpoint, CheckpointError, CheckpointErrorKind, FileChange, NotRestored, NotRestoredKind, Rewind,
};
use windlass_store::MemoryCheckpoints;
use windlass_testkit::checkpoints;
use windlass_testkit::workspace::LocalFiles;

#[tokio::test]
async fn checkpoints_in_files_and_in_memory_conform() {
    let world = World::new();
    checkpoints::all(&at(&world.directory()), &LocalFiles::new(world.root()).unwrap()).await.unwrap();
    let world = World::new();
    let (tree, clock, ids) = ports();
    let memory = MemoryCheckpoints::new(tree, clock, ids);
    checkpoints::all(&memory, &LocalFiles::new(world.root()).unwrap()).await.unwrap();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    KeepsNothing,
    KeepsTheLast,
    ForgetsQuietPrompts,
    DoesItAtOnce,
    DoesItAgain,
    CannotUndo,
    RemovesOthers,
    GoesAnywhere,
    HidesLinks,
    HidesConflicts,
    IgnoresWishes,
    KnowsEverything,
}

/// Checkpoints with one flaw.
#[derive(Debug)]
struct Flawed {
    inner: MemoryCheckpoints,
    flaw: Flaw,
    root: PathBuf,
    again: std::sync::atomic::AtomicU64,
}

impl Flawed {
    fn options(&self, options: &RewindOptions) -> RewindOptions {
        let mut options = options.clone();
        match self.flaw {
            Flaw::GoesAnywhere => options.directories = vec!["/".into()],
            Flaw::IgnoresWishes => options.leave_conflicts = false,
            _ => {}
        }
        options
    }

    fn altered(&self, mut rewind: Rewind) -> Rewind {
        match self.flaw {
            Flaw::CannotUndo => rewind.undo = None,
            Flaw::HidesConflicts => rewind.files.iter_mut().for_each(|file| file.conflict = false),
            Flaw::HidesLinks => {
                let link = |problem: &NotRestored| problem.kind == NotRestoredKind::Link;
                rewind.files.retain(|file| !file.problem.as_ref().is_some_and(link));
            }
            _ => {}
        }
        rewind
    }

    fn known(&self, result: Result<Rewind, CheckpointError>) -> Result<Rewind, CheckpointError> {
        match result {
            Err(error) if self.flaw == Flaw::KnowsEverything && error.kind == CheckpointErrorKind::Unknown => {
                Ok(Rewind::default())
            }
            result => Ok(self.altered(result?)),
        }
    }
}

#[async_trait]
impl Checkpoints for Flawed {
    async fn begin(&self, id: &EntryId) -> Result<(), CheckpointError> {
        match self.flaw {
            Flaw::ForgetsQuietPrompts => Ok(()),
            _ => self.inner.begin(id).await,
        }
    }

    async fn keep(&self, id: &EntryId, tool: &ToolUseId, paths: &[PathBuf]) -> Result<(), CheckpointError> {
        match self.flaw {
            Flaw::KeepsNothing => self.inner.begin(id).await,
            Flaw::KeepsTheLast => {
                // Each call hides the files kept by the one before.
                let number = self.again.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if paths.iter().any(|path| path.ends_with("checkpoints-2/file")) && number % 2 == 1 {
                    for path in paths {
                        std::fs::write(path, "lost").unwrap();
                    }
                }
                self.inner.keep(id, tool, paths).await
            }
            _ => self.inner.keep(id, tool, paths).await,
        }
    }

    async fn changed(&self, tool: &ToolUseId, paths: &[PathBuf]) -> Result<(), CheckpointError> {
        self.inner.changed(tool, paths).await
    }

    async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError> {
        self.inner.list().await
    }

    async fn changes(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError> {
        if self.flaw == Flaw::DoesItAtOnce {
            return self.rewind(to, options).await;
        }
        self.known(self.inner.changes(to, &self.options(options)).await)
    }

    async fn rewind(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError> {
        if self.flaw == Flaw::RemovesOthers {
            // As `git clean` would.
            for directory in std::fs::read_dir(&self.root).unwrap() {
                let _ = std::fs::remove_file(directory.unwrap().path().join("new"));
            }
        }
        let done = self.known(self.inner.rewind(to, &self.options(options)).await)?;
        if self.flaw == Flaw::DoesItAgain && done.files.is_empty() {
            let file = windlass_session::RewoundFile::new("/x", FileChange::Modified);
            return Ok(Rewind::new(vec![file], None));
        }
        Ok(done)
    }
}

#[tokio::test]
async fn each_flaw_is_found_by_its_rule() {
    for (flaw, rule) in [
        (Flaw::KeepsNothing, "files get back what they were"),
        (Flaw::KeepsTheLast, "what was there first counts"),
        (Flaw::ForgetsQuietPrompts, "every prompt is a checkpoint"),
        (Flaw::DoesItAtOnce, "a preview changes nothing"),
        (Flaw::DoesItAgain, "rewinding twice is rewinding once"),
        (Flaw::CannotUndo, "a rewind can be undone"),
        (Flaw::RemovesOthers, "other files are left alone"),
        (Flaw::GoesAnywhere, "nothing outside is touched"),
        (Flaw::HidesLinks, "links are left alone"),
        (Flaw::HidesConflicts, "changes of others are reported and kept"),
        (Flaw::IgnoresWishes, "changes of others can be left"),
        (Flaw::KnowsEverything, "unknown checkpoints are refused"),
    ] {
        let world = World::new();
        let (tree, clock, ids) = ports();
        let inner = MemoryCheckpoints::new(tree, clock, ids);
        let flawed = Flawed { inner, flaw, root: world.root(), again: Default::default() };
        let files = LocalFiles::new(world.root()).unwrap();
        let found = checkpoints::all(&flawed, &files).await.expect_err(rule);
        assert!(found.to_string().starts_with(rule), "{flaw:?}: {found}");
    }
}
