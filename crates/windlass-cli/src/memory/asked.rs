//! `/memory` in a prompt, which is answered without a model.

use crate::args::RunArgs;
use crate::launch;
use windlass::memory::MemoryDirectory;
use windlass::project::LoadedProject;
use windlass::project::MEMORY_COMMAND;

/// The name of the command.
pub(crate) const NAME: &str = MEMORY_COMMAND.0;

/// Returns the text after the command in a prompt that consists of it. A custom command or skill of this name takes
/// precedence.
pub(crate) fn called<'a>(prompt: &'a str, project: &LoadedProject) -> Option<&'a str> {
    let rest = prompt.trim_end().strip_prefix('/')?.strip_prefix(NAME)?;
    let is_called = rest.is_empty() || rest.starts_with(char::is_whitespace);
    (is_called && project.commands().get(NAME).is_none()).then_some(rest)
}

/// Returns the memory of a session with these flags, or the reason why it has none.
pub(crate) fn of_session(args: &RunArgs, project: &LoadedProject) -> Result<MemoryDirectory, String> {
    if !launch::has_memory(args) {
        return Err(
            "this session has no memory: --no-session-persistence, --workspace or --tools leave it out".to_owned()
        );
    }
    project.memory().ok_or_else(|| super::NONE.to_owned())
}
