//! Tests for programs built on windlass: fakes of every port, faults on demand, and kits that check the promises of an
//! implementation of a port.
//!
//! | to test | there is |
//! |---|---|
//! | a tool of yours | [`ToolBench`] calls it in three lines; the kit [`tool`] checks what every tool promises |
//! | a hook, a permission callback | the kits [`hook`] and [`can_use_tool`] |
//! | files, programs, a clock of yours | the kits [`workspace`], [`process`], [`system`] |
//! | a session store, file checkpoints, a model provider | the kits [`store`], [`checkpoints`], [`provider`] |
//! | a client of HTTP for providers | the kit `transport`, with the feature of that name |
//! | a host against files, programs, time, people | [`fake`]: [`MemoryWorkspace`](fake::MemoryWorkspace), [`ScriptedProcess`](fake::ScriptedProcess), [`ManualClock`](fake::ManualClock), [`SequentialIds`](fake::SequentialIds), [`ScriptedHost`](fake::ScriptedHost), [`RecordingHook`](fake::RecordingHook) |
//! | what happens when a port fails | [`fault`]: [`FaultyWorkspace`](fault::FaultyWorkspace), [`FaultyStore`](fault::FaultyStore) |
//! | code whose system calls fail | [`strace`]: a test of its own process, under `strace` |
//! | a client of a model vendor's API, over a real socket | [`wire`]: [`WireServer`](wire::WireServer), [`Dialect`](wire::Dialect) |
//! | a race, without a sleep | [`Gate`] |
//! | where a program or a right is missing | [`skipped`] reports that a test did not run, also to a file if one is named |
//!
//! Models without a network are in `windlass-model` itself: a scripted one, and recordings.
//!
//! # A tool in three lines
//!
//! ```
//! use serde_json::json;
//! use windlass_testkit::ToolBench;
//! use windlass_tool::{ToolCx, schemars, tool_fn};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Sum {
//!     /// The numbers to add.
//!     numbers: Vec<i64>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let bench = ToolBench::new(tool_fn("add", "Adds numbers.", |sum: Sum, _: ToolCx| async move {
//!     Ok(sum.numbers.iter().sum::<i64>().to_string())
//! }));
//! let output = bench.call(json!({"numbers": [1, 2, 3]})).await.map_err(|error| error.into_error())?;
//! assert_eq!(output.content.text(), "6");
//!
//! // And what every tool promises: a valid spec, a steady answer to what it touches, no panic whatever
//! // comes, an end when it is cancelled …
//! windlass_testkit::tool::all(&bench, &[json!({"numbers": [1, 2, 3]})]).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # A store of your own
//!
//! A kit is a module of plain functions, one for each promise of a port, and one `all`. They return the [`Violation`]
//! that they found, in a sentence.
//!
//! ```
//! use windlass_session::{Durability, MemoryStore, Owner, SessionStore, StoreErrorKind};
//! use windlass_testkit::fault::{FaultyStore, StoreOperation};
//! use windlass_testkit::store::{self, Crash, entries, header, key};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Every promise of the port, kept by your store …
//! store::all(&MemoryStore::new(), Crash::LeavesWholeEntries).await?;
//!
//! // … and what your host does when the disk is full at the second append.
//! let disk = FaultyStore::new(MemoryStore::new());
//! disk.fail_from(StoreOperation::Append, 2, StoreErrorKind::Full);
//! let lease = disk.open(&key("host", 1), &Owner::new(1, "host"), header()).await?;
//! let seq = disk.append(&lease, lease.seq(), entries(), Durability::Durable).await?;
//! let error = disk.append(&lease, seq, entries(), Durability::Durable).await.unwrap_err();
//! assert_eq!(error.kind, StoreErrorKind::Full);
//! # Ok(())
//! # }
//! ```
//!
//! # In your own `Cargo.toml`
//!
//! Add it as a development dependency, used from `tests/`. Kits that wait need a tokio runtime with time enabled; a
//! paused one is enough.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(clippy::disallowed_methods, reason = "kits hold real implementations against real time")]

mod bench;
pub mod can_use_tool;
pub mod checkpoints;
pub mod fake;
pub mod fault;
pub mod frames;
mod gate;
pub mod hook;
pub mod process;
pub mod provider;
mod skip;
pub mod store;
pub mod strace;
pub mod system;
pub mod tool;
#[cfg(feature = "transport")]
pub mod transport;
mod violation;
pub mod wire;
pub mod workspace;

pub use bench::ToolBench;
pub use gate::Gate;
pub use skip::{SKIPPED_FILE, skipped};
pub use violation::Violation;
