//! The workspace kit itself: good workspaces pass, and each broken promise is found.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use windlass_testkit::fake::MemoryWorkspace;
use windlass_testkit::workspace::{self, LocalFiles};
use windlass_tool::{
    DirectoryEntry, EntryKind, FileInfo, JudgedPath, OpenFile, Permit, ResolvedPath, Workspace, WorkspaceError,
    WorkspaceErrorKind, WriteOptions,
};
use windlass_types::CallDigest;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    ResolvesBySpelling,
    ResolvesParentsByName,
    TellsNoHops,
    TellsTooManyEntries,
    FollowsLinksOfEntries,
    IgnoresThePermit,
    IgnoresTheFilter,
    OpensWhatIsListable,
    WritesWithAReadPermit,
    FollowsSwappedLinks,
    LeavesTheTree,
    ReadsDirectories,
    HangsOnSpecialFiles,
    ReadsTooMuch,
    ForgetsTheLastByte,
    TellsAWrongSize,
    IgnoresTheLimit,
    ForgetsHiddenNames,
    OverwritesNewFiles,
    AlwaysMakesDirectories,
    NeverMakesDirectories,
    LeavesLitter,
    LeavesLitterOnFailure,
    WritesInTwoSteps,
    RemovesWithAReadPermit,
    RenamesOverFiles,
    WritesOverOtherContent,
    RemovesOtherContent,
    NamesNoPath,
}

/// A workspace with one flaw.
#[derive(Debug)]
struct Flawed {
    files: MemoryWorkspace,
    flaw: Flaw,
    made: AtomicUsize,
}

impl Flawed {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    async fn permit(&self, permit: &Permit, path: &Path, write: bool) -> Permit {
        let everywhere = |resolved: &Path| {
            let judged = vec![JudgedPath::new(path, resolved)];
            let all = Permit::new(CallDigest::new("00")).with_reads(judged.clone()).with_writes(judged);
            match permit.filter() {
                Some(filter) => all.with_filter(filter),
                None => all,
            }
        };
        let covered = if write { permit.writable(path).is_some() } else { permit.readable(path).is_some() };
        match self.flaw {
            Flaw::IgnoresThePermit => everywhere(&self.real(path).await),
            Flaw::WritesWithAReadPermit if write && permit.readable(path).is_some() => {
                everywhere(&self.real(path).await)
            }
            Flaw::FollowsSwappedLinks if covered => everywhere(&self.real(path).await),
            Flaw::LeavesTheTree if covered && !write => everywhere(&self.real(path).await),
            Flaw::OpensWhatIsListable if !write && permit.listable(path.parent().unwrap_or(path)).is_some() => {
                everywhere(&self.real(path).await)
            }
            Flaw::IgnoresTheFilter => permit.clone().with_filter(std::sync::Arc::new(|_| true)),
            _ => permit.clone(),
        }
    }

    async fn real(&self, path: &Path) -> std::path::PathBuf {
        self.files.resolve(path).await.map(|resolved| resolved.path).unwrap_or_default()
    }
}

fn wordless(error: &WorkspaceError) -> WorkspaceError {
    WorkspaceError::new(error.kind, "no")
}

#[async_trait]
impl Workspace for Flawed {
    async fn resolve(&self, path: &Path) -> Result<ResolvedPath, WorkspaceError> {
        match self.flaw {
            Flaw::ResolvesBySpelling => Ok(ResolvedPath::new(path, EntryKind::File)),
            Flaw::ResolvesParentsByName => {
                self.files.resolve(&windlass_types::path::absolute(Path::new("/"), path)).await
            }
            Flaw::TellsNoHops => Ok(self.files.resolve(path).await?.with_via(Vec::new())),
            _ => self.files.resolve(path).await,
        }
    }

    async fn open(&self, permit: &Permit, path: &Path) -> Result<Box<dyn OpenFile>, WorkspaceError> {
        let permit = self.permit(permit, path, false).await;
        let file = match self.files.open(&permit, path).await {
            Err(error) if self.has(Flaw::NamesNoPath) => return Err(wordless(&error)),
            Err(error) if self.has(Flaw::ReadsDirectories) && error.kind == WorkspaceErrorKind::IsDirectory => {
                let files = MemoryWorkspace::new().with_file("/work/x", "");
                let permit = Permit::new(CallDigest::new("0")).with_reads(vec![JudgedPath::new("/", "/")]);
                return files.open(&permit, Path::new("/work/x")).await;
            }
            Err(error) if self.has(Flaw::HangsOnSpecialFiles) && error.kind == WorkspaceErrorKind::NotRegular => {
                std::future::pending().await
            }
            file => file?,
        };
        let mut info = file.info().clone();
        if self.has(Flaw::TellsAWrongSize) {
            info.size += 1;
        }
        Ok(Box::new(FlawedFile { left: info.size, file, info, flaw: self.flaw }))
    }

