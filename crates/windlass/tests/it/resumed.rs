//! Sessions that are resumed from files of other programs, line by line.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use windlass::{Home, Outcome, PermissionMode, Script, ScriptedModel, Session, coding_tools, query, session};
use windlass_session::ProjectKey;
use windlass_store::{check_file, export_file};
use windlass_types::ModelRequest;

const ID: &str = "aaaaaaaa-1111-4111-8111-111111111111";

struct World {
    /// With a directory `sub`, and a link `out` that leads out of it.
    work: tempfile::TempDir,
    outside: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self {
            work: tempfile::tempdir().unwrap(),
            outside: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(world.root().join("sub")).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(world.outside.path(), world.root().join("out")).unwrap();
            std::os::unix::fs::symlink("sub", world.root().join("in")).unwrap();
        }
        world
    }

    fn root(&self) -> PathBuf {
        self.work.path().canonicalize().unwrap()
    }

    fn path(&self) -> PathBuf {
        let project = ProjectKey::of(&self.root());
        self.home.path().join("projects").join(project.as_str()).join(format!("{ID}.jsonl"))
    }

    /// Puts a log there.
    fn log(&self, lines: &[String]) -> PathBuf {
        let path = self.path();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        path
    }

    /// Opens the session of that log.
    async fn open(&self) -> Session {
        let model = ScriptedModel::new(Script::new());
        let options = session().provider(model).tools(coding_tools(self.work.path())).resume(ID);
        options.persist(Home::new(self.home.path())).open().await.unwrap()
    }

    /// Goes on with one prompt, and returns the last request and the texts of the results.
    async fn go_on(&self, script: Script) -> std::sync::Arc<ModelRequest> {
        let model = ScriptedModel::new(script);
        let run = query("And now?")
            .provider(model.clone())
            .tools(coding_tools(self.work.path()))
            .permission_mode(PermissionMode::AcceptEdits)
            .persist(Home::new(self.home.path()))
            .resume(ID);
        assert_eq!(run.await.unwrap().outcome, Outcome::Success);
        model.requests().pop().unwrap()
    }
}

fn uuid(name: &str) -> String {
    format!("{:0>8}-2222-4222-8222-222222222222", name.bytes().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn chained(kind: &str, name: &str, parent: &str, message: &Value) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { json!(uuid(parent)) };
    json!({"type": kind, "uuid": uuid(name), "parentUuid": parent, "isSidechain": false, "sessionId": ID,
        "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w", "version": "2.1.328", "message": message})
}

fn user(name: &str, parent: &str) -> Value {
    chained("user", name, parent, &json!({"role": "user", "content": name}))
}

fn model(name: &str, parent: &str) -> Value {
    let content = json!([{"type": "text", "text": name}]);
    chained("assistant", name, parent, &json!({"id": name, "role": "assistant", "model": "m", "content": content}))
}

fn call(name: &str, parent: &str, id: &str) -> Value {
    let content = json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/w/x"}}]);
    chained("assistant", name, parent, &json!({"id": name, "role": "assistant", "model": "m", "content": content}))
}

fn result(name: &str, parent: &str, id: &str) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": id, "content": name}]);
    chained("user", name, parent, &json!({"role": "user", "content": content}))
}

fn boundary(name: &str, logical: &str) -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "uuid": uuid(name), "parentUuid": null,
        "logicalParentUuid": uuid(logical), "isSidechain": false, "sessionId": ID, "content": "Conversation compacted",
        "timestamp": "2026-01-01T00:00:00.000Z"})
}

fn summary(name: &str, parent: &str) -> Value {
    let mut line = user(name, parent);
    line["isCompactSummary"] = json!(true);
    line
}

fn cwd(path: impl AsRef<Path>) -> Value {
    json!({"type": "windlass-cwd", "cwd": path.as_ref(), "uuid": uuid("cwd"), "sessionId": ID,
        "timestamp": "2026-01-01T00:00:00.000Z"})
}

fn lines(values: &[Value]) -> Vec<String> {
    values.iter().map(Value::to_string).collect()
}

/// The messages of a request as JSON, without the prompt that it was made for.
fn before_the_prompt(request: &ModelRequest) -> Vec<Value> {
    let mut messages: Vec<Value> =
        request.messages.iter().map(|one| serde_json::from_str(one.json()).unwrap()).collect();
    let last = messages.last_mut().unwrap();
    let content = last["content"].as_array_mut().unwrap();
    let prompt = content.iter().rposition(|block| block["text"] == "And now?").unwrap();
    content.truncate(prompt);
    if content.is_empty() {
        messages.pop();
    }
    messages
}

