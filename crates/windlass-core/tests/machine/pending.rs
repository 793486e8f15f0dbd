//! Runs that wait for answers: open requests, and valid and invalid answers of other processes.

use crate::check::{texts, valid};
use crate::choices::Choices;
use crate::lessons::lines;
use crate::render::render;
use crate::sequences::{call, is_ask, is_run, sim, text};
use crate::sim::{Going, Sim, TAME, config};
use crate::tools;
use std::path::Path;
use windlass_core::{AgentConfig, Input, Machine, MachineConfig, Prompt, Unanswered};
use windlass_session::{
    LogEncoder, LogHeader, OUTCOME_UNKNOWN, TokenSecret, Transcript, is_token_of, read_log, repair_but_pending,
};
use windlass_types::{
    AgentIdentity, Behavior, CallDigest, ContentBlock, Entry, EntryKind, EventKind, HookEventName, JsonText, Outcome,
    PendingQuestion, PermissionAnswer, PermissionMode, PermissionRequest, PromptCall, PromptPart, RuleSource,
    RunFailureKind, RunScope,
};

/// Returns a configuration whose runs wait for answers.
pub(crate) fn waiting() -> MachineConfig {
    let mut config = config();
    config.listeners.can_ask = false;
    config.listeners.waits = Some(TokenSecret::new(3, 4));
    config
}

fn is_append(going: &Going) -> bool {
    matches!(going, Going::Append)
}

/// Plays on without an answer from anyone.
pub(crate) fn unanswered(sim: &mut Sim) {
    sim.play_except(is_ask);
    while sim.going.iter().any(|(_, going)| is_ask(going)) {
        let id = sim.take(is_ask);
        sim.input(Input::Unanswered(id, Unanswered::Yet));
        sim.play_except(is_ask);
    }
}

pub(crate) fn questions(log: &[Entry]) -> Vec<PendingQuestion> {
    let question = |entry: &Entry| match &entry.kind {
        EntryKind::Question(question) => Some(question.clone()),
        _ => None,
    };
    log.iter().filter_map(question).collect()
}

/// Returns the permission requests that the last run left open.
pub(crate) fn left(sim: &Sim) -> Vec<PermissionRequest> {
    let result = |kind: &EventKind| match kind {
        EventKind::RunFinished(result) => Some(result.clone()),
        _ => None,
    };
    let result = sim.events.iter().rev().find_map(|event| result(&event.kind)).expect("no run has ended");
    let ids: Vec<_> = result.pending_questions.iter().map(|question| question.id.clone()).collect();
    match result.outcome {
        Outcome::Pending { questions } => assert_eq!(questions, ids),
        _ => assert!(ids.is_empty()),
    }
    result.pending_questions
}

/// Returns the log as another process reads it, through its lines.
pub(crate) fn reloaded(log: &[Entry]) -> Vec<Entry> {
    let mut encoder = LogEncoder::new("s".into(), LogHeader::new("/w", "1", "test"));
    let mut lines = Vec::new();
    log.iter().for_each(|entry| encoder.entry(entry, &mut lines));
    let read = read_log(lines.as_slice()).unwrap();
    assert_eq!((read.report.skipped_total, read.report.warnings), (0, Vec::<String>::new()));
    repair_but_pending(read.entries).0
}

/// Returns another process that continues a log.
pub(crate) fn resumed(mut config: MachineConfig, log: &[Entry]) -> Sim {
    config.ids.seed += 1 << 64;
    let entries = reloaded(log);
    let mut sim = Sim::new(config.clone(), Choices::new(Vec::new()), TAME);
    sim.machine = Machine::new(config, &entries);
    sim.checks.left_open(sim.machine.state().transcript().open_calls().map(|call| call.id.clone()));
    sim.log = entries;
    sim.checks.loaded(sim.log.len());
    sim
}

pub(crate) fn ran(sim: &Sim) -> Vec<String> {
    lines(sim, "started t").into_iter().filter(|line| line.starts_with("started ")).collect()
}

