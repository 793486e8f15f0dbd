//! Compaction through the public API: by hand, by itself, and when a request was too long.

use serde_json::json;
use std::sync::{Arc, Mutex};
use windlass::options::CompactionOptions;
use windlass::{
    Access, ContentBlock, Event, EventKind, Home, Outcome, RunResult, ScriptedModel, Session, SessionBuilder,
    event::{Continuation, RunFailureKind, Status},
    provider::ModelErrorKind,
    session, tool_fn,
};
use windlass_model::ScriptedTurn;
use windlass_runtime::Prompt;
use windlass_types::{ModelInfo, ModelRequest, SharedMessage, Usage};

type Requests = Arc<Mutex<Vec<Vec<SharedMessage>>>>;

#[derive(serde::Deserialize, windlass::schemars::JsonSchema)]
#[schemars(crate = "windlass::schemars")]
struct Empty {}

fn is_summary(request: &ModelRequest) -> bool {
    let last = request.messages.last().and_then(|message| message.content.last()?.as_text());
    last.is_some_and(|text| text.contains("about to be replaced by a summary"))
}

fn summary(text: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(format!("<summary>{text}</summary>")).usage(Usage::new(900, 20))
}

fn say(text: &str, tokens: u64) -> ScriptedTurn {
    ScriptedTurn::new().text(text).usage(Usage::new(tokens, 10))
}

/// A session over a model that is asked with what it has been asked before.
fn world(answer: impl Fn(&ModelRequest, usize) -> ScriptedTurn + Send + Sync + 'static) -> (SessionBuilder, Requests) {
    let seen = Requests::default();
    let requests = Arc::clone(&seen);
    let model = ScriptedModel::from_fn(move |request, number| {
        requests.lock().unwrap().push(request.messages.clone());
        answer(request, number)
    });
    let model = model.with_info(ModelInfo::new(10_000, 1_000));
    let look = tool_fn("look", "Looks.", |_: Empty, _| async { Ok("green") }).with_access(Access::NOTHING);
    (session().provider(model).tools(look), seen)
}

async fn run(session: &mut Session, prompt: Prompt) -> (Vec<Event>, RunResult) {
    session.handle.prompt(prompt).unwrap();
    let mut events = Vec::new();
    while let Some(event) = session.events.try_next().await.unwrap() {
        if let EventKind::RunFinished(result) = event.kind {
            return (events, result);
        }
        events.push(*event);
    }
    panic!("no result: {events:#?}");
}

/// A turn that must go well.
async fn talk(session: &mut Session, text: impl Into<String>) {
    let (_, result) = run(session, Prompt::text(text)).await;
    assert_eq!(result.outcome, Outcome::Success);
}

fn texts(messages: &[SharedMessage]) -> Vec<String> {
    let blocks = messages.iter().flat_map(|message| &message.content);
    blocks.filter_map(ContentBlock::as_text).map(str::to_owned).collect()
}

fn compactions(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event.kind, EventKind::Compacted(_))).count()
}

#[tokio::test]
async fn by_hand_the_summary_takes_the_place_of_the_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let home = || Home::new(dir.path().join("home"));
    let answer =
        |request: &ModelRequest, _| if is_summary(request) { summary("It was about bees.") } else { say("ok", 50) };
    let (builder, requests) = world(answer);
    let mut session = builder.cwd(dir.path()).persist(home()).open().await.unwrap();
    talk(&mut session, "Tell me of bees.").await;
    let (events, result) = run(&mut session, Prompt::compact("honey")).await;
    assert_eq!((result.outcome, result.turns), (Outcome::Success, 0));
    assert_eq!(compactions(&events), 1);
    assert!(!events.iter().any(|event| matches!(event.kind, EventKind::BlockDelta { .. })), "{events:#?}");
    let asked = texts(requests.lock().unwrap().last().unwrap());
    assert_eq!((asked[0].as_str(), asked[2].as_str()), ("Tell me of bees.", "ok"));
    assert!(asked[1].contains("Working directory: ") && asked[3].contains("honey"), "{asked:?}");
    talk(&mut session, "And wasps?").await;
    let id = session.handle.session_id().to_string();
    session.handle.close().await.unwrap();
    // After it was loaded it goes on from the summary, too.
    let (builder, again) = world(answer);
    let mut session = builder.cwd(dir.path()).persist(home()).resume(id).open().await.unwrap();
    talk(&mut session, "And flies?").await;
    // The summary, the prompts and the answer, and where the session works, which the summary had taken away.
    for (requests, count) in [(requests, 3), (again, 5)] {
        let last = texts(requests.lock().unwrap().last().unwrap());
        assert_eq!(last.len(), count, "{last:?}");
        assert!(last[0].contains("It was about bees.") && last[0].contains("\n- Tell me of bees."), "{last:?}");
        assert!(last.iter().skip(1).all(|text| !text.contains("bees")), "{last:?}");
    }
}

