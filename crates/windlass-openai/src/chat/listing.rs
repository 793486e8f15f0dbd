//! Lists of models that servers report.

use super::compat::Protocol;
use serde::Deserialize;
use windlass_types::WholeNumber;

/// Maximum number of bytes read of a list.
pub(super) const MAX_BODY: usize = 4 * 1024 * 1024;

/// Maximum number of models of a list; more are left out.
const MOST: usize = 5_000;

/// Returns the path of the list.
pub(super) fn path(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::ChatCompletions => "/models",
        Protocol::Ollama => "/api/tags",
    }
}

/// Model of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// Name of the model.
    pub(super) name: String,
    /// Size of the context window in tokens, if the server reports it.
    pub(super) window: Option<u64>,
}

#[derive(Deserialize)]
struct List {
    /// OpenAI, "List models".
    data: Option<Vec<Id>>,
    /// Ollama, "List local models".
    models: Option<Vec<Tag>>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

#[derive(Deserialize)]
struct Id {
    id: String,
    /// Member of vLLM.
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    max_model_len: Option<u64>,
    /// Member of OpenRouter, Together and others.
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    context_length: Option<u64>,
    /// Member of Groq.
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    context_window: Option<u64>,
    #[serde(default)]
    meta: Option<Meta>,
}

/// Figures of llama.cpp for the loaded model.
#[derive(Deserialize)]
struct Meta {
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    n_ctx: Option<u64>,
}

impl From<Id> for Listed {
    fn from(id: Id) -> Self {
        let loaded = id.meta.and_then(|meta| meta.n_ctx);
        let window = loaded.or(id.max_model_len).or(id.context_length).or(id.context_window);
        Self { name: id.id, window: window.filter(|window| *window > 0) }
    }
}

/// Reads the models of a list; `None` if the text is no such list.
pub(super) fn models(text: &str) -> Option<Vec<Listed>> {
    let list: List = serde_json::from_str(text).ok()?;
    let mut listed: Vec<Listed> = match (list.data, list.models) {
        (Some(data), _) => data.into_iter().map(Listed::from).collect(),
        (None, models) => models?.into_iter().map(|tag| Listed { name: tag.name, window: None }).collect(),
    };
    listed.truncate(MOST);
    Some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, window: Option<u64>) -> Listed {
        Listed { name: name.to_owned(), window }
    }

    #[test]
    fn both_forms_of_a_list_are_read() {
        let tags = r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5,"details":{}},{"name":"b"}]}"#;
        assert_eq!(models(tags), Some(vec![listed("qwen3:8b", None), listed("b", None)]));
        let data = r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"x"}]}"#;
        assert_eq!(models(data), Some(vec![listed("m", None)]));
        for wrong in ["", "[]", "{}", "<html>", r#"{"models":{}}"#, r#"{"data":[{"name":"m"}]}"#] {
            assert_eq!(models(wrong), None, "{wrong}");
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
            assert_eq!(models(&text), Some(vec![listed("m", window)]), "{members}");
        }
    }
}
