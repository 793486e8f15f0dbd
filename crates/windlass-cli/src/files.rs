//! Files that the command line names.

use std::io;
use std::path::Path;
use windlass::project::read_named;

/// Maximum size of a configuration, a schema, a prompt or a list of agents, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum size of a script or a cassette, in bytes.
const MAX_RECORDING_BYTES: u64 = 1024 * 1024 * 1024;

/// Returns JSON text as it is, or the content of the file of that name.
pub(crate) fn text_or_file(given: &str) -> io::Result<String> {
    if given.trim_start().starts_with('{') { Ok(given.to_owned()) } else { read_named(Path::new(given), MAX_BYTES) }
}

/// Returns the text of a file.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    read_named(path, MAX_BYTES)
}

/// Returns the text of a script or a cassette.
pub(crate) fn recorded(path: &Path) -> io::Result<String> {
    read_named(path, MAX_RECORDING_BYTES)
}
