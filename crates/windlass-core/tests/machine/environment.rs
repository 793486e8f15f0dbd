//! Texts for the model about its environment and the date.

use crate::choices::Choices;
use crate::sequences::{sim, text};
use crate::sim::{Sim, TAME, config};
use windlass_context::Environment;
use windlass_core::{Input, Machine, MachineConfig, Output, Prompt};
use windlass_types::{ContentBlock, Message, PermissionMode, Timestamp};

const DAY: u64 = 86_400_000;

fn informed() -> MachineConfig {
    let mut config = config();
    config.context.environment = Some(Environment::new("linux"));
    config
}

/// Returns the texts of a message that the runtime wrote.
fn reminders(message: &Message) -> Vec<&str> {
    let texts = message.content.iter().filter_map(ContentBlock::as_text);
    texts.filter(|text| text.starts_with("<system-reminder>")).collect()
}

fn last_reminders(sim: &Sim) -> Vec<String> {
    let last = sim.requests.last().unwrap().messages.last().unwrap();
    reminders(last).into_iter().map(str::to_owned).collect()
}

#[test]
fn only_the_first_message_describes_where_the_agent_works() {
    let mut sim = sim(informed(), &[&[text("One.")], &[text("Two.")]]);
    sim.play();
    let texts = last_reminders(&sim);
    assert_eq!(texts.len(), 1);
    for part in ["Working directory: /w", "Platform: linux", "Date: 1970-01-01 (UTC)"] {
        assert!(texts[0].contains(part), "{texts:?}");
    }
    sim.prompt("second");
    sim.play();
    assert_eq!(last_reminders(&sim), [""; 0]);
}

#[test]
fn a_new_day_and_plan_mode_are_reported_once_behind_what_was_sent() {
    let mut sim = sim(informed(), &[&[text("One.")], &[text("Two.")], &[text("Three.")], &[text("Four.")]]);
    sim.play();
    sim.now += 3 * DAY;
    sim.input(Input::SetPermissionMode(PermissionMode::Plan));
    sim.prompt("second");
    sim.play();
    let texts = last_reminders(&sim);
    assert_eq!(texts.len(), 1);
    assert!(texts[0].contains("The date is now 1970-01-04 (UTC)") && texts[0].contains("Plan mode is on"), "{texts:?}");
    assert!(!texts[0].contains("/w"), "{texts:?}");
    sim.prompt("third");
    sim.play();
    assert_eq!(last_reminders(&sim), [""; 0]);
    sim.input(Input::SetPermissionMode(PermissionMode::Default));
    sim.prompt("fourth");
    sim.play();
    assert!(last_reminders(&sim)[0].contains("Plan mode is off"));
}

#[test]
fn plan_mode_at_the_start_is_reported_with_the_rest() {
    let mut config = informed();
    config.policy = crate::tools::policy(PermissionMode::Plan);
    let mut sim = sim(config, &[&[text("One.")]]);
    sim.play();
    let texts = last_reminders(&sim);
    assert!(texts[0].contains("Working directory: /w") && texts[0].contains("Plan mode is on"), "{texts:?}");
}

#[test]
fn after_a_compaction_it_is_reported_again() {
    let mut sim = sim(informed(), &[&[text("One.")], &[text("<summary>So far.</summary>")], &[text("Two.")]]);
    sim.play();
    sim.input(Input::Prompt(Prompt::compact("")));
    sim.play();
    sim.prompt("second");
    sim.play();
    let texts: Vec<_> = sim.requests.last().unwrap().messages.iter().flat_map(|m| reminders(m)).collect();
    assert!(texts.iter().any(|text| text.contains("Date: ")), "{texts:?}");
}

#[test]
fn a_session_that_is_resumed_knows_it_already() {
    let mut sim = sim(informed(), &[&[text("One.")]]);
    sim.play();
    for (later, expected) in [(1, None), (DAY, Some("The date is now 1970-01-02 (UTC)"))] {
        let mut config = informed();
        config.ids.seed = 8;
        let mut machine = Machine::new(config, &sim.log);
        machine.handle(Timestamp::from_millis(sim.now + later), Input::Prompt(Prompt::text("more"))).unwrap();
        let request = std::iter::from_fn(|| machine.poll()).find_map(|output| match output {
            Output::Effect(_, windlass_core::Effect::CallModel(request)) => Some(request),
            _ => None,
        });
        let request = request.unwrap();
        let texts = reminders(request.messages.last().unwrap());
        assert_eq!(texts.len(), usize::from(expected.is_some()), "{texts:?}");
        assert!(expected.is_none_or(|expected| texts[0].contains(expected)), "{texts:?}");
    }
}

#[test]
fn a_prompt_without_content_is_still_refused() {
    let mut sim = Sim::new(informed(), Choices::new(Vec::new()), TAME);
    sim.prompt("");
    sim.play();
    assert!(sim.requests.is_empty());
}
