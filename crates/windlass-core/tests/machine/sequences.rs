//! Exact sequences of `docs/architecture.md`, "What the host sees".

use crate::choices::Choices;
use crate::render::render;
use crate::sim::{Going, Sim, TAME, config, model};
use windlass_core::{Input, MachineConfig, ModelFailure, StoreFailure};
use windlass_types::{
    ContentBlock, HookEventName, JsonText, ModelErrorKind, PermissionAnswer, PermissionMode, StopReason, ToolUse,
};

pub(crate) fn text(text: &str) -> ContentBlock {
    ContentBlock::text(text)
}

pub(crate) fn call(id: &str, tool: &str, path: &str) -> ContentBlock {
    let input = JsonText::parse(format!(r#"{{"path":"{path}"}}"#)).unwrap();
    ContentBlock::ToolUse(ToolUse::new(id, tool, input))
}

/// Returns a world in which the model writes these messages, after a prompt.
pub(crate) fn sim(config: MachineConfig, script: &[&[ContentBlock]]) -> Sim {
    let mut sim = Sim::new(config, Choices::new(Vec::new()), TAME);
    sim.script = script.iter().map(|message| message.to_vec()).collect();
    sim.prompt("do it");
    sim
}

pub(crate) fn is_run(going: &Going) -> bool {
    matches!(going, Going::Run(_) | Going::Stopping(_))
}

pub(crate) fn is_ask(going: &Going) -> bool {
    matches!(going, Going::Ask(_))
}

pub(crate) fn is_model(going: &Going) -> bool {
    matches!(going, Going::Model { .. })
}

/// Compares the events seen by the host with a transcript, one event a line.
#[track_caller]
pub(crate) fn check(sim: &Sim, expected: &str) {
    let expected: String = expected.trim().lines().map(|line| line.trim().to_owned() + "\n").collect();
    let seen = render(&sim.events);
    assert!(seen == expected, "the host saw:\n{seen}\nand not:\n{expected}");
}

#[test]
fn a_plain_answer() {
    let mut sim = sim(config(), &[&[text("Hello.")]]);
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        text "Hello."
        block text
        usage of m: 100 in, 50 out
        message msg1 (end_turn)
        run ended (Success), 1 turns
        "#,
    );
}

#[test]
fn a_tool_turn() {
    let mut sim = sim(config(), &[&[text("I look."), call("t1", "Read", "a")], &[text("Done.")]]);
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        text "I look."
        block text
        input {"path":"a"}
        call t1 of Read
        usage of m: 100 in, 50 out
        message msg1 (tool_use)
        started t1: Read /w/a
        finished t1 ok: done: Read {"path":"a"} in /w
        requesting m (ToolResults)
        text "Done."
        block text
        usage of m: 100 in, 50 out
        message msg2 (end_turn)
        run ended (Success), 2 turns
        "#,
    );
}

#[test]
fn parallel_tools_finish_in_their_own_order_and_are_answered_in_call_order() {
    let calls = [call("t1", "Read", "a"), call("t2", "Read", "b"), call("t3", "Net", "")];
    let mut sim = sim(config(), &[&calls, &[text("Done.")]]);
    sim.play_except(is_run);
    for id in ["t3", "t2", "t1"] {
        sim.let_go(|going| matches!(going, Going::Run(call) if call.call.id.as_str() == id));
    }
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        input {"path":"a"}
        call t1 of Read
        input {"path":"b"}
        call t2 of Read
        input {"path":""}
        call t3 of Net
        usage of m: 100 in, 50 out
        message msg1 (tool_use)
        started t1: Read /w/a
        started t2: Read /w/b
        started t3: Net /w/
        finished t3 ok: done: Net {"path":""} in /w
        finished t2 ok: done: Read {"path":"b"} in /w
        finished t1 ok: done: Read {"path":"a"} in /w
        requesting m (ToolResults)
        text "Done."
        block text
        usage of m: 100 in, 50 out
        message msg2 (end_turn)
        run ended (Success), 2 turns
        "#,
    );
    let results = &sim.requests[1].messages[2].content;
    let ids: Vec<&str> = results.iter().filter_map(|b| b.as_tool_result()).map(|r| r.tool_use_id.as_str()).collect();
    assert_eq!(ids, ["t1", "t2", "t3"]);
}

/// Plays one write call with this answer of the host, from its message to the end of its turn.
fn written(answer: PermissionAnswer) -> Sim {
    let mut sim = sim(config(), &[&[call("t1", "Write", "a")], &[text("Done.")]]);
    sim.play_except(is_ask);
    sim.events.clear();
    sim.says(answer);
    sim.play_except(is_model);
    sim
}

