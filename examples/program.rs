//! Savings of a program of fifty calls: the same task by single calls and by one program, with the tokens that the
//! model reads for each.
//!
//! `cargo run -p windlass-examples --example program`

use serde_json::json;
use std::path::Path;
use windlass::program::Program;
use windlass::{Outcome, Script, ScriptedModel, coding_tools, query};

/// Number of files that the model looks through.
const FILES: usize = 50;
/// Number of calls in one message, if the model makes them itself.
const AT_ONCE: usize = 10;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(compare())
}

async fn compare() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    for file in 0..FILES {
        let mut text = String::new();
        for line in 0..80 {
            text.push_str(&format!("pub fn step_{file}_{line}(input: &str) -> usize {{ input.len() + {line} }}\n"));
        }
        if file % 10 == 3 {
            text.push_str("// TODO: this step is not finished\n");
        }
        std::fs::write(folder.path().join(format!("f{file}.rs")), text)?;
    }
    let (calls, asked) = tokens(folder.path(), by_calls(folder.path())).await?;
    println!("50 calls of Read:     {calls:>7} tokens in the context at the end, {asked:>7} sent in all requests");
    let (program, sent) = tokens(folder.path(), by_program(folder.path())).await?;
    println!("one call of Program:  {program:>7} tokens in the context at the end, {sent:>7} sent in all requests");
    anyhow::ensure!(program * 5 < calls, "a program saves most of it");
    Ok(())
}

/// Script of a model that reads the files itself.
fn by_calls(folder: &Path) -> Script {
    let mut script = Script::new();
    for first in (0..FILES).step_by(AT_ONCE) {
        script = script.turn(|mut turn| {
            for file in first..first + AT_ONCE {
                turn = turn.tool_use("Read", json!({ "file_path": folder.join(format!("f{file}.rs")) }));
            }
            turn
        });
    }
    script.turn(|turn| turn.text("Five files are not finished: f3, f13, f23, f33 and f43."))
}

/// Script of a model that has a program read the files.
fn by_program(folder: &Path) -> Script {
    let program = format!(
        "local found = {{}}\n\
         for i = 0, {} do\n\
         \x20 local text = tools.Read{{file_path = '{}/f' .. i .. '.rs'}}\n\
         \x20 if text:find('TODO', 1, true) then table.insert(found, 'f' .. i) end\n\
         end\n\
         return found",
        FILES - 1,
        folder.display()
    );
    let script = Script::new().turn(|turn| turn.tool_use("Program", json!({ "program": program })));
    script.turn(|turn| turn.text("Five files are not finished: f3, f13, f23, f33 and f43."))
}

/// Counts the tokens of the last request and of all requests together. One token is four bytes of messages, tools and
/// system prompt.
async fn tokens(folder: &Path, script: Script) -> anyhow::Result<(usize, usize)> {
    let model = ScriptedModel::new(script);
    let run = query("Which of these files are not finished?")
        .provider(model.clone())
        .tools(coding_tools(folder))
        .tools(Program::default());
    let result = run.await?;
    anyhow::ensure!(result.outcome == Outcome::Success, "{result:?}");
    let mut sizes = Vec::new();
    for request in model.requests() {
        let messages: usize = request.messages.iter().map(|message| message.json().len()).sum();
        let system: usize = request.system.iter().map(|section| section.text.len()).sum();
        let mut tools = 0;
        for tool in &*request.tools {
            tools += tool.description.len() + tool.input_schema.as_str().len();
        }
        sizes.push((messages + system + tools) / 4);
    }
    Ok((sizes.last().copied().unwrap_or_default(), sizes.iter().sum()))
}
