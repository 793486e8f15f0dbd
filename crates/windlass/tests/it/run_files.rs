//! Files that configuration runs: protected like the configuration, and compared with what was trusted before they run.

use crate::instructions::{Place, run};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass::{
    PermissionAnswer, PermissionMode, Permissions, ScriptedModel, ScriptedTurn, SessionBuilder, coding_tools, session,
};

/// The question to a host: the tool, its input, and the reason.
type Asked = Arc<Mutex<Vec<String>>>;

fn hooks(event: &str, command: &str) -> String {
    json!({ "hooks": { event: [{ "hooks": [{ "type": "command", "command": command }] }] } }).to_string()
}

/// A model that makes these calls, one after the other.
fn calling(calls: &[(&'static str, Value)]) -> ScriptedModel {
    let calls = calls.to_vec();
    ScriptedModel::from_fn(move |_, at| match calls.get(at) {
        Some((tool, input)) => ScriptedTurn::new().tool_use(*tool, input.clone()),
        None => ScriptedTurn::new().text("done"),
    })
}

fn asking(asked: &Asked, allows: bool) -> Permissions {
    let asked = Arc::clone(asked);
    Permissions::ask(move |request| {
        let edits = request.edits.as_ref().map(|edits| edits.diff.clone()).unwrap_or_default();
        let text = format!("{} {} {} {edits}", request.tool, request.input.as_str(), request.decision.message);
        asked.lock().unwrap().push(text);
        async move { if allows { PermissionAnswer::allow() } else { PermissionAnswer::deny("no") } }
    })
}

fn builder(place: &Place, model: &ScriptedModel, permissions: Permissions) -> SessionBuilder {
    let builder = session().provider(model.clone()).tools(coding_tools(place.path("work")));
    builder.project(place.project()).permissions(permissions)
}

async fn ran(place: &Place, model: &ScriptedModel, permissions: Permissions) -> Vec<String> {
    let mut session = builder(place, model, permissions).open().await.unwrap();
    run(&mut session, "go").await;
    session.handle.close().await.unwrap();
    session.notices
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("Write", json!({ "file_path": path, "content": content }))
}

fn trusted(place: &Place) {
    place.project().updates().unwrap().record_trust(true).unwrap();
}

/// Files that configuration in effect runs, each with a call that would change it.
fn configured() -> Vec<(&'static str, String, &'static str)> {
    let server = |entry: Value| json!({ "mcpServers": { "s": entry } }).to_string();
    vec![
        ("work/.claude/settings.json", hooks("PostToolUse", "./scripts/format.sh"), "scripts/format.sh"),
        ("work/.claude/settings.json", hooks("Stop", "bash -c 'exec \"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh'"), "scripts/guard.sh"),
        ("work/.claude/settings.json", hooks("Stop", "cd tools && timeout 5 python3 check.py"), "tools/check.py"),
        ("work/.claude/settings.json", hooks("Stop", "npm run lint"), "package.json"),
        ("work/.claude/settings.json", hooks("Stop", "make -s fmt"), "Makefile"),
        ("work/.claude/settings.json", hooks("Stop", "just fmt"), "justfile"),
        ("home/.claude/settings.json", hooks("Stop", "$CLAUDE_PROJECT_DIR/guard"), "guard"),
        ("home/.claude/settings.json", json!({ "apiKeyHelper": "sh tools/key.sh" }).to_string(), "tools/key.sh"),
        ("home/.claude/settings.json", json!({ "lspServers": { "l": { "command": "node", "args": ["lsp/server.js"], "extensionToLanguage": { ".x": "x" } } } }).to_string(), "lsp/server.js"),
        ("work/.mcp.json", server(json!({ "command": "node", "args": ["server/index.js"], "lazy": true })), "server/index.js"),
        ("work/.mcp.json", server(json!({ "type": "http", "url": "http://127.0.0.1:9/", "headersHelper": "./headers" })), "headers"),
        ("work/.claude/agents/careful.md", "---\nname: careful\ndescription: c\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: ./agent-guard\n---\nx".to_owned(), "agent-guard"),
        ("work/.claude/skills/s/SKILL.md", "---\nname: s\ndescription: d\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./skill-hook\n---\nx".to_owned(), "skill-hook"),
        ("work/.claude/commands/go.md", "!`./look x`".to_owned(), "look"),
    ]
}

#[tokio::test]
async fn files_that_configuration_runs_are_protected_like_the_configuration() {
    for (file, text, program) in configured() {
        // The program is missing, or present.
        for exists in [true, false] {
            let place = Place::new(&[(file, &text)]);
            if exists {
                let path = place.path("work").join(program);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "#!/bin/sh\nexit 0\n").unwrap();
            }
            trusted(&place);
            let model = calling(&[
                ("Bash", json!({ "command": format!("echo evil > {program}") })),
                ("Bash", json!({ "command": format!("mkdir -p x && cp /bin/true x/y && mv x/y ./{program}") })),
                write(program, "evil"),
                write("free.txt", "free"),
            ]);
            let asked = Asked::default();
            let mode = asking(&asked, false).allow(["Bash"]).mode(PermissionMode::AcceptEdits);
            ran(&place, &model, mode).await;
            let asked = asked.lock().unwrap();
            assert_eq!(
                asked.iter().filter(|text| text.contains(program)).count(),
                3,
                "{file} {program} {exists}: {asked:?}"
            );
            assert!(!asked.iter().any(|text| text.contains("free.txt")), "{asked:?}");
        }
    }
}

#[tokio::test]
async fn programs_of_the_system_protect_nothing() {
    let place = Place::new(&[(
        "work/.claude/settings.json",
        &hooks("Stop", "cargo fmt && npx prettier --write src/a.ts; cat notes.md"),
    )]);
    trusted(&place);
    let model = calling(&[
        write("src/a.ts", "x"),
        write("notes.md", "x"),
        write("package.json", "{}"),
        write("Cargo.toml", ""),
    ]);
    let asked = Asked::default();
    ran(&place, &model, asking(&asked, false).mode(PermissionMode::AcceptEdits)).await;
    assert_eq!(*asked.lock().unwrap(), Vec::<String>::new());
}

/// A gate that lets everything pass, by a file in the project.
fn guarded() -> Place {
    let place = Place::new(&[
        ("work/.claude/settings.json", &hooks("PreToolUse", "sh scripts/guard.sh")),
        ("work/scripts/guard.sh", "echo guarded >> ../ran\n"),
    ]);
    trusted(&place);
    place
}

fn touch() -> ScriptedModel {
    calling(&[("Bash", json!({ "command": "touch made" }))])
}

fn was_run(place: &Place) -> usize {
    std::fs::read_to_string(place.path("ran")).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn a_program_that_a_call_changes_asks_before_it_runs_again() {
    for allows in [true, false] {
        let place = guarded();
        let model = calling(&[
            ("Read", json!({ "file_path": "scripts/guard.sh" })),
            ("Bash", json!({ "command": "echo 'echo changed >> ../ran' > scripts/guard.sh" })),
            ("Bash", json!({ "command": "touch made" })),
            ("Bash", json!({ "command": "touch again" })),
        ]);
        let asked = Asked::default();
        let answers = Arc::clone(&asked);
        let permissions = Permissions::ask(move |request| {
            let is_program = request.tool == "ConfiguredProgram";
            let diff = request.edits.as_ref().map(|edits| edits.diff.clone()).unwrap_or_default();
            answers.lock().unwrap().push(format!("{} {} {diff}", request.tool, request.decision.message));
            async move { if is_program && !allows { PermissionAnswer::deny("no") } else { PermissionAnswer::allow() } }
        });
        ran(&place, &model, permissions.allow(["Bash"])).await;
        let asked = asked.lock().unwrap();
        let programs: Vec<&String> = asked.iter().filter(|text| text.starts_with("ConfiguredProgram")).collect();
        assert_eq!(programs.len(), if allows { 1 } else { 2 }, "{asked:?}");
        for part in ["scripts/guard.sh", "-echo guarded >> ../ran", "+echo changed >> ../ran"] {
            assert!(programs[0].contains(part), "{part}: {programs:?}");
        }
        let made = place.path("work/made").exists() && place.path("work/again").exists();
        assert_eq!(made, allows, "a gate whose program is not confirmed denies");
        let log = std::fs::read_to_string(place.path("ran")).unwrap();
        assert_eq!(log.contains("changed"), allows, "{log}");
    }
}

#[tokio::test]
async fn a_program_that_others_changed_is_confirmed_once() {
    let place = guarded();
    // The first session records what is there.
    ran(&place, &touch(), Permissions::new().allow(["Bash"])).await;
    assert_eq!(was_run(&place), 1);
    place.write("work/scripts/guard.sh", "echo pulled >> ../ran\n");
    // Nobody can be asked: the call is denied, and the file named.
    std::fs::remove_file(place.path("work/made")).unwrap();
    let model = touch();
    let notices = ran(&place, &model, Permissions::new().allow(["Bash"])).await;
    assert!(
        notices.iter().any(|notice| notice.contains("scripts/guard.sh") && notice.contains("windlass trust")),
        "{notices:?}"
    );
    let read = format!("{:?}", model.requests().last().unwrap().messages);
    assert!(read.contains("scripts/guard.sh"), "{read}");
    assert!(!place.path("work/made").exists() && was_run(&place) == 1);
    // Somebody can: once, with the change.
    for expected in [1, 0] {
        let asked = Asked::default();
        ran(&place, &touch(), asking(&asked, true).allow(["Bash"])).await;
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), expected, "{asked:?}");
        assert!(asked.iter().all(|text| text.contains("+echo pulled") && text.contains("-echo guarded")), "{asked:?}");
    }
    assert_eq!(was_run(&place), 3);
}

