//! Full disks, vanished directories, damaged logs, second owners: each ends in words that say what to do, and
//! nothing that was acknowledged is lost.

use crate::common::{log_of, stored_texts, watch};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use windlass::options::{ModelOptions, RequestOptions, WorkspaceOptions};
use windlass::session::Resume;
use windlass::{
    Access, Error, EventKind, Home, JsonText, Outcome, Permissions, Script, ScriptedModel, ToolCx, coding_tools,
    event::RunFailureKind,
    permission::{Behavior, RuleSource},
    query,
    session::SessionError,
    tool_fn,
};

const SESSION: &str = "00000000-0000-4000-8000-000000000002";
const CHILD: &str = "WINDLASS_TROUBLE_CHILD";

type Nothing = std::collections::BTreeMap<String, String>;

fn says(text: &str) -> ScriptedModel {
    let text = text.to_owned();
    ScriptedModel::new(Script::new().turn(move |turn| turn.text(&text)))
}

/// A small file system of its own, gone when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Nothing where this user may not mount one.
    #[track_caller]
    fn mount(kilobytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={kilobytes}k,mode=0700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            windlass_testkit::skipped("the right to mount a file system");
        }
        mounted.then(|| Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking(), "unmounted");
    }
}

#[tokio::test]
async fn a_disk_that_fills_up_ends_the_run_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(256) else { return };
    let filler = disk.path().join("filler");
    std::fs::write(&filler, vec![b'x'; 128 * 1024]).unwrap();
    let look = tool_fn("look", "Looks.", |_: Nothing, _| async { Ok("y".repeat(4000)) }).with_access(Access::NOTHING);
    let script = (0..200).fold(Script::new(), |script, n| {
        script
            .turn(move |turn| turn.text(format!("message {n}: {}", "x".repeat(1000))).tool_use("look", Nothing::new()))
    });
    let mut run = query("go on")
        .provider(ScriptedModel::new(script))
        .tools(look)
        .persist(Home::new(disk.path().join("home")))
        .session_id(SESSION)
        .stream();
    let (mut shown, mut finished, mut text) = (Vec::new(), None, String::new());
    let error = loop {
        match run.try_next().await {
            Ok(Some(event)) => match event.kind {
                EventKind::BlockDelta { delta: windlass::Delta::Text(more), .. } => text.push_str(&more),
                EventKind::MessageFinished { .. } => shown.push(std::mem::take(&mut text)),
                EventKind::RunFinished(result) => finished = Some(result),
                _ => {}
            },
            Ok(None) => panic!("the store refused nothing"),
            Err(error) => break error,
        }
    };
    let Some(Outcome::Failed(failure)) = finished.map(|result| result.outcome) else { panic!("not failed") };
    assert_eq!(failure.kind, RunFailureKind::Store);
    assert!(matches!(&error, Error::Session(SessionError::Store { .. })), "{error:?}");
    for text in [failure.message, error.to_string()] {
        assert!(text.contains("free some space") && text.contains(SESSION) && !text.contains('\n'), "{text}");
    }
    assert!(shown.len() > 3, "the disk was full from the beginning");
    drop(run);

    let before = std::fs::read(log_of(&disk.path().join("home"))).unwrap();
    std::fs::remove_file(&filler).unwrap();
    let seen = watch(
        query("and now?")
            .provider(says("There is room again."))
            .persist(Home::new(disk.path().join("home")))
            .resume(SESSION),
    )
    .await;
    assert_eq!(seen.result().outcome, Outcome::Success);
    let log = log_of(&disk.path().join("home"));
    assert!(std::fs::read(&log).unwrap().starts_with(&before), "what was there is still there");
    let stored: serde_json::Value = serde_json::from_str(&windlass_store::export_file(&log).unwrap()).unwrap();
    let stored = stored.to_string();
    for message in &shown {
        assert!(stored.contains(message.as_str()), "acknowledged and lost: {message:.20}");
    }
    assert!(windlass_store::check_file(&log).unwrap().valid);
}

#[tokio::test]
async fn a_disk_that_is_full_from_the_beginning_is_said_before_anything_is_done() {
    let Some(disk) = SmallDisk::mount(64) else { return };
    // The filler takes all remaining space, to the last page and directory.
    let mut filler = std::fs::File::create(disk.path().join("filler")).unwrap();
    while filler.write_all(&[b'x'; 4096]).is_ok() {}
    let did = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let does = std::sync::Arc::clone(&did);
    let act = tool_fn("act", "Acts.", move |_: Nothing, _| {
        does.store(true, std::sync::atomic::Ordering::Relaxed);
        async { Ok("done") }
    });
    let script = Script::new().turn(|turn| turn.tool_use("act", Nothing::new())).turn(|turn| turn.text("ok"));
    let ended = query("go")
        .provider(ScriptedModel::new(script))
        .tools(act)
        .permissions(Permissions::new().allow(["act"]))
        .persist(Home::new(disk.path().join("home")))
        .await;
    let error = ended.expect_err("nothing can be stored");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert!(!did.load(std::sync::atomic::Ordering::Relaxed), "an effect without a durable intent");
}

