//! MCP servers that come, change and go with files and settings while a session is open. They are real programs.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use windlass::hook::ConfigAction;
use windlass::mcp::{McpServerConfig, McpServerState, ServerNotConnected};
use windlass::project::LoadedProject;
use windlass::session::{Session, SessionBuilder};
use windlass::{EventKind, Permissions, Project, Script, ScriptedModel, hook_fn, session};

/// Script of a server that answers each call of its tool `say` with a text about the script's first argument. The
/// second argument is a file, which gets a line at the start and at the end of the server.
const SERVER: &str = r#"
echo "$1 starts" >> "$2"
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}}' ;;
    *'"tools/list"'*)
      printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) [ "$1" = silent ] && continue
      printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"I am '$1'."}]}}' ;;
  esac
done
echo "$1 ends" >> "$2"
"#;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for folder in ["work", "home/.windlass"] {
            std::fs::create_dir_all(place.0.path().join(folder)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Writes the user's settings.
    fn settings(&self, said: &Value) {
        self.write("home/.windlass/settings.json", &said.to_string());
    }

    /// An entry for a server that says who it is.
    fn entry(&self, who: &str) -> Value {
        json!({"command": "/bin/bash", "args": ["-c", SERVER, "server", who, self.path("log")]})
    }

    /// The servers that a file defines, each with who it is.
    fn servers(&self, file: &str, servers: &[(&str, &str)]) {
        let entries: serde_json::Map<String, Value> =
            servers.iter().map(|(name, who)| ((*name).to_owned(), self.entry(who))).collect();
        self.write(file, &json!({ "mcpServers": entries }).to_string());
    }

    fn project(&self) -> Project {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Project::at(self.path("work")).environment([("HOME", self.path("home").into_os_string()), ("PATH", path)])
    }

    fn log(&self) -> Vec<String> {
        std::fs::read_to_string(self.path("log")).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

const USER: &str = "home/.claude.json";
const PROJECT: &str = "work/.mcp.json";

/// A session of a project, and the notices that it has given.
struct Open {
    project: LoadedProject,
    session: Session,
    notices: Arc<Mutex<Vec<String>>>,
}

impl Open {
    async fn new(project: Project, model: ScriptedModel) -> Self {
        Self::with(project, model, |builder| builder).await
    }

    async fn with(project: Project, model: ScriptedModel, more: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Self {
        let project = project.load().unwrap();
        let notices = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&notices);
        project.on_notice(move |notice| heard.lock().unwrap().push(notice.text.clone()));
        let builder = session().provider(model).project(project.clone());
        let builder = builder.permissions(Permissions::new().allow(["mcp__one", "mcp__two"]));
        let session = more(builder).open().await.unwrap();
        Self { project, session, notices }
    }

    async fn refresh(&self) {
        self.project.refresh(&self.session.handle).await.unwrap();
    }

    /// Has files count, and waits until the servers have answered.
    async fn settled(&self) -> Vec<String> {
        self.refresh().await;
        self.project.servers().set().settled(Duration::from_secs(30)).await;
        // The session has its tools from them in a task of its own.
        for _ in 0..32 {
            tokio::task::yield_now().await;
        }
        self.connected()
    }

    fn connected(&self) -> Vec<String> {
        let all = self.project.servers().set().status().into_iter();
        all.filter(|status| status.state == McpServerState::Connected).map(|status| status.name).collect()
    }

    fn take_notices(&self) -> String {
        std::mem::take(&mut *self.notices.lock().unwrap()).join("\n")
    }

    async fn prompt(&mut self) {
        self.session.handle.prompt("Go.").unwrap();
        loop {
            if let EventKind::RunFinished(result) = self.session.events.try_next().await.unwrap().unwrap().kind.clone()
            {
                assert_eq!(result.text, "Done.");
                return;
            }
        }
    }

    async fn close(self) {
        self.session.handle.close().await.unwrap();
        self.project.servers().set().close().await;
    }
}

/// A model that calls a tool and stops.
fn calling(tools: &[&str]) -> ScriptedModel {
    ScriptedModel::new(tools.iter().fold(Script::new(), |script, tool| {
        script.turn(|turn| turn.tool_use(*tool, json!({}))).turn(|turn| turn.text("Done."))
    }))
}

fn silent() -> ScriptedModel {
    calling(&[])
}

/// The results that a model has read, in order.
fn results(model: &ScriptedModel) -> Vec<String> {
    let requests = model.requests();
    let last = requests.last().unwrap();
    let text = serde_json::to_value(&last.messages).unwrap();
    let mut found = Vec::new();
    let blocks = text.as_array().unwrap().iter().flat_map(|message| message["content"].as_array().cloned());
    for block in blocks.flatten().filter(|block| block["type"] == "tool_result") {
        found.push(block["content"].to_string());
    }
    found
}

#[tokio::test]
async fn a_server_of_the_user_comes_changes_and_goes_in_an_open_session() {
    let place = Place::new();
    let model = calling(&["mcp__one__say", "mcp__one__say", "mcp__one__say"]);
    // The session opens without any server.
    let mut open = Open::new(place.project(), model.clone()).await;
    place.servers(USER, &[("one", "first")]);
    assert_eq!(open.settled().await, ["one"]);
    let said = open.take_notices();
    assert!(said.contains("\"one\"") && said.contains("is new and is started"), "{said}");
    open.prompt().await;
    assert!(results(&model)[0].contains("I am first."), "{:?}", results(&model));

    place.servers(USER, &[("one", "second")]);
    assert_eq!(open.settled().await, ["one"]);
    let said = open.take_notices();
    assert!(said.contains("has changed and is started anew"), "{said}");
    open.prompt().await;
    assert!(results(&model)[1].contains("I am second."), "{:?}", results(&model));
    assert_eq!(place.log(), ["first starts", "first ends", "second starts"], "one ends before the next starts");

    place.servers(USER, &[]);
    assert!(open.settled().await.is_empty());
    let said = open.take_notices();
    assert!(said.contains("is stopped: it is not defined any more"), "{said}");
    open.prompt().await;
    assert!(results(&model)[2].contains("mcp__one__say"), "there is no such tool: {:?}", results(&model));
    assert_eq!(place.log().last().unwrap(), "second ends");
    open.close().await;
}

/// Servers are checked as at opening: a server that trust does not cover does not start, and one that differs from its
/// trusted form ends.
#[tokio::test]
async fn a_server_of_the_project_needs_what_it_needs_at_opening() {
    let place = Place::new();
    let record = json!({"projects": {place.path("work").to_str().unwrap(): {"trusted": true}}});
    place.write("home/.windlass/windlass-trust.json", &record.to_string());
    place.servers(PROJECT, &[("one", "trusted")]);
    let open = Open::new(place.project(), silent()).await;
    assert_eq!(open.settled().await, ["one"]);

    place.servers(PROJECT, &[("one", "trusted"), ("two", "foreign")]);
    assert_eq!(open.settled().await, ["one"]);
    let said = open.take_notices();
    assert!(said.contains("\"two\"") && said.contains("`windlass trust` shows and confirms it"), "{said}");

    place.servers(PROJECT, &[("one", "foreign")]);
    assert!(open.settled().await.is_empty());
    let said = open.take_notices();
    assert!(said.contains("\"one\"") && said.contains("is stopped: it is new or has changed since"), "{said}");
    let absent = open.project.servers().absent();
    assert!(absent.len() == 1 && absent[0].name == "one" && !absent[0].failed, "{absent:?}");

    // Back as it was trusted.
    place.servers(PROJECT, &[("one", "trusted")]);
    assert_eq!(open.settled().await, ["one"]);
    assert!(!place.log().iter().any(|line| line.contains("foreign")), "{:?}", place.log());

    // Files of the project cannot have one start, and can have one end.
    place.servers(PROJECT, &[("one", "trusted"), ("two", "foreign")]);
    std::fs::create_dir_all(place.path("work/.claude")).unwrap();
    let wanted = r#"{"enableAllProjectMcpServers":true,"enabledMcpjsonServers":["two"]}"#;
    for file in ["work/.claude/settings.json", "work/.claude/settings.local.json"] {
        place.write(file, wanted);
        assert_eq!(open.settled().await, ["one"], "{file}");
    }
    place.write("work/.claude/settings.json", r#"{"disabledMcpjsonServers":["one"]}"#);
    assert!(open.settled().await.is_empty());

    // The user's settings take effect.
    place.write("work/.claude/settings.json", "{}");
    place.settings(&json!({"enabledMcpjsonServers": ["two"]}));
    assert_eq!(open.settled().await, ["one", "two"]);
    open.close().await;
}

#[tokio::test]
async fn a_broken_file_changes_nothing_and_is_said_once() {
    let place = Place::new();
    place.servers(USER, &[("one", "user")]);
    place.servers(PROJECT, &[("two", "project")]);
    place.settings(&json!({"enableAllProjectMcpServers": true, "deniedMcpServers": [{"serverName": "bad"}]}));
    let open = Open::new(place.project(), silent()).await;
    assert_eq!(open.settled().await, ["one", "two"]);
    let before = place.log();
    open.take_notices();
    for (file, text) in [(USER, "{"), (PROJECT, "]"), ("home/.windlass/settings.json", "{")] {
        place.write(file, text);
        assert_eq!(open.settled().await, ["one", "two"], "{file}");
        let said = open.take_notices();
        assert!(said.contains("until it is mended") && said.matches("until").count() == 1, "{file}: {said}");
        open.refresh().await;
        assert_eq!(open.take_notices(), "", "{file}");
    }
    assert_eq!(place.log(), before, "none was started anew");
    // Denied servers stay denied, and wanted servers stay wanted.
    place.servers(PROJECT, &[("bad", "bad"), ("three", "three"), ("two", "project")]);
    place.servers(USER, &[]);
    assert_eq!(open.settled().await, ["three", "two"]);
    open.close().await;
}

#[tokio::test]
async fn lists_of_servers_stop_and_let_in() {
    let place = Place::new();
    place.servers(USER, &[("one", "user")]);
    let open = Open::new(place.project(), silent()).await;
    let servers = open.project.servers();
    let own = McpServerConfig::stdio("/bin/bash").arg("-c").arg(SERVER).arg("server").arg("own");
    servers.connect("two", own.arg(place.path("log").to_str().unwrap())).unwrap();
    assert_eq!(open.settled().await, ["one", "two"]);

    for (said, left) in [
        (json!({"deniedMcpServers": [{"serverName": "one"}]}), vec!["two"]),
        (json!({"deniedMcpServers": [{"serverName": "two"}]}), vec!["one"]),
        (json!({"allowedMcpServers": []}), vec![]),
        (json!({"allowedMcpServers": [{"serverName": "one"}]}), vec!["one"]),
        // A list that cannot be read keeps all out, as at opening.
        (json!({"deniedMcpServers": [{"serverNme": "x"}]}), vec![]),
        (json!({}), vec!["one", "two"]),
    ] {
        place.settings(&said);
        assert_eq!(open.settled().await, left, "{said}");
        let absent: Vec<String> = servers.absent().into_iter().map(|absent| absent.name).collect();
        assert_eq!(absent.len() + left.len(), 2, "{said}: {absent:?}");
    }
    place.settings(&json!({"deniedMcpServers": [{"serverCommand": ["/bin/false"]}]}));
    open.refresh().await;
    let refused = servers.connect("three", McpServerConfig::stdio("/bin/false"));
    assert!(matches!(refused, Err(ServerNotConnected::KeptOut(_))), "a list that came later counts: {refused:?}");
    open.close().await;
}

/// A hook can keep a change of a project's servers from counting.
#[tokio::test]
async fn hooks_are_asked_about_servers_first() {
    let place = Place::new();
    place.settings(&json!({"enableAllProjectMcpServers": true}));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let guard = hook_fn("guard").on_config_change(move |change| {
        let seen = Arc::clone(&seen);
        async move {
            seen.lock().unwrap().push((change.source.clone(), change.file_path));
            Ok(ConfigAction::Block { reason: "Not now.".to_owned() })
        }
    });
    let open = Open::with(place.project(), silent(), |builder| builder.hook(guard)).await;
    place.servers(PROJECT, &[("one", "project")]);
    assert!(open.settled().await.is_empty());
    assert!(open.settled().await.is_empty(), "it stays so until the file changes again");
    let path = place.path(PROJECT).display().to_string();
    assert_eq!(*asked.lock().unwrap(), [("project_settings".to_owned(), Some(path))]);
    assert!(open.take_notices().contains("Not now."));
    assert!(place.log().is_empty());
    open.close().await;
}

/// A server that never answers holds up nothing, and goes like any other.
#[tokio::test]
async fn a_server_that_never_starts_holds_up_nothing() {
    let place = Place::new();
    let model = calling(&["mcp__two__say"]);
    let mut open = Open::new(place.project(), model.clone()).await;
    let hung = json!({"command": "/bin/sleep", "args": ["600"]});
    let missing = json!({"command": "/no/such/program"});
    let all = json!({"mcpServers": {"hung": hung, "missing": missing, "two": place.entry("two")}});
    place.write(USER, &all.to_string());
    let began = Instant::now();
    open.refresh().await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let connected = async {
        while open.connected().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), connected).await.expect("the other one never starts");
    open.prompt().await;
    assert!(results(&model)[0].contains("I am two."));
    place.servers(USER, &[("two", "two")]);
    open.refresh().await;
    let left: Vec<String> = open.project.servers().set().status().into_iter().map(|status| status.name).collect();
    assert_eq!(left, ["two"]);
    open.close().await;
}

/// Changes that follow each other at once, some of which nobody waits for: what is there at the end counts.
#[tokio::test]
async fn the_last_of_many_changes_counts() {
    let place = Place::new();
    let open = Open::new(place.project(), silent()).await;
    for round in 0..8 {
        let (name, who) = if round % 2 == 0 { ("one", "even") } else { ("two", "odd") };
        place.servers(USER, &[(name, &format!("{who}{round}"))]);
        let mut refresh = Box::pin(open.refresh());
        if round % 3 == 0 {
            refresh.await;
        } else {
            // The refresh is dropped half-way.
            let _ = polled_once(&mut refresh).await;
        }
    }
    assert_eq!(open.settled().await, ["two"]);
    let all: Vec<String> = open.project.servers().set().status().into_iter().map(|status| status.name).collect();
    assert_eq!(all, ["two"]);
    open.close().await;
    // A server that was stopped while it began was killed, so it says nothing of its end.
    #[cfg(target_os = "linux")]
    assert_eq!(alive(&place.path("log")), [""; 0]);
}

/// The processes that have a path among their arguments.
#[cfg(target_os = "linux")]
fn alive(path: &std::path::Path) -> Vec<String> {
    let path = path.as_os_str().as_encoded_bytes();
    let numbers = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let has_path = |pid: &String| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == path)
    };
    numbers.filter(has_path).collect()
}