#[test]
fn asked_and_allowed() {
    check(
        &written(PermissionAnswer::allow()),
        r#"
        resolved t1: Allow (Host)
        started t1: Write /w/a
        finished t1 ok: done: Write {"path":"a"} in /w
        requesting m (ToolResults)
        "#,
    );
}

#[test]
fn asked_and_denied() {
    check(
        &written(PermissionAnswer::deny("not that one")),
        r#"
        resolved t1: Deny (Host)
        finished t1 denied (Host): not that one
        requesting m (ToolResults)
        "#,
    );
}

#[test]
fn asked_and_denied_for_good() {
    check(
        &written(PermissionAnswer::Deny { message: "stop it all".to_owned(), interrupt: true }),
        r#"
        resolved t1: Deny (Host)
        finished t1 denied (Host): stop it all
        run ended (Interrupted { during: Tools }), 1 turns
        "#,
    );
}

#[test]
fn denied_by_a_rule_and_without_a_host_to_ask() {
    let mut config = config();
    config.listeners.can_ask = false;
    let mut sim = sim(config, &[&[call("t1", "Banned", "a"), call("t2", "Write", "a")], &[text("I see.")]]);
    sim.play();
    let shown = render(&sim.events);
    let tools: Vec<&str> = shown.lines().filter(|line| line.contains("resolved")).collect();
    assert_eq!(tools, ["resolved t1: Deny (Rule)", "resolved t2: Deny (NobodyToAsk)"], "{shown}");
}

#[test]
fn hooks_are_reported_after_their_occasion() {
    let mut config = config();
    config.listeners.hooks = [
        HookEventName::SessionStart,
        HookEventName::UserPromptSubmit,
        HookEventName::PreToolUse,
        HookEventName::PostToolUse,
        HookEventName::Stop,
        HookEventName::SessionEnd,
    ]
    .into_iter()
    .map(|event| (event, None))
    .collect();
    let mut sim = sim(config, &[&[call("t1", "Read", "a")], &[text("Done.")]]);
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        hook SessionStart
        hook UserPromptSubmit
        requesting m (Prompt)
        input {"path":"a"}
        call t1 of Read
        usage of m: 100 in, 50 out
        message msg1 (tool_use)
        hook PreToolUse
        started t1: Read /w/a
        hook PostToolUse
        finished t1 ok: done: Read {"path":"a"} in /w
        requesting m (ToolResults)
        text "Done."
        block text
        usage of m: 100 in, 50 out
        message msg2 (end_turn)
        hook Stop
        run ended (Success), 2 turns
        "#,
    );
}

/// Lets the model's stream continue for `items` items, then fails it.
pub(crate) fn fail_after(sim: &mut Sim, items: usize, kind: ModelErrorKind) {
    sim.play_except(is_model);
    for _ in 0..items {
        sim.let_go(is_model);
    }
    let call = sim.take(is_model);
    sim.input(Input::ModelFailed(call, ModelFailure::new(kind, "it broke")));
}

#[test]
fn a_retry_withdraws_what_was_shown() {
    let mut sim = sim(config(), &[&[text("Hel")], &[text("Hello.")]]);
    fail_after(&mut sim, 3, ModelErrorKind::Cut);
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        text "Hel"
        usage of m: 100 in, 5 out
        withdrawn (StreamFailed)
        retrying 1 of 10: Cut
        requesting m (Retry)
        text "Hello."
        block text
        usage of m: 100 in, 50 out
        message msg2 (end_turn)
        run ended (Success), 1 turns
        "#,
    );
    assert_eq!(sim.requests[0].messages, sim.requests[1].messages);
}

#[test]
fn three_overloaded_answers_bring_the_fallback_and_the_user_brings_back_the_first() {
    let mut config = config();
    config.fallback = Some(model("f"));
    let mut sim = sim(config, &[&[], &[], &[], &[text("Hello.")], &[text("Back.")]]);
    for _ in 0..3 {
        fail_after(&mut sim, 0, ModelErrorKind::Overloaded);
    }
    sim.play();
    sim.input(Input::SetModel(Box::new(model("m"))));
    sim.prompt("again");
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        retrying 1 of 10: Overloaded
        requesting m (Retry)
        retrying 2 of 10: Overloaded
        requesting m (Retry)
        falling back from m to f
        cache broken: model
        requesting f (Fallback)
        text "Hello."
        block text
        usage of f: 100 in, 50 out
        message msg4 (end_turn)
        run ended (Success), 1 turns
        run started in /w
        cache broken: model
        requesting m (Prompt)
        text "Back."
        block text
        usage of m: 100 in, 50 out
        message msg5 (end_turn)
        run ended (Success), 1 turns
        "#,
    );
}

