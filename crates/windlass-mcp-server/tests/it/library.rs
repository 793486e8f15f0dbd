//! Resources, prompts, completion, log lines and changes.

use crate::world::{Connected, LONG, Served, User, call, connected, connected_anew, params};
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, ReadResourceRequestParams, Reference, ResourceContents,
};
use serde_json::json;
use std::collections::BTreeMap;
use windlass::{ContentBlock, JsonText, ToolOutput, async_trait};
use windlass_mcp_server::{
    Completion, LibraryError, LogLevel, McpLibrary, McpServer, McpService, PromptCall, ServedCall, ServedChanges,
    ServedContents, ServedMessage, ServedPrompt, ServedRead, ServedResource, ServedTemplate, ServedTool, audio_block,
    resource_block,
};

struct Notes(&'static str);

#[async_trait]
impl McpLibrary for Notes {
    fn resources(&self) -> Vec<ServedResource> {
        vec![ServedResource::new(format!("notes://{}", self.0), self.0).with_media_type("text/plain")]
    }

    fn templates(&self) -> Vec<ServedTemplate> {
        vec![ServedTemplate::new(ServedResource::new("notes://{day}", "day"))]
    }

    async fn read(&self, read: ServedRead) -> Result<Vec<ServedContents>, LibraryError> {
        match read.uri.strip_prefix("notes://") {
            Some(day) if day == self.0 => Ok(vec![ServedContents::text(&read.uri, "text/plain", "Buy milk.")]),
            Some("broken") => Err(LibraryError::Failed("the disk is gone".to_owned())),
            _ => Err(LibraryError::NotFound),
        }
    }

    fn prompts(&self) -> Vec<ServedPrompt> {
        vec![ServedPrompt::new(self.0, "Sums up.").with_argument("day", "Which").with_optional_argument("tone", "How")]
    }

    async fn prompt(&self, call: PromptCall) -> Result<Vec<ServedMessage>, LibraryError> {
        let day = call.arguments.get("day").cloned().unwrap_or_default();
        Ok(vec![
            ServedMessage::user(ContentBlock::text(format!("Sum up {day}."))),
            ServedMessage::model(audio_block("audio/wav", "AAAA")),
            ServedMessage::user(resource_block(ServedContents::text("notes://x", "text/plain", "x"))),
        ])
    }

    async fn complete(&self, completion: Completion) -> Vec<String> {
        (0..80).map(|number| format!("{}{number}", completion.value)).collect()
    }
}

/// Service that writes log lines, and reports a change.
struct Loud(ServedChanges);

#[async_trait]
impl McpService for Loud {
    fn tools(&self) -> Vec<ServedTool> {
        vec![ServedTool::new("loud", "Is loud.", JsonText::empty_object()).with_title("Loud")]
    }

    async fn call(&self, call: ServedCall) -> ToolOutput {
        call.client.log(LogLevel::Debug, "quiet").await;
        call.client.log(LogLevel::Error, "loud").await;
        call.client.progress_of(1.0, 2.0).await;
        self.0.resource("notes://unwatched");
        self.0.resource("notes://today");
        self.0.tools();
        ToolOutput::text("said")
    }
}

async fn notes(user: User) -> (Connected, Served) {
    let mut server = McpServer::new("n", "1");
    let changes = server.changes();
    connected(server.service(Loud(changes)).library(Notes("today")).library(Notes("tomorrow")), user).await
}

#[tokio::test]
async fn resources_of_all_libraries_are_listed_and_read() {
    let (client, _served) = notes(User::default()).await;
    let listed = client.list_all_resources().await.unwrap();
    let uris: Vec<&str> = listed.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, ["notes://today", "notes://tomorrow"]);
    assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 1, "one template stands for both");
    for uri in uris {
        let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
        let [ResourceContents::TextResourceContents { text, mime_type, .. }] = read.contents.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!((text.as_str(), mime_type.as_deref()), ("Buy milk.", Some("text/plain")));
    }
    for (uri, code) in [("notes://never", "-32002"), ("notes://broken", "-32603")] {
        let error = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err();
        assert!(format!("{error:?}").contains(code), "{error:?}");
    }
}

