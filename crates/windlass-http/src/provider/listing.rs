//! Lists of the models that a server has, and the context windows that it names for them.

use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use windlass_types::WholeNumber;

/// The most bytes read of a list of models.
pub const MAX_MODEL_LIST: usize = 4 * 1024 * 1024;

/// The most models of a list; more are left out.
const MAX_MODELS: usize = 5_000;

/// A model of a server's list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedModel {
    /// The name of the model.
    pub name: String,
    /// Tokens of the context window, if the server says it.
    pub window: Option<u64>,
}

#[derive(Deserialize)]
struct ModelList {
    /// OpenAI, "List models".
    data: Option<Vec<Id>>,
    /// Ollama, "List local models".
    models: Option<Vec<OllamaModel>>,
}

#[derive(Deserialize)]
struct OllamaModel {
    name: String,
}

#[derive(Deserialize)]
struct Id {
    id: String,
    /// vLLM.
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    max_model_len: Option<u64>,
    /// OpenRouter, Together and others.
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    context_length: Option<u64>,
    /// Groq.
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    context_window: Option<u64>,
    #[serde(default)]
    meta: Option<LoadedModel>,
}

/// Figures of llama.cpp for the model that it has loaded.
#[derive(Deserialize)]
struct LoadedModel {
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    n_ctx: Option<u64>,
}

impl From<Id> for ListedModel {
    fn from(id: Id) -> Self {
        let loaded = id.meta.and_then(|meta| meta.n_ctx);
        let window = loaded.or(id.max_model_len).or(id.context_length).or(id.context_window);
        Self { name: id.id, window: window.filter(|window| *window > 0) }
    }
}

/// Models of the list that a server answers: that of OpenAI's `GET /models` with the members that servers add, or that of
/// Ollama's `GET /api/tags`. At most 5,000. `None`: the text is no such list.
///
/// ```
/// use windlass_http::provider::listed_models;
///
/// let models = listed_models(r#"{"data":[{"id":"gemma","meta":{"n_ctx":12288}}]}"#).unwrap();
/// assert_eq!((models[0].name.as_str(), models[0].window), ("gemma", Some(12_288)));
/// assert!(listed_models("<html>").is_none());
/// ```
pub fn listed_models(text: &str) -> Option<Vec<ListedModel>> {
    let list: ModelList = serde_json::from_str(text).ok()?;
    let mut listed: Vec<ListedModel> = match (list.data, list.models) {
        (Some(data), _) => data.into_iter().map(ListedModel::from).collect(),
        (None, models) => models?.into_iter().map(|tag| ListedModel { name: tag.name, window: None }).collect(),
    };
    listed.truncate(MAX_MODELS);
    Some(listed)
}

/// The context windows, in tokens, that one server named for its models.
#[derive(Debug, Default)]
pub struct ServerWindows {
    windows: Mutex<HashMap<String, u64>>,
}

impl ServerWindows {
    /// The window of a model, if the server named it. A server that has a single model answers to every name.
    pub fn of(&self, model: &str) -> Option<u64> {
        let windows = self.lock();
        let only = if windows.len() == 1 { windows.values().next() } else { None };
        windows.get(model).or(only).copied()
    }

    /// Takes the windows of a list. Those of models that are not in it stay.
    pub fn learn(&self, listed: &[ListedModel]) {
        let mut windows = self.lock();
        for ListedModel { name, window } in listed {
            if let Some(window) = window
                && (windows.len() < MAX_MODELS || windows.contains_key(name))
            {
                windows.insert(name.clone(), *window);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, window: Option<u64>) -> ListedModel {
        ListedModel { name: name.to_owned(), window }
    }

    #[test]
    fn both_forms_of_a_list_are_read() {
        let tags = r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5,"details":{}},{"name":"b"}]}"#;
        assert_eq!(listed_models(tags), Some(vec![listed("qwen3:8b", None), listed("b", None)]));
        let data = r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"x"}]}"#;
        assert_eq!(listed_models(data), Some(vec![listed("m", None)]));
        for wrong in ["", "[]", "{}", "<html>", r#"{"models":{}}"#, r#"{"data":[{"name":"m"}]}"#] {
            assert_eq!(listed_models(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn servers_name_the_window_in_their_own_ways() {
        for (members, window) in [
            (r#""meta":{"n_ctx":12288,"n_ctx_train":32768}"#, Some(12_288)),
            (r#""max_model_len":8192"#, Some(8_192)),
            (r#""context_length":131072.0"#, Some(131_072)),
            (r#""context_window":32768"#, Some(32_768)),
            (r#""meta":{},"context_length":0"#, None),
            (r#""meta":null"#, None),
        ] {
            // llama.cpp has a list of either form.
            let text = format!(r#"{{"models":[{{"name":"m"}}],"data":[{{"id":"m",{members}}}]}}"#);
            assert_eq!(listed_models(&text), Some(vec![listed("m", window)]), "{members}");
        }
    }
}