fn exported(path: &Path) -> Vec<Value> {
    serde_json::from_str(&export_file(path).unwrap()).unwrap()
}

fn answer() -> Script {
    Script::new().turn(|turn| turn.text("answer"))
}

/// The texts and results of messages, in order, without what the runtime says.
fn texts(messages: &[Value]) -> Vec<&str> {
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
    let texts = blocks.filter_map(|block| block["text"].as_str().or(block["content"].as_str()));
    texts.filter(|text| !text.starts_with("<system-reminder>")).collect()
}

/// Goes on with a log: the request has these texts, and is what an export says, also the next time.
async fn goes_on_with(log: &[Value], expected: &[&str]) {
    let world = World::new();
    let path = world.log(&lines(log));
    let export = exported(&path);
    assert_eq!(texts(&export), expected, "{log:#?}");
    let request = world.go_on(answer()).await;
    assert_eq!(before_the_prompt(&request), export, "{log:#?}");
    let export = exported(&path);
    let request = world.go_on(answer()).await;
    assert_eq!(before_the_prompt(&request), export, "{log:#?}");
    assert_eq!(texts(&export), [expected, &["And now?", "answer"]].concat(), "{log:#?}");
}

#[tokio::test]
async fn a_log_leads_no_session_out_of_its_workspace() {
    let world = World::new();
    let root = world.root();
    let outside = world.outside.path().canonicalize().unwrap();
    let places = [
        outside.clone(),
        root.join("out"),
        root.join("out/deeper"),
        root.join("sub/../.."),
        root.parent().unwrap().to_owned(),
        PathBuf::from("/"),
        PathBuf::from("sub"),
        PathBuf::new(),
        PathBuf::from(format!("{}-sibling", root.display())),
    ];
    for forged in places {
        world.log(&lines(&[user("a", ""), model("b", "a"), cwd(&forged)]));
        let opened = world.open().await;
        let notice = opened.notices.join("\n");
        assert!(
            notice.contains(&format!("{forged:?}")) && notice.contains(&format!("{root:?}")),
            "{forged:?}: {notice}"
        );
        opened.handle.close().await.unwrap();
        let script = answer_after("pwd");
        let request = world.go_on(script).await;
        let said = serde_json::to_string(&request.messages.last().unwrap().json()).unwrap();
        assert!(said.contains(&*root.to_string_lossy()) && !said.contains("not allowed"), "{forged:?}: {said}");
        // The next opening needs no word about it any more.
        let opened = world.open().await;
        assert_eq!(opened.notices, Vec::<String>::new(), "{forged:?}");
        opened.handle.close().await.unwrap();
    }
}

fn answer_after(command: &'static str) -> Script {
    Script::new().turn(move |turn| turn.tool_use("Bash", json!({"command": command}))).turn(|turn| turn.text("done"))
}

#[tokio::test]
async fn a_directory_of_the_workspace_is_gone_on_in() {
    let world = World::new();
    for inside in ["sub", "in", "sub/../sub"] {
        world.log(&lines(&[user("a", ""), model("b", "a"), cwd(world.root().join(inside))]));
        let opened = world.open().await;
        assert_eq!(opened.notices, Vec::<String>::new(), "{inside}");
        opened.handle.close().await.unwrap();
        let request = world.go_on(answer_after("pwd")).await;
        let said = request.messages.last().unwrap().json().to_owned();
        assert!(said.contains(&*world.root().join("sub").to_string_lossy()), "{inside}: {said}");
    }
}

