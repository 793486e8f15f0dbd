//! Calls whose agents wait for answers: they stay open, and continue the agent when the run is continued.

use crate::check::{texts, valid};
use crate::choices::Choices;
use crate::lessons::lines;
use crate::pending::{left, live_and_resumed, questions, ran, reloaded, resumed, unanswered, waiting};
use crate::render::render;
use crate::sequences::{call, is_ask, is_run, sim, text};
use crate::sim::{Going, Sim, TAME, config, waiting_agent};
use crate::tools;
use std::path::Path;
use windlass_core::{AgentConfig, AgentOpening, Input, Machine, Prompt, RunCall};
use windlass_session::{Transcript, repair};
use windlass_types::{
    AgentId, AgentIdentity, Behavior, Entry, EntryId, EntryKind, EventKind, HookEventName, JsonText, PermissionAnswer,
    PermissionMode, PromptCall, PromptPart, RuleSource, RunScope, Timestamp, ToolOutcome, WaitingCall,
};

/// Returns the running call.
fn running(sim: &Sim) -> RunCall {
    let run = sim.going.iter().find_map(|(_, going)| match going {
        Going::Run(call) | Going::Stopping(call) => Some(call.clone()),
        _ => None,
    });
    run.expect("nothing runs")
}

/// Ends the running call with the outcome that its agent waits.
fn agent_waits(sim: &mut Sim) {
    let mut outcome = ToolOutcome::error("it waits");
    outcome.waits = Some(Box::new(waiting_agent(&running(sim))));
    let id = sim.take(is_run);
    sim.input(Input::Ran(id, Box::new(outcome)));
}

/// Returns a run that has ended because the agent of its call waits.
fn suspended() -> Sim {
    let mut sim = sim(waiting(), &[&[call("t1", "Agent", "")]]);
    sim.play_except(is_run);
    assert!(running(&sim).may_wait && running(&sim).continues.is_none());
    agent_waits(&mut sim);
    sim.play();
    sim
}

fn continued(sim: &mut Sim) {
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play_except(is_run);
}

fn count(log: &[Entry], is: impl Fn(&EntryKind) -> bool) -> usize {
    log.iter().filter(|entry| is(&entry.kind)).count()
}

fn intents(log: &[Entry]) -> usize {
    count(log, |kind| matches!(kind, EntryKind::Intent { .. }))
}

fn waits(log: &[Entry]) -> usize {
    count(log, |kind| matches!(kind, EntryKind::AgentWaits(_)))
}

/// Returns the result of the call for the model.
fn result(sim: &Sim) -> (bool, String) {
    let messages = sim.machine.state().transcript().messages();
    let results = messages.iter().flat_map(|message| &message.content).filter_map(|block| block.as_tool_result());
    let results: Vec<_> = results.map(|result| (result.is_error, result.content.text())).collect();
    assert_eq!(results.len(), 1, "{results:?}");
    results[0].clone()
}

#[test]
fn the_run_ends_with_the_questions_of_the_agent_and_its_call_stays_open() {
    let sim = suspended();
    let open = left(&sim);
    assert_eq!((open.len(), open[0].agent.to_string()), (1, "t1".to_owned()), "{}", render(&sim.events));
    assert!(sim.machine.is_idle() && sim.machine.state().transcript().has_open_calls());
    assert_eq!(lines(&sim, "finished t1"), [""; 0]);
    let kinds: Vec<_> = sim.log.iter().rev().map(|entry| &entry.kind).take(3).collect();
    let [EntryKind::RunFinished(_), EntryKind::AgentWaits(call), EntryKind::Intent { .. }] = kinds[..] else {
        panic!("{kinds:?}")
    };
    assert_eq!((call.tool_use_id.as_str(), call.agent.as_str(), call.agent_type.as_str()), ("t1", "a-t1", "scout"));
    let again = resumed(waiting(), &sim.log);
    assert_eq!(again.machine.state().pending_questions().waiting_calls().count(), 1);
}

#[test]
fn continuing_runs_the_same_call_for_the_same_agent() {
    for mut sim in live_and_resumed(suspended) {
        sim.script = vec![vec![text("Done.")]];
        continued(&mut sim);
        let run = running(&sim);
        assert_eq!((run.call.id.as_str(), run.continues), ("t1", Some(AgentId::from("a-t1"))));
        sim.play();
        assert_eq!((intents(&sim.log), waits(&sim.log)), (2, 1));
        let (is_error, text) = result(&sim);
        assert!(!is_error && text.starts_with("done:"), "{text}");
        assert_eq!(lines(&sim, "finished t1 ok").len(), 1, "{}", render(&sim.events));
        assert_eq!(lines(&sim, "run ended (Success)").len(), 1);
        valid(&sim.requests.last().unwrap().messages);
        let again = Machine::new(waiting(), &reloaded(&sim.log));
        assert_eq!(texts(&again.state().transcript().messages()), texts(&sim.machine.state().transcript().messages()));
        assert!(sim.machine.state().pending_questions().is_empty());
    }
}

