//! Origins of messages: the data sent back to each provider, and refusals of it.

use crate::choices::Choices;
use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{call, sim, text};
use crate::sim::{Going, Sim, TAME, config, model};
use windlass_core::{Input, Machine, ModelFailure, ModelProfile};
use windlass_types::{Api, ContentBlock, EntryKind, JsonText, ModelErrorKind, ModelEvent, StopReason, StreamDelta};

fn is_model(going: &Going) -> bool {
    matches!(going, Going::Model { .. })
}

fn at(provider: &str, id: &str) -> ModelProfile {
    let mut profile = model(id);
    profile.info.api = Api::new(provider, Api::RESPONSES);
    profile
}

fn thinking() -> ContentBlock {
    ContentBlock::Thinking { thinking: "hm".to_owned(), signature: "signed".to_owned() }
}

/// Adds replay data to a block of the next answer.
fn with_replay(sim: &mut Sim, index: usize, json: &str) {
    sim.play_except(is_model);
    let events = sim.going.iter_mut().find_map(|(_, going)| match going {
        Going::Model { events, .. } => Some(events),
        _ => None,
    });
    let events = events.expect("a model call");
    let stop = events.iter().position(|event| matches!(event, ModelEvent::BlockStop { index: at } if *at == index));
    let delta = StreamDelta::Replay(JsonText::parse(json).unwrap());
    events.insert(stop.expect("the block"), ModelEvent::BlockDelta { index, delta });
}

fn fails(sim: &mut Sim, kind: ModelErrorKind) {
    sim.play_except(is_model);
    let effect = sim.take(is_model);
    sim.input(Input::ModelFailed(effect, ModelFailure::new(kind, "messages.1: Invalid signature")));
}

/// Returns how much of the first answer the last request contains: number of blocks, and of those with replay data.
fn sent(sim: &Sim) -> (usize, usize) {
    let content = &sim.requests.last().unwrap().messages[1].content;
    (content.len(), content.iter().filter(|block| block.replay().is_some()).count())
}

#[test]
fn what_a_provider_wants_back_is_stored_and_goes_to_its_origin_alone() {
    let mut config = config();
    config.model = at("openai", "gpt");
    let mut sim = sim(config.clone(), &[&[thinking(), text("One."), call("t1", "Read", "a")], &[text("Two.")]]);
    with_replay(&mut sim, 1, r#"{"id": "msg_1", "phase":"commentary"}"#);
    sim.play();
    assert_eq!(sent(&sim), (3, 1));
    let stored = sim.log.iter().find_map(|entry| match &entry.kind {
        EntryKind::Assistant(message) => Some(message.clone()),
        _ => None,
    });
    let stored = stored.unwrap();
    let origin = stored.origin.as_deref().unwrap();
    assert_eq!((origin.api.to_string().as_str(), origin.model.as_str()), ("openai/responses", "gpt"));
    assert_eq!(stored.content[1].replay().unwrap().as_str(), r#"{"id": "msg_1", "phase":"commentary"}"#);
    for (profile, expected) in
        [(at("azure", "gpt"), (2, 0)), (at("openai", "other"), (2, 0)), (at("openai", "gpt"), (3, 1))]
    {
        sim.script = vec![vec![text("More.")]];
        sim.input(Input::SetModel(Box::new(profile)));
        sim.prompt("again");
        sim.play();
        assert_eq!(sent(&sim), expected);
    }
    // The log alone gives the same requests.
    let resumed = Machine::new(config, &sim.log);
    let first = resumed.state().transcript().messages().into_iter().nth(1).unwrap();
    assert_eq!(first.origin.as_deref(), Some(origin));
    assert_eq!(first.content[1].replay(), stored.content[1].replay());
}

#[test]
fn a_refused_replay_is_dropped_once_and_for_good() {
    let mut config = config();
    config.model = at("openai", "gpt");
    let mut sim = sim(config.clone(), &[&[thinking(), text("One.")], &[text("Lost.")], &[thinking(), text("Two.")]]);
    sim.play();
    sim.prompt("again");
    fails(&mut sim, ModelErrorKind::ReplayRejected);
    sim.play();
    assert_eq!(sent(&sim), (1, 0), "{}", render(&sim.events));
    assert_eq!(sim.log.iter().filter(|entry| matches!(entry.kind, EntryKind::ReplayDropped)).count(), 1);
    assert_eq!(lines(&sim, "run ended (Success)").len(), 2, "{}", render(&sim.events));
    // Later replay data is sent back again, and a new process follows the log.
    sim.prompt("and again");
    sim.play();
    sim.script = vec![vec![text("Four.")]];
    sim.prompt("once more");
    sim.play();
    let request = sim.requests.last().unwrap();
    let thinks = |at: usize| request.messages[at].content.iter().any(ContentBlock::is_thinking);
    assert_eq!((thinks(1), thinks(3)), (false, true));
    let mut resumed = Sim::new(config.clone(), Choices::new(Vec::new()), TAME);
    resumed.machine = Machine::new(config, &sim.log);
    resumed.log.clone_from(&sim.log);
    resumed.script = vec![vec![text("Five.")]];
    resumed.prompt("hello");
    resumed.play();
    assert_eq!(sent(&resumed), (1, 0));
}

#[test]
fn a_replay_that_is_refused_twice_ends_the_run() {
    let mut sim = sim(config(), &[&[thinking(), text("One.")]]);
    sim.play();
    sim.prompt("again");
    fails(&mut sim, ModelErrorKind::ReplayRejected);
    fails(&mut sim, ModelErrorKind::ReplayRejected);
    sim.play();
    assert_eq!(lines(&sim, "run failed").len(), 1, "{}", render(&sim.events));
}

#[test]
fn a_malformed_call_is_asked_for_again_a_bounded_number_of_times() {
    let ends = |messages: &[&[ContentBlock]]| {
        let mut sim = sim(config(), &[]);
        sim.script = messages.iter().map(|message| message.to_vec()).collect();
        sim.reasons = vec![StopReason::MalformedToolCall; messages.len()];
        sim.prompt("do it");
        sim.play();
        let ran = lines(&sim, "started t").len();
        (render(&sim.events).lines().last().unwrap_or_default().to_owned(), ran)
    };
    let half: &[ContentBlock] = &[text("I call")];
    assert_eq!(ends(&[half, half]), ("run ended (Success), 3 turns".to_owned(), 0));
    assert_eq!(ends(&[half, half, half]), ("run failed (RepeatedToolFailure)".to_owned(), 0));
    // Valid calls beside a malformed one do not run either.
    let with_call: &[ContentBlock] = &[call("t1", "Write", "a")];
    assert_eq!(ends(&[with_call]), ("run ended (Success), 2 turns".to_owned(), 0));
}

#[test]
fn a_filtered_message_is_a_refusal_and_its_calls_do_not_run() {
    let mut sim = sim(config(), &[]);
    sim.script = vec![vec![call("t1", "Write", "a")]];
    sim.reasons = vec![StopReason::ContentFilter];
    sim.prompt("do it");
    sim.play();
    assert_eq!(lines(&sim, "run ended (Refused)").len(), 1, "{}", render(&sim.events));
    assert_eq!(lines(&sim, "started t").len(), 0);
}
