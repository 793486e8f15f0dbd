//! Resources, prompts and the completion of their arguments.

use crate::questions::{form, words};
use crate::services::PNG;
use windlass::{ContentBlock, JsonText, async_trait};
use windlass_mcp_server::{
    Completion, LibraryError, McpLibrary, PromptCall, ServedContents, ServedMessage, ServedPrompt, ServedRead,
    ServedResource, ServedTemplate, resource_block,
};

const CONTEXT: &str = r#"{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}"#;

pub(crate) struct Fixtures;

fn resource(uri: &str, name: &str, media_type: &str) -> ServedResource {
    ServedResource::new(uri, name).with_description("For tests.").with_media_type(media_type)
}

#[async_trait]
impl McpLibrary for Fixtures {
    fn resources(&self) -> Vec<ServedResource> {
        vec![
            resource("test://static-text", "text", "text/plain"),
            resource("test://static-binary", "binary", "image/png"),
            resource("test://watched-resource", "watched", "text/plain"),
        ]
    }

    fn templates(&self) -> Vec<ServedTemplate> {
        vec![ServedTemplate::new(resource("test://template/{id}/data", "template", "application/json"))]
    }

    async fn read(&self, read: ServedRead) -> Result<Vec<ServedContents>, LibraryError> {
        let id = read.uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (read.uri.as_str(), id) {
            ("test://static-text" | "test://watched-resource", _) => {
                ServedContents::text(&read.uri, "text/plain", "This is the content of the static text resource.")
            }
            ("test://static-binary", _) => ServedContents::base64(&read.uri, "image/png", PNG),
            (_, Some(id)) => {
                let data = format!(r#"{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}"#);
                ServedContents::text(&read.uri, "application/json", data)
            }
            _ => return Err(LibraryError::NotFound),
        };
        Ok(vec![contents])
    }

    fn prompts(&self) -> Vec<ServedPrompt> {
        vec![
            ServedPrompt::new("test_simple_prompt", "Without arguments."),
            ServedPrompt::new("test_prompt_with_arguments", "With arguments.")
                .with_argument("arg1", "First test argument")
                .with_argument("arg2", "Second test argument"),
            ServedPrompt::new("test_prompt_with_embedded_resource", "With a resource.")
                .with_argument("resourceUri", "URI of the resource to embed"),
            ServedPrompt::new("test_prompt_with_image", "With an image."),
            ServedPrompt::new("test_input_required_result_prompt", "Asks its client."),
        ]
    }

    async fn prompt(&self, call: PromptCall) -> Result<Vec<ServedMessage>, LibraryError> {
        let argument = |name: &str| call.arguments.get(name).cloned().unwrap_or_default();
        let text = |text: &str| ServedMessage::user(ContentBlock::text(text));
        Ok(match call.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                vec![text(&format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
            }
            "test_prompt_with_embedded_resource" => {
                let uri = argument("resourceUri");
                let embedded = ServedContents::text(uri, "text/plain", "Embedded resource content for testing.");
                let embedded = ServedMessage::user(resource_block(embedded));
                vec![embedded, text("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => vec![ServedMessage::user(image()), text("Please analyze the image above.")],
            "test_input_required_result_prompt" => {
                let question = form("user_context", "What context should the prompt use?", CONTEXT);
                let answers = call.client.ask_all(vec![question]).await;
                answers.iter().map(|answer| text(&words(answer))).collect()
            }
            _ => return Err(LibraryError::NotFound),
        })
    }

    async fn complete(&self, completion: Completion) -> Vec<String> {
        let known = ["paris", "park", "party", "hello", "world"].into_iter();
        known.filter(|word| word.starts_with(&completion.value)).map(str::to_owned).collect()
    }
}

fn image() -> ContentBlock {
    let block = format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{PNG}"}}}}"#);
    let block = JsonText::parse(block).and_then(|block| block.to());
    block.unwrap_or_else(|_| ContentBlock::text("no image"))
}
