//! How much of images and documents a request may hold.

use serde::{Deserialize, Serialize};

/// How much of images and documents one request to a model may hold. A service refuses a request with more, and then every
/// later one of the conversation, too.
///
/// The defaults are what all vendors take whose limits are published. Sizes are those of what is sent, which is mostly base64:
/// four bytes for three of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MediaLimits {
    /// Most bytes of all images and documents together. Default: 20 MiB.
    pub bytes: usize,
    /// Most images and documents. Default: 90.
    pub count: usize,
    /// Most documents. Default: 90.
    pub documents: usize,
    /// Most bytes of one image. Default: 5 MiB.
    pub image_bytes: usize,
    /// Most bytes of one document. Default: 14 MiB.
    pub document_bytes: usize,
}

impl MediaLimits {
    /// The same with another total and another count; as many documents as images.
    #[must_use]
    pub const fn with_total(mut self, bytes: usize, count: usize) -> Self {
        (self.bytes, self.count, self.documents) = (bytes, count, count);
        self
    }

    /// The bytes of a file whose base64 form has so many at most.
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
