//! The machine alone, with any actions of hosts, sessions and jobs, in any order.

mod world;

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use world::{Action, MachineWorld};

fn orders() -> impl Strategy<Value = Action> {
    let hooks = json!({ "PreToolUse": [{ "hookCallbackIds": ["h"] }] });
    prop::sample::select(vec![
        ("initialize", json!({ "hooks": hooks })),
        ("initialize", json!({ "hooks": 7 })),
        ("interrupt", json!({})),
        ("interrupt", json!({ "cancel_queued": true })),
        ("set_permission_mode", json!({ "mode": "plan" })),
        ("set_permission_mode", json!({ "mode": "none" })),
        ("set_model", json!({ "model": "x" })),
        ("set_max_thinking_tokens", json!({ "max_thinking_tokens": 5 })),
        ("mcp_status", json!({})),
        ("mcp_message", json!({ "server_name": "s", "message": {} })),
        ("mcp_call", json!({ "tool": "t" })),
        ("get_context_usage", json!({})),
        ("get_usage", json!({})),
        ("rename_session", json!({ "title": "t" })),
        ("apply_flag_settings", json!({ "settings": { "permissions": { "deny": ["act"] } } })),
        ("cancel_async_message", json!({ "message_uuid": "m2" })),
        ("stop_task", json!({ "task_id": "b" })),
        ("get_task_output", json!({ "task_id": "b" })),
        ("rewind_files", json!({ "user_message_id": "u" })),
        ("rewind_files", json!({ "user_message_id": "u", "dry_run": true })),
        ("windlass_rewind_conversation", json!({ "user_message_id": "u" })),
        ("windlass_rewind_conversation", json!({ "user_message_id": "u", "files": true, "dry_run": true })),
        ("reload_plugins", json!({})),
        ("end_session", json!({})),
        ("from_the_future", json!({})),
    ])
    .prop_map(|(subtype, body)| Action::Order(subtype, body))
}

fn messages() -> impl Strategy<Value = Action> {
    const TEXTS: [&str; 9] = ["hi", "/clear", "/cost", "/context", "/memory", "/greet you", "/gone", "/compact it", ""];
    const PRIORITIES: [&str; 3] = ["later", "next", "now"];
    (prop::sample::select(&TEXTS[..]), prop::sample::select(&PRIORITIES[..]), any::<bool>())
        .prop_map(|(text, priority, named)| Action::Say { text, priority, named })
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        6 => messages(),
        6 => orders(),
        3 => (0..9_usize).prop_map(Action::Answer),
        12 => (0..9_usize).prop_map(Action::Step),
        14 => Just(Action::Deliver),
        6 => (0..9_usize, any::<bool>()).prop_map(|(at, permission)| Action::Ask(at, permission)),
        2 => (0..9_usize).prop_map(Action::Drop),
        12 => (0..9_usize, prop::bool::weighted(0.8)).prop_map(|(at, succeeds)| Action::Finish(at, succeeds)),
        1 => (0..9_usize).prop_map(Action::Tick),
    ];
    prop::collection::vec(action, 1..120)
}

fn play(is_mirrored: bool, actions: &[Action]) -> MachineWorld {
    let mut world = MachineWorld::new(is_mirrored);
    for action in actions {
        world.act(action);
    }
    world.end();
    world
}