/// Returns a waiting session, still open and opened anew: the model writes a file, and no one answers.
pub(crate) fn live_and_resumed(suspended: fn() -> Sim) -> [Sim; 2] {
    [suspended(), resumed(waiting(), &suspended().log)]
}

fn suspended() -> Sim {
    let mut sim = sim(waiting(), &[&[call("t1", "Write", "a")], &[text("Done.")]]);
    unanswered(&mut sim);
    sim
}

#[test]
fn a_question_without_an_answer_ends_the_run_and_stays_open() {
    let sim = suspended();
    let open = left(&sim);
    assert_eq!(open.len(), 1, "{}", render(&sim.events));
    assert_eq!(ran(&sim), [""; 0]);
    let kept = questions(&sim.log);
    assert_eq!(kept.len(), 1);
    assert_eq!((&kept[0].id, kept[0].tool_use_id.as_str()), (&open[0].id, "t1"));
    let token = open[0].token.as_ref().expect("no token");
    assert!(is_token_of(token, &kept[0].token));
    assert!(!format!("{:?}", sim.log).contains(token.reveal()), "the log has the token");
    assert!(sim.machine.is_idle() && sim.machine.state().transcript().has_open_calls());
}

#[test]
fn a_question_is_durable_before_it_is_put() {
    let mut sim = sim(waiting(), &[&[call("t1", "Write", "a")]]);
    // Everything except the append of the request.
    while questions(&sim.log).is_empty() {
        let at = sim.going.first().map(|(id, _)| *id).expect("nothing happens");
        sim.let_go_of(at);
    }
    sim.play_except(is_append);
    let asked = |sim: &Sim| sim.events.iter().any(|event| matches!(event.kind, EventKind::PermissionRequested(_)));
    assert!(!asked(&sim) && !sim.going.iter().any(|(_, going)| is_ask(going)));
    sim.play_except(is_ask);
    assert!(asked(&sim) && sim.going.iter().any(|(_, going)| is_ask(going)));
}

#[test]
fn an_answer_in_another_process_runs_the_call_once_and_continues_the_run() {
    let before = suspended();
    let mut sim = resumed(waiting(), &before.log);
    sim.script = vec![vec![text("Done.")]];
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play_except(is_ask);
    // The search for an earlier answer precedes a new request.
    assert_eq!(questions(&sim.log).len(), 1);
    assert!(!sim.events.iter().any(|event| matches!(event.kind, EventKind::PermissionRequested(_))));
    sim.says(PermissionAnswer::allow());
    sim.play();
    assert_eq!(ran(&sim).len(), 1, "{}", render(&sim.events));
    assert_eq!(lines(&sim, "run ended"), ["run ended (Success), 1 turns"]);
    let request = sim.requests.last().unwrap();
    valid(&request.messages);
    // The log reads back as the conversation that was sent.
    let again = Machine::new(waiting(), &reloaded(&sim.log));
    assert_eq!(texts(&again.state().transcript().messages()), texts(&sim.machine.state().transcript().messages()));
    // Answered: nothing is left to continue.
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play();
    assert_eq!(ran(&sim).len(), 1);
    assert_eq!(lines(&sim, "run failed (Model(InvalidRequest))").len(), 1, "{}", render(&sim.events));
    assert_eq!(lines(&sim, "run ended (Success)").len(), 1, "{}", render(&sim.events));
}

#[test]
fn without_an_answer_it_waits_on_under_the_same_name() {
    let before = suspended();
    let mut sim = resumed(waiting(), &before.log);
    sim.input(Input::Prompt(Prompt::continue_run()));
    unanswered(&mut sim);
    assert_eq!(left(&sim)[0].id, left(&before)[0].id);
    // Both tokens are valid for it.
    let [first, again] = &questions(&sim.log)[..] else { panic!("{:?}", sim.log) };
    assert_eq!((&again.id, &again.earlier_tokens), (&first.id, &vec![first.token.clone()]));
    assert!(is_token_of(left(&sim)[0].token.as_ref().expect("no token"), &again.token));
    assert_eq!((ran(&sim).len(), sim.requests.len()), (0, 0));
}

