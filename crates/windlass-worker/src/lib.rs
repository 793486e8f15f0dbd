//! Runs the sessions of a shared store: claims those that are ready and those whose owner is gone, opens them, and hands
//! them over when it ends.
//!
//! A session names a [`Profile`] and a workspace of the worker's own configuration. A row of the database holds no program,
//! directory, environment, hook or permission mode, and can only narrow its profile.
//!
//! ```no_run
//! use std::sync::Arc;
//! use windlass::{Permissions, coding_tools, session};
//! use windlass_postgres::{PgConfig, PgStore};
//! use windlass_worker::{Profile, Worker};
//!
//! # async fn example(model: impl windlass::ModelProvider + Clone) -> Result<(), Box<dyn std::error::Error>> {
//! let store = PgStore::connect(&PgConfig::new("postgres://worker@db.example/windlass", "acme")?).await?;
//! let review = Profile::new(move |workspace| {
//!     let options = session().cwd(workspace).tools(coding_tools(workspace));
//!     Ok(options.provider(model.clone()).permissions(Permissions::new().wait_for_answers()))
//! });
//! let worker = Worker::new(store, "review-worker")
//!     .on_host("machine-7")
//!     .profile("review", review.max_turns(50))
//!     .workspace("repository", "/srv/repository");
//! // Runs until the future is ready, then hands its sessions over.
//! worker.run(async { tokio::time::sleep(std::time::Duration::from_secs(3_600)).await }).await?;
//! # Ok(())
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod inbox;
mod profile;
mod session;
mod worker;

pub use profile::{Profile, ProfileError};
pub use worker::{SessionEnd, Worker, WorkerError, WorkerEvent, WorkerReport};
