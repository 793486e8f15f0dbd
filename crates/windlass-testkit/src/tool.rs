//! Conformance of tools: checks of the promises of [`Tool`](windlass_tool::Tool) and
//! [`DynTool`](windlass_tool::DynTool).
//!
//! A rule takes a [`ToolBench`] with the ports that the tool needs, and *samples*: inputs that the tool accepts and
//! that have an effect there.
//!
//! ```
//! use serde_json::json;
//! use windlass_testkit::{ToolBench, tool};
//! use windlass_tool::{ToolCx, schemars, tool_fn};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct City {
//!     /// City to look up.
//!     name: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), windlass_testkit::Violation> {
//! let weather = tool_fn("weather", "Current weather for a city.", |city: City, _: ToolCx| async move {
//!     Ok(format!("It is sunny in {}.", city.name))
//! });
//! tool::all(&ToolBench::new(weather), &[json!({"name": "Oslo"})]).await
//! # }
//! ```

mod calling;
mod fuzz;
mod reading;
mod watch;

pub use calling::{answers_a_cancel, fits_its_bound, keeps_to_its_access};
pub use reading::{has_a_valid_spec, reads_samples_steadily, rejects_unfit_inputs, survives_any_input};

use serde_json::Value;

use crate::{ToolBench, Violation};

/// Checks every promise of this module that samples are enough for, in turn: all but [`rejects_unfit_inputs`].
///
/// The samples are called several times, also with a cancel: on a real workspace their effects are real.
///
/// # Errors
/// The first broken promise.
pub async fn all(bench: &ToolBench, samples: &[Value]) -> Result<(), Violation> {
    has_a_valid_spec(bench)?;
    reads_samples_steadily(bench, samples)?;
    survives_any_input(bench, samples)?;
    for sample in samples {
        keeps_to_its_access(bench, sample).await?;
        fits_its_bound(bench, sample).await?;
        answers_a_cancel(bench, sample).await?;
    }
    Ok(())
}
