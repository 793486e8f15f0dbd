//! Observer port of logs.

use std::fmt;
use std::path::Path;

/// Observer of the durable length of logs, so that their lines can be sent elsewhere: the file itself is the queue.
/// Called from the thread that writes; it must not block.
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
    /// Reports that a log with this many bytes is about to be written.
    fn opened(&self, path: &Path, len: u64);

    /// Reports that the first `len` bytes of a log are durable: whole lines.
    fn written(&self, path: &Path, len: u64);
}
