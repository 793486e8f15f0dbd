//! A presenter of lines, as a command writes them.

use crate::world::World;
use windlass_conversation::{Input, Presenter, Request, SessionState, Update};
use windlass_types::{Delta, EventKind};

#[derive(Default)]
struct Lines(Vec<String>);

impl Presenter for Lines {
    fn present(&mut self, update: Update) {
        let line = match update {
            Update::Event(event) => match &event.kind {
                EventKind::BlockDelta { delta: Delta::Text(text), .. } => format!("agent: {text}"),
                EventKind::RunFinished(result) => format!("end: {}", result.outcome),
                _ => return,
            },
            Update::Taken(taken) => format!("you: {}", taken.id.unwrap_or_default()),
            Update::Local(local) => format!("/{}: {}", local.command, local.text.lines().next().unwrap_or_default()),
            Update::Refused(reason) => format!("error: {reason}"),
            Update::State(SessionState::Idle) => "ready".to_owned(),
            Update::Cleared(_) => "a new conversation".to_owned(),
            Update::Question(id) => format!("question {id}"),
            Update::QuestionWithdrawn(id) => format!("no question {id}"),
            _ => return,
        };
        self.0.push(line);
    }
}

#[test]
fn prompts_have_turns_in_order_and_commands_need_no_model() {
    let mut world = World::new(Lines::default());
    world.say("fix it", "a");
    world.say("/cost", "b");
    world.say("and test it", "c");
    world.finish_run();
    world.finish_run();
    world.give(Input::End);
    let lines = world.presenter.0.join("\n");
    let expected = "you: a\nagent: FIX IT\nend: the model finished its answer\nyou: b\n/cost: Total cost: $0.0000\nyou: c\n\
                    agent: AND TEST IT\nend: the model finished its answer\nready";
    assert_eq!(lines, expected);
    assert!(world.is_closed);
}

#[test]
fn clear_opens_a_session_and_an_interrupt_keeps_what_waits() {
    let mut world = World::new(Lines::default());
    world.say("one", "a");
    world.say("/clear", "b");
    world.give(Input::Request("i".to_owned(), Request::Interrupt { cancels_queued: false }));
    assert_eq!(world.conversation.facts().map(|facts| facts.session_id.as_str()), Some("s2"));
    assert!(world.presenter.0.contains(&"a new conversation".to_owned()), "{:?}", world.presenter.0);
    world.say("two", "c");
    world.finish_run();
    assert_eq!(world.presenter.0.last().map(String::as_str), Some("ready"));
    world.give(Input::Close);
    assert!(world.is_closed);
}
