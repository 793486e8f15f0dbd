//! A session that survives the program: the second query continues where the first stopped.

use windlass::{Home, Script, ScriptedModel, coding_tools, query};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    // A program of yours would use `Home::from_env()?`.
    let home = Home::new(folder.path().join("home"));

    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("I will remember the number 42.")));
    let first = query("Remember 42").provider(model).tools(coding_tools(folder.path())).persist(home.clone()).await?;

    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("It was 42.")));
    let requests = model.clone();
    let second = query("Which number?")
        .provider(model)
        .tools(coding_tools(folder.path()))
        .persist(home)
        .resume(first.session_id.as_str())
        .await?;
    println!("{}", second.text);
    anyhow::ensure!(requests.requests()[0].messages.len() == 3, "the history was not sent");
    anyhow::ensure!(first.session_id == second.session_id);
    Ok(())
}
