//! `--programs`: a tool for small programs, written by the model, that call other tools.

use crate::failure::Usage;
use windlass::tool::Toolkit;

/// The name of the tool.
pub(crate) const PROGRAM_TOOL: &str = "Program";

/// Adds the tool.
#[cfg(feature = "program")]
pub(crate) fn with_programs(tools: Toolkit) -> Result<Toolkit, Usage> {
    Ok(tools.with(windlass::program::Program::default()))
}

/// The interpreter is not in this build.
#[cfg(not(feature = "program"))]
pub(crate) fn with_programs(_: Toolkit) -> Result<Toolkit, Usage> {
    Err(Usage(
        "--programs: this windlass is built without the tool for programs; `cargo install windlass-cli --features program` \
         builds one that has it"
            .to_owned(),
    ))
}
