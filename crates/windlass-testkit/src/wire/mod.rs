//! A local HTTP server that speaks the Anthropic Messages wire format.
//!
//! It listens on a free loopback port, answers with what a test scripted and
//! records what it was asked. A reply can be split, paused, cut, reset or left
//! unanswered at any byte, so a client is tested over a real socket and not
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
//! Replies are taken from the queue first, then asked of the handler
//! ([`WireServer::on_request`]). With neither, the answer is a 400 that names the reason,
//! because a client does not retry that.

mod http;
mod message;
mod reply;
mod send;
mod server;

#[doc(no_inline)]
pub use crate::Gate;
pub use http::RecordedRequest;
pub use message::{Event, Message};
pub use reply::Reply;
pub use server::WireServer;
