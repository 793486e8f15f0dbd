//! Custom tools: one as an impl, one as an async closure.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use windlass::{Access, Permissions, Script, ScriptedModel, Tool, ToolCx, ToolError, query, tool_fn_with};

#[derive(Deserialize, JsonSchema)]
struct City {
    /// City to look up.
    name: String,
}

struct Weather;

impl Tool for Weather {
    const NAME: &'static str = "weather";
    const DESCRIPTION: &'static str = "Current weather for a city.";
    type Input = City;
    type Output = String;

    fn access(&self, _: &City) -> Access {
        Access::Network
    }

    async fn call(&self, input: City, cx: &ToolCx) -> Result<String, ToolError> {
        cx.progress("asking the weather service");
        if input.name.is_empty() {
            return Err(ToolError::rejected("Name a city."));
        }
        Ok(format!("Sunny in {}, 21 degrees.", input.name))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Step {
    /// How much to add.
    by: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let counter = tool_fn_with("count", "Adds to a counter.", AtomicU32::new(0), |total, step: Step, _| async move {
        Ok(format!("{}", total.fetch_add(step.by, Ordering::Relaxed) + step.by))
    })
    .with_access(Access::NOTHING);

    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| {
                turn.tool_use("weather", json!({"name": "Lisbon"}))
                    .tool_use("count", json!({"by": 2}))
                    .tool_use("count", json!({"by": "two"}))
            })
            .turn(|turn| turn.text("It is sunny in Lisbon.")),
    );
    let requests = model.clone();
    let result = query("How is the weather in Lisbon?")
        .provider(model)
        .tool(Weather)
        .tool(counter)
        .permissions(Permissions::new().allow(["weather"]))
        .await?;
    println!("{}", result.text);

    // What the model read of its three calls; the last one did not fit the schema.
    for result in requests.requests()[1].messages[2].content.iter().filter_map(|block| block.as_tool_result()) {
        println!("- {}{}", if result.is_error { "error: " } else { "" }, result.content.text());
    }
    anyhow::ensure!(result.outcome.is_success());
    Ok(())
}