/// Neither as the working directory nor beside another one.
async fn is_refused_by_name(path: &Path) {
    let error = query("hi").provider(says("x")).cwd(path).await.unwrap_err();
    assert!(matches!(&error, Error::Directory { path: named, .. } if named == path), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(&*path.to_string_lossy()) && !text.contains('\n'), "{text}");
    let error = query("hi")
        .provider(says("x"))
        .cwd(path.parent().unwrap())
        .workspace(WorkspaceOptions::new().add_dir(path))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("the additional directory"), "{error}");
}

#[tokio::test]
async fn a_working_directory_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    is_refused_by_name(&folder.path().join("missing")).await;
    is_refused_by_name(&file).await;
}

/// The administrator may read every directory: a program of an account without rights looks in that case.
#[cfg(unix)]
#[test]
fn a_working_directory_that_may_not_be_read_is_named() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    for (path, mode) in [(folder.path(), 0o755), (&closed, 0)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // The account `NOBODY` may not reach the program in its place. Another program copies it: a copy that this process
    // has open for writing could not be started while another test starts something.
    let program = folder.path().join("program");
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    let mut command = Command::new(program);
    if std::fs::metadata(folder.path()).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.args(["--exact", "trouble::child", "--nocapture"]).current_dir(folder.path());
    let output = command.env(CHILD, format!("closed {}", closed.display())).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("READY refused"), "{said}");
}

#[tokio::test]
async fn a_working_directory_that_vanishes_fails_calls_and_not_the_run() {
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = folder.path().join("work");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.txt"), "one\n").unwrap();
    let gone = root.clone();
    let remove = tool_fn("remove", "Removes.", move |_: Nothing, _: ToolCx| {
        let removed = std::fs::remove_dir_all(&gone);
        async move { removed.map(|()| "removed").map_err(Into::into) }
    });
    let script = Script::new()
        .turn(|turn| turn.tool_use("remove", Nothing::new()))
        .turn(|turn| {
            turn.tool_use("Read", serde_json::json!({"file_path": "a.txt"}))
                .tool_use("Grep", serde_json::json!({"pattern": "x"}))
                .tool_use("Bash", serde_json::json!({"command": "pwd"}))
                .tool_use("Bash", serde_json::json!({"command": "git status"}))
        })
        .turn(|turn| turn.text("It is gone."));
    let seen = watch(
        query("go")
            .provider(ScriptedModel::new(script))
            .tools(coding_tools(&root))
            .tools(remove)
            .permissions(Permissions::new().allow(["remove", "Bash"]))
            .persist(Home::new(home.path())),
    )
    .await;
    assert_eq!(seen.result().outcome, Outcome::Success);
    let results = seen.tool_results();
    assert_eq!(results.len(), 5);
    for (is_error, text) in &results[1..] {
        assert!(*is_error && text.contains("does not exist"), "{text}");
    }
    assert_eq!(stored_texts(home.path()).last().unwrap(), "It is gone.");
    let error =
        query("again").provider(says("x")).cwd(&root).persist(Home::new(home.path())).resume(Resume::latest()).await;
    assert!(error.unwrap_err().to_string().contains("work"));
}

#[tokio::test]
async fn a_damaged_log_is_resumed_with_what_is_whole() {
    let home = tempfile::tempdir().unwrap();
    for (prompt, answer) in [("one", "answer one"), ("two", "answer two"), ("three", "answer three")] {
        let mut next = query(prompt).provider(says(answer)).persist(Home::new(home.path()));
        next = if prompt == "one" { next.session_id(SESSION) } else { next.resume(SESSION) };
        assert_eq!(watch(next).await.result().outcome, Outcome::Success);
    }
    let log = log_of(home.path());
    let text = std::fs::read_to_string(&log).unwrap();
    // One line in the middle is overwritten, and the last one is torn.
    let damaged: Vec<String> = text
        .lines()
        .map(|line| if line.contains("answer two") { "\0".repeat(line.len()) } else { line.to_owned() })
        .collect();
    let damaged = damaged.join("\n") + "\n{\"type\":\"user\",\"mess";
    std::fs::write(&log, &damaged).unwrap();

    let model = says("answer four");
    let asked = model.clone();
    let mut run = query("four").provider(model).persist(Home::new(home.path())).resume(SESSION).stream();
    let mut notices = Vec::new();
    while let Some(event) = run.try_next().await.unwrap() {
        if notices.is_empty() {
            notices = run.notices().to_vec();
        }
        if let EventKind::RunFinished(result) = event.kind {
            assert_eq!(result.outcome, Outcome::Success);
        }
    }
    assert!(notices.iter().any(|notice| notice.contains("damaged")), "{notices:?}");
    let sent: String = asked.requests()[0].messages.iter().map(|message| message.json().to_owned()).collect();
    for (whole, expected) in
        [("answer one", true), ("answer two", false), ("answer three", true), ("three", true), ("four", true)]
    {
        assert_eq!(sent.contains(whole), expected, "{whole}: {sent}");
    }
    assert!(std::fs::read_to_string(&log).unwrap().starts_with(&damaged), "what was found is left as it is");
    let report = windlass_store::check_file(&log).unwrap();
    assert!(report.valid, "{report:?}");
    assert_eq!((report.skipped.len(), report.torn), (1, 1), "{report:?}");
    assert!(windlass_store::export_file(&log).unwrap().contains("answer four"));
}