#[tokio::test]
async fn a_summary_stands_for_a_call_whose_result_came_after_it() {
    let start = || vec![user("a", ""), call("b", "a", "t1"), boundary("x", "b"), summary("s", "x")];
    // The result follows on its call, as other tools write it, or on the line before it in the file.
    for parent in ["b", "s"] {
        let log = [start(), vec![result("r", parent, "t1")]].concat();
        goes_on_with(&log, &["s"]).await;
        let log = [start(), vec![result("r", parent, "t1"), model("c", "r"), user("d", "c"), model("e", "d")]].concat();
        goes_on_with(&log, &["s", "c", "d", "e"]).await;
        let log = [start(), vec![user("u", "s"), result("r", parent, "t1"), model("c", "r")]].concat();
        goes_on_with(&log, &["s", "u", "c"]).await;
    }
    // One of two calls was answered before.
    let mut two = call("b2", "b", "t2");
    two["message"]["id"] = json!("b");
    let log = [
        vec![user("a", ""), call("b", "a", "t1"), two, result("r1", "b", "t1"), boundary("x", "r1"), summary("s", "x")],
        vec![result("r2", "b2", "t2"), model("c", "r2")],
    ];
    goes_on_with(&log.concat(), &["s", "c"]).await;
}

#[tokio::test]
async fn a_result_of_another_branch_is_no_way_round_its_compaction() {
    // The user went back and compacted there; then the call of the left branch was answered, and went on.
    let log = [user("a", ""), call("b", "a", "t1"), user("a2", "a"), model("b2", "a2"), boundary("x", "b2")];
    let log = [log.to_vec(), vec![summary("s", "x"), result("r", "b", "t1"), model("c", "r")]].concat();
    goes_on_with(&log, &["a", "r", "c"]).await;
}

#[tokio::test]
async fn an_export_is_what_a_request_would_carry() {
    let (a, b, c) = (|| user("a", ""), || model("b", "a"), || user("c", "b"));
    goes_on_with(&[a(), b(), c()], &["a", "b", "c"]).await;
    goes_on_with(&[a(), b(), boundary("x", "b"), summary("s", "x"), model("d", "s")], &["s", "d"]).await;
    goes_on_with(&[a(), b(), boundary("x", "b"), user("d", "x")], &["a", "b", "d"]).await;
    goes_on_with(&[a(), b(), c(), model("d", "lost"), user("e", "d")], &["a", "b", "c", "d", "e"]).await;
    goes_on_with(&[model("b", "lost"), c()], &["[The beginning of this conversation could not be read.]", "b", "c"])
        .await;
    goes_on_with(&[a(), call("b", "a", "t1"), result("r", "b", "t1"), result("r2", "b", "t1")], &["a", "r"]).await;
    let settled = windlass_session::INTERRUPTED;
    goes_on_with(&[a(), call("b", "a", "t1")], &["a", settled]).await;
    goes_on_with(&[a(), call("b", "a", "t1"), c(), model("d", "c")], &["a", settled, "c", "d"]).await;
}

#[tokio::test]
async fn a_healthy_log_that_was_compacted_needs_no_warning() {
    for again in [false, true] {
        let world = World::new();
        let mut log = vec![user("a", ""), call("b", "a", "t1"), result("r", "b", "t1"), model("c", "r")];
        log.extend([boundary("x", "c"), summary("s", "x"), model("d", "s")]);
        if again {
            log.extend([boundary("x2", "d"), summary("s2", "x2"), model("d2", "s2")]);
        }
        let path = world.log(&lines(&log));
        let checked = check_file(&path).unwrap();
        assert_eq!((checked.warnings, checked.skipped.len(), checked.valid), (Vec::new(), 0, true));
        assert_eq!(checked.compacted, if again { 7 } else { 4 });
        let opened = world.open().await;
        assert_eq!(opened.notices, Vec::<String>::new());
        opened.handle.close().await.unwrap();
    }
    // A branch that was left is still named.
    let world = World::new();
    let log = [user("a", ""), model("b", "a"), boundary("x", "b"), summary("s", "x"), user("l", "s"), user("d", "s")];
    let warnings = check_file(&world.log(&lines(&log))).unwrap().warnings;
    assert_eq!(warnings, ["1 lines are on another branch"]);
}

#[tokio::test]
async fn a_lost_parent_is_said() {
    let world = World::new();
    let path = world.log(&lines(&[user("a", ""), model("b", "a"), user("c", "lost"), model("d", "c")]));
    let checked = check_file(&path).unwrap();
    assert_eq!((checked.lost_parents, checked.valid), (1, true));
    let named = |text: &String| text.starts_with("line 3: ") && text.contains(&uuid("lost"));
    assert!(checked.warnings.iter().any(named), "{:?}", checked.warnings);
    let opened = world.open().await;
    assert!(opened.notices.iter().any(named), "{:?}", opened.notices);
    opened.handle.close().await.unwrap();
}
