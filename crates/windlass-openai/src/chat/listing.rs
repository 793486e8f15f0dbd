//! What a server says of the models that it has.

use super::compat::Protocol;
use serde::Deserialize;

/// The most bytes read of a list.
pub(super) const MAX_BODY: usize = 4 * 1024 * 1024;

/// The most models of a list; more are left out.
const MOST: usize = 5_000;

/// Where the list is.
pub(super) fn path(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::ChatCompletions => "/models",
        Protocol::Ollama => "/api/tags",
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    /// Ollama, "List local models".
    Tags { models: Vec<Tag> },
    /// OpenAI, "List models".
    Data { data: Vec<Id> },
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

/// The names of the models. `None`: it is no such list.
pub(super) fn names(text: &str) -> Option<Vec<String>> {
    let mut names: Vec<String> = match serde_json::from_str(text).ok()? {
        List::Tags { models } => models.into_iter().map(|model| model.name).collect(),
        List::Data { data } => data.into_iter().map(|model| model.id).collect(),
    };
    names.truncate(MOST);
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_list_are_read() {
        let tags = r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5,"details":{}},{"name":"b"}]}"#;
        assert_eq!(names(tags), Some(vec!["qwen3:8b".to_owned(), "b".to_owned()]));
        let data = r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"x"}]}"#;
        assert_eq!(names(data), Some(vec!["m".to_owned()]));
        for wrong in ["", "[]", "{}", "<html>", r#"{"models":{}}"#, r#"{"data":[{"name":"m"}]}"#] {
            assert_eq!(names(wrong), None, "{wrong}");
        }
    }
}
