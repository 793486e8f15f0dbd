//! An answer as data: the run ends with a value of a Rust type, or with the reason why there is none.

use serde_json::json;
use windlass::{Script, ScriptedModel, coding_tools, query, schemars};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Review {
    /// One sentence for people.
    summary: String,
    typos: Vec<Typo>,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Typo {
    file: String,
    /// The word as it stands there.
    wrong: String,
    right: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    let typo = json!({"file": "greet.py", "wrong": "Helo", "right": "Hello"});
    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| turn.tool_use("Read", json!({"file_path": "greet.py"})))
            // The list is missing. The model reads the error and tries again.
            .turn(|turn| turn.tool_use("StructuredOutput", json!({"summary": "One typo."})))
            .turn(|turn| turn.tool_use("StructuredOutput", json!({"summary": "One typo.", "typos": [typo]}))),
    );

    // Without a value that fits, the run did not succeed, and this is an error.
    let answer = query("Which typos are in greet.py?")
        .provider(model)
        .tools(coding_tools(folder.path()))
        .output::<Review>()
        .await?;
    let review = answer.value;
    println!("{}", review.summary);
    for typo in &review.typos {
        println!("{}: {} -> {}", typo.file, typo.wrong, typo.right);
    }
    anyhow::ensure!(review.typos.len() == 1 && answer.result.turns == 3);
    Ok(())
}
