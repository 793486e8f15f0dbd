//! Files that the command line names.

use std::io;
use std::path::Path;
use windlass::crates::project::read_named;

/// Most bytes of a configuration, a schema, a prompt or a list of agents.
const MOST: u64 = 16 * 1024 * 1024;
/// Most bytes of a script or a cassette.
const MOST_RECORDED: u64 = 1024 * 1024 * 1024;

/// JSON text as it is, or what the file of that name holds.
pub(crate) fn text_or_file(given: &str) -> io::Result<String> {
    if given.trim_start().starts_with('{') { Ok(given.to_owned()) } else { read_named(Path::new(given), MOST) }
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    read_named(path, MOST)
}

/// The text of a script or a cassette.
pub(crate) fn recorded(path: &Path) -> io::Result<String> {
    read_named(path, MOST_RECORDED)
}
