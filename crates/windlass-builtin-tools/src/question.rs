//! AskUserQuestion: the model lets the user choose.
//!
//! The host shows the questions when it is asked about the call, and returns
//! the answers with its yes, as the field `answers` of the changed input.

mod previews;

pub use previews::{AskUserQuestionWithPreviews, PreviewFormat, UnknownPreviewFormat};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use windlass_tool::{Annotations, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;

/// Maximum number of characters of an answer that the model reads.
const MAX_ANSWER: usize = 10_000;

/// Input of [`AskUserQuestion`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AskUserQuestionInput {
    /// One to four questions.
    #[schemars(length(min = 1, max = 4))]
    pub questions: Vec<Question>,
    /// Answers of the user by question, written by the host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(skip)]
    pub answers: BTreeMap<String, Answer>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Question {
    /// The whole question.
    pub question: String,
    /// A word or two that name it, at most 12 characters.
    #[schemars(length(max = 12))]
    pub header: String,
    /// Two to four answers to choose from. The user may always give another one.
    #[schemars(length(min = 2, max = 4))]
    pub options: Vec<Choice>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub multi_select: bool,
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Choice {
    /// The answer, in one to five words.
    pub label: String,
    /// What it means and what follows from it.
    pub description: String,
    /// A picture of it in the format that the host shows ([`AskUserQuestion::with_previews`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub preview: Option<String>,
}

/// Answer of the user: a label, several labels, or a text of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "the wire has these two forms")]
pub enum Answer {
    /// One answer.
    One(String),
    /// Several answers.
    Several(Vec<String>),
}

impl Answer {
    fn text(&self) -> String {
        let text = match self {
            Self::One(answer) => answer.clone(),
            Self::Several(answers) => answers.join(", "),
        };
        text.chars().take(MAX_ANSWER).collect()
    }
}

/// Lets the user choose between answers. Only for hosts that can show questions.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct AskUserQuestion;

impl AskUserQuestion {
    /// Lets the model give options a preview, for hosts that show it. Default: options have none.
    #[must_use]
    pub fn with_previews(self, format: PreviewFormat) -> AskUserQuestionWithPreviews {
        AskUserQuestionWithPreviews::new(self, format)
    }
}

impl Tool for AskUserQuestion {
    const NAME: &'static str = "AskUserQuestion";
    const DESCRIPTION: &'static str = "Asks the user one to four questions with answers to choose from. Use it when \
        the work depends on a choice that only the user can make, not for what you can find out or decide yourself. \
        Put the answer that you recommend first. The user may give an answer of their own.";
    type Input = AskUserQuestionInput;
    type Output = ToolOutput;

    fn access(&self, _: &AskUserQuestionInput) -> Access {
        Access::NOTHING
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().requiring_user_interaction()
    }

    fn title(&self, input: &AskUserQuestionInput) -> Cow<'static, str> {
        input.questions.first().map_or_else(String::new, |first| first.question.clone()).into()
    }

    async fn call(&self, input: AskUserQuestionInput, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        if input.answers.is_empty() {
            return Err(ToolError::rejected(
                "The user gave no answer. Decide yourself and say so, or ask in plain text.",
            ));
        }
        let mut text = "The user answered:".to_owned();
        for question in &input.questions {
            let answer = input.answers.get(&question.question).or_else(|| input.answers.get(&question.header));
            let answer = answer.map_or_else(|| "(no answer)".to_owned(), Answer::text);
            // Writing to a string cannot fail.
            let _ = write!(text, "\n- {}: {answer}", question.question);
        }
        ToolOutput::text(text).with_structured(&input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_tool::schema_of;

    #[test]
    fn the_model_does_not_see_where_answers_go() {
        let schema = schema_of::<AskUserQuestionInput>();
        assert!(!schema.as_str().contains("answers\""), "{schema:?}");
        assert!(schema.as_str().contains("multiSelect"));
        let input =
            r#"{"questions":[{"question":"Which?","header":"Which","options":[]}],"answers":{"Which?":["a","b"]}}"#;
        let input: AskUserQuestionInput = serde_json::from_str(input).unwrap();
        assert_eq!(input.answers["Which?"].text(), "a, b");
    }
}
