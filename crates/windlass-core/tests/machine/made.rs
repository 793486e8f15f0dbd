//! Calls made by a running call: they pass the gate of every call, and are no part of the conversation.

use crate::choices::Choices;
use crate::sequences::{call, check, is_ask, is_run, sim, text};
use crate::sim::{Going, Sim, TAME, WILD, Wild, config};
use proptest::prelude::*;
use windlass_core::{EffectId, Input, MachineConfig};
use windlass_session::{OUTCOME_UNKNOWN, repair};
use windlass_types::{
    AuditedDecision, ContentBlock, EntryKind, HookEventName, HookOutcome, HookVerdict, JsonText, PermissionAnswer,
    ToolOutcome, ToolUseId,
};

/// Returns a world in which a program runs, beside these calls of its message.
fn running(config: MachineConfig, beside: &[ContentBlock]) -> (Sim, EffectId) {
    let message: Vec<ContentBlock> = [call("p", "Program", "")].into_iter().chain(beside.iter().cloned()).collect();
    let mut sim = sim(config, &[&message, &[text("Done.")]]);
    sim.play_except(is_run);
    let program = run_of(&sim, "p").expect("the program does not run");
    (sim, program)
}

/// Returns the effect that runs a call.
fn run_of(sim: &Sim, id: &str) -> Option<EffectId> {
    let is = |going: &Going| matches!(going, Going::Run(call) | Going::Stopping(call) if call.call.id.as_str() == id);
    sim.going.iter().find(|(_, going)| is(going)).map(|(effect, _)| *effect)
}

/// `true` if the effect is the run of the program.
fn beside(going: &Going) -> bool {
    matches!(going, Going::Run(call) | Going::Stopping(call) if call.call.name == "Program")
}

fn verdicts(sim: &Sim) -> Vec<AuditedDecision> {
    let verdict = |kind: &EntryKind| match kind {
        EntryKind::Decision(verdict) => Some(verdict.clone()),
        _ => None,
    };
    sim.log.iter().filter_map(|entry| verdict(&entry.kind)).collect()
}

/// Returns the outcome of a made call.
#[track_caller]
fn returned(sim: &Sim, made: (EffectId, u64)) -> ToolOutcome {
    sim.returned.get(&made).cloned().expect("it has not come back")
}

