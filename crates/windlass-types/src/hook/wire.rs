//! Reading payloads of another process: fields that a different version leaves out or adds are no error.

use crate::{AgentIdentity, JsonText, ToolUseId};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error};

pub(super) fn no_id() -> ToolUseId {
    ToolUseId::from("")
}

pub(super) fn empty_text() -> JsonText {
    JsonText::of("").unwrap_or_else(|_| JsonText::empty_object())
}

pub(super) fn or_empty_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
    Ok(Option::<JsonText>::deserialize(deserializer)?.unwrap_or_else(empty_text))
}

pub(super) fn not_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
    Option::<JsonText>::deserialize(deserializer)?.ok_or_else(|| D::Error::custom("the input is null"))
}

pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(d: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(d)?.unwrap_or_default())
}

/// Reads the items of known form. Others are left out: no answer could refer to them.
pub(super) fn known<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let items = Vec::<JsonText>::deserialize(deserializer)?;
    Ok(items.iter().filter_map(|item| item.to().ok()).collect())
}

/// A string, or the JSON text of anything else.
pub(super) fn text_of_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let json = Option::<JsonText>::deserialize(deserializer)?;
    Ok(json.map(|json| json.to().unwrap_or_else(|_| json.to_string())).unwrap_or_default())
}

#[derive(Deserialize)]
struct Agent {
    agent_id: String,
    #[serde(default)]
    agent_type: Option<String>,
}

pub(super) fn agent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AgentIdentity, D::Error> {
    let Agent { agent_id, agent_type } = Agent::deserialize(deserializer)?;
    Ok(AgentIdentity::new(agent_id.into(), agent_type.unwrap_or_default()))
}
