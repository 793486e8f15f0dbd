//! The queue alone.

use super::*;

use crate::message::Priority::{Later, Next, Now};

fn message(id: &str, priority: Priority) -> Message {
    Message::text("x").with_id(id).with_priority(priority)
}

#[test]
fn only_one_text_that_is_not_verbatim_can_be_a_command() {
    let text = Message::text;
    let blocks = |texts: &[&str]| Message::new(texts.iter().map(|text| ContentBlock::text(*text)).collect());
    for (message, expected) in [
        (text("/cost now"), Some("cost now")),
        (text("  /cost"), Some("cost")),
        (blocks(&["/cost", "x"]), None),
        (Message { wants_answer: false, ..text("/cost") }, None),
        (Message { is_verbatim: true, ..text("/cost") }, None),
        (text("and/or"), None),
    ] {
        let (mut queue, shown) = (Queue::default(), format!("{message:?}"));
        queue.push(message, false).unwrap();
        assert_eq!(queue.pop().unwrap().command(), expected, "{shown}");
    }
}

#[test]
fn the_queue_is_bounded_in_bytes_and_has_an_order() {
    let mut queue = Queue::default();
    let big = |id: &str| Message { size: MAX_WAITING_BYTES / 2 + 1, ..message(id, Later) };
    queue.push(big("a"), false).unwrap();
    assert!(queue.push(big("b"), false).unwrap_err().contains("too many"));
    queue.push(message("c", Next), true).unwrap();
    assert_eq!(queue.ids(), ["c", "a"]);
    assert_eq!(queue.forget(Some("a")), ["a"]);
    queue.push(big("b"), false).unwrap();
    assert_eq!(queue.pop().and_then(|first| first.id).as_deref(), Some("c"));
    assert_eq!(queue.forget(None), ["b"]);
    assert!(queue.is_empty() && queue.pop().is_none());
}

/// Messages that may join a turn: `in_turn`, the messages, their order and the offered ones.
#[test]
fn next_joins_in_order_and_overtakes_only_what_is_later() {
    for (in_turn, messages, order, offered) in [
        (true, vec![("a", Later), ("b", Next), ("c", Next)], "bca", "bc"),
        (true, vec![("a", Next), ("b", Now), ("c", Next)], "bac", ""),
        // The turn of the first one is about to begin.
        (false, vec![("a", Later), ("b", Next), ("c", Next)], "abc", ""),
        (false, vec![("a", Next)], "a", ""),
    ] {
        let mut queue = Queue::default();
        for (id, priority) in messages {
            queue.push(message(id, priority), in_turn).unwrap();
        }
        assert_eq!(queue.ids().concat(), order);
        queue.offer(|_| true, |waiting| waiting.id.as_deref().unwrap_or_default().into());
        let known: Vec<String> = queue.offered().iter().map(ToString::to_string).collect();
        assert_eq!(known.concat(), offered, "of {order}");
        assert_eq!(queue.pop().is_none(), !offered.is_empty(), "what is offered has no turn");
    }
}

#[test]
fn what_was_offered_is_consumed_or_comes_back_once() {
    let line = |id: &str| message(id, Next);
    let mut queue = Queue::default();
    for id in ["a", "b", "c", "c"] {
        queue.push(line(id), true).unwrap();
    }
    queue.offer(|_| true, |waiting| waiting.id.as_deref().unwrap_or_default().into());
    let id = |id: &str| EntryId::from(id);
    assert!(queue.take_offered(&id("a")).is_some() && queue.take_offered(&id("a")).is_none());
    // The session has them, so they cannot be forgotten here.
    assert_eq!(queue.forget(None), [""; 0]);
    assert_eq!(queue.ask_back(Some("b"), true), [id("b")]);
    assert_eq!(queue.ask_back(None, false).len(), 3);
    assert!(queue.give_back(&id("b")).is_some_and(|waiting| waiting.id.as_deref() == Some("b")));
    // Of two with one id the first one is meant.
    assert!(queue.give_back(&id("c")).is_none());
    assert_eq!(queue.offered().len(), 1);
    assert!(queue.pop().is_some() && queue.pop().is_none());
    assert!(queue.take_offered(&id("c")).is_some() && queue.is_empty());
    assert_eq!(queue.bytes, 0);
    // A message that came back is not offered again.
    queue.push(line("d"), true).unwrap();
    queue.turn_over();
    queue.offer(|_| true, |_| id("d"));
    assert_eq!(queue.pop().and_then(|first| first.id).as_deref(), Some("d"));
}