#[test]
fn failures_that_no_repeat_cures_end_the_run() {
    for (kind, expected) in [
        (ModelErrorKind::Authentication, "run failed (Model(Authentication))"),
        (ModelErrorKind::PromptTooLong, "run failed (PromptTooLong)"),
    ] {
        let mut sim = sim(config(), &[]);
        fail_after(&mut sim, 0, kind);
        sim.play();
        assert_eq!(render(&sim.events).lines().last(), Some(expected));
    }
}

#[test]
fn a_stop_while_the_model_streams() {
    let mut sim = sim(config(), &[&[text("Hello.")]]);
    sim.play_except(is_model);
    sim.let_go(is_model);
    sim.let_go(is_model);
    sim.let_go(is_model);
    sim.input(Input::Interrupt);
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        text "Hello."
        usage of m: 100 in, 7 out
        withdrawn (Interrupted)
        run ended (Interrupted { during: Streaming }), 1 turns
        "#,
    );
}

#[test]
fn a_stop_while_tools_run() {
    let calls = [call("t1", "Read", "a"), call("t2", "Write", "b")];
    let mut sim = sim(config(), &[&calls]);
    sim.play_except(|going| is_run(going) || is_ask(going));
    sim.input(Input::Interrupt);
    sim.play();
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        input {"path":"a"}
        call t1 of Read
        input {"path":"b"}
        call t2 of Write
        usage of m: 100 in, 50 out
        message msg1 (tool_use)
        started t1: Read /w/a
        asked about t2: Write /w/b
        finished t2 error: The call did not run: the user stopped the run first.
        finished t1 ok: done: Read {"path":"a"} in /w
        run ended (Interrupted { during: Tools }), 1 turns
        "#,
    );
}

#[test]
fn a_store_that_refuses() {
    let mut sim = sim(config(), &[&[text("Hello.")]]);
    sim.play_except(|going| matches!(going, Going::Append));
    let append = sim.take(|going| matches!(going, Going::Append));
    sim.input(Input::Appended(append, Err(StoreFailure::new("the disk is full"))));
    assert!(sim.over);
    check(
        &sim,
        r#"
        run started in /w
        requesting m (Prompt)
        text "Hello."
        block text
        usage of m: 100 in, 50 out
        run failed (Store)
        "#,
    );
}

#[test]
fn what_stop_reasons_mean() {
    let ends = |reason: StopReason, messages: &[&[ContentBlock]]| {
        let mut sim = Sim::new(config(), Choices::new(Vec::new()), TAME);
        sim.script = messages.iter().map(|message| message.to_vec()).collect();
        sim.reasons = vec![reason; messages.len()];
        sim.prompt("do it");
        sim.play();
        render(&sim.events).lines().last().unwrap_or_default().to_owned()
    };
    for (reason, expected) in [
        (StopReason::EndTurn, "run ended (Success), 1 turns"),
        (StopReason::StopSequence, "run ended (Success), 1 turns"),
        (StopReason::Other("new".into()), "run ended (Success), 1 turns"),
        (StopReason::Refusal, "run ended (Refused), 1 turns"),
    ] {
        assert_eq!(ends(reason.clone(), &[&[text("So.")]]), expected, "{reason:?}");
    }
    let cut: [&[ContentBlock]; 4] = [&[text("a")], &[text("b")], &[text("c")], &[text("d")]];
    assert_eq!(ends(StopReason::MaxTokens, &cut), "run failed (OutputLimit)");
    assert_eq!(ends(StopReason::MaxTokens, &cut[..3]), "run ended (Success), 4 turns");
    // A paused turn is continued, and the message that ends it is the answer.
    assert_eq!(ends(StopReason::PauseTurn, &cut), "run ended (Success), 5 turns");
    let paused: Vec<&[ContentBlock]> = cut.iter().copied().cycle().take(11).collect();
    assert_eq!(ends(StopReason::PauseTurn, &paused[..10]), "run ended (Success), 11 turns");
    assert_eq!(ends(StopReason::PauseTurn, &paused), "run failed (OutputLimit)");
}

#[test]
fn a_directory_change_sends_later_calls_back() {
    let mut config = config();
    config.policy = crate::tools::policy(PermissionMode::AcceptEdits);
    let mut sim = sim(config, &[&[call("t1", "Cd", "sub"), call("t2", "Write", "a")], &[text("Done.")]]);
    sim.play();
    let shown = render(&sim.events);
    let tools: Vec<&str> = shown
        .lines()
        .filter(|line| ["started t", "finished t", "cwd"].iter().any(|start| line.starts_with(start)))
        .collect();
    let expected = [
        "started t1: Cd /w/sub",
        r#"finished t1 ok: done: Cd {"path":"sub"} in /w"#,
        "cwd /w/sub",
        "started t2: Write /w/sub/a",
        r#"finished t2 ok: done: Write {"path":"a"} in /w/sub"#,
    ];
    assert_eq!(tools, expected);
}
