//! The queue alone.

use super::*;

fn message(line: &str) -> UserMessage {
    UserMessage::parse(line.as_bytes()).unwrap()
}

#[test]
fn only_one_text_that_is_not_verbatim_can_be_a_command() {
    for (line, expected) in [
        (r#"{"message":{"content":"/cost now"}}"#, Some("cost now")),
        (r#"{"message":{"content":"  /cost"}}"#, Some("cost")),
        (r#"{"message":{"content":[{"type":"text","text":"/cost"}]}}"#, Some("cost")),
        (r#"{"message":{"content":[{"type":"text","text":"/cost"},{"type":"text","text":"x"}]}}"#, None),
        (r#"{"shouldQuery":false,"message":{"content":"/cost"}}"#, None),
        (r#"{"client_composed":true,"message":{"content":"/cost"}}"#, None),
        (r#"{"message":{"content":"and/or"}}"#, None),
    ] {
        let mut queue = Queue::default();
        queue.push(message(line), false).unwrap();
        assert_eq!(queue.pop().unwrap().command(), expected, "{line}");
    }
}

#[test]
fn the_queue_is_bounded_in_bytes_and_has_an_order() {
    let mut queue = Queue::default();
    let big = "x".repeat(MAX_WAITING_BYTES / 2);
    let line = |id: &str, priority: &str, text: &str| {
        message(&format!(r#"{{"uuid":"{id}","priority":"{priority}","message":{{"content":"{text}"}}}}"#))
    };
    queue.push(line("a", "later", &big), false).unwrap();
    assert!(queue.push(line("b", "later", &big), false).unwrap_err().contains("too many"));
    queue.push(line("c", "next", "x"), true).unwrap();
    assert_eq!(queue.ids(), ["c", "a"]);
    assert_eq!(queue.forget(Some("a")), ["a"]);
    queue.push(line("b", "later", &big), false).unwrap();
    assert_eq!(queue.pop().and_then(|first| first.uuid).as_deref(), Some("c"));
    assert_eq!(queue.forget(None), ["b"]);
    assert!(queue.is_empty() && queue.pop().is_none());
}

/// What the queue does with messages that may join a turn: `in_turn`, the messages, and what is offered.
#[test]
fn next_joins_in_order_and_overtakes_only_what_is_later() {
    let line = |id: &str, priority: &str| {
        message(&format!(r#"{{"uuid":"{id}","priority":"{priority}","message":{{"content":"x"}}}}"#))
    };
    for (in_turn, messages, order, offered) in [
        (true, vec![("a", "later"), ("b", "next"), ("c", "next")], "bca", "bc"),
        (true, vec![("a", "next"), ("b", "now"), ("c", "next")], "bac", ""),
        // The turn of the first one is about to begin.
        (false, vec![("a", "later"), ("b", "next"), ("c", "next")], "abc", ""),
        (false, vec![("a", "next")], "a", ""),
    ] {
        let mut queue = Queue::default();
        for (id, priority) in messages {
            queue.push(line(id, priority), in_turn).unwrap();
        }
        assert_eq!(queue.ids().concat(), order);
        queue.offer(|_| true, |waiting| waiting.uuid.as_deref().unwrap_or_default().into());
        let known: Vec<String> = queue.offered().iter().map(ToString::to_string).collect();
        assert_eq!(known.concat(), offered, "of {order}");
        assert_eq!(queue.pop().is_none(), !offered.is_empty(), "what is offered has no turn");
    }
}

#[test]
fn what_was_offered_is_consumed_or_comes_back_once() {
    let line = |id: &str| message(&format!(r#"{{"uuid":"{id}","priority":"next","message":{{"content":"x"}}}}"#));
    let mut queue = Queue::default();
    for id in ["a", "b", "c", "c"] {
        queue.push(line(id), true).unwrap();
    }
    queue.offer(|_| true, |waiting| waiting.uuid.as_deref().unwrap_or_default().into());
    let id = |id: &str| EntryId::from(id);
    assert!(queue.take_offered(&id("a")).is_some() && queue.take_offered(&id("a")).is_none());
    // The session has them, so they cannot be forgotten here.
    assert_eq!(queue.forget(None), [""; 0]);
    assert_eq!(queue.ask_back(Some("b"), true), [id("b")]);
    assert_eq!(queue.ask_back(None, false).len(), 3);
    assert!(queue.give_back(&id("b")).is_some_and(|waiting| waiting.uuid.as_deref() == Some("b")));
    // Of two with one id the first one is meant.
    assert!(queue.give_back(&id("c")).is_none());
    assert_eq!(queue.offered().len(), 1);
    assert!(queue.pop().is_some() && queue.pop().is_none());
    assert!(queue.take_offered(&id("c")).is_some() && queue.is_empty());
    assert_eq!(queue.bytes, 0);
    // What came back is not offered again.
    queue.push(line("d"), true).unwrap();
    queue.turn_over();
    queue.offer(|_| true, |_| id("d"));
    assert_eq!(queue.pop().and_then(|first| first.uuid).as_deref(), Some("d"));
}
