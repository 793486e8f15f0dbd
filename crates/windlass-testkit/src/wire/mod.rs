//! A local HTTP server that speaks the wire formats of model vendors.
//!
//! It listens on a free loopback port, answers with the replies of a test's script and records the requests. A reply
//! can be split, paused, cut, reset or left unanswered at any byte, so a client is tested over a real socket and not
//! against a mock of one.
//!
//! ```no_run
//! # async fn run() -> std::io::Result<()> {
//! use serde_json::json;
//! use windlass_testkit::wire::{Message, Reply, WireServer};
//!
//! let server = WireServer::start().await?;
//! server.push(Message::new().tool_use("toolu_1", "Read", json!({"file_path": "/a"})));
//! server.push(Message::new().text("Done."));
//! server.push(Reply::error(529, "overloaded_error", "Overloaded").header("retry-after", "2"));
//! // Point a client, or a child process through ANTHROPIC_BASE_URL, at server.url().
//! assert_eq!(server.requests().len(), 0);
//! # Ok(())
//! # }
//! ```
//!
//! Replies are taken from the queue first, then from the handler ([`WireServer::on_request`]). With neither, the answer
//! is a 400 that names the reason, because a client does not retry that.
//!
//! A [`Dialect`] writes an [`Answer`] as its vendor streams it, and accepts only requests that follow the vendor's
//! published rules: shapes made from the vendors' own SDKs, and the rules of their pages on order, pairs and ids.
//!
//! ```no_run
//! # async fn run() -> std::io::Result<()> {
//! use windlass_testkit::wire::{Answer, Dialect, WireServer};
//!
//! let server = WireServer::start().await?;
//! Dialect::Responses.serve(&server, |asked| {
//!     let answer = Answer::new(&asked.model).reasoning(["hm"], "gAAAAAtoken");
//!     if asked.results().is_empty() { answer.call("call_1", "Read", ["{}"]) } else { answer.text(["Done."]) }
//! });
//! # Ok(())
//! # }
//! ```

mod answer;
mod asked;
mod dialect;
mod failure;
mod http;
mod message;
mod reply;
mod rules;
mod schema;
mod send;
mod server;

#[doc(no_inline)]
pub use crate::Gate;
pub use answer::{Answer, Finish, Part, Tokens};
pub use asked::{Asked, Said};
pub use dialect::{ChatForm, Dialect};
pub use failure::{Failure, FailureKind};
pub use http::RecordedRequest;
pub use message::{Event, Message};
pub use reply::Reply;
pub use server::WireServer;
