//! Requests to the API over several turns and sessions: bytes that its cache can use, and no alteration of the model's
//! output.

use crate::common::{provider, stored_messages, watch};
use serde_json::{Value, json};
use std::path::Path;
use windlass::options::{ContextOptions, ModelOptions, RequestOptions, WorkspaceOptions};
use windlass::session::Resume;
use windlass::{Home, Outcome, PermissionMode, Permissions, Query, SystemPrompt, Thinking, coding_tools, query};
use windlass_testkit::wire::{Message, RecordedRequest, Reply, WireServer};

const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// The exact bytes of a request body, apart from its cache markers, cut into what is stable and the messages.
struct Body {
    /// Model, tools and system, as sent.
    head: String,
    /// Each message, as sent, without markers.
    messages: Vec<String>,
    /// Markers in the messages.
    markers: usize,
    json: Value,
}

impl Body {
    fn of(request: &RecordedRequest) -> Self {
        let text = String::from_utf8(request.body.to_vec()).unwrap();
        let at = text.find(",\"messages\":[").unwrap();
        let json = request.json().unwrap();
        let tail = text[at..].to_owned();
        let markers = tail.matches(MARKER).count();
        let mut rest = tail.replace(MARKER, "");
        rest.drain(..",\"messages\":[".len());
        // The messages are cut by reading one JSON value after the other, so that the bytes stay as sent.
        let mut messages = Vec::new();
        loop {
            let mut values = serde_json::Deserializer::from_str(&rest).into_iter::<Box<serde_json::value::RawValue>>();
            messages.push(values.next().unwrap().unwrap().get().to_owned());
            let end = values.byte_offset();
            let more = rest[end..].starts_with(',');
            if !more {
                break;
            }
            rest.drain(..=end);
        }
        assert_eq!(messages.len(), json["messages"].as_array().unwrap().len());
        Self { head: text[..at].to_owned(), messages, markers, json }
    }
}

fn bodies(server: &WireServer) -> Vec<Body> {
    server.requests().iter().map(Body::of).collect()
}

/// Each request begins with the bytes of the one before.
fn assert_prefixes(bodies: &[Body]) {
    for pair in bodies.windows(2) {
        assert_eq!(pair[0].head, pair[1].head, "model, tools and system");
        let before = &pair[0].messages;
        assert_eq!(Some(before.as_slice()), pair[1].messages.get(..before.len()), "messages");
    }
}

fn base(server: &WireServer, workspace: &Path, home: &Path, prompt: &str) -> Query {
    query(prompt)
        .provider(provider(&server.url()))
        .tools(coding_tools(workspace))
        .permission_mode(PermissionMode::AcceptEdits)
        .persist(Home::new(home))
}

