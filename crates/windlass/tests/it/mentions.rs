//! Content of the files that a prompt mentions, as the model reads it.

use crate::instructions::{Place, run};
use serde_json::json;
use std::sync::{Arc, Mutex};
use windlass::options::ContextOptions;
use windlass::session::Resume;
use windlass::{
    ContentBlock, EventKind, Home, Permissions, PreToolUseAction, ScriptedModel, ScriptedTurn, SessionBuilder,
    coding_tools, event::Status, hook_fn, session,
};
use windlass_types::{ModelInfo, ModelRequest};

/// A session that attaches what prompts mention.
fn open(place: &Place, model: &ScriptedModel) -> SessionBuilder {
    session()
        .provider(model.clone())
        .tools(coding_tools(place.path("work")))
        .context(ContextOptions::new().mentions(true))
}

fn answering() -> ScriptedModel {
    ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("ok"))
}

/// The texts of attachments in a request.
fn attached(request: &ModelRequest) -> Vec<String> {
    let texts = request.messages.iter().flat_map(|message| &message.content).filter_map(ContentBlock::as_text);
    let of_mention = |text: &str| {
        let text = text.strip_prefix("<system-reminder>\nThe prompt mentions ")?;
        Some(text.strip_suffix("\n</system-reminder>")?.to_owned())
    };
    texts.filter_map(of_mention).collect()
}

#[tokio::test]
async fn files_lines_and_directories_stand_behind_the_prompt() {
    let place = Place::new(&[
        ("work/a.txt", "one\ntwo\nthree\n"),
        ("work/two words.txt", "blank\n"),
        ("work/docs/x.md", "x"),
        ("work/docs/sub/y.md", "y"),
        ("work/app/AGENTS.md", "App."),
        ("work/app/b.rs", "fn b() {}\n"),
    ]);
    let model = answering();
    let builder = open(&place, &model).project(place.project());
    let mut session = builder.open().await.unwrap();
    let prompt = "See @a.txt:2-3, @\"two words.txt\" @docs/ @app/b.rs, me@a.txt and @Test or @types/node.";
    run(&mut session, prompt).await;
    let requests = model.requests();
    let message = &requests[0].messages[0];
    assert_eq!(message.content[0].as_text(), Some(prompt), "the words of the user stay as they are");
    let texts = attached(&requests[0]);
    let work = place.path("work");
    let work = work.display();
    let file = |name: &str, range: &str, path: &str, text: &str| {
        format!("@{name}: {range}\"{work}/{path}\", as Read shows it.\n<attached>\n{text}\n</attached>")
    };
    assert_eq!(texts.len(), 4, "{texts:#?}");
    assert!(
        texts[0].starts_with(&file("a.txt:2-3", "lines 2 to 3 of ", "a.txt", "2\ttwo\n3\tthree")[..60]),
        "{texts:#?}"
    );
    assert!(texts[0].contains("2\ttwo\n3\tthree") && !texts[0].contains("one"), "{texts:#?}");
    assert!(texts[1].contains("1\tblank"), "{texts:#?}");
    assert!(texts[2].contains("<attached>\nsub/\nx.md\n</attached>"), "{texts:#?}");
    assert!(texts[3].contains("1\tfn b() {}"), "{texts:#?}");
    let all: Vec<_> = message.content.iter().filter_map(ContentBlock::as_text).collect();
    assert!(all.iter().any(|text| text.contains("App.")), "the instructions for what is mentioned: {all:#?}");
    session.handle.close().await.unwrap();
}

#[tokio::test]
async fn by_default_a_mention_is_a_word() {
    let place = Place::new(&[("work/a.txt", "one")]);
    let model = answering();
    let mut session = session().provider(model.clone()).tools(coding_tools(place.path("work"))).open().await.unwrap();
    run(&mut session, "See @a.txt").await;
    assert_eq!(attached(&model.requests()[0]), [""; 0]);
    session.handle.close().await.unwrap();
}

#[tokio::test]
async fn rules_floor_and_hooks_hold_and_what_is_left_out_is_a_notice() {
    let place = Place::new(&[
        ("work/a.txt", "SECRET-a"),
        ("work/denied/b.txt", "SECRET-b"),
        ("work/.env", "SECRET-c"),
        ("home/out.txt", "SECRET-d"),
        ("work/hooked.txt", "SECRET-e"),
        ("work/bytes.bin", "\u{0}\u{1}\u{2}SECRET-f"),
    ]);
    std::os::unix::fs::symlink(place.path("home/out.txt"), place.path("work/link.txt")).unwrap();
    let model = answering();
    let hook = hook_fn("guard").before_tool(["Read"], |event| async move {
        let is_guarded = event.tool_input.as_str().contains("hooked");
        Ok(if is_guarded { PreToolUseAction::deny("not this one") } else { PreToolUseAction::Continue })
    });
    let builder = open(&place, &model).permissions(Permissions::new().deny(["Read(denied/**)"])).hook(hook);
    let mut session = builder.open().await.unwrap();
    let prompt = "@denied/b.txt @../home/out.txt @link.txt @hooked.txt @bytes.bin @/no/such/file";
    session.handle.prompt(prompt).unwrap();
    let mut notices = Vec::new();
    while let Some(event) = session.events.try_next().await.unwrap() {
        match event.kind {
            EventKind::Status(Status::Notice { message }) => notices.push(message),
            EventKind::RunFinished(_) => break,
            _ => {}
        }
    }
    let texts = attached(&model.requests()[0]);
    let all = format!("{:?}", model.requests()[0].messages);
    assert!(!all.contains("SECRET-"), "{all}");
    assert_eq!(texts.len(), 5, "{texts:#?}");
    for (text, name) in
        texts.iter().zip(["@denied/b.txt", "@../home/out.txt", "@link.txt", "@hooked.txt", "@bytes.bin"])
    {
        assert!(text.starts_with(&format!("{name}: it is not attached: ")), "{texts:#?}");
        assert!(
            notices.iter().any(|notice| notice.starts_with(&format!("{name}: it is not attached"))),
            "{notices:#?}"
        );
    }
    session.handle.close().await.unwrap();
}

