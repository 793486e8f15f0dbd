use super::*;
use std::fs;
use windlass_tool::JudgedPath;
use windlass_types::CallDigest;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

fn permit() -> Permit {
    Permit::new(CallDigest::new("00"))
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

async fn judged(workspace: &LocalWorkspace, path: &Path) -> JudgedPath {
    JudgedPath::new(path, workspace.resolve(path).await.unwrap().path)
}

async fn read_all(file: &mut dyn OpenFile) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let part = file.read(7).await.unwrap();
        if part.is_empty() {
            return all;
        }
        all.extend(part);
    }
}

#[test]
fn reads_and_writes_what_the_permit_covers() {
    let (_tmp, at) = folder();
    run(async {
        let workspace = LocalWorkspace::new();
        let path = at.join("new/deep/file.txt");
        assert_eq!(workspace.resolve(&path).await.unwrap().kind, EntryKind::Missing);
        let permit = permit().with_writes(vec![judged(&workspace, &path).await]);
        let error = workspace.write(&permit, &path, b"x", WriteOptions::default()).await.unwrap_err();
        assert_eq!(error.kind, WorkspaceErrorKind::NotFound);
        let options = WriteOptions::default().creating_directories();
        workspace.write(&permit, &path, b"some text of mine", options).await.unwrap();
        let mut file = workspace.open(&permit, &path).await.unwrap();
        assert_eq!(file.info().size, 17);
        assert_eq!(read_all(&mut *file).await, b"some text of mine");
        let again = workspace.write(&permit, &path, b"", options.only_new()).await.unwrap_err();
        assert_eq!(again.kind, WorkspaceErrorKind::AlreadyExists);
    });
}

#[test]
fn a_file_is_read_to_its_end_whatever_its_size_was() {
    let (_tmp, at) = folder();
    run(async {
        let workspace = LocalWorkspace::new();
        let path = at.join("log");
        for (before, behind) in [(0, 5), (3, 0), (3, 100), (3, 40_000), (20_000, 1)] {
            fs::write(&path, "x".repeat(before)).unwrap();
            let permit = permit().with_reads(vec![judged(&workspace, &path).await]);
            let mut file = workspace.open(&permit, &path).await.unwrap();
            let first = file.read(usize::MAX).await.unwrap();
            assert_eq!(first.len(), before, "the whole in one piece");
            fs::write(&path, "x".repeat(before + behind)).unwrap();
            let mut rest = 0;
            for _ in 0..8 {
                rest += file.read(usize::MAX).await.unwrap().len();
            }
            assert_eq!(rest, behind, "{before}");
        }
    });
}

