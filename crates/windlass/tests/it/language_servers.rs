//! Language servers of settings in a session: the tool, and what an edit has brought.

use crate::instructions::{Place, run};
use serde_json::json;
use std::path::Path;
use windlass::project::{PluginDir, Project};
use windlass::{ContentBlock, PermissionMode, ScriptedModel, ScriptedTurn, coding_tools, session};

/// Settings of the user that name the small server of the tests of `windlass-lsp`.
fn settings(place: &Place) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../windlass-lsp/tests/it/server.py");
    json!({ "lspServers": { "toy": {
        "command": "python3", "args": [script], "extensionToLanguage": { ".toy": "toy" },
        "env": { "MARKS": place.path("marks"), "PATH": std::env::var("PATH").unwrap() },
    } } })
    .to_string()
}

/// A session that makes these calls, one for each turn. Returns what the model has read besides its results, and those.
async fn worked(place: &Place, calls: Vec<(&'static str, serde_json::Value)>) -> (Vec<String>, Vec<String>) {
    worked_in(place, place.project().trust(true), calls).await
}

async fn worked_in(
    place: &Place,
    project: Project,
    calls: Vec<(&'static str, serde_json::Value)>,
) -> (Vec<String>, Vec<String>) {
    let model = ScriptedModel::from_fn(move |_, at| match calls.get(at) {
        Some((tool, input)) => ScriptedTurn::new().tool_use(*tool, input.clone()),
        None => ScriptedTurn::new().text("ok"),
    });
    let builder = session().provider(model.clone()).tools(coding_tools(place.path("work"))).project(project);
    let mut session = builder.permission_mode(PermissionMode::AcceptEdits).open().await.unwrap();
    run(&mut session, "go").await;
    session.handle.close().await.unwrap();
    let requests = model.requests();
    let blocks: Vec<&ContentBlock> = requests.last().unwrap().messages.iter().flat_map(|one| &one.content).collect();
    let texts = blocks.iter().filter_map(|block| block.as_text()).map(str::to_owned).collect();
    let results = blocks.iter().filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result.content.text()),
        _ => None,
    });
    (texts, results.collect())
}

#[tokio::test]
async fn the_model_asks_a_server_of_the_users_settings_and_reads_what_its_edit_has_brought() {
    let place = Place::new(&[("work/a.toy", "def one\nbad old\n"), ("home/.claude/settings.json", "")]);
    place.write("home/.claude/settings.json", &settings(&place));
    let path = place.path("work/a.toy");
    let definition = json!({ "operation": "goToDefinition", "filePath": path, "line": 1, "symbol": "one" });
    let edit = json!({ "file_path": path, "old_string": "def one", "new_string": "bad new\ndef one" });
    let calls = vec![("LSP", definition), ("Read", json!({ "file_path": path })), ("Edit", edit)];
    let (texts, results) = worked(&place, calls).await;
    assert_eq!(results[0], "a.toy:1:5", "{results:?}");
    let brought: Vec<_> = texts.iter().filter(|text| text.contains("diagnostics")).collect();
    assert_eq!(brought.len(), 1, "{texts:?}");
    assert!(brought[0].contains("a.toy:1: error [toy]: bad: new") && !brought[0].contains("old"), "{brought:?}");
}

/// A plugin was named by who starts the session: that is trust.
#[tokio::test]
async fn a_plugin_brings_language_servers() {
    let place = Place::new(&[("work/a.toy", "def one\n"), ("kit/.lsp.json", ""), ("odd/.lsp.json", r#"{"x":{}}"#)]);
    let servers: serde_json::Value = serde_json::from_str(&settings(&place)).unwrap();
    place.write("kit/.lsp.json", &servers["lspServers"].to_string());
    let project =
        || place.project().trust(true).plugins([PluginDir::new(place.path("odd")), PluginDir::new(place.path("kit"))]);
    let symbols = json!({ "operation": "documentSymbol", "filePath": place.path("work/a.toy") });
    let (_, results) = worked_in(&place, project(), vec![("LSP", symbols)]).await;
    assert!(results[0].contains("a.toy:1"), "{results:?}");
    assert!(place.path("marks").exists(), "the server has started");
}

#[tokio::test]
async fn a_server_gets_no_key_of_the_session() {
    let place = Place::new(&[("work/a.toy", "def one\n"), ("home/.claude/settings.json", "")]);
    let server = json!({ "command": "/bin/sh", "args": ["-c", "env > \"$MARKS\""], "extensionToLanguage": { ".toy": "toy" },
        "env": { "MARKS": place.path("marks") } });
    place.write("home/.claude/settings.json", &json!({ "lspServers": { "env": server } }).to_string());
    let project = Project::at(place.path("work")).environment([
        ("HOME", place.path("home").into_os_string()),
        ("ANTHROPIC_API_KEY", "sk-canary".into()),
        ("LANG", "C.UTF-8".into()),
    ]);
    let project = project.trust(true);
    let symbols = json!({ "operation": "documentSymbol", "filePath": place.path("work/a.toy") });
    worked_in(&place, project, vec![("LSP", symbols)]).await;
    let seen = std::fs::read_to_string(place.path("marks")).unwrap();
    assert!(seen.contains("LANG=C.UTF-8") && !seen.contains("canary"), "{seen}");
}

#[tokio::test]
async fn a_shared_file_of_the_project_starts_no_server() {
    let place = Place::new(&[("work/a.toy", "def one\n"), ("work/.claude/settings.json", "")]);
    place.write("work/.claude/settings.json", &settings(&place));
    let symbols = json!({ "operation": "documentSymbol", "filePath": place.path("work/a.toy") });
    let (_, results) = worked(&place, vec![("LSP", symbols)]).await;
    assert!(results[0].contains("LSP") && !results[0].contains("a.toy:1"), "{results:?}");
    assert!(!place.path("marks").exists(), "no server has started");
}