/// Polls a future once.
async fn polled_once<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_ready())).await
}

/// The layout of an entry, and other content of a file, restart no server.
#[tokio::test]
async fn what_says_the_same_restarts_nothing() {
    let place = Place::new();
    place.servers(USER, &[("one", "user")]);
    let open = Open::new(place.project(), silent()).await;
    assert_eq!(open.settled().await, ["one"]);
    open.take_notices();
    let text = serde_json::to_string_pretty(&json!({"numStartups": 7, "mcpServers": {"one": place.entry("user")}}));
    place.write(USER, &text.unwrap());
    assert_eq!(open.settled().await, ["one"]);
    assert_eq!((place.log(), open.take_notices()), (vec!["user starts".to_owned()], String::new()));
    open.close().await;
}

/// A call that waits for a server which is stopped has an end, and the run goes on.
#[tokio::test]
async fn a_call_of_a_server_that_is_stopped_ends_with_an_error() {
    let place = Place::new();
    place.servers(USER, &[("one", "silent")]);
    let model = calling(&["mcp__one__say"]);
    let mut open = Open::new(place.project(), model.clone()).await;
    assert_eq!(open.settled().await, ["one"]);
    open.session.handle.prompt("Go.").unwrap();
    let ended = async {
        loop {
            match open.session.events.try_next().await.unwrap().unwrap().kind.clone() {
                EventKind::ToolStarted { .. } => {
                    place.settings(&json!({"deniedMcpServers": [{"serverName": "one"}]}));
                    open.project.refresh(&open.session.handle).await.unwrap();
                }
                EventKind::RunFinished(result) => return result.text,
                _ => {}
            }
        }
    };
    let text = tokio::time::timeout(Duration::from_secs(60), ended).await.expect("the call waits for ever");
    assert_eq!(text, "Done.");
    assert!(results(&model)[0].contains("one"), "{:?}", results(&model));
    open.close().await;
}

