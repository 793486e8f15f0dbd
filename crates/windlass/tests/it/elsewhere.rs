//! Sessions whose files and programs are not on this machine. The directories that they work in exist there alone.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass::crates::runtime::Prompt;
use windlass::session::EntryId;
use windlass::{
    Error, EventKind, Home, PermissionMode, Permissions, Script, ScriptedModel, Session, SessionBuilder, coding_tools,
    session,
};
use windlass_testkit::fake::MemoryWorkspace;

/// Files of the session, seen from outside of it.
trait Seen {
    fn read(&self, name: &str) -> Option<String>;
    fn write(&self, name: &str, content: &str);
}

struct World<F> {
    home: tempfile::TempDir,
    root: PathBuf,
    files: F,
}

/// In memory.
struct Memory(MemoryWorkspace);

impl Seen for Memory {
    fn read(&self, name: &str) -> Option<String> {
        self.0.text(Path::new("/far/project").join(name))
    }

    fn write(&self, name: &str, content: &str) {
        self.0.put(Path::new("/far/project").join(name), content);
    }
}

/// In a folder that stands elsewhere in the far world than here.
#[cfg(feature = "remote")]
struct Folder(tempfile::TempDir);

#[cfg(feature = "remote")]
impl Seen for Folder {
    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.path().join("project").join(name)).ok()
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.0.path().join("project").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

fn fill(files: &dyn Seen) {
    files.write("src/lib.rs", "pub fn far() {}\n");
    files.write("notes.txt", "far away\n");
    files.write(".gitignore", "*.log\n");
    files.write("out.log", "far\n");
}

fn prompt(number: u128) -> EntryId {
    EntryId::from_bits(number)
}

/// A run to its end: the results of its calls.
async fn run(session: &mut Session, number: u128) -> Vec<(bool, String)> {
    session.handle.prompt(Prompt::text("go").with_id(prompt(number))).unwrap();
    let mut results = Vec::new();
    while let Some(event) = session.events.try_next().await.unwrap() {
        match event.kind {
            EventKind::ToolFinished(finished) => {
                results.push((finished.result.is_error, finished.result.content.text()));
            }
            EventKind::RunFinished(_) => return results,
            _ => {}
        }
    }
    panic!("the session ended")
}

