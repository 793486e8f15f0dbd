//! A bot for CI that reviews a change, costs at most half a dollar, and reports the outcome by its exit code. With
//! `ANTHROPIC_API_KEY` set, replace the scripted model by `Anthropic::from_env()?`.

use serde_json::json;
use std::process::ExitCode;
use windlass::options::NameChecks;
use windlass::provider::{ModelInfo, Price, Usage};
use windlass::{
    Agent, Error, Permissions, Script, ScriptedModel, ScriptedTurn, Typed, agent, coding_tools, schemars::JsonSchema,
};

#[derive(Debug, serde::Deserialize, JsonSchema)]
struct Review {
    /// Whether the change can be merged.
    approved: bool,
    findings: Vec<Finding>,
}

#[derive(Debug, serde::Deserialize, JsonSchema)]
struct Finding {
    file: String,
    line: u32,
    /// One sentence.
    problem: String,
}

/// Exit codes of this program beside those of [`windlass::Outcome::exit_code`].
const NOT_APPROVED: u8 = 20;
const COULD_NOT_START: u8 = 2;

/// The agent of every review, with its permissions and its budget.
fn reviewer(folder: &std::path::Path) -> Agent {
    agent()
        .tools(coding_tools(folder))
        // Nobody is there to be asked. A call that no rule allows is denied, and the model reads why.
        .permissions(Permissions::new().allow(["Bash(git diff *)", "Bash(git log *)"]).deny(["Read(.env)"]))
        .names(NameChecks::Strict)
        .max_turns(20)
        .max_budget_usd(0.50)
}

async fn review(agent: Agent) -> u8 {
    match agent.query("Review greet.py.").output::<Review>().await {
        Ok(Typed { value, result, .. }) => {
            for finding in &value.findings {
                println!("{}:{}: {}", finding.file, finding.line, finding.problem);
            }
            println!("{} after {} turns, {}", result.outcome, result.turns, result.cost);
            if value.approved { 0 } else { NOT_APPROVED }
        }
        // The run has a result other than success: no turns or money left, a refusal, an interrupt.
        Err(Error::Unsuccessful(ended)) => {
            eprintln!("{ended}, {}", ended.result().cost);
            ended.result().outcome.exit_code()
        }
        Err(error) => {
            eprintln!("{error}");
            COULD_NOT_START
        }
    }
}

/// A model whose price is known: one dollar for a million input tokens, five for a million output tokens.
fn priced(script: Script) -> ScriptedModel {
    let mut info = ModelInfo::new(200_000, 4_096);
    info.price = Some(Price::new(1_000, 5_000));
    ScriptedModel::new(script).with_info(info)
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let folder = windlass_examples::workspace()?;
    let finding = json!({"file": "greet.py", "line": 2, "problem": "\"Helo\" is misspelt."});
    let read = |turn: ScriptedTurn| turn.tool_use("Read", json!({"file_path": "greet.py"}));
    let answer = |review| Script::new().turn(read).turn(move |turn| turn.tool_use("StructuredOutput", review));

    let fine = priced(answer(json!({"approved": true, "findings": []})));
    let approved = review(reviewer(folder.path()).provider(fine)).await;
    let typo = priced(answer(json!({"approved": false, "findings": [finding]})));
    let rejected = review(reviewer(folder.path()).provider(typo)).await;

    // The first message costs nearly all of the budget. The second call could exceed it and is never made.
    let dear = priced(Script::new().turn(|turn| read(turn).usage(Usage::new(490_000, 100))));
    let too_dear = review(reviewer(folder.path()).provider(dear)).await;

    // A budget cannot hold if the price is unknown, so the run does not start.
    let unpriced = review(reviewer(folder.path()).provider(ScriptedModel::new(Script::new()))).await;

    println!("{approved} {rejected} {too_dear} {unpriced}");
    anyhow::ensure!([approved, rejected, too_dear, unpriced] == [0, NOT_APPROVED, 4, COULD_NOT_START]);
    // A real bot would end with the code of its one review.
    Ok(ExitCode::from(approved))
}
