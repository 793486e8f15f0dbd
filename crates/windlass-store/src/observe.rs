//! The port to observers of logs.

use std::fmt;
use std::path::Path;

/// Is informed how far a log is durable, so that its lines can be sent elsewhere:
/// the file itself is the queue. Called from the thread that writes; it must not
/// block.
pub trait LogObserver: fmt::Debug + Send + Sync + 'static {
    /// A log is about to be written that held this many bytes.
    fn opened(&self, path: &Path, len: u64);

    /// The first `len` bytes of a log are durable: whole lines.
    fn written(&self, path: &Path, len: u64);
}