    async fn write(
        &self,
        permit: &Permit,
        path: &Path,
        content: &[u8],
        mut options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        let permit = self.permit(permit, path, true).await;
        match self.flaw {
            Flaw::OverwritesNewFiles => options.must_be_new = false,
            Flaw::AlwaysMakesDirectories => options.create_directories = true,
            Flaw::NeverMakesDirectories => options.create_directories = false,
            _ => {}
        }
        if self.has(Flaw::WritesInTwoSteps) && permit.writable(path).is_some() {
            self.files.write(&permit, path, &content[..content.len() / 2], options).await?;
            tokio::task::yield_now().await;
            options.must_be_new = false;
        }
        let written = self.files.write(&permit, path, content, options).await;
        let litter = match self.flaw {
            Flaw::LeavesLitter => written.is_ok(),
            Flaw::LeavesLitterOnFailure => {
                written.as_ref().is_err_and(|error| error.kind == WorkspaceErrorKind::IsDirectory)
            }
            _ => false,
        };
        if litter {
            let count = self.made.fetch_add(1, Ordering::Relaxed);
            self.files.put(path.with_file_name(format!(".tmp{count}")), "");
        }
        written
    }

    async fn remove(&self, permit: &Permit, path: &Path) -> Result<(), WorkspaceError> {
        match self.has(Flaw::RemovesWithAReadPermit) && permit.readable(path).is_some() {
            true => self.files.remove(path),
            false => Workspace::remove(&self.files, permit, path).await?,
        }
        Ok(())
    }

    async fn compare_and_write(
        &self,
        permit: &Permit,
        path: &Path,
        expected: &[u8],
        content: &[u8],
    ) -> Result<(), WorkspaceError> {
        let options = WriteOptions::default();
        match self.has(Flaw::WritesOverOtherContent) {
            true => self.files.write(permit, path, content, options).await,
            false => self.files.compare_and_write(permit, path, expected, content).await,
        }
    }

    async fn compare_and_remove(&self, permit: &Permit, path: &Path, expected: &[u8]) -> Result<(), WorkspaceError> {
        match self.has(Flaw::RemovesOtherContent) {
            true => Workspace::remove(&self.files, permit, path).await,
            false => self.files.compare_and_remove(permit, path, expected).await,
        }
    }

    async fn rename(
        &self,
        permit: &Permit,
        from: &Path,
        to: &Path,
        options: WriteOptions,
    ) -> Result<(), WorkspaceError> {
        if self.has(Flaw::RenamesOverFiles) && self.files.content(to).is_some() {
            self.files.remove(to);
        }
        self.files.rename(permit, from, to, options).await
    }

    async fn entries(&self, directory: &Path, limit: usize) -> Result<Vec<DirectoryEntry>, WorkspaceError> {
        let limit = if self.has(Flaw::TellsTooManyEntries) { usize::MAX } else { limit };
        let mut entries = self.files.entries(directory, limit).await?;
        if self.has(Flaw::FollowsLinksOfEntries) {
            for entry in &mut entries {
                entry.kind = self.files.resolve(&directory.join(&entry.name)).await?.kind;
            }
        }
        Ok(entries)
    }

    async fn list(&self, permit: &Permit, path: &Path, limit: usize) -> Result<Vec<String>, WorkspaceError> {
        let permit = self.permit(permit, path, false).await;
        let limit = if self.has(Flaw::IgnoresTheLimit) { usize::MAX } else { limit };
        let mut names = self.files.list(&permit, path, limit).await?;
        if self.has(Flaw::ForgetsHiddenNames) {
            names.retain(|name| !name.starts_with('.'));
        }
        Ok(names)
    }