#[test]
fn a_call_comes_back_to_its_maker_and_not_into_the_conversation() {
    let (mut sim, program) = running(config(), &[]);
    let made = sim.make(program, "Read", r#"{"path":"a"}"#);
    sim.play_except(beside);
    assert_eq!(returned(&sim, made).content.text(), r#"done: Read {"path":"a"} in /w"#);
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        input {"path":""}
        call p of Program
        usage of m: 100 in, 50 out
        message msg1 (tool_use)
        started p: Program /w/
        started made_p_1: Read /w/a
        finished made_p_1 ok: done: Read {"path":"a"} in /w
        finished p ok: done: Program {"path":""} in /w
        requesting m (ToolResults)
        text "Done."
        block text
        usage of m: 100 in, 50 out
        message msg2 (end_turn)
        run ended (Success), 2 turns
        "#,
    );
    let results = sim.log.iter().filter(|entry| matches!(entry.kind, EntryKind::ToolResult(_))).count();
    assert_eq!(results, 1, "the log has the result of the program alone");
    assert!(!format!("{:?}", sim.requests).contains("made_p_1"));
    let verdicts = verdicts(&sim);
    let inner = verdicts.iter().find(|verdict| verdict.tool_use_id.as_str() == "made_p_1").unwrap();
    let record = inner.made.as_ref().unwrap();
    assert_eq!((record.by.as_str(), record.tool.as_str(), record.input.as_str()), ("p", "Read", r#"{"path":"a"}"#));
    assert!(
        verdicts.iter().filter(|verdict| verdict.tool_use_id.as_str() == "p").all(|verdict| verdict.made.is_none())
    );
}

#[test]
fn what_asks_asks_and_what_is_denied_comes_back_as_an_error() {
    let (mut sim, program) = running(config(), &[]);
    let banned = sim.make(program, "Banned", r#"{"path":"a"}"#);
    let unknown = sim.make(program, "Nothing", "{}");
    let unfit = sim.make(program, "Read", "{}");
    let asked = sim.make(program, "Write", r#"{"path":"a"}"#);
    let refused = sim.make(program, "Write", r#"{"path":"b"}"#);
    sim.play_except(|going| beside(going) || is_ask(going));
    assert!(returned(&sim, banned).is_error && returned(&sim, unknown).is_error && returned(&sim, unfit).is_error);
    assert_eq!(sim.going.iter().filter(|(_, going)| is_ask(going)).count(), 2);
    let first = sim.going.iter().position(|(_, going)| is_ask(going)).unwrap();
    let (effect, Going::Ask(request)) = sim.going.remove(first) else { unreachable!() };
    assert_eq!(request.tool_use_id.as_str(), "made_p_4");
    sim.checks.answered(&request, &PermissionAnswer::allow());
    sim.input(Input::Answered(effect, PermissionAnswer::allow()));
    sim.says(PermissionAnswer::deny("Not that one."));
    sim.play_except(beside);
    assert!(!returned(&sim, asked).is_error);
    let outcome = returned(&sim, refused);
    assert!(outcome.is_error && outcome.content.text().contains("Not that one."), "{outcome:?}");
    sim.play();
    assert_eq!(sim.requests.len(), 2);
    assert!(verdicts(&sim).iter().filter(|verdict| verdict.made.is_some()).count() >= 4);
}

#[test]
fn hooks_judge_and_rewrite_what_a_call_makes() {
    let mut config = config();
    config.listeners.hooks = [(HookEventName::PreToolUse, None)].into();
    let message = [call("p", "Program", "")];
    let mut sim = sim(config, &[&message, &[text("Done.")]]);
    sim.play_except(beside);
    let program = run_of(&sim, "p").unwrap();
    let (rewritten, denied) =
        (sim.make(program, "Read", r#"{"path":"a"}"#), sim.make(program, "Read", r#"{"path":"b"}"#));
    let is_hook = |going: &Going| matches!(going, Going::Hooks(_));
    sim.play_except(|going| beside(going) || is_hook(going));
    let mut outcome = HookOutcome::default();
    outcome.updated_input = Some(JsonText::parse(r#"{"path":"c"}"#).unwrap());
    let effect = sim.take(is_hook);
    sim.input(Input::Hooked(effect, Box::new(outcome)));
    sim.play_except(|going| beside(going) || is_hook(going));
    let mut outcome = HookOutcome::default();
    outcome.verdict = Some(HookVerdict::new(windlass_types::Behavior::Deny, "h", "Not by a program."));
    let effect = sim.take(is_hook);
    sim.input(Input::Hooked(effect, Box::new(outcome)));
    sim.play_except(beside);
    assert_eq!(returned(&sim, rewritten).content.text(), r#"done: Read {"path":"c"} in /w"#);
    assert!(returned(&sim, denied).content.text().contains("Not by a program."));
    sim.play();
}

#[test]
fn calls_of_programs_do_not_wait_for_each_other_for_ever() {
    for most in [1, 2, 10] {
        let mut config = config();
        config.limits.max_parallel_tools = most;
        let others = [call("q", "Program", ""), call("r", "Read", "a"), call("w", "Write", "a"), call("n", "Net", "")];
        let (mut sim, program) = running(config, &others);
        let other = run_of(&sim, "q").expect("the other program does not run");
        let mut made = Vec::new();
        for by in [program, other, program, other] {
            made.push(sim.make(by, "Write", r#"{"path":"a"}"#));
            made.push(sim.make(by, "Cd", r#"{"path":"/w"}"#));
        }
        assert!(run_of(&sim, "w").is_none(), "a call behind the programs has begun");
        sim.play_except(beside);
        assert!(made.iter().all(|made| !returned(&sim, *made).is_error));
        assert!(run_of(&sim, "w").is_none());
        sim.play();
        assert_eq!(sim.requests.len(), 2, "at most {most} at once");
    }
}

#[test]
fn what_changes_the_session_does_so_when_the_program_has_ended() {
    let (mut sim, program) = running(config(), &[]);
    let made = sim.make(program, "Cd", r#"{"path":"sub"}"#);
    sim.play_except(beside);
    assert!(!returned(&sim, made).is_error);
    assert_eq!(sim.machine.state().cwd().to_str(), Some("/w"));
    sim.play();
    assert_eq!(sim.machine.state().cwd().to_str(), Some("/w/sub"));
}

#[test]
fn what_a_stopped_program_has_made_is_stopped_too() {
    let (mut sim, program) = running(config(), &[]);
    let (runs, asks) = (sim.make(program, "Net", "{}"), sim.make(program, "Write", r#"{"path":"a"}"#));
    sim.play_except(|going| is_run(going) || is_ask(going));
    sim.input(Input::StopTool(ToolUseId::from("p")));
    assert!(returned(&sim, asks).is_error, "what has not begun is answered at once");
    assert!(!sim.returned.contains_key(&runs), "what runs is waited for");
    assert!(sim.going.iter().any(|(_, going)| matches!(going, Going::Stopping(call) if call.call.name == "Net")));
    let late = sim.make(program, "Net", "{}");
    assert!(returned(&sim, late).is_error);
    sim.play();
    assert!(sim.returned.contains_key(&runs));
    assert_eq!(sim.requests.len(), 2, "the run goes on");
}

#[test]
fn what_a_program_leaves_behind_is_stopped_before_the_next_turn() {
    let (mut sim, program) = running(config(), &[]);
    let (runs, asks) = (sim.make(program, "Net", "{}"), sim.make(program, "Write", r#"{"path":"a"}"#));
    sim.play_except(|going| is_run(going) || is_ask(going));
    let effect = sim.take(beside);
    sim.input(Input::Ran(effect, Box::new(ToolOutcome::error("The program failed."))));
    assert!(returned(&sim, asks).is_error);
    assert_eq!(sim.requests.len(), 1, "the run does not go on while a call of it runs");
    sim.play();
    assert!(sim.returned.contains_key(&runs));
    assert_eq!(sim.requests.len(), 2);
}

#[test]
fn an_interrupt_ends_a_program_and_what_it_has_made() {
    let (mut sim, program) = running(config(), &[]);
    let (runs, asks) = (sim.make(program, "Net", "{}"), sim.make(program, "Write", r#"{"path":"a"}"#));
    sim.play_except(|going| is_run(going) || is_ask(going));
    sim.input(Input::Interrupt);
    let late = sim.make(program, "Read", r#"{"path":"a"}"#);
    assert!(returned(&sim, asks).is_error && returned(&sim, late).is_error);
    sim.play();
    assert!(sim.returned.contains_key(&runs));
    assert!(sim.machine.is_idle());
    assert_eq!(sim.requests.len(), 1);
}

#[test]
fn some_calls_cannot_be_made() {
    let mut with_output = config();
    with_output.tools.structured_output = Some("Net".to_owned());
    let (mut sim, program) = running(with_output, &[]);
    for tool in ["Program", "Net"] {
        let made = sim.make(program, tool, "{}");
        assert!(returned(&sim, made).content.text().contains("cannot be called from Program"), "{tool}");
    }
    sim.play();

    // Only a tool that declares it makes calls: others would wait for calls that wait for them.
    let message = [call("n", "Net", "")];
    let mut other = crate::sequences::sim(config(), &[&message, &[text("Done.")]]);
    other.play_except(is_run);
    let net = run_of(&other, "n").unwrap();
    let made = other.make(net, "Read", r#"{"path":"a"}"#);
    assert!(returned(&other, made).content.text().contains("cannot make calls"));
    other.play();
}

#[test]
fn the_calls_of_one_message_make_a_thousand_at_most() {
    let (mut sim, program) = running(config(), &[]);
    for _ in 0..1_000 {
        let made = sim.make(program, "Nothing", "{}");
        sim.play_except(beside);
        assert!(returned(&sim, made).content.text().contains("There is no tool"));
    }
    let made = sim.make(program, "Nothing", "{}");
    assert!(returned(&sim, made).content.text().contains("at most 1000"));
    sim.play();
}

#[test]
fn a_process_that_is_killed_in_a_call_of_a_program_resumes() {
    let (mut sim, program) = running(config(), &[]);
    sim.make(program, "Net", "{}");
    sim.play_except(is_run);
    assert!(run_of(&sim, "made_p_1").is_some());
    let intents = sim.log.iter().filter(|entry| matches!(entry.kind, EntryKind::Intent { .. })).count();
    assert_eq!(intents, 2, "that of the program and that of its call");
    let (repaired, _) = repair(sim.log.clone());
    let transcript = windlass_session::Transcript::from_entries(&repaired);
    let messages = transcript.messages();
    crate::check::valid(&messages);
    let last = format!("{:?}", messages.last().unwrap());
    assert!(last.contains(OUTCOME_UNKNOWN) && !last.contains("made_p_1"), "{last}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever programs make, and however it is answered: the invariants of every world hold, each call is returned
    /// once, and the run ends.
    #[test]
    fn programs_in_any_world(list in proptest::collection::vec(any::<u16>(), 0..160), most in 1_usize..4, wild in any::<bool>()) {
        let mut config = config();
        config.limits.max_parallel_tools = most;
        config.listeners.hooks = [(HookEventName::PreToolUse, None), (HookEventName::PostToolUse, None)].into();
        let wild = Wild { gate: true, ..if wild { WILD } else { TAME } };
        let mut sim = Sim::new(config, Choices::new(list), wild);
        sim.script = vec![
            vec![call("p", "Program", ""), call("q", "Program", ""), call("r", "Read", "a"), call("w", "Write", "a")],
            vec![call("s", "Program", "")],
            vec![text("Done.")],
        ];
        sim.prompt("do it");
        sim.play();
        for made in &sim.made {
            prop_assert!(sim.over || sim.returned.contains_key(made), "{made:?} has not come back");
        }
    }
}