#[test]
fn a_call_that_is_another_one_now_is_asked_anew() {
    let mut before = suspended();
    for entry in &mut before.log {
        if let EntryKind::Question(question) = &mut entry.kind {
            question.digest = CallDigest::new("of another call");
        }
    }
    let mut sim = resumed(waiting(), &before.log);
    sim.input(Input::Prompt(Prompt::continue_run()));
    unanswered(&mut sim);
    let (old, new) = (&left(&before)[0], &left(&sim)[0]);
    assert_ne!(old.id, new.id);
    assert!(new.token.is_some() && new.token != old.token);
    assert_eq!(lines(&sim, "notice").len(), 1, "{}", render(&sim.events));
    assert_eq!(sim.machine.state().pending_questions().iter().count(), 1);
}

#[test]
fn an_answer_that_does_not_count_asks_anew() {
    let mut sim = sim(waiting(), &[&[call("t1", "Write", "a")]]);
    sim.play_except(is_ask);
    let id = sim.take(is_ask);
    sim.input(Input::Unanswered(id, Unanswered::Unusable("its token is wrong".to_owned())));
    unanswered(&mut sim);
    let kept = questions(&sim.log);
    assert_eq!((kept.len(), left(&sim).len(), ran(&sim).len()), (2, 1, 0));
    assert_ne!(kept[0].id, kept[1].id);
    assert_ne!(kept[0].token, kept[1].token);
    assert_eq!(left(&sim)[0].id, kept[1].id);
}

#[test]
fn rules_and_plan_mode_win_over_what_waits() {
    let before = suspended();
    let mut denied = waiting();
    let deny = denied.policy.add_rules(RuleSource::Session, Behavior::Deny, &["Write"], Path::new("/w"));
    assert!(deny.unwrap().is_empty());
    let mut plan = waiting();
    plan.policy = tools::policy(PermissionMode::Plan);
    let mut unmarked = waiting();
    unmarked.listeners.waits = None;
    for config in [denied, plan, unmarked] {
        let mut sim = resumed(config, &before.log);
        sim.script = vec![vec![text("Then not.")]];
        sim.input(Input::Prompt(Prompt::continue_run()));
        sim.play();
        assert_eq!((ran(&sim).len(), questions(&sim.log).len()), (0, 1), "{}", render(&sim.events));
        assert_eq!(lines(&sim, "finished t1 denied").len(), 1, "{}", render(&sim.events));
        assert_eq!(lines(&sim, "run ended (Success)").len(), 1);
    }
}

#[test]
fn hooks_are_asked_anew() {
    let before = suspended();
    let mut config = waiting();
    config.listeners.hooks.insert((HookEventName::PreToolUse, None));
    let mut sim = resumed(config, &before.log);
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play_except(|going| matches!(going, Going::Hooks(_)));
    assert!(sim.going.iter().any(|(_, going)| matches!(going, Going::Hooks(_))), "{}", render(&sim.events));
    unanswered(&mut sim);
    assert_eq!((left(&sim).len(), ran(&sim).len()), (1, 0));
}

#[test]
fn another_message_in_place_of_an_answer_withdraws_the_question() {
    for mut sim in live_and_resumed(suspended) {
        sim.script = vec![vec![text("Something else.")]];
        sim.prompt("do something else");
        sim.play();
        assert!(sim.machine.state().pending_questions().is_empty());
        let request = sim.requests.last().unwrap();
        let answered = request.messages.last().unwrap().content[0].as_tool_result().unwrap();
        assert!(answered.is_error && answered.content.text().contains("not approved"));
        assert_eq!(ran(&sim), [""; 0]);
        let again = Machine::new(waiting(), &reloaded(&sim.log));
        assert_eq!(texts(&again.state().transcript().messages()), texts(&sim.machine.state().transcript().messages()));
    }
}

