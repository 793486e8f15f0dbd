//! Names that mean nothing, and limits that are none: found when the session opens.

use windlass::options::{LimitOptions, ModelOptions, NameChecks, ToolSetOptions};
use windlass::provider::{ModelInfo, UnpricedModels};
use windlass::testing::ScriptedTurn;
use windlass::{AgentDefinition, Anthropic, Error, Permissions, Query, ScriptedModel, Subagents, coding_tools, query};

fn asked() -> (tempfile::TempDir, Query) {
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("done"));
    let query = query("?").provider(model).tools(coding_tools(folder.path()));
    (folder, query)
}

/// The notices of a session that opens, or why it does not.
async fn opened(change: impl FnOnce(Query) -> Query) -> Result<Vec<String>, Error> {
    let (_folder, query) = asked();
    let mut run = change(query).stream();
    run.handle().await?;
    Ok(run.notices().to_vec())
}

async fn refused(change: impl FnOnce(Query) -> Query) -> String {
    opened(change).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_deny_or_ask_rule_that_can_never_match_keeps_the_session_closed() {
    for (permissions, place) in [
        (Permissions::new().deny(["read"]), "the deny rule `read`"),
        (Permissions::new().ask_about(["bash(git push *)"]), "the ask rule `bash(git push *)`"),
        (Permissions::new().deny(["web_fetch"]), "the deny rule `web_fetch`"),
        (Permissions::new().deny(["Raed"]), "the deny rule `Raed`"),
        (Permissions::new().deny(["Bsh(rm *)"]), "the deny rule `Bsh(rm *)` names \"Bsh\", which is no tool"),
        (Permissions::new().ask_about(["NotebokEdt"]), "the ask rule `NotebokEdt`"),
    ] {
        let text = refused(|query| query.permissions(permissions)).await;
        assert!(text.contains(place) && text.contains("did you mean"), "{text}");
    }
}

#[tokio::test]
async fn an_allow_rule_that_can_never_match_is_a_notice() {
    let notices = opened(|query| query.permissions(Permissions::new().allow(["read", "Edit(src/**)"]))).await.unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("`read`") && notices[0].contains("\"Read\""), "{notices:?}");
}

#[tokio::test]
async fn a_name_that_is_absent_is_a_notice_with_what_may_be_meant() {
    let rules = Permissions::new().deny(["ReadFile", "deploy", "WebFetch", "mcp__*"]).allow(["Raed"]);
    let notices = opened(|query| query.permissions(rules)).await.unwrap();
    assert_eq!(notices.len(), 4, "{notices:?}");
    assert!(notices[0].ends_with("did you mean \"Read\"?"), "{notices:?}");
    assert!(notices[1].contains("deploy") && !notices[1].contains("did you mean"), "{notices:?}");
    assert!(notices[2].contains("WebFetch") && !notices[2].contains("did you mean"), "{notices:?}");
    assert!(notices[3].ends_with("did you mean \"Read\"?"), "{notices:?}");
}

#[tokio::test]
async fn a_rule_about_a_server_that_is_not_there_is_a_notice_and_in_a_strict_session_an_error() {
    let rules = || Permissions::new().deny(["mcp__github__push"]).ask_about(["mcp__my server"]).allow(["mcp__x"]);
    let notices = opened(|query| query.permissions(rules())).await.unwrap();
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[0].contains("`mcp__github__push`") && notices[0].contains("\"github\""), "{notices:?}");
    assert!(notices[1].contains("\"my server\""), "{notices:?}");
    let text = refused(|query| query.names(NameChecks::Strict).permissions(rules())).await;
    assert!(text.contains("`mcp__github__push`") && text.contains("`mcp__my server`"), "{text}");
    for rule in ["mcp__", "mcp____x", "mcp__!"] {
        let text = refused(|query| query.permissions(Permissions::new().deny([rule]))).await;
        assert!(text.contains("names no server"), "{rule}: {text}");
    }
}

#[tokio::test]
async fn a_strict_session_takes_no_allow_rule_that_cannot_be_used() {
    for rule in ["Bash(ls", "ls *", "Web*"] {
        let text = refused(|query| query.names(NameChecks::Strict).permissions(Permissions::new().allow([rule]))).await;
        assert!(text.contains(&format!("`{rule}`")), "{text}");
    }
}