#[tokio::test]
async fn a_mentioned_file_counts_as_read_and_images_are_shown() {
    // One grey pixel.
    const PNG: &[u8] = &[
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 0x01, 0, 0, 0,
        0x01, 0x08, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68,
        0, 0, 0, 0x82, 0, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
    ];
    let place = Place::new(&[("work/a.txt", "one\ntwo\n")]);
    std::fs::write(place.path("work/dot.png"), PNG).unwrap();
    let path = place.path("work/a.txt");
    let model = ScriptedModel::from_fn(move |request, _| {
        let answered = request.messages.iter().any(|message| message.content.iter().any(|b| b.as_tool_use().is_some()));
        if answered {
            return ScriptedTurn::new().text("ok");
        }
        let input = json!({"file_path": path, "old_string": "two", "new_string": "2"});
        ScriptedTurn::new().tool_use("Edit", input)
    });
    let permissions = Permissions::new().mode(windlass::PermissionMode::AcceptEdits);
    let mut session = open(&place, &model).permissions(permissions).open().await.unwrap();
    run(&mut session, "Edit @a.txt like @dot.png").await;
    assert_eq!(std::fs::read_to_string(place.path("work/a.txt")).unwrap(), "one\n2\n");
    let first = &model.requests()[0].messages[0];
    assert!(first.content.iter().any(|block| matches!(block, ContentBlock::Image { .. })), "{first:?}");
    session.handle.close().await.unwrap();
}

#[tokio::test]
async fn a_resumed_and_a_forked_session_send_the_same_bytes() {
    let place = Place::new(&[("work/a.txt", "one\n"), ("work/CLAUDE.md", "Root.")]);
    let home = Home::new(place.path("kept"));
    let first = answering();
    let mut session = open(&place, &first).project(place.project()).persist(home.clone()).open().await.unwrap();
    let id = session.handle.session_id().clone();
    run(&mut session, "See @a.txt").await;
    run(&mut session, "again").await;
    session.handle.close().await.unwrap();
    std::fs::write(place.path("work/a.txt"), "changed\n").unwrap();
    for fork in [true, false] {
        let later = answering();
        let builder = open(&place, &later).project(place.project()).persist(home.clone());
        let mut session =
            builder.resume(if fork { Resume::session(&id).fork() } else { Resume::session(&id) }).open().await.unwrap();
        run(&mut session, "See @a.txt once more").await;
        session.handle.close().await.unwrap();
        let (before, after) = (first.requests(), later.requests());
        let before = &before.last().unwrap().messages;
        let after = &after[0];
        assert_eq!(before[..], after.messages[..before.len()], "what was sent stays (fork: {fork})");
        let texts = attached(after);
        assert!(texts[0].contains("1\tone") && texts[1].contains("1\tchanged"), "{texts:#?}");
    }
}

#[tokio::test]
async fn messages_to_a_run_and_agents_are_mentions_too() {
    let place = Place::new(&[("work/a.txt", "one\n"), ("work/b.txt", "bee\n")]);
    let path = place.path("work/a.txt");
    let steering = Arc::new(Mutex::new(None::<windlass::SessionHandle>));
    let handle = Arc::clone(&steering);
    let model = ScriptedModel::from_fn(move |_, number| {
        if number > 0 {
            return ScriptedTurn::new().text("ok");
        }
        handle.lock().unwrap().as_ref().unwrap().steer("Mind @b.txt and use @agent-Explore").unwrap();
        ScriptedTurn::new().tool_use("Read", json!({ "file_path": path }))
    });
    let mut session = open(&place, &model).subagents(windlass::Subagents::new()).open().await.unwrap();
    *steering.lock().unwrap() = Some(session.handle.clone());
    run(&mut session, "go").await;
    let texts = attached(model.requests().last().unwrap());
    assert!(texts[0].contains("1\tbee"), "{texts:#?}");
    assert!(texts[1].starts_with("@agent-Explore: the user wants the agent \"Explore\""), "{texts:#?}");
    session.handle.close().await.unwrap();
}

/// Files of a prompt share what the window has left.
#[tokio::test]
async fn mentioned_files_fit_a_small_window() {
    let text = "a line of the file\n".repeat(3_000);
    let place = Place::new(&[("work/a.txt", text.as_str()), ("work/b.txt", text.as_str())]);
    let model = answering().with_info(ModelInfo::new(32_000, 4_000));
    let mut session = open(&place, &model).open().await.unwrap();
    run(&mut session, "Compare @a.txt and @b.txt").await;
    let texts = attached(&model.requests()[0]);
    let tokens = texts.iter().map(String::len).sum::<usize>() / 3;
    assert!(texts.len() == 2 && (10_000..24_000).contains(&tokens), "{tokens}");
    assert!(texts.iter().any(|text| text.contains("left out here")), "{texts:?}");
}
