//! A host, line by line.

use crate::server::world::{Seen, open};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use windlass_model::ScriptedModel;
use windlass_protocol::{Served, Server, ServerError, ServerOptions};

/// Longer than any limit of the server; time does not really pass in these tests.
const LONG: Duration = Duration::from_secs(600);

pub(crate) struct Host {
    input: Option<DuplexStream>,
    output: Option<Lines<BufReader<DuplexStream>>>,
    served: JoinHandle<Result<Served, ServerError>>,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) seen: Seen,
}

pub(crate) fn options() -> ServerOptions {
    let mut options = ServerOptions::default();
    options.permissions.prompts = true;
    options.commands.known = vec![crate::server::world::greet()];
    options
}

impl Host {
    pub(crate) fn start(model: ScriptedModel, options: ServerOptions) -> Self {
        let seen = Seen::default();
        let (input, near_input) = tokio::io::duplex(64 * 1024);
        let (near_output, output) = tokio::io::duplex(1024);
        let (stop, stopped) = oneshot::channel::<()>();
        let model = std::sync::Arc::new(model);
        let for_session = seen.clone();
        let served = tokio::spawn(async move {
            let open = |setup| open(model.as_ref().clone(), for_session.clone(), setup);
            let stopped = async {
                if stopped.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            Server::new(open, options).serve(near_input, near_output, stopped).await
        });
        let output = Some(BufReader::new(output).lines());
        Self { input: Some(input), output, served, stop: Some(stop), seen }
    }

    pub(crate) async fn send_text(&mut self, line: &str) -> bool {
        let Some(input) = &mut self.input else { return false };
        input.write_all(format!("{line}\n").as_bytes()).await.is_ok()
    }

    pub(crate) async fn send(&mut self, message: Value) -> bool {
        self.send_text(&message.to_string()).await
    }

    pub(crate) async fn say(&mut self, text: &str) -> bool {
        self.send(json!({ "type": "user", "message": { "role": "user", "content": text } })).await
    }

    pub(crate) async fn order(&mut self, id: &str, mut request: Value, subtype: &str) {
        request["subtype"] = json!(subtype);
        self.send(json!({ "type": "control_request", "request_id": id, "request": request })).await;
    }

    pub(crate) async fn answer(&mut self, id: &Value, response: Value) {
        let body = json!({ "subtype": "success", "request_id": id, "response": response });
        self.send(json!({ "type": "control_response", "response": body })).await;
    }

    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(LONG, self.output.as_mut()?.next_line()).await.expect("a line in time");
        line.unwrap().map(|line| serde_json::from_str(&line).expect("a JSON object"))
    }

    /// Reads up to a line of a type and subtype (of the request or response for control traffic).
    pub(crate) async fn until(&mut self, kind: &str, subtype: &str) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        while let Some(line) = self.next().await {
            let inner = match kind {
                "control_request" => &line["request"],
                "control_response" => &line["response"],
                _ => &line,
            };
            if line["type"] == kind && (subtype.is_empty() || inner["subtype"] == subtype) {
                return (line, before);
            }
            before.push(line);
        }
        panic!("{kind} {subtype} never came: {before:#?}");
    }

    /// Waits until the server has taken in all that was sent so far: it answers in order. Returns what came before.
    pub(crate) async fn taken_in(&mut self) -> Vec<Value> {
        self.order("r", json!({}), "mcp_status").await;
        self.until("control_response", "success").await.1
    }

    pub(crate) async fn result(&mut self) -> Value {
        self.until("result", "").await.0
    }

    /// Ends the input.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Goes away: neither writes nor reads any more.
    pub(crate) fn die(&mut self) {
        self.input = None;
        self.output = None;
    }

    pub(crate) fn tell_to_end(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// End of the server. Output until then is read, unless the host is dead.
    pub(crate) async fn end(mut self) -> (Result<Served, ServerError>, Vec<Value>) {
        let mut lines = Vec::new();
        if self.output.is_some() {
            while let Some(line) = self.next().await {
                lines.push(line);
            }
        }
        let served = tokio::time::timeout(LONG, &mut self.served).await.expect("the server ends").unwrap();
        // Aborted tasks may need a turn of the runtime to be gone.
        for _ in 0..100 {
            if self.seen.is_gone() {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert!(self.seen.is_gone(), "something of the session is left");
        (served, lines)
    }
}
