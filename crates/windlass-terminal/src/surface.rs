//! All of the output in one place: updates and inputs in, frames out.

mod inline;
mod plain;

pub use inline::{SurfaceOptions, TerminalSurface};
pub use plain::PlainSurface;