/// Work of the child processes of these tests.
#[test]
fn child() {
    let Ok(what) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        if let Some(home) = what.strip_prefix("hold ") {
            let session =
                windlass::session().provider(says("x")).persist(Home::new(home)).resume(SESSION).open().await.unwrap();
            println!("\nREADY {}", std::process::id());
            let _ = std::io::stdin().read_line(&mut String::new());
            session.handle.close().await.unwrap();
        } else if let Some(closed) = what.strip_prefix("closed ") {
            is_refused_by_name(Path::new(closed)).await;
            println!("\nREADY refused");
        } else {
            println!("\nREADY {:?}", Home::from_env().map(|_| ()).map_err(|error| error.to_string()));
            let ended = query("hi").provider(says("x")).cwd(&what).await.map(|result| result.text);
            println!("READY {ended:?}");
            let denied = Permissions::new().deny(["Read(~/secret)"]);
            let ended = query("hi").provider(says("x")).cwd(&what).permissions(denied).await;
            println!("READY {:?}", ended.map(|result| result.text).map_err(|error| error.to_string()));
        }
    });
}

fn child_that(does: String, change: impl FnOnce(&mut Command)) -> (Child, impl FnMut() -> String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "trouble::child", "--nocapture"])
        .env(CHILD, does)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    change(&mut command);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let next = move || loop {
        let line = lines.next().expect("the child says more").unwrap();
        if let Some(said) = line.strip_prefix("READY ") {
            break said.to_owned();
        }
    };
    (child, next)
}

#[tokio::test]
async fn a_second_process_is_told_who_has_the_session() {
    let home = tempfile::tempdir().unwrap();
    let first = query("one").provider(says("x")).persist(Home::new(home.path())).session_id(SESSION).await.unwrap();
    assert_eq!(first.outcome, Outcome::Success);
    let (mut child, mut said) = child_that(format!("hold {}", home.path().display()), |_| {});
    let owner = said();
    let resume = || query("two").provider(says("mine")).persist(Home::new(home.path())).resume(SESSION);
    let error = resume().await.unwrap_err().to_string();
    assert!(error.contains(SESSION) && error.contains(&owner), "{error}");
    assert!(!error.contains('\n'), "{error}");

    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(resume().await.unwrap().text, "mine");

    // An owner that was killed owns nothing.
    let (mut child, mut said) = child_that(format!("hold {}", home.path().display()), |_| {});
    said();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(resume().await.unwrap().text, "mine");
}

#[test]
fn without_a_home_sessions_need_a_place_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let place: PathBuf = folder.path().canonicalize().unwrap();
    let (mut child, mut said) = child_that(place.to_string_lossy().into_owned(), |command| {
        for name in ["HOME", "USERPROFILE", "WINDLASS_HOME", "CLAUDE_CONFIG_DIR"] {
            command.env_remove(name);
        }
    });
    let home = said();
    assert!(home.starts_with("Err") && home.contains("set WINDLASS_HOME or HOME"), "{home}");
    assert_eq!(said(), "Ok(\"x\")");
    // A deny rule that cannot mean anything must not be passed over.
    let denied = said();
    assert!(denied.starts_with("Err") && denied.contains("~/secret"), "{denied}");
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn rules_that_cannot_be_used_are_named() {
    for permissions in [Permissions::new().deny(["Bash("]), Permissions::new().ask_about(["Bash("])] {
        let error = query("x").provider(says("ok")).permissions(permissions).await.unwrap_err();
        assert!(matches!(&error, Error::Rule(_)) && error.to_string().contains("parenthesis"), "{error:?}");
    }
    let mut run = query("x").provider(says("ok")).permissions(Permissions::new().allow(["mcp__x", "Bash("])).stream();
    while run.try_next().await.unwrap().is_some() {}
    // Also when the run is over.
    let [notice] = run.notices() else { panic!("{:?}", run.notices()) };
    assert!(notice.contains("`Bash(`") && notice.contains("ignored"), "{notice}");
    // A reader of rules from a file reports them in its own words.
    let permissions = Permissions::new().with_rules(RuleSource::UserSettings, Behavior::Allow, ["Bash("]);
    let mut run = query("x").provider(says("ok")).permissions(permissions).stream();
    while run.try_next().await.unwrap().is_some() {}
    assert_eq!(run.notices(), [""; 0]);
}

#[tokio::test]
async fn members_of_requests_are_an_object() {
    let fields = |text: &str| JsonText::parse(text).unwrap();
    let ask = |text: &str| {
        let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("ok")));
        query("hi").provider(model).model(ModelOptions::new().requests(RequestOptions::new().fields(fields(text))))
    };
    let error = ask("[1]").await.unwrap_err();
    assert_eq!(error.to_string(), "request_fields is [1]: give a JSON object with the members to add");
    assert!(ask(r#"{"service_tier":"auto"}"#).await.is_ok());
}
