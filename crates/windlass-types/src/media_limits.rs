//! Limits on images and documents in a request.

use serde::{Deserialize, Serialize};

/// Limits on images and documents in one request to a model. A service refuses a request above its limit, and then
/// every later one of the conversation, too.
///
/// The defaults are accepted by all vendors with published limits. Sizes are those of the sent form, mostly base64:
/// four bytes for three of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MediaLimits {
    /// Maximum size of all images and documents together, in bytes. Default: 20 MiB.
    pub bytes: usize,
    /// Maximum number of images and documents together. Default: 90.
    pub count: usize,
    /// Maximum number of documents. Default: 90.
    pub documents: usize,
    /// Maximum size of one image, in bytes. Default: 5 MiB.
    pub image_bytes: usize,
    /// Maximum size of one document, in bytes. Default: 14 MiB.
    pub document_bytes: usize,
}

impl MediaLimits {
    /// The same limits with another total in bytes and another count; as many documents as images.
    #[must_use]
    pub const fn with_total(mut self, bytes: usize, count: usize) -> Self {
        (self.bytes, self.count, self.documents) = (bytes, count, count);
        self
    }

    /// Maximum size of a file, in bytes, whose base64 form has at most `base64` bytes.
    #[must_use]
    pub const fn of_file(base64: usize) -> usize {
        base64 / 4 * 3
    }
}

impl Default for MediaLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self { bytes: 20 * MIB, count: 90, documents: 90, image_bytes: 5 * MIB, document_bytes: 14 * MIB }
    }
}
