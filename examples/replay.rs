//! Records a run to a cassette, then replays it without the model.

use serde_json::json;
use std::io::BufReader;
use windlass::options::LimitOptions;
use windlass::testing::Scrub;
use windlass::{
    Script, ScriptedModel, coding_tools, query,
    testing::{Recorder, Replayer},
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = windlass_examples::workspace()?;
    let cassette = folder.path().join("run.cassette");
    // The scrub replaces values that differ between machines by names in the cassette.
    let scrub = || Scrub::new().place("FOLDER", &folder.path().to_string_lossy());

    let live = ScriptedModel::new(
        Script::new()
            .turn(|turn| turn.tool_use("Read", json!({"file_path": "greet.py"})))
            .turn(|turn| turn.text("It greets people.")),
    );
    let recorder = Recorder::start(live, std::fs::File::create(&cassette)?, scrub())?;
    let recorded = query("What does greet.py do?").provider(recorder).tools(coding_tools(folder.path())).await?;

    let replayer = Replayer::load(BufReader::new(std::fs::File::open(&cassette)?), scrub())?;
    let replayed = query("What does greet.py do?").provider(replayer).tools(coding_tools(folder.path())).await?;
    println!("{} {:?}", replayed.text, replayed.outcome);
    anyhow::ensure!(recorded.text == replayed.text && replayed.outcome.is_success());

    // A run that differs from the recorded one fails and names the difference.
    let replayer = Replayer::load(BufReader::new(std::fs::File::open(&cassette)?), scrub())?;
    let other = query("Something else")
        .provider(replayer)
        .tools(coding_tools(folder.path()))
        .limits(LimitOptions::new().max_retries(0))
        .await?;
    println!("{:?}", other.outcome);
    anyhow::ensure!(!other.outcome.is_success());
    Ok(())
}
