//! A peer, line by line.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use windlass_protocol::client::{Client, ClientError, ClientOptions};

/// Longer than any limit of the client; time does not really pass in these tests.
const LONG: Duration = Duration::from_secs(600);

pub(crate) struct Peer {
    pub(crate) input: Lines<BufReader<DuplexStream>>,
    pub(crate) output: DuplexStream,
}

/// Both ends, with room for so many bytes on the way.
pub(crate) fn pair(room: usize) -> (DuplexStream, DuplexStream, Peer) {
    let (near_output, far_input) = tokio::io::duplex(room);
    let (far_output, near_input) = tokio::io::duplex(room);
    (near_input, near_output, Peer { input: BufReader::new(far_input).lines(), output: far_output })
}

/// A client that is ready, and its peer.
pub(crate) async fn ready(options: ClientOptions) -> (Client, Peer) {
    ready_over(64 * 1024, options).await
}

pub(crate) async fn ready_over(room: usize, options: ClientOptions) -> (Client, Peer) {
    let (reader, writer, mut peer) = pair(room);
    let (client, _) = tokio::join!(Client::connect(reader, writer, options), async {
        let initialize = peer.next().await.unwrap();
        let answer = json!({ "hook_on_failure_supported": true });
        peer.answer(&initialize["request_id"], answer).await;
    });
    (client.unwrap(), peer)
}

/// Error of a client whose peer handles its first line with `answer`.
pub(crate) async fn refused(answer: impl AsyncFnOnce(&mut Peer, Value), options: ClientOptions) -> ClientError {
    let (reader, writer, mut peer) = pair(64 * 1024);
    let (client, _) = tokio::join!(Client::connect(reader, writer, options), async {
        let line = peer.next().await.unwrap();
        answer(&mut peer, line).await;
        peer.until_gone().await;
    });
    client.unwrap_err()
}

impl Peer {
    /// The next line of the client.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(LONG, self.input.next_line()).await.expect("a line in time");
        line.unwrap().map(|line| serde_json::from_str(&line).expect("a JSON object"))
    }

    /// The client's answer to a request.
    pub(crate) async fn response(&mut self) -> Value {
        let mut line = self.next().await.expect("an answer");
        assert_eq!(line["type"], "control_response", "{line}");
        line["response"].take()
    }

    /// Returns `true` if the client sends nothing.
    pub(crate) async fn hears_nothing(&mut self) -> bool {
        tokio::time::timeout(Duration::from_secs(5), self.input.next_line()).await.is_err()
    }

    pub(crate) async fn until_gone(&mut self) {
        while self.next().await.is_some() {}
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(&format!("{message}\n")).await;
    }

    pub(crate) async fn answer(&mut self, id: &Value, response: Value) {
        let body = json!({ "subtype": "success", "request_id": id, "response": response });
        self.send(json!({ "type": "control_response", "response": body })).await;
    }

    pub(crate) async fn ask(&mut self, id: &str, request: Value) {
        self.send(json!({ "type": "control_request", "request_id": id, "request": request })).await;
    }

    pub(crate) async fn take_back(&mut self, id: &str) {
        self.send(json!({ "type": "control_cancel_request", "request_id": id })).await;
    }

    pub(crate) async fn ask_permission(&mut self, id: &str) {
        let input = json!({ "what": "it" });
        self.ask(id, json!({ "subtype": "can_use_tool", "tool_name": "act", "input": input, "tool_use_id": id })).await;
    }
}
