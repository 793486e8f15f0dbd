//! Questions whose options have previews.

use super::AskUserQuestion;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;
use windlass_tool::{Annotations, DynTool, PreparedCall, Tool, ToolError};
use windlass_types::{JsonText, ToolSpec};

/// Pointer to the options of a question in the schema of the tool.
const OPTION: &str = "/properties/questions/items/properties/options/items/properties";

/// The form of the previews that a host shows beside the options of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PreviewFormat {
    /// Markdown, shown in a monospaced box.
    Markdown,
    /// A fragment of HTML that needs nothing else.
    Html,
}

impl FromStr for PreviewFormat {
    type Err = UnknownPreviewFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "markdown" => Ok(Self::Markdown),
            "html" => Ok(Self::Html),
            other => Err(UnknownPreviewFormat { name: other.to_owned() }),
        }
    }
}

/// The name of a form of previews that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there are no previews in the format {name:?}: give markdown or html")]
#[non_exhaustive]
pub struct UnknownPreviewFormat {
    /// The name.
    pub name: String,
}

/// [`AskUserQuestion`] whose options may have a preview, see [`AskUserQuestion::with_previews`].
#[derive(Debug, Clone, Copy)]
pub struct AskUserQuestionWithPreviews {
    tool: AskUserQuestion,
    format: PreviewFormat,
}

impl AskUserQuestionWithPreviews {
    pub(super) fn new(tool: AskUserQuestion, format: PreviewFormat) -> Self {
        Self { tool, format }
    }

    fn content(self) -> &'static str {
        match self.format {
            PreviewFormat::Markdown => {
                "Markdown, which is shown in a monospaced box: a sketch, code, a diagram in ASCII"
            }
            PreviewFormat::Html => {
                "a fragment of HTML that stands for itself: no scripts, no links to other files, styles inline"
            }
        }
    }
}

impl DynTool for AskUserQuestionWithPreviews {
    fn spec(&self) -> ToolSpec {
        let mut spec = DynTool::spec(&self.tool);
        let mut schema: Value = spec.input_schema.to().unwrap_or_default();
        if let Some(Value::Object(fields)) = schema.pointer_mut(OPTION) {
            let description =
                format!("What the option would look like, where the user has to compare: {}.", self.content());
            fields.insert("preview".to_owned(), json!({ "type": "string", "description": description }));
            spec.input_schema = JsonText::of(&schema).unwrap_or(spec.input_schema);
        }
        spec.description.push_str(
            " Give options a `preview` where the user compares things that are seen, such as layouts or code.",
        );
        spec
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(AskUserQuestion::NAME)
    }

    fn annotations(&self) -> Annotations {
        Tool::annotations(&self.tool)
    }

    fn is_enabled(&self) -> bool {
        Tool::is_enabled(&self.tool)
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        Arc::new(self.tool).prepare(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_are_in_the_schema_where_the_host_shows_them() {
        let plain = DynTool::spec(&AskUserQuestion::default());
        assert!(!plain.input_schema.as_str().contains("preview") && !plain.description.contains("preview"));
        for (name, says) in [("markdown", "Markdown"), ("html", "HTML")] {
            let tool = AskUserQuestion::default().with_previews(name.parse().unwrap());
            let spec = tool.spec();
            let schema: Value = spec.input_schema.to().unwrap();
            let preview = schema.pointer(OPTION).unwrap()["preview"].clone();
            assert!(preview["description"].as_str().unwrap().contains(says), "{preview}");
            assert!(spec.description.contains("`preview`") && spec.name == "AskUserQuestion");
            let required = schema.pointer("/properties/questions/items/properties/options/items/required").unwrap();
            assert!(!required.to_string().contains("preview"), "{required}");
        }
        assert!("pdf".parse::<PreviewFormat>().is_err());
    }

    #[test]
    fn a_preview_of_the_model_stays_in_the_call() {
        let input = r#"{"questions":[{"question":"Which?","header":"Which","options":[
            {"label":"a","description":"A","preview":"**a**"},{"label":"b","description":"B"}]}],"answers":{"Which?":"a"}}"#;
        let input: super::super::AskUserQuestionInput = serde_json::from_str(input).unwrap();
        let written = serde_json::to_string(&input).unwrap();
        assert_eq!(written.matches("preview").count(), 1, "{written}");
    }
}