#[test]
fn a_note_leaves_questions_open() {
    let mut sim = suspended();
    sim.input(Input::Prompt(Prompt::note(vec![ContentBlock::text("by the way")])));
    sim.play();
    let mut sim = resumed(waiting(), &sim.log);
    assert_eq!(sim.machine.state().pending_questions().iter().count(), 1);
    sim.script = vec![vec![text("Done.")]];
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play_except(is_ask);
    sim.says(PermissionAnswer::allow());
    sim.play();
    let said = sim.requests.last().unwrap().messages.last().unwrap().clone();
    assert!(said.content[0].as_tool_result().is_some());
    assert!(said.content.iter().any(|block| block.as_text() == Some("by the way")), "{said:?}");
    let again = Machine::new(waiting(), &reloaded(&sim.log));
    assert_eq!(texts(&again.state().transcript().messages()), texts(&sim.machine.state().transcript().messages()));
}

#[test]
fn stopping_and_closing_leave_questions_open() {
    for order in [Input::Interrupt, Input::Close] {
        let mut sim = sim(waiting(), &[&[call("t1", "Write", "a"), call("t2", "Net", "")]]);
        sim.play_except(is_ask);
        sim.checks.user(&order);
        sim.input(order.clone());
        sim.play();
        assert_eq!(left(&sim).len(), 1, "{order:?}: {}", render(&sim.events));
        assert_eq!(sim.machine.state().pending_questions().iter().count(), 1);
        let again = resumed(waiting(), &sim.log);
        assert_eq!(again.machine.state().pending_questions().iter().count(), 1, "{order:?}");
    }
}

#[test]
fn other_calls_are_answered_and_those_in_the_way_of_the_open_one_do_not_run() {
    let calls = [call("t1", "Write", "a"), call("t2", "Net", ""), call("t3", "Write", "b"), call("t4", "Read", "a")];
    let mut sim = sim(waiting(), &[&calls]);
    unanswered(&mut sim);
    assert_eq!(left(&sim).len(), 2, "{}", render(&sim.events));
    assert_eq!(ran(&sim).len(), 1);
    assert!(lines(&sim, "finished t2 ok").len() == 1, "{}", render(&sim.events));
    let behind = lines(&sim, "finished t4 ");
    assert!(behind.len() == 1 && behind[0].contains("waits for an answer"), "{behind:?}");
    // Both are answered, in any order, and the results follow in call order.
    let mut sim = resumed(waiting(), &sim.log);
    sim.script = vec![vec![text("Done.")]];
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play_except(is_ask);
    sim.says(PermissionAnswer::allow());
    sim.play_except(is_ask);
    sim.says(PermissionAnswer::deny("not that"));
    sim.play();
    assert_eq!(ran(&sim).len(), 1, "{}", render(&sim.events));
    valid(&sim.requests.last().unwrap().messages);
}

#[test]
fn many_questions_wait_beside_each_other() {
    let calls: Vec<_> = (0..100).map(|at| call(&format!("t{at}"), "Write", &format!("f{at}"))).collect();
    let mut sim = sim(waiting(), &[&calls]);
    unanswered(&mut sim);
    assert_eq!(left(&sim).len(), 100);
    let mut sim = resumed(waiting(), &sim.log);
    sim.script = vec![vec![text("Done.")]];
    sim.input(Input::Prompt(Prompt::continue_run()));
    for _ in 0..100 {
        sim.play_except(is_ask);
        sim.says(PermissionAnswer::allow());
    }
    sim.play();
    assert_eq!(ran(&sim).len(), 100);
}

#[test]
fn a_call_that_may_have_run_is_not_run_again() {
    let before = suspended();
    let mut sim = resumed(waiting(), &before.log);
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play_except(is_ask);
    sim.says(PermissionAnswer::allow());
    sim.play_except(is_run);
    assert!(sim.going.iter().any(|(_, going)| is_run(going)));
    // The process dies here.
    let again = resumed(waiting(), &sim.log);
    assert!(again.machine.state().pending_questions().is_empty());
    let transcript = Transcript::from_entries(&again.log);
    let last = transcript.messages().last().unwrap().clone();
    assert!(last.json().contains(OUTCOME_UNKNOWN), "{last:?}");
}

