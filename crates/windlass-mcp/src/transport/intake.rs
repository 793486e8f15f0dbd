//! Admission of a server's messages.

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of requests of a server that wait for the client's answer.
const MAX_REQUESTS: usize = 16;

/// Maximum number of values in one message: a small text can expand to much memory.
pub(crate) const MOST_VALUES: usize = 500_000;

/// Maximum nesting depth of values in one message; deeper messages are not read.
pub(crate) const MOST_DEPTH: usize = 127;

/// Maximum number of log messages of a server that are admitted over one connection.
const MAX_LOG_MESSAGES: usize = 1000;

/// Admits wanted messages, and bounds the open requests of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Intake {
    open: Arc<Mutex<HashSet<RequestId>>>,
    logged: Arc<AtomicUsize>,
}

impl Intake {
    /// `true` if a message is passed to the client.
    pub(crate) fn admits(&self, message: &ServerJsonRpcMessage) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
            JsonRpcMessage::Request(request) => {
                let admitted = open.len() < MAX_REQUESTS && open.insert(request.id.clone());
                if !admitted {
                    tracing::warn!("a request of an MCP server was dropped: too many wait for an answer");
                }
                admitted
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::CancelledNotification(cancelled) => {
                    if let Some(id) = &cancelled.params.request_id {
                        open.remove(id);
                    }
                    true
                }
                ServerNotification::ProgressNotification(_)
                | ServerNotification::ToolListChangedNotification(_)
                | ServerNotification::ResourceUpdatedNotification(_)
                | ServerNotification::SubscriptionsAcknowledgedNotification(_) => true,
                ServerNotification::LoggingMessageNotification(_) => {
                    self.logged.fetch_add(1, Ordering::Relaxed) < MAX_LOG_MESSAGES
                }
                _ => false,
            },
            _ => true,
        }
    }

    /// Records an answer of the client.
    pub(crate) fn answered(&self, message: &ClientJsonRpcMessage) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = id {
            self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
    }
}

/// `true` if a message holds too many values or is nested too deep.
pub(crate) fn is_too_much(text: &[u8]) -> bool {
    let (count, depth) = values(text);
    count > MOST_VALUES || depth > MOST_DEPTH
}

/// Estimates the number of values in a JSON text, by its separators and opening brackets, and returns the nesting
/// depth.
fn values(text: &[u8]) -> (usize, usize) {
    let (mut count, mut depth, mut deepest) = (0_usize, 0_usize, 0_usize);
    let mut in_string = false;
    let mut escaped = false;
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' | b':' if !in_string => {
                count = count.saturating_add(1);
                depth = depth.saturating_add(usize::from(matches!(byte, b'[' | b'{')));
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (count, deepest)
}

#[cfg(test)]
mod tests {
    use super::super::salvage::read;
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (text, count, depth) in [
            ("1", 0, 0),
            ("[1,2]", 2, 1),
            (r#"{"a":"[,,{"}"#, 2, 1),
            (r#"["\",[",","]"#, 2, 1),
            (r#"{"a\\":[{}]}"#, 4, 3),
            ("[[],[],[[]]]", 7, 3),
            ("]]]][", 1, 1),
        ] {
            assert_eq!(values(text.as_bytes()), (count, depth), "{text}");
        }
        let nested = |deep: usize| {
            format!(r#"{{"jsonrpc":"2.0","method":"x","params":{}{}}}"#, "[".repeat(deep), "]".repeat(deep))
        };
        assert!(!is_too_much(nested(126).as_bytes()) && is_too_much(nested(127).as_bytes()));
        let many = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"a":[{}1]}}}}"#, "1,".repeat(MOST_VALUES));
        assert!(is_too_much(many.as_bytes()) && read(many.as_bytes()).is_err_and(|error| error.contains("values")));
    }

    #[test]
    fn requests_are_bounded_until_they_are_answered_or_taken_back() {
        let intake = Intake::default();
        let one = |text: &str| read(text.as_bytes()).unwrap().remove(0);
        let ping = |id: usize| one(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        for id in 0..MAX_REQUESTS {
            assert!(intake.admits(&ping(id)));
        }
        assert!(!intake.admits(&ping(100)));
        let answer = serde_json::from_str(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#).unwrap();
        intake.answered(&answer);
        assert!(intake.admits(&ping(100)) && !intake.admits(&ping(101)));
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
        assert!(intake.admits(&one(cancelled)));
        assert!(intake.admits(&ping(101)));
    }
}
