//! Custom tools: one as an impl, one as an async closure with state, one with a schema by hand.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use windlass::{
    Access, Json, Permissions, Script, ScriptedModel, Tool, ToolCx, ToolError, query,
    tool::{ToolCheck, tool_fn_with, tool_json},
};

#[derive(windlass::ToolInput)]
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

#[derive(windlass::ToolInput)]
struct Step {
    /// How much to add.
    by: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let counter = tool_fn_with("count", "Adds to a counter.", AtomicU32::new(0), |total, step: Step, _| async move {
        Ok(Json(total.fetch_add(step.by, Ordering::Relaxed) + step.by))
    })
    .with_access(Access::NOTHING)
    .with_title(|step| format!("Count {} more", step.by))
    .with_check(|step| match step.by {
        0..100 => ToolCheck::Undecided,
        by => ToolCheck::Deny(format!("{by} is too much for one step.")),
    });

    let schema = json!({
        "type": "object",
        "properties": { "sides": { "type": "integer", "minimum": 2, "description": "How many sides it has." } },
        "required": ["sides"],
    });
    let dice = tool_json("dice", "Rolls a die.", schema, |input: Value, cx: ToolCx| async move {
        let sides = input["sides"].as_u64().unwrap_or(6);
        Ok(Json(u64::try_from(cx.ids().bits() % u128::from(sides))? + 1))
    })
    .with_access(Access::NOTHING);

    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| {
                turn.tool_use("weather", json!({"name": "Lisbon"}))
                    .tool_use("count", json!({"by": 2}))
                    .tool_use("count", json!({"by": "two"}))
                    .tool_use("count", json!({"by": 200}))
                    .tool_use("dice", json!({"sides": 20}))
            })
            .turn(|turn| turn.text("It is sunny in Lisbon.")),
    );
    let requests = model.clone();
    let result = query("How is the weather in Lisbon?")
        .provider(model)
        .tools(Weather)
        .tools(counter)
        .tools(dice)
        .permissions(Permissions::new().allow(["weather"]))
        .await?;
    println!("{}", result.text);

    // Results of the calls as the model reads them. One call does not fit the schema, and the tool's own check rejects
    // another.
    for result in requests.requests()[1].messages[2].content.iter().filter_map(|block| block.as_tool_result()) {
        println!("- {}{}", if result.is_error { "error: " } else { "" }, result.content.text());
    }
    anyhow::ensure!(result.outcome.is_success());
    Ok(())
}
