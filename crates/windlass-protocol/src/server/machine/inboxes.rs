//! Unsolicited messages of the host's in-process MCP servers, and their receivers.

use std::collections::{BTreeMap, VecDeque};
use windlass_types::JsonText;

/// Maximum number of waiting messages of one server.
const MAX_MESSAGES: usize = 64;
/// Maximum number of servers that are listened to.
const MAX_SERVERS: usize = 256;

/// Messages of all servers that are listened to.
#[derive(Debug, Default)]
pub(crate) struct Inboxes(BTreeMap<String, ConversationInbox>);

#[derive(Debug, Default)]
struct ConversationInbox {
    messages: VecDeque<JsonText>,
    /// Ids of the waiting receivers.
    receivers: VecDeque<String>,
}

impl ConversationInbox {
    /// Next message, and its receiver.
    fn next(&mut self) -> Option<(String, JsonText)> {
        if self.messages.is_empty() || self.receivers.is_empty() {
            return None;
        }
        self.receivers.pop_front().zip(self.messages.pop_front())
    }
}

impl Inboxes {
    /// Registers a server. Messages of servers beyond the limit are lost.
    pub(crate) fn listen(&mut self, server: String) {
        if self.0.len() < MAX_SERVERS || self.0.contains_key(&server) {
            self.0.entry(server).or_default();
        }
    }

    /// Adds a message of a server. Returns the receiver that gets it now, if one waits.
    ///
    /// # Errors
    /// The server is not listened to, or too many of its messages wait.
    pub(crate) fn push(&mut self, server: &str, message: JsonText) -> Result<Option<(String, JsonText)>, String> {
        let inbox = self.0.get_mut(server).ok_or_else(|| format!("Server not found: {server}"))?;
        if inbox.messages.len() >= MAX_MESSAGES {
            return Err(format!("too many messages of {server} wait"));
        }
        inbox.messages.push_back(message);
        Ok(inbox.next())
    }

    /// Adds a receiver. Returns its message, if one waits.
    ///
    /// # Errors
    /// The server is not listened to. Returns the id.
    pub(crate) fn receive(&mut self, server: &str, receiver: String) -> Result<Option<(String, JsonText)>, String> {
        let Some(inbox) = self.0.get_mut(server) else { return Err(receiver) };
        inbox.receivers.push_back(receiver);
        Ok(inbox.next())
    }

    /// Puts an undelivered message back as the next one of its server.
    pub(crate) fn undelivered(&mut self, server: &str, message: JsonText) -> Option<(String, JsonText)> {
        let inbox = self.0.get_mut(server)?;
        inbox.messages.push_front(message);
        inbox.next()
    }

    /// Removes a receiver that no longer waits.
    pub(crate) fn dropped(&mut self, receiver: &str) {
        for inbox in self.0.values_mut() {
            inbox.receivers.retain(|waiting| waiting != receiver);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> JsonText {
        JsonText::of(&text).unwrap()
    }

    #[test]
    fn a_message_reaches_one_who_waits_and_is_kept_for_the_next() {
        let mut inboxes = Inboxes::default();
        assert!(inboxes.push("s", message("lost")).is_err());
        inboxes.listen("s".into());
        assert_eq!(inboxes.push("s", message("a")), Ok(None));
        assert_eq!(inboxes.push("s", message("b")), Ok(None));
        assert_eq!(inboxes.receive("s", "1".into()), Ok(Some(("1".into(), message("a")))));
        // The receiver was gone: the message is still the first.
        assert_eq!(inboxes.undelivered("s", message("a")), None);
        assert_eq!(inboxes.receive("s", "2".into()), Ok(Some(("2".into(), message("a")))));
        assert_eq!(inboxes.receive("s", "3".into()), Ok(Some(("3".into(), message("b")))));
        assert_eq!(inboxes.receive("s", "4".into()), Ok(None));
        assert_eq!(inboxes.receive("other", "5".into()), Err("5".into()));
        inboxes.dropped("4");
        assert_eq!(inboxes.push("s", message("c")), Ok(None));
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut inboxes = Inboxes::default();
        for n in 0..=MAX_SERVERS {
            inboxes.listen(n.to_string());
        }
        assert!(inboxes.push(&MAX_SERVERS.to_string(), message("x")).is_err());
        for _ in 0..MAX_MESSAGES {
            inboxes.push("0", message("x")).unwrap();
        }
        assert!(inboxes.push("0", message("x")).unwrap_err().contains("too many"));
    }
}