/// A session that opens later finds the servers that files and lists name at that time, even if it uses an older
/// reading of them.
#[tokio::test]
async fn a_session_that_is_opened_later_has_the_servers_of_its_time() {
    let place = Place::new();
    place.servers(USER, &[("one", "first")]);
    let first = Open::new(place.project(), silent()).await;
    assert_eq!(first.settled().await, ["one"]);
    let project = first.project.clone();
    place.servers(USER, &[("one", "first"), ("two", "second")]);
    place.settings(&json!({"deniedMcpServers": [{"serverName": "one"}]}));
    let builder = session().provider(silent()).project(project.clone());
    let second = builder.open().await.unwrap();
    project.servers().set().settled(Duration::from_secs(30)).await;
    assert_eq!(first.connected(), ["two"]);
    assert_eq!(place.log(), ["first starts", "first ends", "second starts"]);
    second.handle.close().await.unwrap();
    first.close().await;
}

/// One of two servers with one name hides the other, and says so once.
#[tokio::test]
async fn a_server_that_comes_to_hide_another_is_said() {
    let place = Place::new();
    place.settings(&json!({"enableAllProjectMcpServers": true}));
    place.servers(PROJECT, &[("one", "project")]);
    let open = Open::new(place.project(), silent()).await;
    assert_eq!(open.settled().await, ["one"]);
    place.servers(USER, &[("one", "user")]);
    assert_eq!(open.settled().await, ["one"]);
    let said = open.take_notices();
    assert!(
        said.contains("has changed and is started anew") && said.contains("the MCP server \"one\" is that of"),
        "{said}"
    );
    place.servers(USER, &[("one", "user"), ("two", "user")]);
    assert_eq!(open.settled().await, ["one", "two"]);
    assert!(!open.take_notices().contains("is that of"));
    assert_eq!(place.log()[..3], ["project starts", "project ends", "user starts"]);
    open.close().await;
}
