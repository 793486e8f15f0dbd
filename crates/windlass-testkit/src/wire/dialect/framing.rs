//! Parts that the dialects share in writing.

use serde_json::Value;

/// An error answer before it is framed.
#[derive(Debug)]
pub(super) struct ErrorAnswer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
}

/// Returns a JSON object whose members have this order, as the vendor writes them.
pub(super) fn ordered(members: &[(&str, Value)]) -> String {
    let members: Vec<String> = members.iter().map(|(name, value)| format!("{}:{value}", Value::from(*name))).collect();
    format!("{{{}}}", members.join(","))
}
