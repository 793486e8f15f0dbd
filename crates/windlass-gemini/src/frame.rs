//! JSON of an answer's chunk, in its wire format.

mod plain;

pub(crate) use plain::Plain;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_types::WholeNumber;

/// One chunk. Unknown members are skipped without being built.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Chunk<'a> {
    #[serde(borrow)]
    pub(crate) candidates: Option<Vec<AnswerCandidate<'a>>>,
    pub(crate) usage_metadata: Option<UsageMetadata>,
    pub(crate) prompt_feedback: Option<PromptFeedback>,
    /// Strings that each chunk repeats; read once.
    #[serde(borrow)]
    pub(crate) model_version: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) response_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AnswerCandidate<'a> {
    #[serde(deserialize_with = "WholeNumber::optional")]
    pub(crate) index: Option<u64>,
    #[serde(borrow)]
    pub(crate) content: Option<CandidateContent<'a>>,
    pub(crate) finish_reason: Option<String>,
    #[serde(borrow)]
    pub(crate) grounding_metadata: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CandidateContent<'a> {
    #[serde(borrow)]
    pub(crate) parts: Option<Vec<AnswerPart<'a>>>,
}

/// Part: a text, a call, or content that the service ran or made itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AnswerPart<'a> {
    pub(crate) text: Option<String>,
    pub(crate) thought: Option<bool>,
    pub(crate) thought_signature: Option<String>,
    #[serde(borrow)]
    pub(crate) function_call: Option<FunctionCall<'a>>,
    #[serde(borrow)]
    executable_code: Option<&'a RawValue>,
    #[serde(borrow)]
    code_execution_result: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
    #[serde(borrow)]
    inline_data: Option<&'a RawValue>,
    #[serde(borrow)]
    file_data: Option<&'a RawValue>,
}

impl<'a> AnswerPart<'a> {
    /// Returns the member of a part that is neither text nor call.
    pub(crate) fn other(&self) -> Option<(&'static str, &'a RawValue)> {
        [
            ("executableCode", self.executable_code),
            ("codeExecutionResult", self.code_execution_result),
            ("toolCall", self.tool_call),
            ("toolResponse", self.tool_response),
            ("inlineData", self.inline_data),
            ("fileData", self.file_data),
        ]
        .into_iter()
        .find_map(|(name, value)| Some((name, value?)))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FunctionCall<'a> {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    #[serde(borrow)]
    pub(crate) args: Option<&'a RawValue>,
    /// Arguments in pieces, which Vertex sends on request.
    #[serde(borrow)]
    pub(crate) partial_args: Option<&'a RawValue>,
    pub(crate) will_continue: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_field_names, reason = "the names of the wire")]
pub(crate) struct UsageMetadata {
    #[serde(deserialize_with = "WholeNumber::optional")]
    pub(crate) prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    pub(crate) cached_content_token_count: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    pub(crate) tool_use_prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    pub(crate) candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "WholeNumber::optional")]
    pub(crate) thoughts_token_count: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PromptFeedback {
    pub(crate) block_reason: Option<String>,
}
