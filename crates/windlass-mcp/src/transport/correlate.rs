//! Correlation of answers that lack the id of their request.

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ids of the open requests, for an error without an id.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenRequests(Arc<Mutex<HashSet<RequestId>>>);

impl OpenRequests {
    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an outgoing message.
    pub(crate) fn note(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.lock().insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.lock().remove(id);
                }
            }
            _ => {}
        }
    }

    /// Records an answer. An error without an id belongs to the only open request.
    pub(crate) fn answered(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        let mut open = self.lock();
        match message {
            JsonRpcMessage::Response(response) => {
                open.retain(|id| !is_same(id, &response.id));
                JsonRpcMessage::Response(response)
            }
            JsonRpcMessage::Error(mut error) => {
                if error.id.is_none() && open.len() == 1 {
                    error.id = open.iter().next().cloned();
                }
                open.retain(|id| error.id.as_ref().is_none_or(|own| !is_same(id, own)));
                JsonRpcMessage::Error(error)
            }
            other => other,
        }
    }
}

/// `true` if two ids name the same request; some servers write numbers as strings.
pub(crate) fn is_same(a: &RequestId, b: &RequestId) -> bool {
    a == b || a.to_string() == b.to_string()
}

/// Returns a server's direct answer to a request. An error belongs to that request, whatever its id: servers that
/// cannot read a request, or do not know its session, do not know its id either.
///
/// # Errors
/// Fails if the message answers another request, or is no answer.
pub(crate) fn answer_to(id: &RequestId, message: ServerJsonRpcMessage) -> Result<ServerJsonRpcMessage, String> {
    match message {
        JsonRpcMessage::Error(mut error) => {
            error.id = Some(id.clone());
            Ok(JsonRpcMessage::Error(error))
        }
        JsonRpcMessage::Response(response) if is_same(&response.id, id) => Ok(JsonRpcMessage::Response(response)),
        JsonRpcMessage::Response(_) => Err("the server answered another request".to_owned()),
        _ => Err("the server gave no answer to the request".to_owned()),
    }
}

/// `true` if a message is an error without the id of the request.
pub(crate) fn is_stray_error(message: &ServerJsonRpcMessage, id: &RequestId) -> bool {
    match message {
        JsonRpcMessage::Error(error) => error.id.as_ref().is_none_or(|own| !is_same(own, id)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_direct_answer_is_about_the_request() {
        let id = RequestId::Number(7);
        let read = |text: &str| serde_json::from_str::<ServerJsonRpcMessage>(text).unwrap();
        let error = |id: &str| format!(r#"{{"jsonrpc":"2.0"{id},"error":{{"code":-32000,"message":"no session"}}}}"#);
        for (own, stray) in [
            ("", true),
            (r#","id":null"#, true),
            (r#","id":"server-error""#, true),
            (r#","id":8"#, true),
            (r#","id":7"#, false),
            (r#","id":"7""#, false),
        ] {
            let message = read(&error(own));
            assert_eq!(is_stray_error(&message, &id), stray, "{own}");
            let JsonRpcMessage::Error(error) = answer_to(&id, message).unwrap() else { panic!("{own}") };
            assert_eq!((error.id, error.error.message.as_ref()), (Some(id.clone()), "no session"), "{own}");
        }
        assert!(answer_to(&id, read(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#)).is_ok());
        for other in [
            r#"{"jsonrpc":"2.0","id":8,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        ] {
            assert!(answer_to(&id, read(other)).is_err(), "{other}");
        }
    }
}
