//! Sessions whose files and programs are not on this machine. The directories that they work in exist there alone.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass::options::{StorageOptions, WorkspaceOptions};
use windlass::session::EntryId;
use windlass::{
    Error, EventKind, Home, PermissionMode, Permissions, Script, ScriptedModel, Session, SessionBuilder, coding_tools,
    session,
};
use windlass_runtime::Prompt;
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
        .storage(StorageOptions::new().file_checkpoints(true))
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
    works(
        &world,
        |builder| builder.workspace(given.clone()).workspace(WorkspaceOptions::new().file_tree(given.clone())),
        false,
    )
    .await;
}

#[tokio::test]
async fn what_is_elsewhere_is_not_looked_for_here() {
    let home = tempfile::tempdir().unwrap();
    let here = home.path().canonicalize().unwrap();
    let files = Arc::new(MemoryWorkspace::new().with_directory("/far/project"));
    let open = |root: &Path| {
        builder(&home, root, Script::new())
            .workspace(files.clone())
            .workspace(WorkspaceOptions::new().file_tree(files.clone()))
    };
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

#[cfg(feature = "project")]
mod project {
    use super::*;
    use windlass::Project;
    use windlass::project::{PluginDir, ProjectError, SettingSource};

    const SETTINGS: &str = "/far/project/.claude/settings.json";

    fn files() -> MemoryWorkspace {
        MemoryWorkspace::new().with_directory("/far/project/sub").with_directory("/far/project/.git")
    }

    /// A directory of this machine, and the project of a session that is started there and works in `sub`.
    async fn read(here: &tempfile::TempDir, files: &MemoryWorkspace) -> Result<Project, ProjectError> {
        Project::at(here.path()).elsewhere(files, "/far/project/sub", None).await
    }

    #[tokio::test]
    async fn settings_there_forbid_and_instructions_are_read() {
        let here = tempfile::tempdir().unwrap();
        std::fs::create_dir(here.path().join(".claude")).unwrap();
        std::fs::write(here.path().join(".claude/settings.json"), "{ broken, and of another project").unwrap();
        let files = files()
            .with_file(
                SETTINGS,
                r#"{"permissions":{"deny":["Read(/secret.txt)"],"allow":["Bash"],"defaultMode":"acceptEdits"}}"#,
            )
            .with_file("/far/project/sub/CLAUDE.md", "Speak of far things.")
            .with_file("/far/project/CLAUDE.md", "Of others.")
            .with_file("/far/project/secret.txt", "far secret\n")
            .with_file("/far/project/sub/deep/AGENTS.md", "Deeper things.")
            .with_file("/far/project/sub/deep/a.txt", "a\n");
        let project = read(&here, &files).await.unwrap().load().unwrap();
        let notices = format!("{:?}", project.notices());
        assert!(notices.contains("Bash") && notices.contains("cannot widen the mode"), "{notices}");
        let model = ScriptedModel::new(calls(&[
            ("Read", json!({"file_path": "/far/project/secret.txt"})),
            ("Write", json!({"file_path": "new.txt", "content": "x"})),
            ("Read", json!({"file_path": "deep/a.txt"})),
        ]));
        let files = Arc::new(files);
        let opened = session()
            .provider(model.clone())
            .tools(coding_tools("/far/project/sub"))
            .project(project)
            .workspace(files.clone());
        let mut session = opened.open().await.unwrap();
        let results = run(&mut session, 1).await;
        assert!(results[0].0 && !results[0].1.contains("far secret"), "{results:?}");
        assert!(results[1].0 && files.text("/far/project/sub/new.txt").is_none(), "{results:?}");
        let requests = format!("{:?}", model.requests());
        assert!(requests.contains("Speak of far things.") && requests.contains("Deeper things."), "{requests}");
        assert!(!requests.contains("Of others."), "directories above may be those of others");
    }

    #[tokio::test]
    async fn what_cannot_be_read_there_keeps_the_project_from_being_read() {
        let here = tempfile::tempdir().unwrap();
        let sized = |bytes: usize| format!("{{\"model\":\"{}\"}}", "m".repeat(bytes));
        for (what, files) in [
            ("cannot be used", files().with_file(SETTINGS, "{")),
            ("cannot be used", files().with_file("/far/project/sub/.windlass/settings.local.json", "[]")),
            ("not UTF-8", files().with_file(SETTINGS, [0xff, 0xfe])),
            ("larger than", files().with_file(SETTINGS, sized(1024 * 1024))),
            ("not a regular file", files().with_special(SETTINGS)),
            ("not a regular file", files().with_directory(SETTINGS)),
            ("leads nowhere", files().with_link(SETTINGS, "/far/nowhere")),
        ] {
            let error = read(&here, &files).await.map(drop).unwrap_err().to_string();
            assert!(error.contains(what), "{what}: {error}");
            let user = Project::at(here.path()).sources([SettingSource::User]);
            user.elsewhere(&files, "/far/project/sub", None).await.unwrap().load().unwrap();
        }
        let folder = files().with_directory("/far/other").with_link("/far/project/.claude", "/far/other");
        read(&here, &folder).await.unwrap().load().unwrap();
        let linked = files()
            .with_file("/far/shared.json", r#"{"permissions":{"deny":["Bash"]}}"#)
            .with_link(SETTINGS, "/far/shared.json");
        let project = read(&here, &linked).await.unwrap().load().unwrap();
        assert_eq!(project.resolved().permissions.rules.len(), 1);
    }

    #[tokio::test]
    async fn what_is_of_one_machine_does_not_go_with_the_other() {
        let here = tempfile::tempdir().unwrap();
        let files = files();
        let trusted = Project::at(here.path()).trust(true).elsewhere(&files, "/far/project", None).await;
        assert!(matches!(trusted, Err(ProjectError::OfThisMachine { .. })));
        let plugin = Project::at(here.path()).plugins([PluginDir::new(here.path())]);
        assert!(matches!(
            plugin.elsewhere(&files, "/far/project", None).await,
            Err(ProjectError::OfThisMachine { .. })
        ));

        type Choose = fn(Project) -> Project;
        let later: [Choose; 4] = [
            |project| project.sources([SettingSource::Project]),
            |project| project.trust(true),
            |project| project.file_servers(true),
            |project| project.memory(true),
        ];
        for choose in later {
            let project = choose(read(&here, &files).await.unwrap());
            assert!(matches!(project.load(), Err(ProjectError::OfThisMachine { .. })));
        }

        let open = |root: &str| session().provider(ScriptedModel::new(Script::new())).tools(coding_tools(root));
        let project = read(&here, &files).await.unwrap().load().unwrap();
        let error = open("/far/project/sub").project(project.clone()).open().await.unwrap_err();
        assert!(error.to_string().contains(".remote(..)"), "{error}");
        let other = open("/far/project").project(project).workspace(Arc::new(files)).open().await.unwrap_err();
        assert!(other.to_string().contains("/far/project/sub"), "{other}");
    }
}

#[cfg(feature = "remote")]
mod remote {
    use super::*;
    use windlass::remote::{Remote, Transport};

    /// A folder of this machine that stands as `/srv` for all programs in a namespace of its own. `None` on systems
    /// without namespaces.
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
        works(&world, |builder| builder.workspace(&remote), true).await;
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
            .workspace(&remote)
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
        let here = Home::new(world.home.path());
        assert!(here.sessions_elsewhere("docker:web", "/srv/project").await.unwrap().sessions.is_empty());
        let kept = here.sessions_elsewhere(&remote.name(), "/srv/project").await.unwrap().sessions;
        assert_eq!(kept.len(), 1);
        let mut session = builder(&world.home, &world.root, script).resume(id).workspace(&remote).open().await.unwrap();
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
            .workspace(&remote)
            .workspace(windlass::sandbox::SandboxOptions::default());
        let error = sandboxed.open().await.unwrap_err();
        assert!(error.to_string().contains("where it does not apply"), "{error}");
    }
}