#[test]
fn an_agent_that_waits_on_leaves_its_call_open_again() {
    let mut sim = resumed(waiting(), &suspended().log);
    continued(&mut sim);
    agent_waits(&mut sim);
    sim.play();
    assert_eq!((left(&sim).len(), intents(&sim.log), waits(&sim.log)), (1, 2, 1));
    let mut sim = resumed(waiting(), &sim.log);
    sim.script = vec![vec![text("Done.")]];
    continued(&mut sim);
    sim.play();
    assert!(!result(&sim).0);
}

/// The permission request of an agent follows the log entry that its call waits, so the process may die while it is
/// asked.
#[test]
fn a_call_whose_agent_asks_is_open_before_the_run_ends() {
    let mut sim = sim(waiting(), &[&[call("t1", "Agent", "")], &[text("Done.")]]);
    sim.play_except(is_run);
    let run = sim.going.iter().find(|(_, going)| is_run(going)).map(|(id, _)| *id).unwrap();
    let identity = waiting_agent(&running(&sim)).identity;
    sim.input(Input::AgentAsks(run, Box::new(identity)));
    sim.play_except(is_run);
    let killed = resumed(waiting(), &sim.log);
    assert_eq!(killed.machine.state().pending_questions().waiting_calls().count(), 1);
    // The agent continues, and waits after all: the log has the entry already.
    agent_waits(&mut sim);
    sim.play();
    assert_eq!((left(&sim).len(), waits(&sim.log)), (1, 1));
    // Once more, and the request is answered this time.
    let mut sim = killed;
    sim.script = vec![vec![text("Done.")]];
    continued(&mut sim);
    assert!(running(&sim).continues.is_some());
    sim.play();
    assert_eq!((waits(&sim.log), result(&sim).0), (1, false));
}

#[test]
fn present_rules_judge_the_call_anew() {
    let before = suspended();
    let mut denied = waiting();
    let deny = denied.policy.add_rules(RuleSource::Session, Behavior::Deny, &["Agent"], Path::new("/w"));
    assert!(deny.unwrap().is_empty());
    let mut sim = resumed(denied, &before.log);
    sim.script = vec![vec![text("Then not.")]];
    continued(&mut sim);
    sim.play();
    assert_eq!((intents(&sim.log), lines(&sim, "finished t1 denied").len()), (1, 1), "{}", render(&sim.events));
    assert!(sim.machine.state().pending_questions().is_empty());
}

#[test]
fn a_question_about_the_call_itself_comes_before_its_agent() {
    let mut config = waiting();
    config.policy.add_rules(RuleSource::Session, Behavior::Ask, &["Agent"], Path::new("/w")).unwrap();
    let mut sim = resumed(config.clone(), &suspended().log);
    sim.input(Input::Prompt(Prompt::continue_run()));
    unanswered(&mut sim);
    assert_eq!((left(&sim).len(), questions(&sim.log).len(), intents(&sim.log)), (1, 1, 1));
    assert!(left(&sim)[0].agent.is_main());
    // Both are open: the agent is continued once the call is approved.
    let mut sim = resumed(config, &sim.log);
    sim.script = vec![vec![text("Done.")]];
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play_except(is_ask);
    sim.says(PermissionAnswer::allow());
    sim.play_except(is_run);
    assert!(running(&sim).continues.is_some());
    agent_waits(&mut sim);
    sim.play();
    // The approval was for one execution, and the agent's request is left.
    assert_eq!((left(&sim).len(), left(&sim)[0].agent.to_string()), (1, "t1".to_owned()));
}

#[test]
fn another_message_gives_the_agent_up() {
    for mut sim in live_and_resumed(suspended) {
        sim.script = vec![vec![text("Something else.")]];
        sim.prompt("do something else");
        sim.play();
        assert!(sim.machine.state().pending_questions().is_empty());
        let (is_error, text) = result(&sim);
        assert!(is_error && text.contains("the user sent another message instead"), "{text}");
        assert_eq!(intents(&sim.log), 1);
    }
}

