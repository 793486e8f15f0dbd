//! Requests near the limit of the context window: results of one message that do not fit, prompts that do not, windows
//! named by a refusal, conversations without a possible summary; answers cut without a word, images that a model
//! refuses.

use crate::choices::Choices;
use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{is_model, text};
use crate::sim::{Sim, TAME, config, model};
use crate::tools::policy;
use windlass_core::{Input, Machine, MachineConfig, ModelFailure, Prompt};
use windlass_types::{
    ContentBlock, EntryKind, ImageSource, JsonText, ModelErrorKind, ModelRequest, PermissionMode, SectionScope,
    SystemSection, ToolUse,
};

/// Returns a model with a window of `window` tokens.
fn windowed(window: u64) -> MachineConfig {
    let mut config = config();
    config.model.info.context_window = window;
    config.model.info.max_output_tokens = 2_000;
    config.policy = policy(PermissionMode::AcceptEdits);
    config
}

fn world(config: MachineConfig, script: Vec<Vec<ContentBlock>>) -> Sim {
    let mut sim = Sim::new(config, Choices::new(Vec::new()), TAME);
    (sim.counts, sim.script) = (true, script);
    sim
}

fn read(id: &str, size: usize) -> ContentBlock {
    let input = format!(r#"{{"path":"{id}","size":{size}}}"#);
    ContentBlock::ToolUse(ToolUse::new(id, "Read", JsonText::parse(input).unwrap()))
}

fn tokens(request: &ModelRequest) -> u64 {
    request.messages.iter().map(|message| windlass_context::estimate_message(message)).sum()
}

fn longest(sim: &Sim) -> u64 {
    sim.requests.iter().map(|request| tokens(request)).max().unwrap_or_default()
}

fn ended(sim: &Sim) -> usize {
    lines(sim, "run ended (Success)").len()
}

/// Returns the session as another process has it.
fn resumed(config: MachineConfig, sim: &Sim) -> Sim {
    let mut resumed = world(config.clone(), Vec::new());
    resumed.machine = Machine::new(config, &sim.log);
    resumed.log.clone_from(&sim.log);
    resumed
}

#[test]
fn results_of_one_message_are_cut_to_the_window() {
    for (window, reads, size) in [(32_000, 3, 60_000), (16_000, 1, 60_000), (16_000, 8, 20_000)] {
        let calls = (0..reads).map(|at| read(&format!("t{at}"), size)).collect();
        let mut sim = world(windowed(window), vec![calls, vec![text("Done.")]]);
        sim.prompt("go");
        sim.play();
        let seen = render(&sim.events);
        assert_eq!(ended(&sim), 1, "{seen}");
        assert!(longest(&sim) < window, "{} of {window}: {seen}", longest(&sim));
        assert_eq!(lines(&sim, "do not fit the model's context window").len(), 1, "{seen}");
        let last = sim.requests.last().unwrap().messages.last().unwrap().json().to_owned();
        assert!(last.contains("bytes left out here"), "{last}");
        let mut later = resumed(windowed(window), &sim);
        assert_eq!(later.conversation(), sim.conversation());
        later.script = vec![vec![text("Hello.")]];
        later.prompt("more");
        later.play();
        assert_eq!(ended(&later), 1);
        assert!(longest(&later) < window);
    }
}

/// A log of an earlier version, or of a larger model.
#[test]
fn a_stored_session_whose_last_results_do_not_fit_goes_on() {
    let calls = (0..3).map(|at| read(&format!("t{at}"), 60_000)).collect();
    let mut sim = world(windowed(200_000), vec![calls]);
    sim.script.push(vec![text("Done.")]);
    sim.prompt("go");
    sim.play();
    let results = sim.log.iter().rposition(|entry| matches!(entry.kind, EntryKind::ToolResult(_))).unwrap();
    sim.log.truncate(results + 1);
    let mut later = resumed(windowed(32_000), &sim);
    later.script = vec![vec![text("Hello.")]; 3];
    later.prompt("more");
    later.play();
    assert_eq!(ended(&later), 1, "{}", render(&later.events));
    assert!(!later.requests.is_empty() && longest(&later) < 32_000, "{}", longest(&later));
}

#[test]
fn a_prompt_larger_than_the_window_is_refused_and_not_kept() {
    let mut sim = world(windowed(16_000), vec![vec![text("Done.")]]);
    sim.prompt(&"x".repeat(90_000));
    sim.play();
    let seen = render(&sim.events);
    assert_eq!(sim.requests.len(), 0, "{seen}");
    assert_eq!(lines(&sim, "run failed (PromptTooLong)").len(), 1, "{seen}");
    sim.prompt("go");
    sim.play();
    assert_eq!(ended(&sim), 1);
    assert!(longest(&sim) < 100);
}

#[test]
fn a_system_prompt_larger_than_the_window_is_never_sent() {
    let mut config = windowed(16_000);
    config.request.system = vec![SystemSection::new("x".repeat(90_000), SectionScope::Session)];
    let mut sim = world(config, vec![vec![text("Done.")]]);
    sim.prompt("go");
    sim.play();
    assert_eq!(sim.requests.len(), 0);
    assert_eq!(lines(&sim, "run failed (PromptTooLong)").len(), 1, "{}", render(&sim.events));
}

/// The output limit leaves the input its share of the window.
#[test]
fn the_answer_gets_what_the_window_has_left() {
    let mut config = windowed(16_000);
    config.model.info.max_output_tokens = 12_000;
    config.model.info.default_output_tokens = 12_000;
    let mut sim = world(config, vec![vec![read("t", 24_000)], vec![text("Done.")]]);
    sim.prompt("go");
    sim.play();
    let asked: Vec<u32> = sim.requests.iter().map(|request| request.max_output_tokens).collect();
    assert_eq!(asked[0], 12_000);
    assert!((5_000..11_000).contains(&asked[1]), "{asked:?}");
}

/// Refuses the next request as too long, and names the window.
fn refuse(sim: &mut Sim, window: Option<u64>) {
    let effect = sim.take(is_model);
    let mut failure = ModelFailure::new(ModelErrorKind::PromptTooLong, "too long");
    failure.context_window = window;
    sim.input(Input::ModelFailed(effect, failure));
    sim.play_except(is_model);
}

#[test]
fn a_refusal_that_names_the_window_teaches_it() {
    let script = (0..4).map(|at| vec![read(&format!("t{at}"), 15_000)]).collect();
    let mut sim = world(windowed(128_000), script);
    sim.script.push(vec![text("Done.")]);
    sim.prompt("go");
    sim.play();
    assert!(longest(&sim) > 20_000);
    sim.script = vec![vec![text("<summary>All.</summary>")], vec![text("Yes.")]];
    sim.prompt("more");
    sim.play_except(is_model);
    let before = sim.requests.len();
    refuse(&mut sim, Some(12_288));
    sim.play();
    let seen = render(&sim.events);
    assert_eq!(ended(&sim), 2, "{seen}");
    assert_eq!(lines(&sim, "has 12288 tokens, as its server says").len(), 1, "{seen}");
    let after: Vec<u64> = sim.requests.iter().skip(before).map(|request| tokens(request)).collect();
    assert!(after.iter().all(|tokens| *tokens < 12_288), "{after:?}");
    assert_eq!(sim.machine.model().info.context_window, 12_288);
    // A resumed session knows it, also of a model that is set later; another model has its own window.
    let mut later = resumed(windowed(128_000), &sim);
    assert_eq!(later.machine.model().info.context_window, 12_288);
    for (name, window) in [("other", 64_000), ("m", 12_288)] {
        let mut model = model(name);
        model.info.context_window = 64_000;
        later.input(Input::SetModel(Box::new(model)));
        assert_eq!(later.machine.model().info.context_window, window, "{name}");
    }
    // A smaller window of this opening stays.
    assert_eq!(resumed(windowed(8_192), &sim).machine.model().info.context_window, 8_192);
    let mut fallback = windowed(128_000);
    fallback.fallback = Some(std::mem::replace(&mut fallback.model, model("other")));
    fallback.auto_compact.summarizer.clone_from(&fallback.fallback);
    assert_eq!(resumed(fallback, &sim).machine.model().id, "other");
}

/// A window that the server names when the session opens is kept too, and the newest one counts.
#[test]
fn a_window_that_the_server_named_is_known_when_the_session_is_resumed() {
    let of_server = |window| {
        let mut config = windowed(window);
        config.model.info.window_from_server = true;
        config
    };
    let play = |sim: &mut Sim| {
        sim.script = vec![vec![text("Yes.")]; 2];
        for prompt in ["one", "two"] {
            sim.prompt(prompt);
            sim.play();
        }
        sim.log.iter().filter(|entry| matches!(entry.kind, EntryKind::ModelLearned(_))).count()
    };
    let mut sim = world(of_server(12_288), Vec::new());
    assert_eq!(play(&mut sim), 1, "it is logged once");
    // The server says nothing this time.
    let mut silent = resumed(windowed(128_000), &sim);
    assert_eq!((silent.machine.model().info.context_window, play(&mut silent)), (12_288, 1));
    // The server was started anew with another size.
    let mut larger = resumed(of_server(32_768), &sim);
    assert_eq!((larger.machine.model().info.context_window, play(&mut larger)), (32_768, 2));
    assert_eq!(resumed(windowed(128_000), &larger).machine.model().info.context_window, 32_768);
}

#[test]
fn a_session_whose_compaction_failed_goes_on() {
    let mut sim = world(windowed(128_000), vec![vec![text("Yes.")], vec![text("Done.")]]);
    sim.prompt("first");
    sim.play();
    sim.prompt(&"second ".repeat(9_000));
    sim.play();
    // The model writes no summary, and its window is smaller than known.
    sim.script = vec![vec![text(" ")], vec![text(" ")], vec![text(" ")], vec![text("Yes.")]];
    sim.prompt("third");
    sim.play_except(is_model);
    refuse(&mut sim, Some(24_000));
    sim.play();
    let seen = render(&sim.events);
    assert_eq!(ended(&sim), 3, "{seen}");
    assert_eq!(lines(&sim, "No summary of the conversation could be written").len(), 1, "{seen}");
    let last = sim.requests.last().unwrap();
    let sent: String = last.messages.iter().map(|message| message.json().to_owned()).collect();
    assert!(sent.contains("third") && sent.contains("first") && tokens(last) < 2_000, "{sent}");
    assert!(sim.log.iter().any(|entry| matches!(entry.kind, EntryKind::Compacted(_))));
}

/// A transient failure removes nothing from the conversation.
#[test]
fn a_summary_that_fails_for_another_reason_replaces_nothing() {
    let mut sim = world(windowed(128_000), vec![vec![text(&"y".repeat(60_000))]]);
    sim.prompt("first");
    sim.play();
    sim.script = vec![vec![text("Yes.")]; 4];
    sim.prompt("second");
    sim.play_except(is_model);
    refuse(&mut sim, None);
    let effect = sim.take(is_model);
    sim.input(Input::ModelFailed(effect, ModelFailure::new(ModelErrorKind::Authentication, "no key")));
    sim.play();
    assert_eq!(lines(&sim, "run failed (PromptTooLong)").len(), 1, "{}", render(&sim.events));
    assert!(!sim.log.iter().any(|entry| matches!(entry.kind, EntryKind::Compacted(_))));
}

/// A manual compaction of a conversation that is larger than the window of another model.
#[test]
fn what_is_too_long_for_another_model_can_be_compacted_by_hand() {
    let mut sim = world(windowed(128_000), vec![vec![text("Yes.")]]);
    sim.prompt(&"first ".repeat(9_000));
    sim.play();
    let mut small = model("small");
    small.info.context_window = 8_000;
    sim.input(Input::SetModel(Box::new(small)));
    sim.script = vec![vec![text("Yes.")]; 4];
    sim.input(Input::Prompt(Prompt::compact("")));
    sim.play();
    sim.prompt("second");
    sim.play();
    assert_eq!(ended(&sim), 3, "{}", render(&sim.events));
    let sent: Vec<u64> = sim.requests.iter().skip(1).map(|request| tokens(request)).collect();
    assert!(sent.iter().all(|tokens| *tokens < 8_000), "{sent:?}");
}

/// Servers report an answer as complete that ends at the limit.
#[test]
fn an_answer_as_long_as_its_limit_is_cut() {
    for (limit, requests, end) in
        [(50, 4, "run failed (OutputLimit)"), (51, 1, "run ended (Success)"), (49, 1, "run ended (Success)")]
    {
        let mut config = windowed(16_000);
        config.request.max_output_tokens = Some(limit);
        let mut sim = world(config, vec![vec![text("Once upon")]; 4]);
        sim.prompt("go");
        sim.play();
        assert_eq!(sim.requests.len(), requests, "{}", render(&sim.events));
        assert_eq!(lines(&sim, end).len(), 1, "{}", render(&sim.events));
    }
}

#[test]
fn images_that_a_model_refuses_are_left_out() {
    let image = ContentBlock::Image {
        source: ImageSource::Base64 { media_type: "image/png".to_owned(), data: "iVBORw0KGgo=".to_owned() },
    };
    let mut sim = world(windowed(16_000), vec![vec![text("A cat.")]; 4]);
    let mut prompt = Prompt::text("see");
    prompt.content.push(image);
    sim.input(Input::Prompt(prompt));
    sim.play_except(is_model);
    for _ in 0..2 {
        let effect = sim.take(is_model);
        let mut failure = ModelFailure::new(ModelErrorKind::InvalidRequest, "image input is not supported");
        failure.refuses_images = true;
        sim.input(Input::ModelFailed(effect, failure));
        sim.play_except(is_model);
        if sim.requests.len() > 2 || !lines(&sim, "run failed").is_empty() {
            break;
        }
    }
    // Refused once more without images, the request has another problem.
    assert_eq!(lines(&sim, "run failed").len(), 1, "{}", render(&sim.events));
    sim.prompt("and now?");
    sim.play();
    assert_eq!(ended(&sim), 1, "{}", render(&sim.events));
    assert_eq!(lines(&sim, "m takes no images").len(), 1);
    let json = |at: usize| sim.requests[at].messages.iter().map(|one| one.json().to_owned()).collect::<String>();
    assert!(json(0).contains("image/png") && sim.requests.len() == 3);
    assert!(
        !json(1).contains("image/png") && json(1).contains("an image was left out") && !json(2).contains("image/png")
    );
    assert!(sim.conversation().concat().contains("image/png"), "the log keeps it");
    // A resumed session does not ask for the refusal again.
    let mut later = resumed(windowed(16_000), &sim);
    later.script = vec![vec![text("Yes.")]];
    later.prompt("and later?");
    later.play();
    assert_eq!((lines(&later, "takes no images").len(), ended(&later)), (0, 1), "{}", render(&later.events));
    let sent: String = later.requests.iter().flat_map(|one| &one.messages).map(|one| one.json().to_owned()).collect();
    assert!(!sent.contains("image/png") && sent.contains("an image was left out"));
}
