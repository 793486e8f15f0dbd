//! Conformance of the models of this crate with the port.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use windlass_model::{ModelProvider, Recorder, Replayer, ScriptedModel, ScriptedTurn, Scrub};
use windlass_testkit::provider::{self, Violation};
use windlass_types::{Message, ModelErrorKind, ModelRequest};

#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn request(text: &str) -> ModelRequest {
    ModelRequest::new("m", vec![Message::user_text(text).into()], 100)
}

/// Returns a model that answers by the text of the request, so that every situation is one request away.
fn model() -> ScriptedModel {
    ScriptedModel::from_fn(|request, _| {
        let asked = request.messages.last().map(|message| message.text()).unwrap_or_default();
        let turn = ScriptedTurn::new().thinking("hm", "sig").text(asked.as_str()).tool_use("Read", [("a", "é")]);
        match asked.as_str() {
            "refuse" => turn.fail(ModelErrorKind::RateLimited),
            "break" => turn.fail_after(4, ModelErrorKind::Overloaded),
            "cut" => turn.cut_after(4),
            _ => turn,
        }
    })
}

async fn keeps_its_promises(model: &dyn ModelProvider) -> Result<(), Violation> {
    provider::answers(model, &request("hi")).await?;
    provider::gives_frames(model, &request("hi")).await?;
    provider::fails(model, &request("refuse"), ModelErrorKind::RateLimited, &[]).await?;
    provider::fails(model, &request("break"), ModelErrorKind::Overloaded, &[]).await?;
    provider::reports_a_cut(model, &request("cut")).await?;
    provider::runs_in_parallel(model, &[request("a"), request("b")]).await?;
    provider::describes_models(model, &["m", "opus", "claude-sonnet-4-5[1m]"])
}

#[test]
fn the_scripted_model_conforms() {
    futures_executor::block_on(async {
        keeps_its_promises(&model()).await.unwrap();
        provider::survives_cancellation(&model(), &request("hi")).await.unwrap();
        let model = model();
        provider::does_not_retry(&model, &request("refuse"), || model.asked()).await.unwrap();
    });
}

#[test]
fn the_recorder_and_the_replayer_conform() {
    futures_executor::block_on(async {
        let tape = Tape::default();
        let recorder = Recorder::start(model(), tape.clone(), Scrub::new()).unwrap();
        keeps_its_promises(&recorder).await.unwrap();
        let text = tape.0.lock().unwrap().clone();
        let replayer = Replayer::load(&text[..], Scrub::new()).unwrap();
        keeps_its_promises(&replayer).await.unwrap();
        assert_eq!(replayer.remaining(), 0);
        provider::survives_cancellation(&recorder, &request("hi")).await.unwrap();
    });
}
