//! Skills of a project: the list that the model reads, and the tool that reads one.

use crate::instructions::{Place, run};
use serde_json::json;
use windlass::options::ToolSetOptions;
use windlass::{ContentBlock, Permissions, ScriptedModel, ScriptedTurn, coding_tools, query, session};
use windlass_types::ModelRequest;

const REVIEW: &str =
    "---\ndescription: Reviews a change.\n---\nRead ${CLAUDE_SKILL_DIR}/list.md, then review $ARGUMENTS.";

/// The list of skills in a request.
fn listed(request: &ModelRequest) -> Vec<String> {
    let texts = request.messages.iter().flat_map(|message| &message.content).filter_map(ContentBlock::as_text);
    let lists = texts.filter(|text| text.contains("Skills for the tool Skill"));
    lists.flat_map(str::lines).filter(|line| line.starts_with("- ")).map(str::to_owned).collect()
}

fn results(request: &ModelRequest) -> Vec<String> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let results = blocks.filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(serde_json::to_string(result).unwrap()),
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn the_model_reads_the_list_once_and_a_skill_when_it_calls_for_it() {
    let place = Place::new(&[
        ("work/.claude/skills/review/SKILL.md", REVIEW),
        ("home/.claude/skills/commit/SKILL.md", "---\ndescription: Commits.\n---\nCommit."),
        ("home/.claude/skills/commit/style.md", "Short."),
        ("work/.agents/skills/manual/SKILL.md", "---\ndisable-model-invocation: true\n---\nBy hand."),
    ]);
    let style = place.path("home/.claude/skills/commit/style.md");
    let model = ScriptedModel::from_fn(move |_, at| match at {
        0 => ScriptedTurn::new().tool_use("Skill", json!({"skill": "review", "args": "src"})),
        1 => ScriptedTurn::new().tool_use("Skill", json!({"skill": "comit"})),
        2 => ScriptedTurn::new().tool_use("Read", json!({"file_path": style})),
        _ => ScriptedTurn::new().text("ok"),
    });
    let tools = coding_tools(place.path("work"));
    let builder =
        session().provider(model.clone()).tools(tools).project(place.project()).permissions(Permissions::new());
    let mut session = builder.open().await.unwrap();
    run(&mut session, "go").await;
    run(&mut session, "on").await;
    session.handle.close().await.unwrap();
    let requests = model.requests();
    let expected = ["- commit: Commits.", "- review: Reviews a change."];
    assert!(requests.iter().all(|request| listed(request) == expected), "{:?}", listed(&requests[0]));
    let results = results(requests.last().unwrap());
    let directory = place.path("work/.claude/skills/review");
    assert!(results[0].contains(&format!("Read {}/list.md, then review src.", directory.display())), "{}", results[0]);
    assert!(results[1].contains("did you mean commit?"), "{}", results[1]);
    // Files of the user's skills lie outside of the workspace, and need no question.
    assert!(results[2].contains("Short."), "{}", results[2]);
}

#[tokio::test]
async fn the_folder_of_a_skill_opens_no_other_one() {
    let place = Place::new(&[
        ("home/.claude/skills/[ab]/SKILL.md", "---\ndescription: Odd.\n---\nOdd."),
        ("home/.claude/skills/a/secret.md", "Secret."),
    ]);
    let secret = place.path("home/.claude/skills/a/secret.md");
    let model = ScriptedModel::from_fn(move |_, at| match at {
        0 => ScriptedTurn::new().tool_use("Read", json!({"file_path": secret})),
        _ => ScriptedTurn::new().text("ok"),
    });
    let tools = coding_tools(place.path("work"));
    let builder =
        session().provider(model.clone()).tools(tools).project(place.project()).permissions(Permissions::new());
    let mut session = builder.open().await.unwrap();
    run(&mut session, "go").await;
    session.handle.close().await.unwrap();
    assert!(!results(model.requests().last().unwrap())[0].contains("Secret."));
}

#[tokio::test]
async fn a_skill_is_a_command_and_without_the_tool_there_is_no_list() {
    let place = Place::new(&[
        ("work/.claude/skills/review/SKILL.md", REVIEW),
        ("work/.claude/skills/quiet/SKILL.md", "---\nuser-invocable: false\n---\nQuiet."),
    ]);
    let ask = |prompt: &str, tools: &[&str]| {
        let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("ok"));
        let builder = query(prompt).provider(model.clone()).project(place.project());
        let builder = builder.tools(coding_tools(place.path("work")));
        let names: Vec<String> = tools.iter().map(|name| (*name).to_owned()).collect();
        let builder = if names.is_empty() { builder } else { builder.tools(ToolSetOptions::new().only(names)) };
        async move {
            assert!(builder.await.unwrap().outcome.is_success());
            model.requests().remove(0)
        }
    };
    let said = |request: &ModelRequest| request.messages[0].content[0].as_text().unwrap().to_owned();
    let request = ask("/review src", &[]).await;
    assert!(said(&request).ends_with("/list.md, then review src."), "{}", said(&request));
    assert_eq!(listed(&request).len(), 2);
    let request = ask("/quiet", &[]).await;
    assert_eq!(said(&request), "/quiet");
    let request = ask("hello", &["Read"]).await;
    assert_eq!(listed(&request), [""; 0]);
    assert!(request.tools.iter().all(|tool| tool.name != "Skill"));
}
