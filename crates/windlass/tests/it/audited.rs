//! Hooks and answers in the log, as an audit reports them, and secrets that must stay out of the log.

use serde_json::json;
use windlass::options::StorageOptions;
use windlass::{
    Home, Hook, HookContext, HookError, PermissionAnswer, Permissions, PreToolUseAction, Script, ScriptedModel,
    coding_tools,
    hook::{HookEventName, Interest, PreToolUse},
    permission::{AnsweredBy, Behavior, DecisionReason},
    query,
    session::Masks,
};

/// Blocks what it has the word for, and allows the rest.
struct Guard;

#[async_trait::async_trait]
impl Hook for Guard {
    fn name(&self) -> &str {
        "guard"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::tools(HookEventName::PreToolUse, ["Bash"])]
    }

    async fn pre_tool_use(&self, _: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        if event.tool_input.as_str().contains("secret") {
            return Ok(PreToolUseAction::deny("It is not for you."));
        }
        Ok(PreToolUseAction::ask("A person has to look."))
    }
}

#[tokio::test]
async fn the_audit_names_the_hook_that_blocked_and_who_answered() {
    let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let script = Script::new()
        .turn(|turn| turn.tool_use("Bash", json!({"command": "touch secret"})))
        .turn(|turn| turn.tool_use("Bash", json!({"command": "touch open"})))
        .turn(|turn| turn.text("ok"));
    let permissions = Permissions::ask(|_| std::future::ready(PermissionAnswer::allow()));
    let run = query("go").provider(ScriptedModel::new(script)).tools(coding_tools(work.path()));
    let id = run.permissions(permissions).hook(Guard).persist(Home::new(home.path())).await.unwrap().session_id;
    let home = Home::new(home.path());
    let audit = home.audit(&id).await.unwrap();
    let calls: Vec<_> = audit.calls().map(|(_, call)| call).collect();
    let verdict = |at: usize| &calls[at].verdicts[0].verdict;
    let hook = verdict(0).hook.as_ref().unwrap();
    assert_eq!((hook.hook.as_str(), hook.reason.as_str()), ("guard", "It is not for you."));
    assert_eq!((verdict(0).decision.behavior, verdict(0).decision.reason), (Behavior::Deny, DecisionReason::Hook));
    assert!(calls[0].begun.is_none() && verdict(0).answer.is_none());
    assert_eq!(verdict(1).hook.as_ref().unwrap().behavior, Behavior::Ask);
    assert_eq!(verdict(1).answer.as_ref().unwrap().by, AnsweredBy::Host);
    assert!(calls[1].begun.is_some());
    for head in home.audit_heads(&id).await.unwrap() {
        assert_eq!(home.check_head(&head).await.unwrap(), windlass::session::HeadCheck::Holds);
    }
}

#[tokio::test]
async fn a_masked_log_keeps_no_secret_and_the_session_knows_it() {
    let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = "canary-7f3a9b1c";
    std::fs::write(work.path().join("a.txt"), format!("the key: {secret}\n")).unwrap();
    let script = Script::new()
        .turn(|turn| turn.tool_use("Read", json!({"file_path": "a.txt"})))
        .turn(|turn| turn.text(format!("It is {secret}.")));
    let run = query(format!("What is {secret}?")).provider(ScriptedModel::new(script)).tools(coding_tools(work.path()));
    let masks = Masks::new().with_value(secret);
    let result = run.persist(Home::new(home.path())).storage(StorageOptions::new().mask_log(masks)).await.unwrap();
    assert_eq!(result.text, format!("It is {secret}."));
    let stored = Home::new(home.path()).find_session(&result.session_id).await.unwrap().unwrap();
    let log = std::fs::read_to_string(stored.log).unwrap();
    assert!(!log.contains(secret) && log.matches("[redacted]").count() >= 3, "{log}");
}

#[cfg(feature = "project")]
#[tokio::test]
async fn the_audit_names_the_line_of_the_rule_and_the_command() {
    let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = root.path().canonicalize().unwrap();
    for folder in ["work", "user/.claude"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let settings = root.join("user/.claude/settings.json");
    std::fs::write(&settings, "{\"permissions\": {\n\"deny\": [\n\"Bash(rm *)\"]}}").unwrap();
    let project = windlass::Project::at(root.join("work")).environment([("HOME", root.join("user"))]);
    let script =
        Script::new().turn(|turn| turn.tool_use("Bash", json!({"command": "ls; rm x"}))).turn(|turn| turn.text("ok"));
    let run = query("go").provider(ScriptedModel::new(script)).tools(coding_tools(root.join("work"))).project(project);
    let id = run.persist(Home::new(home.path())).await.unwrap().session_id;
    let audit = Home::new(home.path()).audit(&id).await.unwrap();
    let verdict = &audit.calls().next().unwrap().1.verdicts[0].verdict.decision;
    let origin = verdict.rule.as_ref().unwrap().origin.as_ref().unwrap();
    assert_eq!((origin.file.as_str(), origin.line), (settings.to_str().unwrap(), Some(3)));
    assert_eq!(verdict.part.as_deref(), Some("rm x"));
}
