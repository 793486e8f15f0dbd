//! Thousands of calls in one message.

use crate::sim::config;
use std::collections::{BTreeSet, VecDeque};
use windlass_core::{Effect, EffectId, Input, Machine, MachineConfig, Output, Prompt};
use windlass_types::{
    BlockStart, EventKind, JsonText, MessageId, ModelEvent, Outcome, PermissionAnswer, StopReason, StreamDelta,
    Timestamp, ToolUseId, Usage,
};

/// Results of a message with many calls.
#[derive(Debug, Default)]
struct Seen {
    answered: Vec<ToolUseId>,
    /// Maximum number of simultaneously open effects for calls, of any kind.
    at_once: usize,
    outcome: Option<Outcome>,
}

/// Driver that answers every effect at once, in order, except for the first message, which makes these calls.
struct World {
    machine: Machine,
    /// Inputs, each with the effect for a call that it answers, if any.
    inputs: VecDeque<(Option<EffectId>, Input)>,
    requests: usize,
    going: BTreeSet<EffectId>,
    seen: Seen,
}

impl World {
    fn new(config: MachineConfig) -> Self {
        let machine = Machine::new(config, &[]);
        Self { machine, inputs: VecDeque::new(), requests: 0, going: BTreeSet::new(), seen: Seen::default() }
    }

    fn run(mut self, calls: &[(&str, String)]) -> Seen {
        self.inputs.push_back((None, Input::Prompt(Prompt::text("do it"))));
        while let Some((effect, input)) = self.inputs.pop_front() {
            if effect.is_some_and(|effect| !self.going.remove(&effect)) {
                continue;
            }
            self.machine.handle(Timestamp::from_millis(1), input).unwrap();
            while let Some(output) = self.machine.poll() {
                match output {
                    Output::Effect(id, effect) => self.effect(id, effect, calls),
                    Output::Event(event) => match event.kind {
                        EventKind::ToolFinished(finished) => self.seen.answered.push(finished.result.tool_use_id),
                        EventKind::RunFinished(result) => self.seen.outcome = Some(result.outcome),
                        _ => {}
                    },
                    Output::Closed | Output::Broken(_) => {}
                }
            }
        }
        self.seen
    }

    fn effect(&mut self, id: EffectId, effect: Effect, calls: &[(&str, String)]) {
        let answer = match effect {
            Effect::CallModel(_) => {
                self.requests += 1;
                let events = message(if self.requests == 1 { calls } else { &[] });
                return self.inputs.extend(events.into_iter().map(|event| (None, Input::Model(id, event.into()))));
            }
            Effect::Append { .. } => return self.inputs.push_back((None, Input::Appended(id, Ok(())))),
            Effect::Prepare { call, cwd } => Input::Prepared(id, crate::tools::prepare(&call, &cwd)),
            Effect::Ask { .. } => Input::Answered(id, PermissionAnswer::allow()),
            Effect::Snapshot { .. } => Input::Snapshotted(id, Ok(())),
            Effect::Run(call) => Input::Ran(id, Box::new(crate::tools::run(&call))),
            Effect::Cancel(other) => {
                self.going.remove(&other);
                return;
            }
            Effect::Reserve(_) | Effect::Settle { .. } => return,
            other => panic!("not expected here: {other:?}"),
        };
        self.going.insert(id);
        self.seen.at_once = self.seen.at_once.max(self.going.len());
        self.inputs.push_back((Some(id), answer));
    }
}

/// Returns the events of a message with these calls, or of a text.
fn message(calls: &[(&str, String)]) -> Vec<ModelEvent> {
    let start = ModelEvent::MessageStart { id: MessageId::from("m"), model: "m".into(), usage: Usage::default() };
    let mut events = vec![start];
    for (index, (tool, input)) in calls.iter().enumerate() {
        let id = ToolUseId::from(format!("t{index}"));
        events.push(ModelEvent::BlockStart { index, block: BlockStart::ToolUse { id, name: (*tool).to_owned() } });
        events.push(ModelEvent::BlockDelta { index, delta: StreamDelta::ToolInput(input.clone()) });
        events.push(ModelEvent::BlockStop { index });
    }
    if calls.is_empty() {
        events.push(ModelEvent::BlockStart { index: 0, block: BlockStart::Text("Done.".to_owned()) });
        events.push(ModelEvent::BlockStop { index: 0 });
    }
    let reason = if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    events.push(ModelEvent::MessageDelta { stop_reason: Some(reason), usage: Usage::default() });
    events.push(ModelEvent::MessageStop);
    events
}

/// Returns `count` calls of a kind.
fn calls(kind: &str, count: usize) -> Vec<(&'static str, String)> {
    let path = |path: String| JsonText::parse(format!(r#"{{"path":"{path}"}}"#)).unwrap().as_str().to_owned();
    (0..count)
        .map(|at| match kind {
            "reads" => ("Read", path(format!("f{at}"))),
            "writes" => ("Write", path(format!("f{at}"))),
            "writes of one file" => ("Write", path("f".to_owned())),
            "reads and writes of one file" => (if at % 2 == 0 { "Read" } else { "Write" }, path("f".to_owned())),
            "programs" => ("Cd", path("/w".to_owned())),
            "changes of the directory" => ("Cd", path(format!("/w/{at}"))),
            "unknown tools" => ("Nope", "{}".to_owned()),
            other => panic!("{other}"),
        })
        .collect()
}

const KINDS: [&str; 7] = [
    "reads",
    "writes",
    "writes of one file",
    "reads and writes of one file",
    "programs",
    "changes of the directory",
    "unknown tools",
];

/// Returns the processor time used by this thread so far, in nanoseconds.
fn used() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

#[test]
fn every_call_of_thousands_is_answered_once_and_few_are_looked_at_at_a_time() {
    for kind in KINDS {
        let calls = calls(kind, 3_000);
        let before = used();
        let seen = World::new(config()).run(&calls);
        if let (Some(before), Some(after)) = (before, used()) {
            println!("{} {kind}: {} ms", calls.len(), (after - before) / 1_000_000);
        }
        let mut ids: Vec<_> = seen.answered.iter().map(|id| id.as_str()[1..].parse::<usize>().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..calls.len()).collect::<Vec<_>>(), "{kind}");
        assert!(seen.at_once <= 32, "{} {kind} at once", seen.at_once);
        assert_eq!(seen.outcome, Some(Outcome::Success), "{kind}");
    }
}

/// Measures the time of this thread alone: other programs have no influence.
#[test]
fn four_times_the_calls_take_about_four_times_the_work() {
    for kind in KINDS {
        let work = |count| {
            let calls = calls(kind, count);
            let least = (0..3).filter_map(|_| {
                let before = used()?;
                World::new(config()).run(&calls);
                Some(used()? - before)
            });
            least.min()
        };
        let (Some(some), Some(many)) = (work(250), work(1_000)) else {
            windlass_testkit::skipped("/proc/thread-self/schedstat, which says what a thread has used");
            return;
        };
        assert!(many < some * 9, "250 {kind} take {some} ns, and 1000 {many} ns");
    }
}