/// One call after the other, and the end of the run.
fn calls(calls: &[(&'static str, Value)]) -> Script {
    let script = calls.iter().fold(Script::new(), |script, (tool, input)| {
        let (tool, input) = (*tool, input.clone());
        script.turn(move |turn| turn.tool_use(tool, input))
    });
    script.turn(|turn| turn.text("done"))
}

fn builder(home: &tempfile::TempDir, root: &Path, script: Script) -> SessionBuilder {
    session()
        .provider(ScriptedModel::new(script))
        .tools(coding_tools(root))
        .permissions(Permissions::new().allow(["Bash(cat *)", "Bash(cd *)"]))
        .permission_mode(PermissionMode::AcceptEdits)
        .persist(Home::new(home.path()))
        .file_checkpoints(true)
}

/// All tools, and the way back.
async fn works(world: &World<impl Seen>, place: impl Fn(SessionBuilder) -> SessionBuilder, has_programs: bool) {
    fill(&world.files);
    let at = |name: &str| world.root.join(name);
    assert!(!world.root.exists(), "what is found is not of this machine");
    let script = calls(&[
        ("Read", json!({"file_path": at("notes.txt")})),
        ("Edit", json!({"file_path": at("notes.txt"), "old_string": "away", "new_string": "off"})),
        ("Write", json!({"file_path": at("new/deep.txt"), "content": "made far away\n"})),
        ("Glob", json!({"pattern": "**/*"})),
        ("Grep", json!({"pattern": "far", "output_mode": "content"})),
        ("Bash", json!({"command": "cd src && cat lib.rs"})),
        ("Bash", json!({"command": "cat lib.rs"})),
        ("Read", json!({"file_path": "/etc/../far-secret"})),
    ]);
    let mut session = place(builder(&world.home, &world.root, script)).open().await.unwrap();
    let results = run(&mut session, 1).await;
    let [read, edit, write, glob, grep, bash, again, missing] = results.as_slice() else { panic!("{results:?}") };
    assert!(read.1.contains("far away") && !read.0, "{read:?}");
    assert!(!edit.0 && !write.0, "{edit:?} {write:?}");
    assert_eq!(world.files.read("notes.txt").as_deref(), Some("far off\n"));
    assert_eq!(world.files.read("new/deep.txt").as_deref(), Some("made far away\n"));
    let mut found: Vec<&str> = glob.1.lines().collect();
    found.sort_unstable();
    assert_eq!(found, [".gitignore", "new/deep.txt", "notes.txt", "src/lib.rs"], "{glob:?}");
    let lines = "new/deep.txt:1:made far away\nnotes.txt:1:far off\nsrc/lib.rs:1:pub fn far() {}";
    assert_eq!(grep.1, lines);
    match has_programs {
        true => {
            assert_eq!(bash, &(false, "pub fn far() {}".to_owned()));
            assert_eq!(again, &(false, "pub fn far() {}".to_owned()), "the directory lasts");
        }
        false => assert!(bash.0 && bash.1.contains("no programs run here"), "{bash:?}"),
    }
    assert!(missing.0, "{missing:?}");

    let handle = session.handle.clone();
    world.files.write("notes.txt", "of the user\n");
    let done = handle.rewind_own_files(&prompt(1)).await.unwrap();
    assert_eq!((done.changed().count(), done.left().count()), (1, 1), "{done:?}");
    assert_eq!(world.files.read("notes.txt").as_deref(), Some("of the user\n"));
    assert_eq!(world.files.read("new/deep.txt"), None);
    handle.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_works_on_files_in_memory() {
    let files = MemoryWorkspace::new().with_directory("/far/project");
    let given = Arc::new(files.clone());
    let world = World { home: tempfile::tempdir().unwrap(), root: "/far/project".into(), files: Memory(files) };
    works(&world, |builder| builder.workspace(given.clone()).file_tree(given.clone()), false).await;
}

#[tokio::test]
async fn what_is_elsewhere_is_not_looked_for_here() {
    let home = tempfile::tempdir().unwrap();
    let here = home.path().canonicalize().unwrap();
    let files = Arc::new(MemoryWorkspace::new().with_directory("/far/project"));
    let open = |root: &Path| builder(&home, root, Script::new()).workspace(files.clone()).file_tree(files.clone());
    for (root, said) in [(here.as_path(), "no such directory where"), (Path::new("."), "absolute path")] {
        let error = open(root).open().await.unwrap_err();
        assert!(matches!(error, Error::Directory { .. }) && error.to_string().contains(said), "{error}");
    }
    let bare = builder(&home, Path::new("/far/project"), Script::new()).workspace(files.clone()).open().await;
    assert!(matches!(bare, Err(Error::Checkpoints { .. })), "whole files are not known");
    #[cfg(feature = "project")]
    {
        let project = windlass::Project::at(&here);
        let error = open(Path::new("/far/project")).project(project).open().await.unwrap_err();
        assert!(error.to_string().contains("leave out `.project(..)`"), "{error}");
    }
}

#[cfg(feature = "remote")]
mod remote {
    use super::*;
    use windlass::remote::{Remote, Transport};

    /// A folder of this machine that stands as `/srv` for all that runs in a namespace of its own; none where the system has no
    /// such thing.
    async fn far(world: &World<Folder>) -> Option<Remote> {
        let script = "mount --bind \"$0\" /srv && exec env -i HOME=/srv PATH=/usr/bin:/bin \"$@\"";
        let folder = world.files.0.path().to_str().unwrap();
        let words = ["-r", "-m", "/bin/sh", "-c", script, folder];
        let tried = std::process::Command::new("unshare").args(words).arg("true").status();
        if !tried.is_ok_and(|status| status.success()) {
            windlass_testkit::skipped("unshare with mounts");
            return None;
        }
        let transport = Transport::program("unshare", words).with_connect_time(std::time::Duration::from_secs(120));
        Some(Remote::connect(transport).await.unwrap())
    }

    fn world() -> World<Folder> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        World { home: tempfile::tempdir().unwrap(), root: "/srv/project".into(), files: Folder(folder) }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_agent_works_in_another_place() {
        let world = world();
        let Some(remote) = far(&world).await else { return };
        works(&world, |builder| builder.remote(&remote), true).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn rules_are_about_the_paths_there_and_large_output_is_read_back() {
        let world = world();
        let Some(remote) = far(&world).await else { return };
        fill(&world.files);
        world.files.write("secret.env", "KEY=1\n");
        std::os::unix::fs::symlink("/srv/project/secret.env", world.files.0.path().join("project/link")).unwrap();
        let script = calls(&[
            ("Read", json!({"file_path": "/srv/project/link"})),
            ("Bash", json!({"command": "cat link"})),
            ("Bash", json!({"command": "printf '%080000d' 7"})),
            ("Grep", json!({"pattern": "KEY"})),
        ]);
        let mut session = builder(&world.home, &world.root, script)
            .permissions(
                Permissions::new().allow(["Bash(cat *)", "Bash(printf *)"]).deny(["Read(//srv/project/secret.env)"]),
            )
            .remote(&remote)
            .open()
            .await
            .unwrap();
        let results = run(&mut session, 1).await;
        let [read, cat, large, grep] = results.as_slice() else { panic!("{results:?}") };
        assert!(read.0 && !read.1.contains("KEY="), "{read:?}");
        assert!(cat.0 && !cat.1.contains("KEY="), "{cat:?}");
        assert!(grep.1.contains("No files found"), "{grep:?}");
        // The whole output is in a file of this machine, which the model can read.
        let file = large.1.split("all 80000 bytes are in ").nth(1).unwrap().split(" ...]").next().unwrap().to_owned();
        assert!(Path::new(&file).starts_with(world.home.path().canonicalize().unwrap()), "{file}");
        session.handle.close().await.unwrap();
        let id = session.handle.session_id().to_string();
        let script = calls(&[("Grep", json!({"pattern": "7$", "path": file, "output_mode": "count"}))]);
        let mut session = builder(&world.home, &world.root, script).resume(id).remote(&remote).open().await.unwrap();
        let results = run(&mut session, 2).await;
        assert!(results.iter().all(|(is_error, text)| !is_error && text.contains(":1")), "{results:?}");
        session.handle.close().await.unwrap();
    }

    #[cfg(feature = "sandbox")]
    #[tokio::test]
    async fn a_sandbox_of_this_machine_is_refused() {
        let world = world();
        let Some(remote) = far(&world).await else { return };
        let sandboxed = builder(&world.home, &world.root, Script::new())
            .remote(&remote)
            .sandbox(windlass::sandbox::SandboxOptions::default());
        let error = sandboxed.open().await.unwrap_err();
        assert!(error.to_string().contains("where it does not apply"), "{error}");
    }
}
