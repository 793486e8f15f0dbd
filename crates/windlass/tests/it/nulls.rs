//! `null` for properties that may be left out, as models write it where strict decoding names every property.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass::permission::InputChangedBy;
use windlass::session::TranscriptItem;
use windlass::{
    ContentBlock, Home, Hook, HookContext, HookError, JsonText, Permissions, PreToolUseAction, Script, ScriptedModel,
    ToolInput, coding_tools,
    hook::{HookEventName, Interest, PreToolUse},
    query, tool_fn,
};
use windlass_testkit::ToolBench;

#[derive(Debug, ToolInput)]
struct Weather {
    /// The city.
    city: String,
    /// How many days.
    #[serde(default = "seven")]
    days: u32,
    #[serde(default)]
    place: Place,
}

#[derive(Debug, Default, ToolInput)]
#[serde(default)]
struct Place {
    floor: u8,
}

fn seven() -> u32 {
    7
}

/// Notes the input that it is asked about.
struct Notes(Arc<Mutex<Vec<String>>>);

#[async_trait::async_trait]
impl Hook for Notes {
    fn name(&self) -> &str {
        "notes"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(HookEventName::PreToolUse)]
    }

    async fn pre_tool_use(&self, _: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        self.0.lock().unwrap().push(event.tool_input.as_str().to_owned());
        Ok(PreToolUseAction::Continue)
    }
}

#[tokio::test]
async fn a_null_counts_as_absent_and_the_log_has_both_inputs() {
    let home = tempfile::tempdir().unwrap();
    let home = Home::new(home.path());
    let weather = tool_fn("weather", "The weather.", |input: Weather, _| async move {
        Ok(format!("{} for {} days on floor {}", input.city, input.days, input.place.floor))
    });
    let written = json!({"days": null, "city": "Rome", "place": {"floor": null}});
    let script = Script::new().turn(|turn| turn.tool_use("weather", written.clone())).turn(|turn| turn.text("ok"));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let run = query("go").provider(ScriptedModel::new(script)).tools(weather).hook(Notes(Arc::clone(&asked)));
    let run = run.permissions(Permissions::new().allow(["weather"])).persist(home.clone());
    let id = run.await.unwrap().session_id;
    let (mut calls, mut changes, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for entry in home.transcript(&id).await.unwrap().entries {
        match entry.item {
            TranscriptItem::Message { content, .. } => {
                calls.extend(content.into_iter().filter_map(|block| match block {
                    ContentBlock::ToolUse(call) => call.input.to::<Value>().ok(),
                    _ => None,
                }))
            }
            TranscriptItem::Verdict { input_changes, .. } => changes.extend(input_changes),
            TranscriptItem::ToolResult { result, .. } => results.push(result.content.text()),
            _ => {}
        }
    }
    assert_eq!(calls, [written], "the model's words stay as they are");
    assert_eq!(results, ["Rome for 7 days on floor 0"]);
    let ran = r#"{"city":"Rome","place":{}}"#;
    let changes: Vec<_> = changes.iter().map(|change| (change.by, change.input.as_str())).collect();
    assert_eq!(changes, [(InputChangedBy::Schema, ran)]);
    assert_eq!(*asked.lock().unwrap(), [ran], "hooks judge what would run");
}

#[test]
fn the_built_in_tools_take_null_for_what_may_be_left_out() {
    let samples = json!({
        "Bash": {"command": "true"}, "Edit": {"file_path": "/a", "old_string": "a", "new_string": "b"},
        "EnterPlanMode": {}, "ExitPlanMode": {"plan": "p"}, "Glob": {"pattern": "*"}, "Grep": {"pattern": "a"},
        "MultiEdit": {"file_path": "/a", "edits": [{"old_string": "a", "new_string": "b"}]},
        "NotebookEdit": {"notebook_path": "/a.ipynb", "new_source": "x"},
        "Read": {"file_path": "/a"}, "TaskStop": {"task_id": "b1"},
        "TaskCreate": {"subject": "a", "description": "b"}, "TaskGet": {"taskId": "1"}, "TaskList": {},
        "TaskUpdate": {"taskId": "1"},
        "TodoWrite": {"todos": []}, "Write": {"file_path": "/a", "content": "a"},
    });
    let mut optional = 0;
    for tool in coding_tools("/").with_task_list().tools() {
        let spec = tool.spec();
        let schema: Value = spec.input_schema.to().unwrap();
        let mut input = samples[&spec.name].clone();
        assert!(input.is_object(), "there is no sample for {}", spec.name);
        for name in schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys()) {
            if input.get(name).is_none() {
                input[name] = Value::Null;
                optional += 1;
            }
        }
        let read = ToolBench::shared(Arc::clone(tool)).prepare(JsonText::of(&input).unwrap());
        assert!(read.is_ok(), "{}: {:?}", spec.name, read.err().map(|error| error.model_text().to_owned()));
    }
    assert!(optional > 10, "{optional}");
}
