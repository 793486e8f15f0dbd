use crate::permissions::Permissions;
use crate::{Access, Outcome, Script, ScriptedModel, ToolCx, query, tool_fn};

#[derive(serde::Deserialize, windlass_tool::schemars::JsonSchema)]
#[schemars(crate = "windlass_tool::schemars")]
struct City {
    /// City to look up.
    name: String,
}

#[tokio::test]
async fn a_session_with_tools_of_the_host_alone_runs() {
    let weather = tool_fn("weather", "Current weather.", |city: City, cx: ToolCx| async move {
        let files = cx.workspace().resolve(std::path::Path::new("/etc/hosts")).await.unwrap_err();
        Ok(format!("sunny in {}; {files}", city.name))
    });
    let script = Script::new()
        .turn(|turn| turn.tool_use("weather", serde_json::json!({ "name": "Oslo" })))
        .turn(|turn| turn.text("It is sunny."));
    let model = ScriptedModel::new(script);
    let result = query("How is the weather?")
        .provider(model.clone())
        .tools(weather.with_access(Access::NOTHING))
        .permissions(Permissions::new())
        .await
        .unwrap();
    assert!(matches!(result.outcome, Outcome::Success { .. }), "{:?}", result.outcome);
    let read = format!("{:?}", model.requests());
    assert!(read.contains("sunny in Oslo") && read.contains("built without the feature"), "{read}");
}