fn folder_with(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

#[tokio::test]
async fn every_request_begins_with_the_one_before_also_after_a_resume() {
    let workspace = folder_with(&[("a.txt", b"one \xE2\x98\x82\ntwo\n"), ("b.txt", b"x")]);
    let home = tempfile::tempdir().unwrap();
    let server = WireServer::start().await.unwrap();
    // Blanks, escapes and the order of keys are the model's own.
    let odd = r#"{ "file_path" : "a.txt",  "limit": 10, "offset":1 }"#;
    server.push(Message::new().text("I look.").tool_use_text("toolu_1", "Read", odd).tool_use(
        "toolu_2",
        "Read",
        json!({"file_path": "b.txt"}),
    ));
    server.push(Message::new().tool_use(
        "toolu_3",
        "Edit",
        json!({"file_path": "a.txt", "old_string": "two", "new_string": "2"}),
    ));
    server.push(Message::new().tool_use_text("toolu_4", "Read", r#"{"file_path": "#));
    server.push(Message::new().tool_use("toolu_5", "Nothing", json!({})));
    server.push(Message::new().text("Done. \u{1F980}\\ \"quoted\"\n"));
    let first = watch(base(&server, workspace.path(), home.path(), "Change \"a\"\n\tplease")).await;
    assert_eq!(first.result().outcome, Outcome::Success);
    assert_eq!(std::fs::read_to_string(workspace.path().join("a.txt")).unwrap(), "one \u{2602}\n2\n");
    for prompt in ["And now?", "And then?"] {
        server.push(Message::new().tool_use("toolu_6", "Glob", json!({"pattern": "*.txt"})));
        server.push(Message::new().text("Nothing more."));
        let again = watch(base(&server, workspace.path(), home.path(), prompt).resume(Resume::latest())).await;
        assert_eq!(again.result().outcome, Outcome::Success);
    }
    let bodies = bodies(&server);
    assert_eq!(bodies.len(), 9);
    assert_prefixes(&bodies);
    // The stored messages are the sent ones.
    let stored = stored_messages(home.path());
    let sent = bodies[8].messages.iter().map(|message| serde_json::from_str::<Value>(message).unwrap());
    assert!(sent.eq(stored[..stored.len() - 1].iter().cloned()));
}

#[tokio::test]
async fn breakpoints_stand_at_the_end_of_what_stays() {
    let workspace = folder_with(&[("a.txt", b"one\n")]);
    let home = tempfile::tempdir().unwrap();
    let server = WireServer::start().await.unwrap();
    for n in 0..3 {
        server.push(Message::new().tool_use(&format!("toolu_{n}"), "Read", json!({"file_path": "a.txt"})));
    }
    server.push(Message::new().text("ok"));
    watch(base(&server, workspace.path(), home.path(), "read")).await;
    for (n, body) in bodies(&server).iter().enumerate() {
        let system = body.json["system"].as_array().unwrap();
        assert!(system.last().unwrap()["cache_control"].is_object(), "the system prompt is cached");
        let in_system = body.head.matches(MARKER).count();
        assert!(in_system + body.markers <= 4, "the API takes four");
        // The end of this request, and the end of the last one, where its entry was written.
        assert_eq!(body.markers, if n == 0 { 1 } else { 2 }, "request {n}");
        let marked =
            |message: &Value| message["content"].as_array().unwrap().last().unwrap()["cache_control"].is_object();
        let messages = body.json["messages"].as_array().unwrap();
        assert!(marked(messages.last().unwrap()) && (n == 0 || marked(&messages[messages.len() - 3])), "request {n}");
    }
    // No marker is set when caching is off.
    server.push(Message::new().text("ok"));
    watch(
        query("x")
            .provider(provider(&server.url()))
            .model(ModelOptions::new().requests(RequestOptions::new().cache(None))),
    )
    .await;
    assert!(!String::from_utf8_lossy(&server.requests()[4].body).contains("cache_control"));
}

#[tokio::test]
async fn thinking_and_blocks_of_tomorrow_go_back_as_they_came() {
    let workspace = folder_with(&[("a.txt", b"one\n")]);
    let home = tempfile::tempdir().unwrap();
    let server = WireServer::start().await.unwrap();
    let thought = "First \u{2602} \"then\"\n\\ \u{0001} end ";
    let signature = "EqQBCkgIARABGAIiQL8/+signed==";
    server.push(
        Message::new()
            .thinking(thought, signature)
            .redacted_thinking("b64==")
            .thinking("", "only-signed")
            .text("Now.")
            .block(&json!({"type": "hologram", "beam": {"b": 1, "a": [1.50, null]}}), &[])
            .tool_use("toolu_1", "Read", json!({"file_path": "a.txt"})),
    );
    server.push(Message::new().text("ok"));
    watch(
        base(&server, workspace.path(), home.path(), "think").model(ModelOptions::new().thinking(Thinking::Adaptive)),
    )
    .await;
    server.push(Message::new().text("ok"));
    watch(
        base(&server, workspace.path(), home.path(), "again")
            .model(ModelOptions::new().thinking(Thinking::Adaptive))
            .resume(Resume::latest()),
    )
    .await;
    let bodies = bodies(&server);
    assert_prefixes(&bodies);
    for body in &bodies[1..] {
        let blocks = body.json["messages"][1]["content"].as_array().unwrap();
        assert_eq!(blocks[0], json!({"type": "thinking", "thinking": thought, "signature": signature}));
        assert_eq!(blocks[1], json!({"type": "redacted_thinking", "data": "b64=="}));
        assert_eq!(blocks[2], json!({"type": "thinking", "thinking": "", "signature": "only-signed"}));
        assert_eq!(blocks[4], json!({"type": "hologram", "beam": {"b": 1, "a": [1.5, null]}}));
        assert!(body.messages[1].contains(&json!(thought).to_string()), "as it was escaped");
        assert!(body.messages[1].contains(r#""beam":{"#), "{}", body.messages[1]);
    }
}

/// Models that decide themselves how much to reason do so unless they are told otherwise.
#[tokio::test]
async fn models_that_can_reason_by_themselves_do() {
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let drop = json!({"prefix_mismatch_behavior": "drop_block"});
    let bound = json!({"type": "adaptive", "display": "summarized", "block_binding": drop});
    for (model, thinking, expected) in [
        ("claude-opus-5-5", None, bound.clone()),
        ("claude-opus-5-5", Some(Thinking::Off), Value::Null),
        // This model takes no budget, and is to reason all the same.
        ("claude-opus-5-5", Some(Thinking::Budget(4_000)), bound),
        ("claude-opus-4-6", None, adaptive),
        ("claude-opus-4-6", Some(Thinking::Budget(4_000)), json!({"type": "enabled", "budget_tokens": 4_000})),
        ("claude-haiku-4-5", None, Value::Null),
        ("claude-haiku-4-5", Some(Thinking::Adaptive), Value::Null),
        ("unheard-of", None, Value::Null),
    ] {
        let server = WireServer::start().await.unwrap();
        // A model that no list has: the server is asked for its window first.
        if model == "unheard-of" {
            server.push(Reply::error(404, "not_found_error", "no models here"));
        }
        server.push(Message::new().text("ok"));
        let query = query("hi").provider(provider(&server.url())).model(model);
        watch(match thinking {
            Some(thinking) => query.model(ModelOptions::new().thinking(thinking)),
            None => query,
        })
        .await;
        assert_eq!(server.requests().last().unwrap().json().unwrap()["thinking"], expected, "{model} {thinking:?}");
    }
}

#[tokio::test]
async fn an_image_is_sent_as_an_image() {
    // One grey pixel.
    let png: &[u8] = &[
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 0x01, 0, 0, 0,
        0x01, 0x08, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68,
        0, 0, 0, 0x82, 0, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
    ];
    let workspace = folder_with(&[("dot.png", png)]);
    let home = tempfile::tempdir().unwrap();
    let server = WireServer::start().await.unwrap();
    server.push(Message::new().tool_use("toolu_1", "Read", json!({"file_path": "dot.png"})));
    server.push(Message::new().text("A dot."));
    watch(base(&server, workspace.path(), home.path(), "look")).await;
    server.push(Message::new().text("Still a dot."));
    watch(base(&server, workspace.path(), home.path(), "again").resume(Resume::latest())).await;
    let bodies = bodies(&server);
    assert_prefixes(&bodies);
    let result = &bodies[2].json["messages"][2]["content"][0];
    assert_eq!((&result["type"], &result["tool_use_id"]), (&json!("tool_result"), &json!("toolu_1")));
    let image = result["content"].as_array().unwrap().iter().find(|block| block["type"] == "image").unwrap();
    assert_eq!(image["source"]["media_type"], "image/png");
    assert_eq!(image["source"]["type"], "base64");
    assert!(image["source"]["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
}

#[tokio::test]
async fn a_budget_lowers_what_may_be_written_and_ends_the_run_before_it_is_overdrawn() {
    let limit_of = |request: &RecordedRequest| request.json().unwrap()["max_tokens"].as_u64().unwrap();
    let server = WireServer::start().await.unwrap();
    server.push(Message::new().text("ok"));
    let free = watch(query("hi").provider(provider(&server.url())).model("haiku")).await;
    assert_eq!(free.result().outcome, Outcome::Success);
    let usual = limit_of(&server.requests()[0]);
    server.push(Message::new().text("ok"));
    let tight = query("hi").provider(provider(&server.url())).model("haiku").max_budget_usd(0.002);
    assert_eq!(watch(tight).await.result().outcome, Outcome::Success);
    let lowered = limit_of(&server.requests()[1]);
    assert!((1024..usual).contains(&lowered), "{lowered} of {usual}");
    let broke = query("hi").provider(provider(&server.url())).model("haiku").max_budget_usd(0.000_1);
    let broke = watch(broke).await;
    assert!(matches!(broke.result().outcome, Outcome::MaxBudget { .. }), "{:?}", broke.result().outcome);
    assert_eq!(server.request_count(), 2, "nothing was asked that cannot be paid");
}

/// The texts of the first message of a request.
fn first_texts(request: &RecordedRequest) -> Vec<String> {
    let json = request.json().unwrap();
    let blocks = json["messages"][0]["content"].as_array().unwrap().clone();
    blocks.iter().filter_map(|block| block["text"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_model_with_any_system_prompt_is_told_where_it_works() {
    let workspace = folder_with(&[]);
    let more = tempfile::tempdir().unwrap();
    let server = WireServer::start().await.unwrap();
    for prompt in [SystemPrompt::Preset, SystemPrompt::Custom(String::new()), SystemPrompt::Custom("Own.".into())] {
        server.push(Message::new().text("ok"));
        let home = tempfile::tempdir().unwrap();
        let query = base(&server, workspace.path(), home.path(), "hello")
            .system_prompt(prompt)
            .workspace(WorkspaceOptions::new().add_dir(more.path()));
        watch(query).await;
    }
    let cwd = workspace.path().canonicalize().unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    for request in requests {
        let texts = first_texts(&request);
        assert_eq!(texts[0], "hello");
        for part in [
            format!("Working directory: {}", cwd.display()),
            format!("Also part of the workspace: {}", more.path().display()),
            format!("Platform: {}", std::env::consts::OS),
            "Date: 2".to_owned(),
        ] {
            assert!(texts[1].contains(&part), "{part}: {texts:?}");
        }
        assert!(!texts[1].contains("Git"), "nobody allowed to look: {texts:?}");
        let system = request.json().unwrap()["system"].to_string();
        assert!(!system.contains(&*cwd.to_string_lossy()), "the system prompt is the same everywhere: {system}");
    }
}

#[tokio::test]
async fn branch_and_status_of_a_repository_are_told_if_the_program_says_so() {
    let workspace = folder_with(&[("new.txt", b"x")]);
    let home = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git").args(args).current_dir(workspace.path()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "--quiet", "--initial-branch=trunk"]);
    let server = WireServer::start().await.unwrap();
    server.push(Message::new().text("ok"));
    watch(base(&server, workspace.path(), home.path(), "hello").context(ContextOptions::new().git_status(true))).await;
    // A repository that could make git run a program is not asked for its status.
    git(&["config", "core.fsmonitor", "touch ran"]);
    server.push(Message::new().text("ok"));
    watch(base(&server, workspace.path(), home.path(), "hello").context(ContextOptions::new().git_status(true))).await;
    let told: Vec<String> = server.requests().iter().map(|request| first_texts(request).join("\n")).collect();
    assert!(told[0].contains("Git branch: trunk\nGit status when the session began:\n?? new.txt"), "{}", told[0]);
    assert!(told[1].contains("Git branch: trunk") && !told[1].contains("Git status"), "{}", told[1]);
    assert!(!workspace.path().join("ran").exists());
}

#[tokio::test]
async fn the_provider_is_sent_a_random_id_of_the_home_unless_it_is_not_to_be() {
    let workspace = folder_with(&[]);
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = WireServer::start().await.unwrap();
    for (home, send) in [(&one, true), (&one, true), (&other, true), (&one, false)] {
        server.push(Message::new().text("ok"));
        watch(
            base(&server, workspace.path(), home.path(), "hello")
                .model(ModelOptions::new().requests(RequestOptions::new().user_id(send))),
        )
        .await;
    }
    server.push(Message::new().text("ok"));
    watch(query("hello").provider(provider(&server.url()))).await;
    let ids: Vec<Option<String>> = server
        .requests()
        .iter()
        .map(|request| request.json().unwrap()["metadata"]["user_id"].as_str().map(str::to_owned))
        .collect();
    assert!(ids[0].as_ref().is_some_and(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
    assert_eq!(ids[0], ids[1]);
    assert!(ids[2].is_some() && ids[2] != ids[0]);
    assert_eq!(ids[3..], [None, None]);
}

#[tokio::test]
async fn what_a_program_gives_reaches_commands_but_for_secrets_and_that_is_said() {
    let workspace = folder_with(&[]);
    let server = WireServer::start().await.unwrap();
    server.push(Message::new().tool_use("toolu_1", "Bash", json!({"command": "env"})));
    server.push(Message::new().text("ok"));
    let given = [
        ("PATH", "/usr/bin:/bin"),
        ("KUBECONFIG", "/k"),
        ("DATABASE_URL", "postgres://db/x"),
        ("GITHUB_TOKEN", "hunter2"),
        ("LD_PRELOAD", "/x.so"),
    ];
    let mut run = query("show")
        .provider(provider(&server.url()))
        .tools(coding_tools(workspace.path()))
        .permissions(Permissions::new().allow(["Bash"]))
        .workspace(WorkspaceOptions::new().env(given))
        .stream();
    while run.try_next().await.unwrap().is_some() {}
    let notices = run.notices().join("\n");
    assert!(notices.contains("GITHUB_TOKEN, LD_PRELOAD") && !notices.contains("hunter2"), "{notices}");
    let sent = String::from_utf8(server.requests()[1].body.to_vec()).unwrap();
    assert!(sent.contains("KUBECONFIG=/k") && sent.contains("DATABASE_URL=postgres://db/x"), "{sent}");
    assert!(!sent.contains("hunter2") && !sent.contains("/x.so"), "{sent}");
}
