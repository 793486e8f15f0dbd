//! Sessions that have only some of their tools.

use serde_json::json;
use windlass::options::ToolSetOptions;
use windlass::{EventKind, PermissionMode, Permissions, Script, ScriptedModel, coding_tools, query};

#[tokio::test]
async fn a_tool_that_was_not_chosen_does_not_run_in_any_mode() {
    for (lists, ran) in [
        (vec![], true),
        (vec![vec!["Bash"]], true),
        (vec![vec!["Read", "Grep"]], false),
        (vec![vec!["Bash"], vec!["Read"]], false),
        (vec![vec![]], false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let script = Script::new()
            .turn(|turn| turn.tool_use("Bash", json!({ "command": "touch made" })))
            .turn(|turn| turn.text("Done."));
        let permissions = Permissions::new().allow_bypass().mode(PermissionMode::BypassPermissions);
        let mut query = query("go").provider(ScriptedModel::new(script)).tools(coding_tools(dir.path()));
        for list in &lists {
            query = query.tools(ToolSetOptions::new().only(list.iter().copied()));
        }
        let mut run = query.permissions(permissions).stream();
        let mut offered = Vec::new();
        while let Some(event) = run.try_next().await.unwrap() {
            if let EventKind::RunStarted(started) = event.kind {
                offered = started.tools;
            }
        }
        assert_eq!(offered.contains(&"Bash".to_owned()), ran, "{lists:?} {offered:?}");
        assert_eq!(dir.path().join("made").exists(), ran, "{lists:?}");
    }
}