    fn is_local(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct FlawedFile {
    file: Box<dyn OpenFile>,
    info: FileInfo,
    left: u64,
    flaw: Flaw,
}

#[async_trait]
impl OpenFile for FlawedFile {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    async fn read(&mut self, limit: usize) -> Result<Vec<u8>, WorkspaceError> {
        let more = if self.flaw == Flaw::ReadsTooMuch { limit + 1 } else { limit };
        let mut chunk = self.file.read(more).await?;
        self.left = self.left.saturating_sub(chunk.len() as u64);
        if self.flaw == Flaw::ForgetsTheLastByte && self.left == 0 {
            chunk.pop();
        }
        Ok(chunk)
    }
}

#[tokio::test]
async fn a_memory_workspace_passes() {
    let files = MemoryWorkspace::new();
    workspace::all(&files, &files).await.unwrap();
    // Rules leave their sites behind and may run again elsewhere.
    let again = MemoryWorkspace::new();
    workspace::reads_files(&again, &again).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn each_broken_promise_is_found() {
    for (flaw, violation) in [
        (Flaw::ResolvesBySpelling, "real resolves to"),
        (Flaw::ResolvesParentsByName, "deep/../file resolves to"),
        (Flaw::TellsNoHops, "chain goes by to-dir/to-file"),
        (Flaw::TellsTooManyEntries, "of two entries asked for there are"),
        (Flaw::FollowsLinksOfEntries, "the entries are"),
        (Flaw::IgnoresThePermit, "open with an empty permit: expected a refusal"),
        (Flaw::IgnoresTheFilter, "open what the filter leaves out: expected a refusal"),
        (Flaw::OpensWhatIsListable, "open in a directory that may only be listed: expected a refusal"),
        (Flaw::WritesWithAReadPermit, "write with a permit for reading: expected a refusal"),
        (Flaw::FollowsSwappedLinks, "open: a file became a link: expected a refusal"),
        (Flaw::LeavesTheTree, "expected a refusal"),
        (Flaw::ReadsDirectories, "open directory: expected a refusal"),
        (Flaw::HangsOnSpecialFiles, "open special: no answer in 30 s"),
        (Flaw::ReadsTooMuch, "bytes, but"),
        (Flaw::ForgetsTheLastByte, "reads as \"i\""),
        (Flaw::TellsAWrongSize, "empty has 0 bytes, but"),
        (Flaw::IgnoresTheLimit, "3 names at most of"),
        (Flaw::ForgetsHiddenNames, "100 names at most of"),
        (Flaw::OverwritesNewFiles, "write as new over a file: expected a refusal"),
        (Flaw::AlwaysMakesDirectories, "write below a missing directory: expected a refusal"),
        (Flaw::NeverMakesDirectories, "write, making directories, a/b/c/file"),
        (Flaw::LeavesLitter, "after writes that worked: the directory holds"),
        (Flaw::LeavesLitterOnFailure, "failed and left a file behind"),
        (Flaw::WritesInTwoSteps, "read beside writers"),
        (Flaw::RemovesWithAReadPermit, "remove what is not there: expected a refusal"),
        (Flaw::RenamesOverFiles, "rename to a name that is taken: expected a refusal"),
        (Flaw::WritesOverOtherContent, "write over another content: expected a refusal"),
        (Flaw::RemovesOtherContent, "remove another content: expected a refusal"),
        (Flaw::NamesNoPath, "the error does not name"),
    ] {
        let files = MemoryWorkspace::new();
        let flawed = Flawed { files: files.clone(), flaw, made: AtomicUsize::new(0) };
        let found = workspace::all(&flawed, &files).await;
        let text = found.err().map(|violation| violation.to_string()).unwrap_or_default();
        assert!(text.contains(violation), "{flaw:?} gives {text:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_dropped_half_way_is_found() {
    let files = MemoryWorkspace::new();
    let flawed = Flawed { files: files.clone(), flaw: Flaw::WritesInTwoSteps, made: AtomicUsize::new(0) };
    let found = workspace::a_dropped_write_is_whole_or_not_made(&flawed, &files).await.unwrap_err().to_string();
    assert!(found.starts_with("after a write that was dropped the file holds"), "{found}");
}

#[tokio::test]
async fn a_tree_that_is_left_through_a_link_is_found() {
    let files = MemoryWorkspace::new();
    let flawed = Flawed { files: files.clone(), flaw: Flaw::LeavesTheTree, made: AtomicUsize::new(0) };
    let found = workspace::stays_inside_of_a_judged_tree(&flawed, &files).await.unwrap_err().to_string();
    assert!(found.starts_with("open tree/absolute, which leads out of the judged tree: expected a refusal"), "{found}");
}

#[tokio::test]
async fn a_fixture_that_does_not_work_is_distinguished_from_a_broken_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let gone = LocalFiles::new(folder.path()).unwrap();
    drop(folder);
    let found = workspace::reads_files(&MemoryWorkspace::new(), &gone).await.unwrap_err().to_string();
    assert!(found.starts_with("the fixture could not make"), "{found}");
}

#[tokio::test]
async fn the_test_works_on_the_tree_from_outside() {
    let files = MemoryWorkspace::new().with_file("/work/a/b", "1").with_special("/work/null").with_link("/l", "work/a");
    assert_eq!(files.paths(), ["/l", "/work", "/work/a", "/work/a/b", "/work/null"].map(std::path::PathBuf::from));
    assert_eq!(files.text("/work/a/b").as_deref(), Some("1"));
    assert_eq!(files.text("/l/b"), None, "links are not followed");
    files.put("/work/a", "now a file");
    assert_eq!(files.text("/work/a/b"), None);
    files.put("/l/under", "the link gives way");
    assert_eq!(files.text("/l/under").as_deref(), Some("the link gives way"));
    files.remove("/work");
    assert_eq!(files.paths(), ["/l", "/l/under"].map(std::path::PathBuf::from));

    files.set_executable("/l/under", true);
    let permit = Permit::new(CallDigest::new("0")).with_writes(vec![JudgedPath::new("/l/under", "/l/under")]);
    let path = Path::new("/l/under");
    let before = files.open(&permit, path).await.unwrap().info().clone();
    files.write(&permit, path, b"new", WriteOptions::default()).await.unwrap();
    let after = files.open(&permit, path).await.unwrap().info().clone();
    assert!(before.executable && after.executable, "a write keeps what the file is");
    assert!(after.modified > before.modified, "times distinguish changes");
}
