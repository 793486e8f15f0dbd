//! The character set of commands: the one in which they were analysed.

use std::path::Path;
use std::sync::{Arc, Mutex};
use windlass::options::WorkspaceOptions;

use windlass::tool::built_in::LocalProcess;
use windlass::{EventKind, PermissionAnswer, PermissionMode, Permissions, Script, ScriptedModel, coding_tools, query};

/// The result of one command, and whether it was asked about.
async fn run(cwd: &Path, command: &str, env: &[(&str, &str)], own: bool, mode: PermissionMode) -> (String, bool) {
    let script = Script::new().turn(|turn| turn.tool_use("Bash", serde_json::json!({ "command": command })));
    let asked = Arc::new(Mutex::new(false));
    let seen = Arc::clone(&asked);
    let permissions = Permissions::ask(move |_| {
        *seen.lock().unwrap() = true;
        async { PermissionAnswer::deny("no") }
    })
    .allow_bypass();
    let query = query("look")
        .provider(ScriptedModel::new(script.turn(|turn| turn.text("ok"))))
        .tools(coding_tools(cwd))
        .permissions(permissions)
        .permission_mode(mode)
        .workspace(WorkspaceOptions::new().env(env.iter().copied().chain([("PATH", "/usr/bin:/bin")])));
    let query = if own {
        query
    } else {
        query.workspace(WorkspaceOptions::new().process(Arc::new(LocalProcess::new("locales"))))
    };
    let (mut stream, mut result) = (query.stream(), String::new());
    while let Some(event) = stream.try_next().await.unwrap() {
        if let EventKind::ToolFinished(finished) = event.kind {
            result = finished.result.content.text();
        }
    }
    let asked = *asked.lock().unwrap();
    (result, asked)
}

#[tokio::test]
async fn commands_run_in_utf_8_whatever_locale_the_session_was_given() {
    let folder = tempfile::tempdir().unwrap();
    for env in [("LC_ALL", "zh_CN.GBK"), ("LC_CTYPE", "C"), ("LANG", "xx_XX.UTF-8"), ("LANG", "zh_TW")] {
        let command = "x=日; echo \"${#x} [${LC_ALL-unset}]\"";
        let (result, asked) = run(folder.path(), command, &[env], true, PermissionMode::BypassPermissions).await;
        assert!(!asked && result.contains("1 [unset]"), "{env:?}: {result}");
    }
}

#[tokio::test]
async fn text_beyond_ascii_asks_where_utf_8_cannot_be_had() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "x\n").unwrap();
    for (command, locale, asks) in [
        ("grep é a", "C", true),
        ("grep e a", "C", false),
        ("grep é a", "C.UTF-8", false),
        ("grep é a", "zh_CN.GBK", false),
    ] {
        let (result, asked) =
            run(folder.path(), command, &[("LC_CTYPE", locale)], false, PermissionMode::Default).await;
        assert_eq!(asked, asks, "{command} {locale}: {result}");
    }
    let (_, asked) = run(folder.path(), "echo é", &[("LC_CTYPE", "C")], false, PermissionMode::BypassPermissions).await;
    assert!(asked, "in every mode");
}

#[tokio::test]
async fn an_assignment_of_another_character_set_asks() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "x\n").unwrap();
    for (command, asks) in [
        ("LC_ALL=zh_CN.GBK sed -n p a", true),
        ("LC_CTYPE=ja_JP.SJIS grep x a", true),
        ("LANG=zh_TW cat a", true),
        ("LC_ALL=C sort a", false),
        ("LANG=en_US.UTF-8 cat a", false),
    ] {
        let (result, asked) = run(folder.path(), command, &[], true, PermissionMode::Default).await;
        assert_eq!(asked, asks, "{command}: {result}");
    }
}
