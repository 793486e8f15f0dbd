//! Requests for Claude on Vertex AI. Source: Google Cloud, "Request predictions with Claude models",
//! <https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude>.

use crate::wire::RecordedRequest;

/// Returns the API request that a request of Vertex AI represents; `None` if it is not one of Vertex AI.
///
/// # Errors
/// The rule that the request breaks: the model is only in the path, the version in the body.
pub(crate) fn from_vertex(request: &RecordedRequest) -> Result<Option<RecordedRequest>, String> {
    let Some(path) = request.path.strip_suffix(":streamRawPredict") else { return Ok(None) };
    let Some((_, model)) = path.split_once("/publishers/anthropic/models/") else {
        return Err(format!("{}: no model of the publisher", request.path));
    };
    let mut body = request.json().map_err(|error| format!("the body is not JSON: {error}"))?;
    let members = body.as_object_mut().ok_or("the body is no object")?;
    if members.remove("anthropic_version").is_none_or(|version| version != "vertex-2023-10-16") {
        return Err("anthropic_version: must be \"vertex-2023-10-16\"".to_owned());
    }
    if members.insert("model".to_owned(), model.into()).is_some() {
        return Err("model: Extra inputs are not permitted".to_owned());
    }
    let mut converted = request.clone();
    converted.body = body.to_string().into();
    converted.headers.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
    Ok(Some(converted))
}