#[test]
fn stopping_and_closing_leave_the_agent_waiting() {
    for order in [Input::Interrupt, Input::Close] {
        let mut sim = sim(waiting(), &[&[call("t1", "Agent", "")]]);
        sim.play_except(is_run);
        sim.checks.user(&order);
        sim.input(order.clone());
        agent_waits(&mut sim);
        sim.play();
        assert_eq!(left(&sim).len(), 1, "{order:?}: {}", render(&sim.events));
        // And before it is continued.
        let mut sim = resumed(waiting(), &sim.log);
        sim.input(Input::Prompt(Prompt::continue_run()));
        sim.play_except(|going| !matches!(going, Going::Prepare { .. }) && !is_run(going));
        sim.checks.user(&order);
        sim.input(order.clone());
        sim.play();
        assert_eq!(resumed(waiting(), &sim.log).machine.state().pending_questions().waiting_calls().count(), 1);
    }
}

#[test]
fn a_call_that_the_user_stops_does_not_wait() {
    let mut sim = sim(waiting(), &[&[call("t1", "Agent", "")], &[text("Stopped.")]]);
    sim.play_except(is_run);
    sim.input(Input::StopTool("t1".into()));
    agent_waits(&mut sim);
    sim.play();
    let (is_error, text) = result(&sim);
    assert!(is_error && text.contains("the user stopped it"), "{text}");
    assert!(sim.machine.state().pending_questions().is_empty());
}

#[test]
fn other_calls_cannot_stay_open_for_an_agent() {
    // A run that does not wait, a tool with an effect, an agent that does not wait.
    let mut below = waiting();
    below.agent = Some(AgentConfig::new(AgentIdentity::new("a1".into(), "scout")));
    for (config, tool) in [(config(), "Agent"), (waiting(), "Net"), (below, "Agent")] {
        let mut sim = sim(config, &[&[call("t1", tool, "")], &[text("Done.")]]);
        sim.play_except(is_run);
        assert!(!running(&sim).may_wait);
        agent_waits(&mut sim);
        sim.play();
        let (is_error, text) = result(&sim);
        assert!(is_error && text.contains("cannot wait for it"), "{text}");
        assert_eq!(waits(&sim.log), 0);
    }
    let mut sim = Sim::new(waiting(), Choices::new(Vec::new()), TAME);
    let call = PromptCall::new("Agent", JsonText::empty_object(), "!`Agent`");
    sim.input(Input::Prompt(Prompt::new(Vec::new()).with_parts(vec![PromptPart::Call(call)])));
    sim.play_except(is_run);
    assert!(!running(&sim).may_wait);
}

/// A log entry that the agent of another call waits does not make that call run again.
#[test]
fn only_a_tool_that_runs_agents_is_run_again() {
    let mut sim = sim(waiting(), &[&[call("t1", "Net", "")]]);
    sim.play_except(is_run);
    let EntryKind::Assistant(message) = &sim.log.iter().rev().find(|entry| entry.is_conversation()).unwrap().kind
    else {
        panic!()
    };
    let forged = WaitingCall::new("t1".into(), message.block_ids[0].clone(), AgentIdentity::new("a".into(), "scout"));
    let mut log = sim.log.clone();
    log.push(Entry::new(EntryId::from_bits(9), None, Timestamp::default(), EntryKind::AgentWaits(forged)));
    let mut sim = resumed(waiting(), &log);
    sim.script = vec![vec![text("Done.")]];
    continued(&mut sim);
    sim.play();
    assert_eq!((ran(&sim).len(), intents(&sim.log)), (0, 1), "{}", render(&sim.events));
    assert!(result(&sim).0 && result(&sim).1.contains("cannot be continued"));
}

/// The agent's own log decides whether it still waits, so its call stays open here when the process dies after the
/// second intent.
#[test]
fn a_call_that_continues_is_open_until_it_ends() {
    let mut sim = resumed(waiting(), &suspended().log);
    continued(&mut sim);
    // The process dies here.
    let mut again = resumed(waiting(), &sim.log);
    again.script = vec![vec![text("Done.")]];
    continued(&mut again);
    assert_eq!(running(&again).continues, Some(AgentId::from("a-t1")));
    again.play();
    assert_eq!((intents(&again.log), waits(&again.log), result(&again).0), (3, 1, false));
    // Without a continuation of the session, the result is the same as without an answer.
    let (repaired, report) = repair(suspended().log);
    assert_eq!(report.synthetic.len(), 1);
    assert!(!Transcript::from_entries(&repaired).has_open_calls());
}

