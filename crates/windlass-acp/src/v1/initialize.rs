//! The answer to `initialize`.

use super::VERSION;
use super::client::ClientAbilities;
use crate::error::AcpError;
use crate::options::{AcpOptions, AuthMethodKind};
use serde_json::{Value, json};

/// The answer to `initialize`: the version is the newest that both know, and 1 if the client asks for another one.
pub(crate) fn answer(options: &AcpOptions, params: &Value) -> Result<(Value, ClientAbilities), AcpError> {
    let version = params.get("protocolVersion").and_then(Value::as_u64);
    if version.is_none() {
        return Err(AcpError::invalid_params("initialize needs a protocolVersion: a whole number"));
    }
    let client = ClientAbilities::of(params);
    let methods: Vec<Value> = options
        .auth_methods
        .iter()
        .filter_map(|method| {
            let mut value = json!({ "id": method.id, "name": method.name, "description": method.description });
            match &method.kind {
                AuthMethodKind::Agent => {}
                AuthMethodKind::Terminal { args } if client.terminal_login => {
                    let fields = value.as_object_mut()?;
                    fields.insert("type".to_owned(), json!("terminal"));
                    fields.insert("args".to_owned(), json!(args));
                }
                AuthMethodKind::Terminal { .. } => return None,
            }
            Some(value)
        })
        .collect();
    let result = json!({
        "protocolVersion": VERSION,
        "agentInfo": { "name": options.name, "title": options.title, "version": options.version },
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": true, "audio": false, "embeddedContext": true },
            "mcpCapabilities": { "http": true, "sse": true },
            "sessionCapabilities": {
                "list": {}, "delete": {}, "resume": {}, "close": {}, "additionalDirectories": {},
            },
        },
        "authMethods": methods,
    });
    Ok((result, client))
}
