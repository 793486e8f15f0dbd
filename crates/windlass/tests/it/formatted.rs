//! Hooks that format what the model has written.

use crate::instructions::Place;
use serde_json::json;
use windlass::hook::PostToolUseAction;
use windlass::{ContentBlock, Permissions, Script, ScriptedModel, coding_tools, hook_fn, query};
use windlass_types::ModelRequest;

/// All texts that the model reads: those of results, and others of the user's side.
fn read(request: &ModelRequest) -> Vec<String> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let text = |block: &ContentBlock| match block {
        ContentBlock::ToolResult(result) => Some(result.content.text()),
        block => block.as_text().map(str::to_owned),
    };
    blocks.filter_map(text).collect()
}

#[tokio::test]
async fn what_a_hook_formats_is_shown_and_can_be_edited() {
    let place = Place::new(&[]);
    let path = place.path("work/a.txt");
    let formatting = path.clone();
    let formatter = hook_fn("format").after_tool(["Write", "Edit"], move |_| {
        let path = formatting.clone();
        async move {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.replace("a=", "a = ")).unwrap();
            Ok(PostToolUseAction::Continue)
        }
    });
    let edit = |old: &str, new: &str| json!({"file_path": path, "old_string": old, "new_string": new});
    let script = Script::new()
        .turn(|turn| turn.tool_use("Write", json!({"file_path": path, "content": "one\na=1\n"})))
        .turn(|turn| turn.tool_use("Edit", edit("a = 1", "a=2")))
        .turn(|turn| turn.tool_use("Edit", edit("a = 2", "b = 3")))
        .turn(|turn| turn.tool_use("Bash", json!({"command": format!("echo c >> {}", path.display())})))
        .turn(|turn| turn.tool_use("Edit", edit("b = 3", "b = 4")))
        .turn(|turn| turn.text("Done."));
    let model = ScriptedModel::new(script);
    let permissions = Permissions::new().allow(["Edit", "Write", "Bash"]);
    let tools = coding_tools(place.path("work"));
    let run = query("go").provider(model.clone()).tools(tools).permissions(permissions).hook(formatter);
    assert!(run.await.unwrap().outcome.is_success());

    let requests = model.requests();
    let shown = |request: &ModelRequest| {
        let is_change = |text: &&String| text.contains("has changed since you read or wrote it");
        read(request).iter().filter(is_change).cloned().collect::<Vec<_>>()
    };
    let first = shown(&requests[1]);
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(first[0].contains("Line 2 is now:\n<attached>\n2\ta = 1\n</attached>"), "{first:?}");
    assert_eq!(shown(&requests[2]).len(), 2);
    assert_eq!(shown(&requests[3]).len(), 2, "an edit that is formatted already is no news");
    // The change of a command was not shown.
    let last = read(requests.last().unwrap());
    assert!(last.iter().any(|text| text.contains("has changed on disk since it was last read")), "{last:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\nb = 3\nc\n");
}