#[tokio::test]
async fn nothing_is_compacted_without_a_conversation_or_a_summary() {
    let (builder, _) = world(|request, _| if is_summary(request) { say(" ", 1) } else { say("ok", 50) });
    let mut session = builder.open().await.unwrap();
    for asked_before in [false, true] {
        if asked_before {
            talk(&mut session, "Hello.").await;
        }
        let (_, result) = run(&mut session, Prompt::compact("")).await;
        let Outcome::Failed(failure) = result.outcome else { panic!("{:?}", result.outcome) };
        assert_eq!(failure.kind, RunFailureKind::Compaction);
    }
    let (_, result) = run(&mut session, Prompt::text("Still there?")).await;
    assert_eq!(result.text, "ok");
}

#[tokio::test]
async fn by_itself_before_the_window_is_full_and_the_prompt_stays() {
    let (builder, requests) = world(|request, number| match number {
        _ if is_summary(request) => summary("Half of it is done."),
        0 => ScriptedTurn::new().tool_use("look", json!({})).usage(Usage::new(9_000, 10)),
        _ => say("All done.", 100),
    });
    let mut session = builder.open().await.unwrap();
    let (events, result) = run(&mut session, Prompt::text("Do it all.")).await;
    assert_eq!((result.outcome, result.text.as_str(), result.turns), (Outcome::Success, "All done.", 2));
    assert_eq!(compactions(&events), 1);
    let requests = requests.lock().unwrap();
    assert_eq!(requests.len(), 3);
    let after = texts(&requests[2]);
    assert!(after[0].contains("Half of it is done.") && after[1] == "Do it all.", "{after:?}");
    // The host's cache event is true: only then the history was another one.
    let broken = |event: &&Event| matches!(event.kind, EventKind::Status(Status::CacheBroken { .. }));
    assert_eq!(events.iter().filter(broken).count(), 1);
}

#[tokio::test]
async fn a_request_that_is_too_long_is_made_again_after_it() {
    let (builder, requests) = world(|request, number| match number {
        _ if is_summary(request) => summary("Short."),
        1 => ScriptedTurn::new().fail(ModelErrorKind::PromptTooLong),
        _ => say("ok", 50),
    });
    let mut session = builder.open().await.unwrap();
    talk(&mut session, "One.").await;
    let (events, result) = run(&mut session, Prompt::text("Two.")).await;
    assert_eq!((result.outcome, result.turns, compactions(&events)), (Outcome::Success, 1, 1));
    let why: Vec<Continuation> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Status(Status::Requesting { continuation, .. }) => Some(*continuation),
            _ => None,
        })
        .collect();
    assert_eq!(why, [Continuation::Prompt, Continuation::Compacted]);
    assert_eq!(texts(requests.lock().unwrap().last().unwrap())[1], "Two.");
}

#[tokio::test]
async fn a_summary_that_is_too_long_itself_does_without_the_beginning() {
    let (builder, requests) = world(|request, _| match request.messages.len() {
        length if length > 6 => ScriptedTurn::new().fail(ModelErrorKind::PromptTooLong),
        _ if is_summary(request) => summary("The end of it."),
        _ => say("ok", 50),
    });
    let mut session = builder.open().await.unwrap();
    for number in 0..3 {
        talk(&mut session, format!("Prompt {number}.")).await;
    }
    let (events, result) = run(&mut session, Prompt::text("The last.")).await;
    assert_eq!((result.outcome, compactions(&events)), (Outcome::Success, 1));
    let requests = requests.lock().unwrap();
    let shortened = &requests[requests.len() - 2];
    assert!(texts(shortened)[0].contains("left out"), "{:?}", texts(shortened));
    assert_eq!(texts(requests.last().unwrap())[1], "The last.");
}

