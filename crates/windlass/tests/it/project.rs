//! Sessions of a project: answers that are remembered, notices, plugins that are loaded again, custom commands.

use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use windlass::options::WorkspaceOptions;
use windlass::permission::QuestionEvents;
use windlass::{
    Event, EventKind, PermissionAnswer, PermissionMode, Permissions, Project, Run, RunResult, Script, ScriptedModel,
    Subagents, coding_tools,
    event::Status,
    permission::Behavior,
    project::{PluginDir, ProjectNoticeKind},
    query, session,
};
use windlass_types::{PermissionUpdate, RuleValue, UpdateDestination};

use crate::common::watch;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(place.path("work")).unwrap();
        std::fs::create_dir_all(place.path("home")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn project(&self) -> Project {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Project::at(self.path("work")).environment([("HOME", self.path("home").into_os_string()), ("PATH", path)])
    }
}

/// A model that runs a command and ends.
/// The text of the prompt that a prompt becomes.
fn prompt_text(project: &windlass::project::LoadedProject, prompt: &str) -> String {
    let prompt = project.expand(prompt, None).unwrap();
    prompt.content.iter().filter_map(windlass::ContentBlock::as_text).collect()
}

fn touching() -> ScriptedModel {
    let script = Script::new().turn(|turn| turn.tool_use("Bash", json!({"command": "touch made"})));
    ScriptedModel::new(script.turn(|turn| turn.text("Done.")))
}

async fn ended(mut run: Run) -> (Vec<Event>, RunResult) {
    let mut events = Vec::new();
    while let Some(event) = run.try_next().await.unwrap() {
        events.push(*event);
    }
    let result = events.iter().find_map(|event| match &event.kind {
        EventKind::RunFinished(result) => Some(result.clone()),
        _ => None,
    });
    (events, result.unwrap())
}

#[tokio::test]
async fn commands_know_the_login_shell_of_a_user_who_wants_that() {
    let place = Place::new();
    let profile =
        "export JAVA_HOME=/opt/java MY_TOKEN=secret-of-the-user\ngreet() { echo \"hi $1\"; }\nrg() { echo hidden; }\n";
    place.write("home/.bash_profile", profile);
    let command = "echo \"[$JAVA_HOME|${MY_TOKEN-none}]\"; greet you; rg --version >/dev/null; type rg";
    let shown = async |user: &str, project: &str| {
        place.write("home/.windlass/settings.json", user);
        place.write("work/.windlass/settings.json", project);
        let script = Script::new().turn(|turn| turn.tool_use("Bash", json!({ "command": command })));
        let model = ScriptedModel::new(script.turn(|turn| turn.text("Done.")));
        let env = [
            ("HOME", place.path("home").into_os_string()),
            ("PATH", "/usr/bin:/bin".into()),
            ("SHELL", "/bin/bash".into()),
        ];
        let asked = query("Go.")
            .provider(model)
            .tools(coding_tools(place.path("work")))
            .workspace(WorkspaceOptions::new().env(env));
        let asked = asked.permissions(Permissions::new().allow_bypass().mode(PermissionMode::BypassPermissions));
        let seen = watch(asked.project(place.project())).await;
        seen.tool_results()[0].1.clone()
    };
    let all = shown(r#"{"shellSnapshot":"all"}"#, "{}").await;
    assert!(all.contains("[/opt/java|none]\nhi you\n") && !all.contains("hidden"), "{all}");
    let variables = shown(r#"{"shellSnapshot":"variables"}"#, "{}").await;
    assert!(variables.contains("[/opt/java|none]\n") && !variables.contains("hi you"), "{variables}");
    for (user, project) in [("{}", "{}"), ("{}", r#"{"shellSnapshot":"all"}"#)] {
        let plain = shown(user, project).await;
        assert!(plain.contains("[|none]\n") && !plain.contains("hi you"), "{project}: {plain}");
    }
}

/// Says yes, for good.
fn always(destination: UpdateDestination) -> Permissions {
    Permissions::ask(move |_| async move {
        let rules = vec![RuleValue::tool("Bash")];
        let update = PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, destination };
        PermissionAnswer::Allow { updated_input: None, updates: vec![update] }
    })
}

#[tokio::test]
async fn an_answer_is_remembered_for_the_next_session_of_the_project() {
    let place = Place::new();
    let run = |permissions: Permissions| {
        let query = query("Go.").provider(touching()).tools(coding_tools(place.path("work"))).permissions(permissions);
        query.project(place.project()).stream()
    };
    let (_, denied) = ended(run(Permissions::new())).await;
    assert_eq!(denied.permission_denials.len(), 1);
    let (_, allowed) = ended(run(always(UpdateDestination::LocalSettings))).await;
    assert_eq!(allowed.permission_denials, []);
    let kept = std::fs::read_to_string(place.path("work/.windlass/settings.local.json")).unwrap();
    assert!(kept.contains("\"Bash\""), "{kept}");
    // Nobody is asked now, and nobody trusts the project.
    let (_, next) = ended(run(Permissions::new())).await;
    assert_eq!(next.permission_denials, []);
}

#[tokio::test]
async fn an_answer_through_a_handle_is_remembered_too() {
    let place = Place::new();
    let asked = query("Go.").provider(touching()).tools(coding_tools(place.path("work")));
    let mut run = asked.permissions(Permissions::new().host(QuestionEvents)).project(place.project()).stream();
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::PermissionRequested(request) = event.kind {
            let rules = vec![RuleValue::tool("Bash")];
            let destination = UpdateDestination::LocalSettings;
            let update = PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, destination };
            let answer = PermissionAnswer::Allow { updated_input: None, updates: vec![update] };
            run.handle().await.unwrap().answer(&request.id, answer).unwrap();
        }
    }
    let kept = std::fs::read_to_string(place.path("work/.windlass/settings.local.json")).unwrap();
    assert!(kept.contains("\"Bash\""), "{kept}");
}

