//! The index of a project in its sessions.

use crate::instructions::{Place, run};
use serde_json::json;
use std::sync::{Arc, Mutex};
use windlass::session::ContextKind;
use windlass::{
    ContentBlock, Permissions, Project, ScriptedModel, ScriptedTurn, SessionBuilder, coding_tools, session,
};
use windlass_types::ModelRequest;

type Requests = Arc<Mutex<Vec<ModelRequest>>>;

fn place() -> Place {
    Place::new(&[
        ("work/Cargo.toml", "[package]\nname = \"house\"\n"),
        ("work/src/door.rs", "pub fn open_door() {}\n"),
        ("work/src/main.rs", "fn main() {}\n"),
        ("work/CLAUDE.md", "Be brief."),
    ])
}

/// A session in which a prompt `search x` has the model search.
fn opened(place: &Place, project: Project) -> (SessionBuilder, Requests) {
    let seen = Requests::default();
    let requests = Arc::clone(&seen);
    let model = ScriptedModel::from_fn(move |request, _| {
        requests.lock().unwrap().push(request.clone());
        let last = request.messages.last().unwrap();
        let prompt = last.content.first().and_then(ContentBlock::as_text).unwrap_or_default();
        match prompt.strip_prefix("search ") {
            Some(query) => ScriptedTurn::new().tool_use("ProjectSearch", json!({"query": query})),
            None => ScriptedTurn::new().text("ok"),
        }
    });
    let tools = coding_tools(place.path("work"));
    (session().provider(model).tools(tools).project(project).permissions(Permissions::new()), seen)
}

fn indexes(request: &ModelRequest) -> Vec<String> {
    let texts = request.messages.iter().flat_map(|message| &message.content).filter_map(ContentBlock::as_text);
    texts.filter(|text| text.contains("<project-index>")).map(str::to_owned).collect()
}

fn has_tool(request: &ModelRequest) -> bool {
    request.tools.iter().any(|tool| tool.name == "ProjectSearch")
}

#[tokio::test]
async fn the_model_reads_it_once_and_searches_it() {
    let place = place();
    let (builder, requests) = opened(&place, place.project());
    let mut session = builder.persist(windlass::Home::new(place.path("kept"))).open().await.unwrap();
    let id = session.handle.session_id().clone();
    run(&mut session, "hello").await;
    run(&mut session, "search open door").await;
    let usage = session.handle.context_usage().await.unwrap();
    let listed = usage.sections.iter().find(|section| section.name == "index of the project").unwrap();
    assert!(listed.kind == ContextKind::Instructions && (50..=300).contains(&listed.tokens), "{listed:?}");
    session.handle.close().await.unwrap();
    drop(session);
    {
        let requests = requests.lock().unwrap();
        assert!(has_tool(&requests[0]));
        let first = indexes(&requests[0]);
        assert!(first[0].contains("cargo test") && first[0].contains("house (Cargo)"), "{first:?}");
        for pair in requests.windows(2) {
            assert_eq!(pair[0].messages[..], pair[1].messages[..pair[0].messages.len()]);
            assert_eq!(indexes(&pair[1]), first);
        }
        let text = format!("{:?}", requests.last().unwrap().messages.last().unwrap().content);
        assert!(text.contains("src/door.rs:1 open_door"), "{text}");
    }
    // The index is another one by now, and the conversation has one.
    let (builder, later) = opened(&place, place.project());
    let mut session = builder.persist(windlass::Home::new(place.path("kept"))).resume(&id).open().await.unwrap();
    run(&mut session, "again").await;
    let usage = session.handle.context_usage().await.unwrap();
    session.handle.close().await.unwrap();
    assert_eq!(indexes(&later.lock().unwrap()[0]), indexes(&requests.lock().unwrap()[0]));
    assert_eq!(usage.sections.iter().filter(|section| section.name == "index of the project").count(), 1);
    // A session of its own reads what the cache has.
    let (builder, fresh) = opened(&place, place.project());
    let mut session = builder.persist(windlass::Home::new(place.path("kept"))).open().await.unwrap();
    run(&mut session, "hello").await;
    assert!(indexes(&fresh.lock().unwrap()[0])[0].contains("4 files in "));
}

#[tokio::test]
async fn it_is_off_without_a_project_and_where_it_is_switched_off() {
    let place = place();
    let setting = place.project().settings(r#"{"projectIndex": false}"#);
    let switched = place.project().index(false);
    for project in [setting, switched] {
        let (builder, requests) = opened(&place, project);
        let mut session = builder.open().await.unwrap();
        run(&mut session, "hello").await;
        session.handle.close().await.unwrap();
        let requests = requests.lock().unwrap();
        assert!(indexes(&requests[0]).is_empty() && !has_tool(&requests[0]));
    }
    assert!(!place.path("home/.windlass/cache").exists());
}

#[tokio::test]
async fn a_session_without_tools_that_search_gets_none() {
    let place = place();
    let seen = Requests::default();
    let requests = Arc::clone(&seen);
    let model = ScriptedModel::from_fn(move |request, _| {
        requests.lock().unwrap().push(request.clone());
        ScriptedTurn::new().text("ok")
    });
    let mut session = session().provider(model).project(place.project()).open().await.unwrap();
    run(&mut session, "hello").await;
    let requests = seen.lock().unwrap();
    assert!(requests[0].tools.iter().all(|tool| tool.name != "ProjectSearch"));
    assert_eq!(indexes(&requests[0]).len(), 1);
}

#[tokio::test]
async fn rules_that_deny_hold_for_it() {
    let place = place();
    let rules = r#"{"permissions": {"deny": ["Read(Cargo.toml)", "Read(src/door.rs)"]}}"#;
    let (builder, requests) = opened(&place, place.project().settings(rules));
    let mut session = builder.open().await.unwrap();
    run(&mut session, "search door house main").await;
    session.handle.close().await.unwrap();
    let requests = requests.lock().unwrap();
    let text = format!("{:?}", requests.last().unwrap().messages);
    assert!(text.contains("src/main.rs") && !text.contains("open_door") && !text.contains("house (Cargo)"), "{text}");
}

#[tokio::test]
async fn sessions_that_are_kept_in_the_project_are_no_part_of_it() {
    let place = place();
    let home = windlass::Home::new(place.path("work/.kept"));
    for name in ["projects", "skills"] {
        let folder = home.root().join(name).join("one");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("garden.rs"), "pub fn open_gate() {}\n").unwrap();
    }
    let (builder, requests) = opened(&place, place.project());
    let mut session = builder.persist(home).open().await.unwrap();
    run(&mut session, "search open gate").await;
    let requests = requests.lock().unwrap();
    let text = format!("{:?}", requests.last().unwrap().messages.last().unwrap().content);
    assert!(text.contains("skills/one/garden.rs") && !text.contains("projects/one/garden.rs"), "{text}");
}
