//! Messages of the host that wait for their turn.

use crate::input::{Priority, UserMessage};
use std::collections::VecDeque;
use windlass_types::{ContentBlock, JsonText};

/// Most messages that wait, and most bytes of them.
const MAX_WAITING: usize = 256;
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// A message that waits for its turn.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) content: Vec<ContentBlock>,
    /// The message as it came.
    pub(crate) message: JsonText,
    pub(crate) uuid: Option<String>,
    pub(crate) should_query: bool,
    /// Whether its text is no command, whatever it looks like.
    verbatim: bool,
    size: usize,
}

impl Waiting {
    /// The text that may be a slash command: what its only block says after the slash.
    pub(crate) fn command(&self) -> Option<&str> {
        match self.content.as_slice() {
            // What asks for no answer asks for no command either.
            [block] if self.should_query && !self.verbatim => block.as_text()?.trim_start().strip_prefix('/'),
            _ => None,
        }
    }
}

/// Messages in the order of their turns, bounded.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: usize,
}

impl Queue {
    /// Takes a message in.
    ///
    /// # Errors
    /// It cannot be a prompt, or too many wait already.
    pub(crate) fn push(&mut self, message: UserMessage) -> Result<(), String> {
        let UserMessage { content, message, uuid, priority, should_query, verbatim, size } = message;
        let (content, message) = (content?, message.unwrap_or_else(JsonText::empty_object));
        if self.waiting.len() >= MAX_WAITING || self.bytes + size > MAX_WAITING_BYTES {
            return Err(format!(
                "too many messages wait for the run to end ({}): this one was not taken",
                self.waiting.len()
            ));
        }
        self.bytes += size;
        let waiting = Waiting { content, message, uuid, should_query, verbatim, size };
        match priority {
            Priority::Later => self.waiting.push_back(waiting),
            Priority::Now | Priority::Next => self.waiting.push_front(waiting),
        }
        Ok(())
    }

    pub(crate) fn front(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(waiting.size);
        Some(waiting)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The ids of the messages that wait.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.waiting.iter().filter_map(|waiting| waiting.uuid.clone()).collect()
    }

    /// Forgets messages, all of them or the one with an id. Returns their ids.
    pub(crate) fn forget(&mut self, id: Option<&str>) -> Vec<String> {
        let (gone, kept) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition::<VecDeque<_>, _>(|waiting| id.is_none() || waiting.uuid.as_deref() == id);
        self.bytes = kept.iter().map(|waiting| waiting.size).sum();
        self.waiting = kept;
        gone.into_iter().filter_map(|waiting| waiting.uuid).collect()
    }
}

#[cfg(test)]
mod tests {
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
            queue.push(message(line)).unwrap();
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
        queue.push(line("a", "later", &big)).unwrap();
        assert!(queue.push(line("b", "later", &big)).unwrap_err().contains("too many"));
        queue.push(line("c", "next", "x")).unwrap();
        assert_eq!(queue.ids(), ["c", "a"]);
        assert_eq!(queue.forget(Some("a")), ["a"]);
        queue.push(line("b", "later", &big)).unwrap();
        assert_eq!(queue.pop().and_then(|first| first.uuid).as_deref(), Some("c"));
        assert_eq!(queue.forget(None), ["b"]);
        assert!(queue.is_empty() && queue.pop().is_none());
    }
}
