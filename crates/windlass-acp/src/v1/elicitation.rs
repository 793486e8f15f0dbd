//! Questions of MCP servers as forms and pages of the client.

use crate::elicitation::{AcpElicitation, AcpElicitationAnswer, AcpElicitationKind};
use serde_json::{Value, json};
use windlass_types::JsonText;

/// Method that asks the person.
pub(crate) const METHOD: &str = "elicitation/create";

/// Parameters of the question; `None` if its schema is no object.
pub(crate) fn params(session: &str, question: &AcpElicitation) -> Option<Value> {
    Some(match &question.kind {
        AcpElicitationKind::Form { schema } => {
            let schema: Value = schema.to().ok()?;
            schema.is_object().then(|| form(session, None, &question.message, &schema))?
        }
        AcpElicitationKind::Url { url, id } => json!({
            "sessionId": session, "mode": "url", "message": question.message, "url": url, "elicitationId": id,
        }),
    })
}

/// Parameters of a question with a form, about this tool call.
pub(crate) fn form(session: &str, call: Option<&str>, message: &str, schema: &Value) -> Value {
    let mut params = json!({ "sessionId": session, "mode": "form", "message": message, "requestedSchema": schema });
    if let (Some(call), Some(fields)) = (call, params.as_object_mut()) {
        fields.insert("toolCallId".to_owned(), call.into());
    }
    params
}

/// The answer of a client. One that is not understood declines.
pub(crate) fn answer(kind: &AcpElicitationKind, answer: &Result<Value, String>) -> AcpElicitationAnswer {
    let action = answer.as_ref().ok().and_then(|answer| answer.get("action")).and_then(Value::as_str);
    match (action, kind) {
        (Some("accept"), AcpElicitationKind::Url { .. }) => AcpElicitationAnswer::Accept(None),
        (Some("accept"), AcpElicitationKind::Form { .. }) => {
            let content = answer.as_ref().ok().and_then(|answer| answer.get("content"));
            let content = content.filter(|content| content.is_object()).and_then(|content| JsonText::of(content).ok());
            content.map_or(AcpElicitationAnswer::Decline, |content| AcpElicitationAnswer::Accept(Some(content)))
        }
        (Some("cancel"), _) => AcpElicitationAnswer::Cancel,
        _ => AcpElicitationAnswer::Decline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_accepted_form_with_values_is_a_yes() {
        let kind = AcpElicitationKind::Form { schema: JsonText::empty_object() };
        let read = |value: Value| answer(&kind, &Ok(value));
        let accepted = read(json!({ "action": "accept", "content": { "name": "x" } }));
        assert!(matches!(accepted, AcpElicitationAnswer::Accept(Some(content)) if content.as_str().contains("\"x\"")));
        assert_eq!(read(json!({ "action": "cancel" })), AcpElicitationAnswer::Cancel);
        for other in [
            json!({ "action": "decline" }),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": [1] }),
            json!({ "action": { "action": "accept" } }),
            json!({ "content": {} }),
            json!("accept"),
            Value::Null,
        ] {
            assert_eq!(read(other.clone()), AcpElicitationAnswer::Decline, "{other}");
        }
        assert_eq!(answer(&kind, &Err("no".to_owned())), AcpElicitationAnswer::Decline);
    }
}