/// A relative program means another file where the session goes.
#[tokio::test]
async fn a_program_of_another_directory_is_no_trusted_one() {
    let place = guarded();
    let model = calling(&[
        ("Bash", json!({ "command": "mkdir -p sub/scripts && echo 'echo fake >> ../../ran' > sub/scripts/guard.sh" })),
        ("Bash", json!({ "command": "cd sub" })),
        ("Bash", json!({ "command": "touch made" })),
    ]);
    ran(&place, &model, Permissions::new().allow(["Bash"])).await;
    let log = std::fs::read_to_string(place.path("ran")).unwrap();
    assert!(!log.contains("fake") && !place.path("work/sub/made").exists(), "{log}");
}

#[tokio::test]
async fn programs_of_commands_are_compared_too() {
    let place = Place::new(&[("work/.claude/commands/look.md", "!`sh ./look`"), ("work/look", "echo looked")]);
    trusted(&place);
    let project = place.project().load().unwrap();
    let session = session().provider(touch()).tools(coding_tools(place.path("work"))).project(project.clone());
    let session = session.permissions(Permissions::new()).open().await.unwrap();
    assert!(project.called("look", "", None).is_ok());
    place.write("work/look", "echo changed");
    let error = project.called("look", "", None).unwrap_err().to_string();
    assert!(error.contains("work/look") && error.contains("windlass trust"), "{error}");
    // Another process confirms it.
    let reviewed = place.project().trust(true).inspect().unwrap().reviewed_programs();
    assert_eq!(reviewed.len(), 1);
    assert!(reviewed[0].has_changed() && reviewed[0].diff().contains("+echo changed"), "{reviewed:?}");
    let contents = reviewed.into_iter().map(|program| (program.path, program.now)).collect();
    place.project().updates().unwrap().record_programs(&contents).unwrap();
    assert!(project.called("look", "", None).is_ok());
    session.handle.close().await.unwrap();
}

/// A change by the host before it opened the session is no change of the session.
#[tokio::test]
async fn a_project_that_no_record_trusts_is_compared_with_its_beginning() {
    let place = Place::new(&[
        ("home/.claude/settings.json", &hooks("PreToolUse", "sh $CLAUDE_PROJECT_DIR/scripts/guard.sh")),
        ("work/scripts/guard.sh", "echo guarded >> ../ran\n"),
    ]);
    for text in ["echo one >> ../ran\n", "echo two >> ../ran\n"] {
        place.write("work/scripts/guard.sh", text);
        let builder = session().provider(touch()).tools(coding_tools(place.path("work")));
        let builder = builder.project(place.project().trust(true)).permissions(Permissions::new().allow(["Bash"]));
        let mut session = builder.open().await.unwrap();
        run(&mut session, "go").await;
        session.handle.close().await.unwrap();
    }
    assert_eq!(was_run(&place), 2);
}