#[test]
fn works_without_a_runtime() {
    let (_tmp, at) = folder();
    fs::write(at.join("file"), "text").unwrap();
    let permit = permit().with_reads(vec![JudgedPath::new(&at, &at)]);
    let path = at.join("file");
    let workspace = LocalWorkspace::new();
    let mut future = workspace.open(&permit, &path);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(future.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn what_the_permit_does_not_cover_is_refused() {
    let (_tmp, at) = folder();
    fs::write(at.join("inside"), "").unwrap();
    fs::write(at.join("inside-too"), "").unwrap();
    run(async {
        let workspace = LocalWorkspace::new();
        let permit = permit().with_reads(vec![judged(&workspace, &at.join("inside")).await]);
        let kind = |result: Result<_, WorkspaceError>| result.err().map(|error| error.kind);
        assert_eq!(kind(workspace.open(&permit, &at.join("inside")).await.map(drop)), None);
        let refused = Some(WorkspaceErrorKind::NotPermitted);
        assert_eq!(kind(workspace.open(&permit, &at.join("inside-too")).await.map(drop)), refused);
        assert_eq!(kind(workspace.list(&permit, &at, 9).await.map(drop)), refused);
        let write = workspace.write(&permit, &at.join("inside"), b"", WriteOptions::default()).await;
        assert_eq!(kind(write), refused);
    });
}

#[test]
fn what_is_only_listable_shows_only_names() {
    let (_tmp, at) = folder();
    fs::create_dir(at.join("below")).unwrap();
    fs::write(at.join("a"), "").unwrap();
    fs::write(at.join("secret"), "").unwrap();
    run(async {
        let workspace = LocalWorkspace::new();
        let permit = permit()
            .with_listable(vec![judged(&workspace, &at).await])
            .with_filter(Arc::new(|path: &Path| !path.ends_with("secret")));
        let mut names = workspace.list(&permit, &at, 9).await.unwrap();
        names.sort();
        assert_eq!(names, ["a", "below"]);
        let refused = Some(WorkspaceErrorKind::NotPermitted);
        let kind = |result: Result<_, WorkspaceError>| result.err().map(|error| error.kind);
        assert_eq!(kind(workspace.open(&permit, &at.join("a")).await.map(drop)), refused);
        assert_eq!(kind(workspace.list(&permit, &at.join("below"), 9).await.map(drop)), refused);
    });
}

#[test]
fn a_filter_hides_parts_of_a_tree() {
    let (_tmp, at) = folder();
    for name in ["a", "b", "secret"] {
        fs::write(at.join(name), name).unwrap();
    }
    run(async {
        let workspace = LocalWorkspace::new();
        let permit = permit()
            .with_reads(vec![judged(&workspace, &at).await])
            .with_filter(Arc::new(|path: &Path| !path.ends_with("secret")));
        let mut names = workspace.list(&permit, &at, 9).await.unwrap();
        names.sort();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(workspace.list(&permit, &at, 1).await.unwrap().len(), 1);
        let error = workspace.open(&permit, &at.join("secret")).await.unwrap_err();
        assert_eq!(error.kind, WorkspaceErrorKind::NotPermitted);
    });
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_opened_and_none_is_waited_for() {
        let (_tmp, at) = folder();
        let mode = rustix::fs::Mode::from_bits_truncate(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, at.join("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at.join("socket")).unwrap();
        run(async {
            let workspace = LocalWorkspace::new();
            for path in [at.join("pipe"), PathBuf::from("/dev/zero"), PathBuf::from("/dev/tty")] {
                let permit = permit().with_reads(vec![judged(&workspace, &path).await]);
                let error = workspace.open(&permit, &path).await.unwrap_err();
                // Without a terminal the last one cannot even be opened.
                let tty = path.ends_with("tty") && error.kind == WorkspaceErrorKind::Other;
                assert!(error.kind == WorkspaceErrorKind::NotRegular || tty, "{error}");
            }
            let path = at.join("socket");
            let permit = permit().with_reads(vec![judged(&workspace, &path).await]);
            assert!(workspace.open(&permit, &path).await.is_err());
            let permit = super::permit().with_reads(vec![judged(&workspace, &at).await]);
            let error = workspace.open(&permit, &at).await.unwrap_err();
            assert_eq!(error.kind, WorkspaceErrorKind::IsDirectory);
        });
    }

    #[test]
    fn links_inside_a_tree_may_not_lead_out_of_it() {
        let (_tmp, at) = folder();
        fs::create_dir_all(at.join("tree/sub")).unwrap();
        fs::write(at.join("tree/sub/file"), "in").unwrap();
        fs::write(at.join("outside"), "out").unwrap();
        symlink("sub/file", at.join("tree/good")).unwrap();
        symlink("../outside", at.join("tree/bad")).unwrap();
        run(async {
            let workspace = LocalWorkspace::new();
            let permit = permit().with_reads(vec![judged(&workspace, &at.join("tree")).await]);
            let mut good = workspace.open(&permit, &at.join("tree/good")).await.unwrap();
            assert_eq!(read_all(&mut *good).await, b"in");
            let error = workspace.open(&permit, &at.join("tree/bad")).await.unwrap_err();
            assert_eq!(error.kind, WorkspaceErrorKind::NotPermitted);
        });
    }

    #[test]
    fn a_link_put_on_the_way_after_judgement_is_refused() {
        let (_tmp, at) = folder();
        fs::create_dir_all(at.join("dir")).unwrap();
        fs::create_dir_all(at.join("outside")).unwrap();
        for place in ["dir/file", "outside/file"] {
            fs::write(at.join(place), place).unwrap();
        }
        run(async {
            let workspace = LocalWorkspace::new();
            let path = at.join("dir/file");
            let permit = permit().with_writes(vec![judged(&workspace, &path).await]);
            fs::rename(at.join("dir"), at.join("moved")).unwrap();
            symlink("outside", at.join("dir")).unwrap();
            let error = workspace.open(&permit, &path).await.unwrap_err();
            assert_eq!(error.kind, WorkspaceErrorKind::Changed);
            let options = WriteOptions::default().creating_directories();
            let error = workspace.write(&permit, &path, b"new", options).await.unwrap_err();
            assert_eq!(error.kind, WorkspaceErrorKind::Changed);
            assert_eq!(fs::read(at.join("outside/file")).unwrap(), b"outside/file");
        });
    }
}