#[tokio::test]
async fn a_misspelt_tool_with_a_specifier_is_said_to_be_no_tool() {
    let lenient = |query: Query| query.names(NameChecks::Off).permissions(Permissions::new().deny(["Bsh(rm *)"]));
    let text = refused(lenient).await;
    assert!(text.contains("no known tool: did you mean `Bash`?"), "{text}");
}

#[tokio::test]
async fn a_strict_session_takes_no_doubtful_name() {
    let text =
        refused(|query| query.names(NameChecks::Strict).permissions(Permissions::new().allow(["deploy", "Reed"])))
            .await;
    assert!(text.contains("deploy") && text.contains("Reed"), "{text}");
    assert_eq!(opened(|query| query.names(NameChecks::Strict)).await.unwrap(), Vec::<String>::new());
    let lenient = |query: Query| query.names(NameChecks::Off).permissions(Permissions::new().deny(["read"]));
    assert_eq!(opened(lenient).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn lists_of_tools_are_checked_also_those_of_agents() {
    let text = refused(|query| query.tools(ToolSetOptions::new().only(["read", "Grep"]))).await;
    assert!(text.contains("the list of tools") && text.contains("\"Read\""), "{text}");
    let agent = AgentDefinition::new("reviewer", "Reviews.", "You review.").with_tools(["grep"]);
    let text = refused(|query| query.subagents(Subagents::new().with(agent))).await;
    assert!(text.contains("the agent \"reviewer\"") && text.contains("\"Grep\""), "{text}");
    assert_eq!(opened(|query| query.subagents(Subagents::new())).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn models_have_names_that_are_known_or_near_none() {
    for (change, role) in [
        (Box::new(|query: Query| query.model(" ")) as Box<dyn FnOnce(Query) -> Query>, "the model"),
        (Box::new(|query: Query| query.model(ModelOptions::new().fallback(""))), "the fallback model"),
    ] {
        let text = refused(change).await;
        assert!(text.contains(&format!("the name of {role} is empty")), "{text}");
    }
    let anthropic = || Anthropic::builder().api_key("sk-test").build().unwrap();
    let notices = opened(|query| query.provider(anthropic()).model("sonet")).await.unwrap();
    assert!(notices.len() == 1 && notices[0].contains("\"sonnet\""), "{notices:?}");
    for known in ["sonnet", "opus[1m]", "claude-haiku-4-5", "my-own-deployment"] {
        assert_eq!(
            opened(|query| query.provider(anthropic()).model(known)).await.unwrap(),
            Vec::<String>::new(),
            "{known}"
        );
    }
}

#[tokio::test]
async fn a_budget_is_an_amount_and_its_models_have_prices() {
    for amount in [f64::NAN, -1.0, f64::INFINITY] {
        let text = refused(|query| query.max_budget_usd(amount)).await;
        assert!(text.starts_with("max_budget_usd is "), "{text}");
    }
    let text = refused(|query| query.max_budget_usd(1.0)).await;
    assert!(text.contains("no known price") && text.contains("UnpricedModels::Allow"), "{text}");
    opened(|query| query.max_budget_usd(1.0).limits(LimitOptions::new().unpriced_models(UnpricedModels::Allow)))
        .await
        .unwrap();
    let info = ModelInfo::new(100_000, 8_000);
    assert!(info.price.is_none());
}

#[tokio::test]
async fn an_agent_without_a_name_keeps_the_session_closed() {
    let agent = AgentDefinition::new(" ", "Reviews.", "You review.");
    let text = refused(|query| query.subagents(Subagents::new().with(agent))).await;
    assert!(text.contains("an agent has no name"), "{text}");
}

#[tokio::test]
async fn a_relative_home_keeps_the_session_closed() {
    let text = refused(|query| query.persist(windlass::Home::new("relative"))).await;
    assert!(text.contains("the home") && text.contains("absolute"), "{text}");
    assert!(!std::path::Path::new("relative").exists());
}

#[test]
fn a_session_whose_runtime_has_ended_says_so() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("done"));
    let opened = runtime.block_on(windlass::session().provider(model).open()).unwrap();
    drop(runtime);
    let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let text = other.block_on(opened.handle.close()).unwrap_err().to_string();
    assert!(text.contains("runtime") && !text.contains("bug"), "{text}");
}