#[test]
fn two_agents_and_a_question_wait_beside_each_other() {
    let calls = [call("t1", "Agent", ""), call("t2", "Agent", ""), call("t3", "Net", "")];
    let mut sim = sim(waiting(), &[&calls]);
    sim.play_except(is_run);
    for _ in 0..2 {
        agent_waits(&mut sim);
        sim.play_except(is_run);
    }
    sim.play();
    assert_eq!((left(&sim).len(), lines(&sim, "finished t3 ok").len()), (2, 1), "{}", render(&sim.events));
    let mut sim = resumed(waiting(), &sim.log);
    sim.script = vec![vec![text("Done.")]];
    continued(&mut sim);
    // One of them ends, and the other one waits on.
    sim.let_go(is_run);
    agent_waits(&mut sim);
    sim.play();
    assert_eq!(left(&sim).len(), 1);
    let mut sim = resumed(waiting(), &sim.log);
    sim.script = vec![vec![text("Done.")]];
    continued(&mut sim);
    sim.play();
    assert_eq!(lines(&sim, "run ended (Success)").len(), 1);
    valid(&sim.requests.last().unwrap().messages);
}

#[test]
fn what_a_command_denied_holds_when_the_agent_continues() {
    let mut scope = RunScope::default();
    scope.deny = vec!["Net".to_owned()];
    let mut first = Sim::new(waiting(), Choices::new(Vec::new()), TAME);
    first.script = vec![vec![call("t1", "Agent", "")]];
    first.input(Input::Prompt(Prompt::text("fix").within(scope)));
    first.play_except(is_run);
    agent_waits(&mut first);
    first.play();
    let mut sim = resumed(waiting(), &first.log);
    sim.script = vec![vec![call("t2", "Net", "")], vec![text("Done.")]];
    continued(&mut sim);
    sim.play();
    assert_eq!(lines(&sim, "finished t2 denied").len(), 1, "{}", render(&sim.events));
}

#[test]
fn an_agent_waits_only_below_one_that_does() {
    let opening = |waits| {
        let mut agent = AgentConfig::new(AgentIdentity::new("a1".into(), "scout"));
        agent.waits = waits;
        AgentOpening::new(agent, "/w".into(), 1)
    };
    let does = |machine: &Machine, waits| machine.agent_config(opening(waits)).unwrap().agent.unwrap().waits;
    let main = Machine::new(waiting(), &[]);
    assert!(does(&main, true) && !does(&main, false));
    assert!(!does(&Machine::new(config(), &[]), true));
    let below = Machine::new(main.agent_config(opening(true)).unwrap(), &[]);
    assert!(does(&below, true));
    let unheard = Machine::new(main.agent_config(opening(false)).unwrap(), &[]);
    assert!(!does(&unheard, true));
}

/// The requests of an agent wait like those of the main one, and its start hooks are asked once.
#[test]
fn an_agent_that_waits_keeps_its_question_and_begins_once() {
    let mut config = waiting();
    let mut agent = AgentConfig::new(AgentIdentity::new("a1".into(), "scout"));
    agent.waits = true;
    config.agent = Some(agent);
    config.listeners.hooks.extend([(HookEventName::SubagentStart, None), (HookEventName::SubagentStop, None)]);
    let mut sim = sim(config.clone(), &[&[call("t1", "Write", "a")]]);
    unanswered(&mut sim);
    assert_eq!((left(&sim).len(), questions(&sim.log).len()), (1, 1));
    let hooks = |sim: &Sim| -> Vec<HookEventName> {
        let ran = sim.events.iter().filter_map(|event| match &event.kind {
            EventKind::HookRan { event, .. } => Some(*event),
            _ => None,
        });
        ran.collect()
    };
    assert_eq!(hooks(&sim), [HookEventName::SubagentStart]);
    let mut sim = resumed(config, &sim.log);
    sim.script = vec![vec![text("Done.")]];
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play_except(is_ask);
    sim.says(PermissionAnswer::allow());
    sim.play();
    assert_eq!((hooks(&sim), ran(&sim).len()), (vec![HookEventName::SubagentStop], 1), "{}", render(&sim.events));
}

/// The present rules apply: no mode that denies the call lets its agent continue.
#[test]
fn no_mode_lets_a_denied_call_go_on() {
    for mode in PermissionMode::ALL {
        let mut config = waiting();
        config.policy = tools::policy(mode);
        config.policy.add_rules(RuleSource::Session, Behavior::Deny, &["Agent"], Path::new("/w")).unwrap();
        let mut sim = resumed(config, &suspended().log);
        sim.script = vec![vec![text("Then not.")]];
        continued(&mut sim);
        sim.play();
        assert_eq!(intents(&sim.log), 1, "{mode}");
    }
}