/// Calls with frames among these lines, by position.
fn calls(lines: &[Value]) -> BTreeMap<String, usize> {
    let call = |(at, line): (usize, &Value)| Some((line["message"]["content"][0]["id"].as_str()?.to_owned(), at));
    lines.iter().enumerate().filter(|(_, line)| line["type"] == "assistant").filter_map(call).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_request_is_answered_exactly_once(is_mirrored: bool, actions in actions()) {
        let world = play(is_mirrored, &actions);
        let mut answers: BTreeMap<&str, usize> = BTreeMap::new();
        for line in world.host.lines.iter().filter(|line| line["type"] == "control_response") {
            *answers.entry(line["response"]["request_id"].as_str().unwrap()).or_default() += 1;
        }
        let asked: BTreeMap<&str, usize> = world.host.requests.iter().map(|id| (id.as_str(), 1)).collect();
        prop_assert_eq!(answers, asked);
    }

    #[test]
    fn a_question_comes_behind_the_frame_of_its_call(is_mirrored: bool, actions in actions()) {
        let world = play(is_mirrored, &actions);
        let frames = calls(&world.host.lines);
        let mut shown = BTreeSet::new();
        for (at, line) in world.host.lines.iter().enumerate().filter(|(_, line)| line["type"] == "control_request") {
            let call = line["request"]["tool_use_id"].as_str().unwrap();
            prop_assert!(frames.get(call).is_some_and(|frame| *frame < at), "{} is asked about first", call);
            prop_assert!(shown.insert(line["request_id"].as_str().unwrap()), "asked twice");
        }
        // Only shown requests are cancelled.
        for line in world.host.lines.iter().filter(|line| line["type"] == "control_cancel_request") {
            prop_assert!(shown.contains(line["request_id"].as_str().unwrap()));
        }
    }

    #[test]
    fn when_it_is_closed_no_question_or_request_is_open(is_mirrored: bool, actions in actions()) {
        let world = play(is_mirrored, &actions);
        prop_assert!(world.asked.is_empty(), "{:?} have no answer", world.asked);
        let answered: BTreeSet<&String> = world.answered.iter().collect();
        prop_assert_eq!(answered.len(), world.answered.len());
        // The close comes last.
        prop_assert_eq!(world.outputs.last().map(String::as_str), Some("Order(Conversation(Closed))"));
    }

    #[test]
    fn frames_of_a_turn_keep_their_order(is_mirrored: bool, actions in actions()) {
        let world = play(is_mirrored, &actions);
        let numbered = |(call, at): (String, usize)| (at, call.trim_start_matches('t').parse().unwrap());
        let mut places: Vec<(usize, u64)> = calls(&world.host.lines).into_iter().map(numbered).collect();
        places.sort_unstable();
        prop_assert!(places.is_sorted_by_key(|(_, number)| *number), "{:?}", places);
        // Calls are made between the start and the result of a run.
        let (mut runs, mut lives) = (false, BTreeMap::<&str, Vec<&str>>::new());
        for line in &world.host.lines {
            match (line["type"].as_str(), line["subtype"].as_str()) {
                (Some("system"), Some("init")) => runs = true,
                (Some("assistant"), _) => prop_assert!(runs, "a call outside of a run"),
                (Some("result"), _) if line["num_turns"] == 0 && line["local_command"].is_string() => {}
                (Some("command_lifecycle"), _) => {
                    let (uuid, state) = (line["command_uuid"].as_str().unwrap(), line["state"].as_str().unwrap());
                    lives.entry(uuid).or_default().push(state);
                }
                _ => {}
            }
        }
        for (uuid, life) in lives {
            let ends = life.iter().filter(|state| matches!(**state, "completed" | "cancelled")).count();
            let begins = life.iter().filter(|state| **state == "started").count();
            prop_assert!(ends <= 1 && begins <= 1, "{}: {:?}", uuid, life);
            prop_assert!(ends == 0 || matches!(life.last(), Some(&"completed" | &"cancelled")), "{}: {:?}", uuid, life);
        }
    }

    #[test]
    fn the_same_inputs_give_the_same_outputs(is_mirrored: bool, actions in actions()) {
        let world = play(is_mirrored, &actions);
        let mut again = world::machine(is_mirrored);
        let mut outputs = Vec::new();
        for input in world.inputs {
            again.handle(input);
            while let Some(output) = again.poll() {
                outputs.push(format!("{output:?}"));
            }
        }
        prop_assert_eq!(outputs, world.outputs);
    }
}

/// A request about a call that no event names does not wait longer than a run could name it.
#[test]
fn a_call_that_has_no_frame_is_asked_about_when_no_run_is_left() {
    let mut world = MachineWorld::new(false);
    world.act(&Action::Say { text: "hi", priority: "later", named: false });
    for action in [Action::Finish(1, true), Action::Step(0), Action::Deliver] {
        world.act(&action);
    }
    world.ask_about("unknown", false);
    let is_shown = |world: &MachineWorld| world.host.lines.iter().any(|line| line["type"] == "control_request");
    assert!(!is_shown(&world), "it overtakes an event");
    // The run ends.
    world.act(&Action::Step(3));
    for _ in 0..2 {
        world.act(&Action::Deliver);
    }
    assert!(is_shown(&world));
    world.ask_about("unknown", false);
    assert_eq!(world.host.lines.iter().filter(|line| line["type"] == "control_request").count(), 2);
}
