//! Queries whose prompts arrive over time.

use futures_util::stream;
use tokio::sync::mpsc;
use windlass::session::PromptInput;
use windlass::{Error, EventKind, Prompt, Run, Script, ScriptedModel, query};

/// The texts of the results that a run gives until its end.
async fn results(run: &mut Run) -> Result<Vec<String>, Error> {
    let mut texts = Vec::new();
    while let Some(event) = run.try_next().await? {
        if let EventKind::RunFinished(result) = event.kind {
            texts.push(result.text);
        }
    }
    Ok(texts)
}

fn model() -> ScriptedModel {
    ScriptedModel::new(Script::new().turn(|turn| turn.text("Hello.")).turn(|turn| turn.text("Goodbye.")))
}

#[tokio::test]
async fn each_prompt_has_a_run_in_one_conversation() {
    let model = model();
    let mut run = query(PromptInput::stream(stream::iter(["one", "two"]))).provider(model.clone()).stream();
    assert_eq!(results(&mut run).await.unwrap(), ["Hello.", "Goodbye."]);
    let second = format!("{:?}", model.requests()[1].messages);
    assert!(second.contains("one") && second.contains("Hello.") && second.contains("two"), "{second}");
}

#[tokio::test]
async fn the_query_waits_for_the_next_prompt_until_the_stream_ends() {
    let (sender, receiver) = mpsc::unbounded_channel();
    let prompts = stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) });
    let mut run = query(PromptInput::stream(prompts)).provider(model()).stream();
    sender.send(Prompt::text("one")).unwrap();
    let mut sender = Some(sender);
    let mut texts = Vec::new();
    while let Some(event) = run.try_next().await.unwrap() {
        let EventKind::RunFinished(result) = event.kind else { continue };
        // The second prompt comes when the first is answered; then the stream ends.
        if let Some(sender) = sender.take() {
            sender.send(Prompt::text("two")).unwrap();
        }
        texts.push(result.text);
    }
    assert_eq!(texts, ["Hello.", "Goodbye."]);
}

#[tokio::test]
async fn an_awaited_query_gives_the_last_result() {
    let last = query(PromptInput::stream(stream::iter(["one", "two"]))).provider(model()).await.unwrap();
    assert_eq!(last.text, "Goodbye.");
}

#[tokio::test]
async fn an_empty_prompt_of_a_stream_is_an_error() {
    let mut run = query(PromptInput::stream(stream::iter(["one", " "]))).provider(model()).stream();
    assert!(matches!(results(&mut run).await.unwrap_err(), Error::EmptyPrompt));
    assert!(run.try_next().await.unwrap().is_none(), "nothing follows");
}