/// The project reports to its session and does not keep it open.
#[tokio::test]
async fn a_session_of_a_project_ends_with_its_last_handle() {
    let place = Place::new();
    let project = place.project().load().unwrap();
    let builder = session().provider(touching()).tools(coding_tools(place.path("work"))).subagents(Subagents::new());
    let open = builder.project(project.clone()).open().await.unwrap();
    open.events.detach();
    let ended = open.handle.ended();
    drop(open.handle);
    tokio::time::timeout(std::time::Duration::from_secs(30), ended).await.unwrap();
    drop(project);
}

#[tokio::test]
async fn an_answer_that_cannot_be_kept_is_an_event_or_a_notice_to_whoever_listens() {
    for listens in [false, true] {
        let place = Place::new();
        // A link is not written through.
        std::fs::create_dir_all(place.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink(place.path("elsewhere"), place.path("work/.windlass")).unwrap();
        let (project, heard) = (place.project().load().unwrap(), Arc::new(Mutex::new(Vec::new())));
        if listens {
            let heard = Arc::clone(&heard);
            project.on_notice(move |notice| heard.lock().unwrap().push(notice.clone()));
        }
        let asked = query("Go.").provider(touching()).tools(coding_tools(place.path("work"))).project(project);
        let (events, result) = ended(asked.permissions(always(UpdateDestination::LocalSettings)).stream()).await;
        assert_eq!(result.permission_denials, []);
        let told = events.iter().any(|event| match &event.kind {
            EventKind::Status(Status::Notice { message, .. }) => message.contains("holds for this session only"),
            _ => false,
        });
        let heard = heard.lock().unwrap();
        assert_eq!((told, heard.len()), (!listens, usize::from(listens)), "{heard:?}");
        assert!(heard.iter().all(|notice| notice.kind == ProjectNoticeKind::Answer), "{heard:?}");
    }
}

#[tokio::test]
async fn a_query_names_a_custom_command_and_its_notices_say_what_does_not_count() {
    let place = Place::new();
    place.write("work/.claude/commands/fix.md", "Fix issue $1.");
    place.write("work/.claude/settings.json", r#"{"permissions":{"allow":["Bash"]}}"#);
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Done.")));
    let mut run = query("/fix 12").provider(model.clone()).project(place.project()).stream();
    run.handle().await.unwrap();
    let notices = run.notices().to_vec();
    assert!(notices.len() == 1 && notices[0].contains("without trust"), "{notices:?}");
    assert_eq!(ended(run).await.1.text, "Done.");
    let asked = serde_json::to_string(&model.requests()[0].messages).unwrap();
    assert!(asked.contains("Fix issue 12.") && !asked.contains("/fix"), "{asked}");
}

#[tokio::test]
async fn a_guard_of_a_file_on_a_misspelt_tool_keeps_the_session_closed() {
    for (rules, problem) in [
        (json!({ "deny": ["bash"] }), Some("did you mean \"Bash\"?")),
        (json!({ "ask": ["Raed"] }), Some("did you mean \"Read\"?")),
        (json!({ "deny": ["Read(\"./secrets/**\")"] }), Some("write `Read(./secrets/**)`")),
        // Files are for all programs that read them.
        (json!({ "deny": ["deploy", "WebFetch", "Task", "mcp__x"] }), None),
    ] {
        let place = Place::new();
        place.write("work/.claude/settings.json", &json!({ "permissions": rules }).to_string());
        let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Done.")));
        let tools = coding_tools(place.path("work"));
        let mut run = query("?").provider(model).tools(tools).project(place.project()).stream();
        let opened = run.handle().await.map(drop).map_err(|error| error.to_string());
        match problem {
            None => assert_eq!(opened, Ok(()), "{rules}"),
            Some(problem) => assert!(opened.clone().is_err_and(|error| error.contains(problem)), "{rules}: {opened:?}"),
        }
    }
}

#[tokio::test]
async fn plugins_are_loaded_again_for_open_sessions() {
    let place = Place::new();
    let agent = |name: &str| format!("---\nname: {name}\ndescription: Helps.\n---\nYou help.\n");
    place.write("work/plug/agents/one.md", &agent("one"));
    let project = place.project().plugins([PluginDir::new("plug")]).load().unwrap();
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Done.")));
    let opened = session().provider(model).tools(coding_tools(place.path("work"))).project(project.clone());
    let (open, tools) = opened.open_with_tools().await.unwrap();
    let names = || {
        let agents = tools.subagents().unwrap();
        agents
            .definitions()
            .map(|agent| agent.name.clone())
            .filter(|name| name.starts_with("plug:"))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(), ["plug:one"]);

    place.write("work/plug/agents/two.md", &agent("two"));
    place.write("work/plug/agents/bad.md", "---\nname: bad\ntools: Read, Grpe\n---\nYou help.\n");
    place.write("work/plug/commands/hello.md", "Hello $1.");
    let change = project.plugin_change(project.plugin_directories());
    assert!(change.changes_tools() && change.agents_changed == ["plug:two"], "{change:?}");
    // Nothing has changed until it is put in place.
    assert_eq!((names().len(), prompt_text(&project, "/plug:hello Ada").as_str()), (1, "/plug:hello Ada"));
    project.reload(change);
    assert_eq!(names(), ["plug:one", "plug:two"]);
    assert_eq!(prompt_text(&project, "/plug:hello Ada"), "Hello Ada.");
    assert!(!project.plugin_change(project.plugin_directories()).changes_tools());
    open.handle.close().await.unwrap();
    // A session that is over follows nothing.
    place.write("work/plug/agents/three.md", &agent("three"));
    assert!(project.plugin_change(project.plugin_directories()).agents.is_none());
}

#[cfg(feature = "mcp")]
#[tokio::test]
async fn servers_that_nobody_checked_are_refused_where_settings_have_lists() {
    use windlass::mcp::{McpOptions, McpServerConfig, McpServers, ServerNotConnected};
    let place = Place::new();
    place.write("home/.windlass/settings.json", r#"{"deniedMcpServers":[{"serverName":"bad"}]}"#);
    let config = || McpServerConfig::stdio("true");
    let model = || ScriptedModel::new(Script::new().turn(|turn| turn.text("Done.")));

    let set = McpServers::new(McpOptions::new());
    set.add("bad", config()).unwrap();
    let refused = query("Go.").provider(model()).mcp_servers(set).project(place.project()).await.unwrap_err();
    assert!(refused.to_string().contains("ProjectServers::connect"), "{refused}");

    let project = place.project().load().unwrap();
    let servers = project.servers();
    assert!(matches!(servers.connect("bad", config()), Err(ServerNotConnected::KeptOut(_))));
    servers.connect("good", config()).unwrap();
    let absent = servers.absent();
    assert!(absent.len() == 1 && absent[0].name == "bad" && !absent[0].failed, "{absent:?}");
    let given = query("Go.").provider(model()).mcp_servers(servers.set().clone()).project(project);
    assert_eq!(given.await.unwrap().text, "Done.");
    assert_eq!(servers.set().status().len(), 1);
    servers.set().close().await;
}