#[tokio::test]
async fn what_stays_too_long_fails_and_does_not_spin() {
    // Too long whatever is done.
    let (builder, _) = world(|request, number| match number {
        0 => say("ok", 50),
        _ if is_summary(request) => summary("Short."),
        _ => ScriptedTurn::new().fail(ModelErrorKind::PromptTooLong),
    });
    let mut session = builder.open().await.unwrap();
    talk(&mut session, "One.").await;
    let (events, result) = run(&mut session, Prompt::text("Two.")).await;
    assert!(matches!(&result.outcome, Outcome::Failed(failure) if failure.kind == RunFailureKind::PromptTooLong));
    assert_eq!(compactions(&events), 1);
    // Every answer fills the window again.
    let (builder, requests) = world(|request, _| match request {
        request if is_summary(request) => summary("Short."),
        _ => ScriptedTurn::new().tool_use("look", json!({})).usage(Usage::new(9_500, 10)),
    });
    let mut session = builder.open().await.unwrap();
    let (events, result) = run(&mut session, Prompt::text("Go.")).await;
    let Outcome::Failed(failure) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(failure.kind, RunFailureKind::PromptTooLong);
    assert!(compactions(&events) <= 4 && requests.lock().unwrap().len() <= 9, "{}", compactions(&events));
}

#[tokio::test]
async fn it_can_be_switched_off_and_given_a_smaller_window() {
    let full = |request: &ModelRequest, number: usize| match number {
        _ if is_summary(request) => summary("Short."),
        0 => ScriptedTurn::new().tool_use("look", json!({})).usage(Usage::new(9_900, 10)),
        _ => say("ok", 50),
    };
    let (builder, _) = world(full);
    let mut session = builder.compaction(CompactionOptions::new().auto(false)).open().await.unwrap();
    assert_eq!(compactions(&run(&mut session, Prompt::text("Go.")).await.0), 0);
    let (builder, _) = world(|request, number| match number {
        _ if is_summary(request) => summary("Short."),
        0 => ScriptedTurn::new().tool_use("look", json!({})).usage(Usage::new(900, 10)),
        _ => say("ok", 50),
    });
    let mut session = builder.compaction(CompactionOptions::new().window(1_000)).open().await.unwrap();
    assert_eq!(compactions(&run(&mut session, Prompt::text("Go.")).await.0), 1);
}

#[tokio::test]
async fn a_function_of_the_program_writes_summaries() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (builder, requests) = world(|_, _| say("ok", 50));
    let noted = Arc::clone(&asked);
    let builder = builder.compaction(CompactionOptions::new().summarizer(move |request| {
        let noted = Arc::clone(&noted);
        async move {
            let words = texts(&request.messages);
            noted.lock().unwrap().push((words.iter().any(|text| text == "bees"), request.wanted.clone()));
            if noted.lock().unwrap().len() == 1 { Ok("It was about bees.".to_owned()) } else { Err("no disk".into()) }
        }
    }));
    let mut session = builder.open().await.unwrap();
    talk(&mut session, "bees").await;
    let (events, result) = run(&mut session, Prompt::compact("the hive")).await;
    assert!(result.outcome == Outcome::Success && compactions(&events) == 1, "{:?}", result.outcome);
    talk(&mut session, "and wasps").await;
    let sent = texts(requests.lock().unwrap().last().unwrap());
    assert!(sent.iter().any(|text| text.contains("It was about bees.")) && !sent.iter().any(|text| text == "bees"));
    assert_eq!(requests.lock().unwrap().len(), 2, "no model is asked for a summary");
    let (had_words, wanted) = asked.lock().unwrap()[0].clone();
    assert!(had_words && wanted.contains("especially for this: the hive"), "{wanted}");

    // Without a summary the conversation stays as it is.
    let (events, result) = run(&mut session, Prompt::compact("")).await;
    assert!(result.outcome != Outcome::Success && compactions(&events) == 0, "{:?}", result.outcome);
    assert!(format!("{:?}", result.outcome).contains("no disk"), "{:?}", result.outcome);
    talk(&mut session, "on").await;
    assert!(texts(requests.lock().unwrap().last().unwrap()).iter().any(|text| text == "and wasps"));
    session.handle.close().await.unwrap();
}
