//! The port to observers of logs.

use std::fmt;
use std::path::Path;

/// Is informed how far a log is durable, so that its lines can be sent elsewhere:
/// the file itself is the queue. Called from the thread that writes; it must not
/// block.
///
/// ```
/// use std::path::{Path, PathBuf};
/// use std::sync::mpsc;
/// use windlass_store::LogObserver;
///
/// /// Hands on how much of which file can be sent elsewhere.
/// #[derive(Debug)]
/// struct Upload(mpsc::Sender<(PathBuf, u64)>);
///
/// impl LogObserver for Upload {
///     fn opened(&self, _: &Path, _: u64) {}
///
///     fn written(&self, path: &Path, len: u64) {
///         // It fails when no one uploads any more.
///         let _ = self.0.send((path.to_owned(), len));
///     }
/// }
/// ```
pub trait LogObserver: fmt::Debug + Send + Sync + 'static {
    /// A log is about to be written that held this many bytes.
    fn opened(&self, path: &Path, len: u64);

    /// The first `len` bytes of a log are durable: whole lines.
    fn written(&self, path: &Path, len: u64);
}
