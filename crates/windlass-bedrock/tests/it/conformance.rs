//! Guarantees of every model provider, kept over a real socket.

use crate::frames::{answer, call, end, ends, input, metadata, signature, start, stop, text, thinking};
use crate::wire::{CLAUDE, KEY, LLAMA, NOVA, NOVA_2, OSS, provider, request};
use serde_json::json;
use windlass_bedrock::Bedrock;
use windlass_testkit::provider as kit;
use windlass_testkit::wire::{Dialect, Reply, WireServer};
use windlass_types::ModelErrorKind;

async fn pair() -> (WireServer, Bedrock) {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    (server, provider)
}

/// Returns each kind of block, in deltas.
fn message() -> Vec<Vec<u8>> {
    vec![
        start(),
        thinking(0, "hm"),
        signature(0, "c2ln"),
        stop(0),
        text(1, "a"),
        text(1, "b"),
        stop(1),
        call(2, "tooluse_1", "Read"),
        input(2, r#"{"file_path":"#),
        input(2, r#""/x"}"#),
        stop(2),
        end("tool_use"),
        metadata(),
    ]
}

#[tokio::test]
async fn answers_and_gives_frames() {
    let (server, provider) = pair().await;
    server.on_request(|_| answer(&message()));
    let answered = kit::answers(&provider, &request()).await.unwrap();
    assert_eq!(answered.text(), "ab");
    assert_eq!(answered.tool_inputs(), [("Read".to_owned(), r#"{"file_path":"/x"}"#.to_owned())]);
    kit::gives_frames(&provider, &request()).await.unwrap();
    kit::survives_cancellation(&provider, &request()).await.unwrap();
    kit::runs_in_parallel(&provider, &vec![request(); 8]).await.unwrap();
}

#[tokio::test]
async fn reports_cuts_at_every_byte_before_the_end_of_the_message() {
    let (server, provider) = pair().await;
    let (reply, ends) = (answer(&message()), ends(&message()));
    let whole = ends[ends.len() - 2];
    for end in 0..whole {
        server.push(reply.clone().stop_at(end));
        kit::reports_a_cut(&provider, &request()).await.unwrap();
    }
    for end in [whole, whole + 1, ends[ends.len() - 1] - 1] {
        server.push(reply.clone().stop_at(end));
        kit::answers(&provider, &request()).await.unwrap();
        server.push(reply.clone().cut_at(end));
        kit::answers(&provider, &request()).await.unwrap();
    }
}

#[tokio::test]
async fn fails_once_with_the_right_kind() {
    let (server, provider) = pair().await;
    let body = json!({"message": format!("overloaded {KEY}")});
    server.on_request(move |_| {
        Reply::status(503, body.to_string()).header("x-amzn-errortype", "ServiceUnavailableException:http://x/")
    });
    kit::fails(&provider, &request(), ModelErrorKind::Overloaded, &[KEY]).await.unwrap();
    kit::does_not_retry(&provider, &request(), || server.request_count()).await.unwrap();
}

#[tokio::test]
async fn describes_its_models() {
    let (_server, provider) = pair().await;
    let names = ["default", "nova-pro", "gpt-oss", NOVA, NOVA_2, CLAUDE, OSS, LLAMA, "other", "arn:aws:bedrock:x"];
    kit::describes_models(&provider, &names).unwrap();
}

#[tokio::test]
async fn keeps_every_promise_over_long_sessions() {
    // A model with all abilities, and one without.
    for model in [CLAUDE, LLAMA] {
        let endpoint = kit::Endpoint::new(Dialect::Converse, model, |url| {
            Bedrock::builder().region("us-east-1").api_key(KEY).base_url(url).build().unwrap()
        });
        kit::all(&endpoint).await.unwrap_or_else(|broken| panic!("{model}\n{broken}"));
    }
}