#[tokio::test]
async fn prompts_have_arguments_and_messages_of_any_kind() {
    let (client, _served) = notes(User::default()).await;
    let listed = client.list_all_prompts().await.unwrap();
    let required: Vec<_> = listed[0].arguments.iter().flatten().map(|argument| argument.required).collect();
    assert_eq!((listed.len(), required), (2, vec![Some(true), Some(false)]));
    let arguments = json!({ "day": "Monday" }).as_object().unwrap().clone();
    let asked = client.get_prompt(GetPromptRequestParams::new("tomorrow").with_arguments(arguments)).await.unwrap();
    let said = serde_json::to_value(&asked.messages).unwrap();
    assert_eq!(said[0]["content"]["text"], "Sum up Monday.");
    assert_eq!((&said[1]["role"], &said[1]["content"]["type"]), (&json!("assistant"), &json!("audio")));
    assert_eq!(said[2]["content"]["resource"]["uri"], "notes://x");
    for (name, part) in [("today", "day"), ("nothing", "no prompt")] {
        let error = client.get_prompt(GetPromptRequestParams::new(name)).await.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[tokio::test]
async fn completions_of_all_libraries_are_bounded() {
    let (client, _served) = notes(User::default()).await;
    let argument: ArgumentInfo = serde_json::from_value(json!({ "name": "day", "value": "M" })).unwrap();
    let asked = CompleteRequestParams::new(Reference::for_prompt("today"), argument);
    let completion = client.complete(asked).await.unwrap().completion;
    assert_eq!((completion.values.len(), completion.total, completion.has_more), (100, Some(160), Some(true)));
    assert_eq!(completion.values[0], "M0");
}

#[tokio::test]
#[allow(deprecated, reason = "revisions that have logs and subscriptions of this kind stay in use")]
async fn a_client_reads_the_log_and_the_changes_that_it_wants() {
    let user = User::default();
    let (client, _served) = notes(user.clone()).await;
    let watch = |uri: &str| serde_json::from_value(json!({ "uri": uri })).unwrap();
    client.subscribe(watch("notes://today")).await.unwrap();
    client.set_level(serde_json::from_value(json!({ "level": "warning" })).unwrap()).await.unwrap();
    call(&client, "loud", json!({})).await;
    let all = || {
        let seen = user.seen.lock().unwrap().clone();
        (seen.len() >= 3).then_some(seen)
    };
    let seen = tokio::time::timeout(LONG, async {
        loop {
            let news = user.news.notified();
            if let Some(seen) = all() {
                return seen;
            }
            news.await;
        }
    });
    let seen = seen.await.unwrap();
    let kinds: BTreeMap<&str, usize> = seen.iter().fold(BTreeMap::new(), |mut kinds, line| {
        *kinds.entry(line.as_str()).or_default() += 1;
        kinds
    });
    assert_eq!(kinds, BTreeMap::from([("log loud", 1), ("updated notes://today", 1), ("tools", 1)]));
    assert_eq!(client.list_all_tools().await.unwrap()[0].title.as_deref(), Some("Loud"));
}

#[tokio::test]
async fn newer_clients_read_no_log_that_they_did_not_ask_for() {
    let user = User::default();
    let mut server = McpServer::new("n", "1");
    let changes = server.changes();
    let (client, _served) = connected_anew(server.service(Loud(changes)), user.clone()).await;
    call(&client, "loud", json!({})).await;
    // A log line would have arrived before the answer.
    client.call_tool(params("loud", json!({}))).await.unwrap();
    assert!(user.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_server_without_libraries_says_so() {
    let (client, _served) = connected(McpServer::new("n", "1"), User::default()).await;
    let capabilities = client.peer_info().unwrap().capabilities.clone();
    assert!(capabilities.resources.is_none() && capabilities.prompts.is_none() && capabilities.completions.is_none());
    assert_eq!(capabilities.tools.unwrap().list_changed, None);
}