#[test]
fn work_that_ends_wakes_no_run_while_questions_are_open() {
    let mut sim = sim(waiting(), &[&[call("t1", "Net", ""), call("t2", "Write", "a")]]);
    sim.play_except(|going| is_ask(going) || is_run(going));
    let run = sim.going.iter().find(|(_, going)| is_run(going)).map(|(id, _)| *id).expect("it does not run");
    sim.leave_work(run);
    unanswered(&mut sim);
    assert_eq!(left(&sim).len(), 1);
    sim.end_task(0);
    sim.play();
    assert_eq!((sim.requests.len(), sim.checks.runs), (1, 1), "{}", render(&sim.events));
}

/// A call of a prompt is not part of the conversation: its permission request cannot stay open.
#[test]
fn a_call_that_a_prompt_needs_is_denied_and_not_waited_for() {
    let mut sim = Sim::new(waiting(), Choices::new(Vec::new()), TAME);
    let call = PromptCall::new("Write", JsonText::parse(r#"{"path":"a"}"#).unwrap(), "!`Write a`");
    sim.input(Input::Prompt(Prompt::new(Vec::new()).with_parts(vec![PromptPart::Call(call)])));
    sim.play_except(is_ask);
    let failed = |event: &windlass_types::Event| match &event.kind {
        EventKind::RunFinished(result) => Some(result.outcome.clone()),
        _ => None,
    };
    match sim.events.iter().find_map(failed) {
        Some(Outcome::Failed(failure)) => assert_eq!(failure.kind, RunFailureKind::PromptCall, "{failure:?}"),
        other => panic!("{other:?}"),
    }
    assert!(questions(&sim.log).is_empty());
}

#[test]
fn a_run_that_is_continued_keeps_what_its_command_denied() {
    let mut scope = RunScope::default();
    scope.deny = vec!["Net".to_owned()];
    let mut first = Sim::new(waiting(), Choices::new(Vec::new()), TAME);
    first.script = vec![vec![call("t1", "Write", "a")]];
    first.input(Input::Prompt(Prompt::text("fix").within(scope)));
    unanswered(&mut first);
    assert_eq!(questions(&first.log)[0].denied, ["Net"]);

    let mut sim = resumed(waiting(), &first.log);
    sim.script =
        vec![vec![call("t2", "Net", "")], vec![text("Done.")], vec![call("t3", "Net", "")], vec![text("Done.")]];
    sim.input(Input::Prompt(Prompt::continue_run()));
    sim.play();
    sim.input(Input::Prompt(Prompt::text("next")));
    sim.play();
    let denied = sim.log.iter().filter_map(|entry| match &entry.kind {
        EntryKind::Decision(verdict) if verdict.decision.behavior == Behavior::Deny => {
            Some(verdict.tool_use_id.as_str())
        }
        _ => None,
    });
    assert_eq!(denied.collect::<Vec<_>>(), ["t2"], "the next run is free of it");
}

/// Only the main agent waits. An agent below it whose request has no answer, for any reason, is denied and told where
/// it would wait.
#[test]
fn an_agent_below_is_denied_and_reads_who_can_wait() {
    for hooks in [false, true] {
        let mut config = waiting();
        config.agent = Some(AgentConfig::new(AgentIdentity::new("a1".into(), "scout")));
        if hooks {
            config.listeners.hooks.insert((HookEventName::PermissionRequest, None));
        }
        let mut sim = sim(config, &[&[call("t1", "Write", "a")], &[text("Done.")]]);
        unanswered(&mut sim);
        assert_eq!((ran(&sim).len(), questions(&sim.log).len(), left(&sim).len()), (0, 0, 0));
        assert!(!sim.machine.state().transcript().has_open_calls());
        let denials = sim.log.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Decision(verdict) => Some(verdict.decision.clone()),
            _ => None,
        });
        let denials: Vec<_> = denials.collect();
        assert_eq!((denials.len(), denials[0].behavior), (1, Behavior::Deny));
        assert!(denials[0].message.contains("Calls of this agent do not wait"), "{}", denials[0].message);
    }
}
