//! Invariants of `docs/architecture.md`, over simulated worlds. The checks of each step are in `check.rs`; the worlds
//! are here.

use crate::check::{reports_end, valid};
use crate::choices::Choices;
use crate::sim::{Sim, TAME, WILD, Wild, config, odd_config};
use crate::tools;
use proptest::collection::vec;
use proptest::prelude::*;
use windlass_core::{Input, Machine, Prompt};
use windlass_session::{Transcript, repair, repair_but_pending};
use windlass_types::{
    ContentBlock, Entry, EntryKind, EventKind, JsonText, PermissionMode, Role, TaskId, TaskRecord, ToolUse,
};

fn choices(most: usize) -> impl Strategy<Value = Choices> {
    vec(any::<u16>(), 0..most).prop_map(Choices::new)
}

fn world(mut choices: Choices, wild: Wild) -> Sim {
    let config = odd_config(&mut choices);
    let mut sim = Sim::new(config, choices, wild);
    sim.prompt("do it");
    sim
}

fn finished(sim: &Sim) -> usize {
    sim.events.iter().filter(|event| matches!(event.kind, EventKind::RunFinished(_))).count()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Invariants 1 to 8 and 11, with any behavior of all participants.
    #[test]
    fn any_world_keeps_the_invariants(choices in choices(250)) {
        let mut sim = world(choices, Wild { rewinds: true, ..WILD });
        sim.play();
        prop_assert!(sim.machine.is_idle());
        prop_assert_eq!(finished(&sim), sim.checks.runs);
        prop_assert_eq!(sim.checks.durable(), sim.log.len(), "something never became durable");
        prop_assert!(sim.checks.breaks_are_reported(), "the cache broke unsaid");
    }

    /// Background tasks of calls end once for the host, and once for the model unless a stop of the user or too many
    /// runs prevent it.
    #[test]
    fn the_model_hears_once_of_work_that_ends(choices in choices(250), rewinds in any::<bool>()) {
        let mut sim = world(choices, Wild { model: false, gate: false, rewinds, ..WILD });
        sim.play();
        prop_assert!(sim.checks.tasks.is_empty(), "work without end: {:?}", sim.checks.tasks);
        let news: Vec<_> = sim.checks.ended.clone();
        sim.checks.user(&Input::Close);
        if !sim.over {
            sim.input(Input::Close);
            sim.play();
        }
        prop_assert!(sim.over);
        for id in news {
            let reports = sim.log.iter().filter(|entry| reports_end(entry, &id)).count();
            // The model gets no notification of a task that the conversation does not contain any more.
            let expected = usize::from(!rewinds || begins(&sim.log, &id));
            prop_assert_eq!(reports, expected, "the model reads of {} {} times", id, reports);
        }
    }

    /// The same with a store that may refuse any entry: then nothing follows but the end.
    #[test]
    fn a_store_that_refuses_ends_the_session_once(choices in choices(150)) {
        let mut sim = world(choices, Wild { store: true, ..WILD });
        sim.play();
        prop_assert!(sim.over || sim.machine.is_idle());
        prop_assert_eq!(finished(&sim), sim.checks.runs);
    }

    /// Invariant 6: a stop at any point ends the run, and the next prompt works.
    #[test]
    fn a_stop_at_any_point_leaves_a_session_that_continues(
        choices in choices(150), steps in 0_usize..120, close in any::<bool>(),
    ) {
        let mut sim = world(choices, Wild { user: false, ..WILD });
        sim.steps(steps);
        if close {
            sim.checks.user(&Input::Close);
            sim.input(Input::Close);
            sim.play();
            prop_assert!(sim.over, "it did not close");
            prop_assert_eq!(finished(&sim), sim.checks.runs);
            return Ok(());
        }
        sim.input(Input::Interrupt);
        let ended = sim.requests.len();
        let runs = sim.checks.runs;
        sim.input(Input::Prompt(Prompt::text("and now")));
        sim.play();
        prop_assert_eq!(finished(&sim), sim.checks.runs);
        prop_assert!(sim.checks.runs > runs || runs == 0);
        if let Some(request) = sim.requests.get(ended) {
            let said = request.messages.last().map(|message| message.content.iter().any(
                |block| block.as_text() == Some("and now"),
            ));
            prop_assert_eq!(said, Some(true), "the model does not read the next prompt");
        }
    }

    /// Invariant 5: a machine made from the log continues where the live one is.
    #[test]
    fn resuming_continues_the_same_conversation(choices in choices(150), steps in 0_usize..150) {
        let mut sim = world(choices, WILD);
        sim.steps(steps);
        let (repaired, report) = repair(sim.log.clone());
        let again = Machine::new(config(), &repaired);
        let mut live = sim.machine.state().transcript().clone();
        live.settle();
        let texts = |messages: &[windlass_types::SharedMessage]| -> Vec<String> {
            messages.iter().map(|message| message.json().to_owned()).collect()
        };
        prop_assert_eq!(texts(&again.state().transcript().messages()), texts(&live.messages()));
        prop_assert_eq!(again.state().cwd(), sim.machine.state().cwd());
        let mut log = sim.log.clone();
        log.extend(report.synthetic);
        prop_assert!(repair(log).1.synthetic.is_empty(), "the repair does not last");
    }

    /// Calls with open permission requests stay open in a repair, and no others; without them the repair is the same.
    #[test]
    fn a_repair_leaves_open_what_waits_for_answers(choices in choices(150), steps in 0_usize..150) {
        let mut sim = world(choices, WILD);
        sim.steps(steps);
        let (kept, _) = repair_but_pending(sim.log.clone());
        let open = Transcript::from_entries(&kept);
        let open: Vec<_> = open.open_calls().map(|call| call.id.clone()).collect();
        let asked = sim.machine.state().pending_questions();
        let live: Vec<_> = sim.machine.state().transcript().open_calls().map(|call| call.id.clone()).collect();
        let expected: Vec<_> = live.into_iter().filter(|call| asked.about(call).is_some() || asked.waiting(call).is_some()).collect();
        prop_assert_eq!(open, expected);
        prop_assert_eq!(&repair_but_pending(kept.clone()).0, &kept, "the repair does not last");
        let messages = |entries: &[Entry]| -> Vec<String> {
            Transcript::from_entries(entries).messages().iter().map(|message| message.json().to_owned()).collect()
        };
        prop_assert_eq!(messages(&repair(kept).0), messages(&repair(sim.log.clone()).0));
    }

    /// Invariant 10: the order in which independent results arrive changes nothing.
    #[test]
    fn independent_results_commute(
        calls in vec((0_usize..7, 0_usize..4), 1..7), one in choices(80), two in choices(80),
    ) {
        let block = |(at, (tool, path)): (usize, &(usize, usize))| {
            let name = ["Read", "Write", "Net", "Cd", "Banned", "Nope", "Agent"][*tool];
            let input = format!(r#"{{"path":"{}"}}"#, ["a", "b", "alias", "sub/c"][*path]);
            ContentBlock::ToolUse(ToolUse::new(format!("t{at}"), name, JsonText::parse(input).unwrap()))
        };
        let script: Vec<ContentBlock> = calls.iter().enumerate().map(block).collect();
        let mut seen = Vec::new();
        for choices in [one, two] {
            let mut config = config();
            config.policy = tools::policy(PermissionMode::Default);
            let mut sim = Sim::new(config, choices, TAME);
            sim.script = vec![script.clone(), vec![ContentBlock::text("done")]];
            sim.prompt("do it");
            sim.play();
            prop_assert_eq!(sim.requests.len(), 2);
            seen.push((sim.conversation(), sim.requests[1].messages.clone(), sim.machine.state().cwd().to_owned()));
        }
        prop_assert_eq!(&seen[0], &seen[1]);
    }

    /// Invariant 1: every tool use is answered once, in call order, in the next message.
    #[test]
    fn every_call_is_answered_in_order(choices in choices(200)) {
        let mut sim = world(choices, WILD);
        sim.play();
        let messages = sim.machine.state().transcript().messages();
        for pair in messages.windows(2) {
            if pair[0].role != Role::Assistant {
                continue;
            }
            let calls: Vec<_> = pair[0].content.iter().filter_map(|b| b.as_tool_use()).map(|c| c.id.clone()).collect();
            let results: Vec<_> =
                pair[1].content.iter().filter_map(|b| b.as_tool_result()).map(|r| r.tool_use_id.clone()).collect();
            prop_assert_eq!(calls, results);
        }
        if messages.last().is_some_and(|message| message.role == Role::User) {
            valid(&messages);
        }
    }
}

/// `true` if the conversation contains the call that started the task.
fn begins(log: &[Entry], id: &TaskId) -> bool {
    let call = log.iter().find_map(|entry| match &entry.kind {
        EntryKind::Task(TaskRecord::Started(info)) if info.id == *id => Some(&info.tool_use_id),
        _ => None,
    });
    let calls = |entry: &Entry| match &entry.kind {
        EntryKind::Assistant(message) => {
            message.content.iter().filter_map(ContentBlock::as_tool_use).any(|made| Some(&made.id) == call)
        }
        _ => false,
    };
    log.iter().any(calls)
}
