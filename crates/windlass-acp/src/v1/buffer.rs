//! Files as the client has them.

use crate::error::AcpError;
use serde_json::{Value, json};
use std::path::Path;
use windlass_types::text::visible_line;

/// Method that reads a file.
pub(crate) const METHOD: &str = "fs/read_text_file";

/// Parameters of the request for a whole file.
pub(crate) fn params(session: &str, path: &Path) -> Value {
    json!({ "sessionId": session, "path": path.to_string_lossy() })
}

/// The content in the answer of a client.
pub(crate) fn content(answer: Result<Value, String>) -> Result<String, AcpError> {
    match answer {
        Ok(mut answer) => match answer.get_mut("content").map(Value::take) {
            Some(Value::String(content)) => Ok(content),
            _ => Err(AcpError::internal("the answer of the client has no content")),
        },
        Err(reason) => Err(AcpError::internal(format!("the client did not read the file: {}", visible_line(&reason)))),
    }
}
