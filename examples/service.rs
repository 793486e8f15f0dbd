//! A service with axum. Any number of browsers watch its sessions, which wait for answers and survive hang-ups and
//! restarts. `main` drives the service through a socket as browsers would.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::response::sse::{Event as Frame, KeepAlive, Sse};
use axum::routing::{get, post};
use futures_util::{StreamExt, future::try_join_all};
use std::{collections::HashMap, net::SocketAddr, path::Path as FilePath, sync::Arc};
use tokio::net::TcpListener;
use windlass::permission::QuestionEvents;
use windlass::{
    Access, Agent, Home, PermissionAnswer, Permissions, Prompt, ScriptedModel, ScriptedTurn, SessionHandle, ToolCx,
    agent, event::Watched, permission::QuestionId, tool_fn,
};
use windlass_examples::http;

struct Service {
    agent: Agent,
    open: tokio::sync::Mutex<HashMap<String, SessionHandle>>,
}

type Failure = (StatusCode, String);

fn failed(error: impl std::fmt::Display) -> Failure {
    (StatusCode::CONFLICT, error.to_string())
}

/// Returns the session of this id: open, stored, or new.
async fn session(service: &Arc<Service>, id: &str) -> Result<SessionHandle, Failure> {
    let mut open = service.open.lock().await;
    if let Some(handle) = open.get(id) {
        return Ok(handle.clone());
    }
    let session = service.agent.session().session_id(id).open().await.map_err(failed)?;
    // After this call, no reader holds the session up, and no hang-up closes it.
    session.events.detach();
    let (ended, service, key) = (session.handle.ended(), Arc::clone(service), id.to_owned());
    tokio::spawn(async move {
        ended.await;
        service.open.lock().await.remove(&key);
    });
    open.insert(id.to_owned(), session.handle.clone());
    Ok(session.handle)
}

async fn prompt(State(service): State<Arc<Service>>, Path(id): Path<String>, text: String) -> Result<(), Failure> {
    session(&service, &id).await?.prompt(Prompt::text(text)).map_err(failed)
}

type Ids = Path<(String, String)>;

async fn answer(State(service): State<Arc<Service>>, Path((id, question)): Ids, text: String) -> Result<(), Failure> {
    let answer = if text == "allow" { PermissionAnswer::allow() } else { PermissionAnswer::deny(text) };
    session(&service, &id).await?.answer(&QuestionId::from(question), answer).map_err(failed)
}

async fn events(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Failure> {
    let session = session(&service, &id).await?;
    let seen = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.split_once('-'));
    // Events seen before a restart belong to the conversation, not to this stream.
    let next = match seen {
        Some((opening, seq)) if opening == session.opening() => seq.parse::<u64>().map_err(failed)? + 1,
        _ => 0,
    };
    let feed = session.subscribe_from(next).map_err(failed)?;
    let opening = session.opening().to_owned();
    let frames = feed.map(move |watched| match watched {
        Ok(Watched::Event(event)) => serde_json::to_string(&*event)
            .map(|text| Frame::default().id(format!("{opening}-{}", event.seq)).data(text)),
        Ok(Watched::Missed { from, to }) => Ok(Frame::default().event("missed").data(format!("{from}..{to}"))),
        Err(error) => Ok(Frame::default().event("failed").data(error.to_string())),
    });
    Ok(Sse::new(frames).keep_alive(KeepAlive::default()))
}

async fn serve(folder: &FilePath) -> anyhow::Result<(SocketAddr, Arc<Service>)> {
    // The model calls `deploy` on request, and otherwise reports the number of messages in its request.
    let model = ScriptedModel::from_fn(|request, _| match request.messages.last() {
        Some(last) if last.text().contains("deploy") => ScriptedTurn::new().tool_use("deploy", serde_json::json!({})),
        _ => ScriptedTurn::new().text(format!("{} messages", request.messages.len())),
    });
    let deploy = tool_fn("deploy", "Deploys.", |_: HashMap<String, String>, _: ToolCx| async { Ok("deployed") });
    let agent = agent()
        .provider(model)
        .tools(deploy.with_access(Access::Network))
        .cwd(folder)
        .persist(Home::new(folder.join("home")))
        .permissions(Permissions::new().host(QuestionEvents));
    let service = Arc::new(Service { agent, open: tokio::sync::Mutex::default() });
    let routes = axum::Router::new()
        .route("/sessions/{id}/prompts", post(prompt))
        .route("/sessions/{id}/answers/{question}", post(answer))
        .route("/sessions/{id}/events", get(events))
        .with_state(Arc::clone(&service));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok((address, service))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (at, service) = serve(folder.path()).await?;
    let path = |n: u32, rest: &str| format!("/sessions/00000000-0000-4000-8000-{n:012}/{rest}");
    let events = |n| format!("GET {}", path(n, "events"));
    let prompts = |n| format!("POST {}", path(n, "prompts"));

    // A browser sees a question and hangs up. Another one answers, and the first returns and gets the events it missed.
    http(at, &prompts(0), "", "deploy it", "200 OK").await?;
    let seen = http(at, &events(0), "", "", "\"permission_requested\"").await?;
    let last = seen.iter().rev().find_map(|line| line.strip_prefix("id: ")).unwrap_or("none").to_owned();
    let shown = seen.last().and_then(|line| line.strip_prefix("data: ")).unwrap_or_default();
    let question = serde_json::from_str::<serde_json::Value>(shown)?["id"].as_str().unwrap_or_default().to_owned();
    let answers = format!("POST {}", path(0, &format!("answers/{question}")));
    http(at, &answers, "", "allow", "200 OK").await?;
    let rest = http(at, &events(0), &format!("Last-Event-ID: {last}\r\n"), "", "\"run_finished\"").await?;
    anyhow::ensure!(rest.iter().any(|line| line.contains("deployed")) && !rest.contains(&format!("id: {last}")));
    println!("answered from elsewhere, after {} lines and a hang-up", seen.len());

    // Fifty more sessions at once.
    try_join_all((1..=50).map(|n| async move {
        http(at, &prompts(n), "", "Hello", "200 OK").await?;
        http(at, &events(n), "", "", "\"run_finished\"").await
    }))
    .await?;
    println!("{} sessions are open", service.open.lock().await.len());

    // A restart. The conversation is read from the home.
    let handles: Vec<SessionHandle> = service.open.lock().await.values().cloned().collect();
    try_join_all(handles.iter().map(SessionHandle::close)).await?;
    let (at, _service) = serve(folder.path()).await?;
    http(at, &prompts(0), "", "Do you remember?", "200 OK").await?;
    let seen = http(at, &events(0), &format!("Last-Event-ID: {last}\r\n"), "", "\"run_finished\"").await?;
    anyhow::ensure!(seen.iter().any(|line| line.contains("5 messages")), "the conversation is lost: {seen:?}");
    println!("the conversation survived the restart");
    Ok(())
}
