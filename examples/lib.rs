//! What the examples share: a folder to work in. Run one with
//! `cargo run -p windlass-examples --example quickstart`.

use std::io;
use tempfile::TempDir;

/// A temporary folder with one small program in it.
///
/// # Errors
/// The folder cannot be made.
pub fn workspace() -> io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("greet.py"), "def greet(name):\n    return 'Helo ' + name\n")?;
    Ok(folder)
}
