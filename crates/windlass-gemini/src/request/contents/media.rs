//! Image and document parts.

use std::borrow::Cow;
use windlass_http::provider::JsonBody as Json;
use windlass_types::{ContentBlock, DocumentSource, ImageSource};

/// Types by the end of an address. The API requires one for addresses that are not its own.
const BY_END: [(&str, &str); 8] = [
    (".png", "image/png"),
    (".jpg", "image/jpeg"),
    (".jpeg", "image/jpeg"),
    (".gif", "image/gif"),
    (".webp", "image/webp"),
    (".heic", "image/heic"),
    (".pdf", "application/pdf"),
    (".txt", "text/plain"),
];

/// Addresses of files whose type the API knows.
const OWN_FILES: &str = "generativelanguage.googleapis.com/";

/// Image or document: bytes or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GeminiMedia<'a> {
    Inline { media_type: &'a str, data: &'a str },
    File { media_type: Option<&'static str>, uri: Cow<'a, str> },
}

impl<'a> GeminiMedia<'a> {
    /// Returns the image or document of a block; `None` for other blocks.
    pub(super) fn of(block: &'a ContentBlock) -> Option<Self> {
        match block {
            ContentBlock::Image { source: ImageSource::Base64 { media_type, data } }
            | ContentBlock::Document { source: DocumentSource::Base64 { media_type, data }, .. } => {
                Some(Self::Inline { media_type, data })
            }
            ContentBlock::Image { source: ImageSource::Url { url: uri } | ImageSource::File { file_id: uri } } => {
                Some(Self::at(uri, "image/jpeg"))
            }
            ContentBlock::Document {
                source: DocumentSource::Url { url: uri } | DocumentSource::File { file_id: uri },
                ..
            } => Some(Self::at(uri, "application/pdf")),
            _ => None,
        }
    }

    fn at(uri: &'a str, otherwise: &'static str) -> Self {
        if uri.contains(OWN_FILES) {
            return Self::File { media_type: None, uri: Cow::Borrowed(uri) };
        }
        // Short name of a file of the API, as in its answers.
        if uri.starts_with("files/") {
            let uri = Cow::Owned(format!("https://{OWN_FILES}v1beta/{uri}"));
            return Self::File { media_type: None, uri };
        }
        let path = uri.split(['?', '#']).next().unwrap_or(uri).to_ascii_lowercase();
        let known = BY_END.iter().find(|(end, _)| path.ends_with(end));
        let media_type = known.map_or(otherwise, |(_, media_type)| *media_type);
        Self::File { media_type: Some(media_type), uri: Cow::Borrowed(uri) }
    }

    /// Writes the member of a part whose brace is open, and closes that.
    pub(super) fn write(&self, out: &mut Json) {
        let (media_type, name, value) = match self {
            Self::Inline { media_type, data } => {
                out.raw("\"inlineData\":{");
                (Some(*media_type), "\"data\":", *data)
            }
            Self::File { media_type, uri } => {
                out.raw("\"fileData\":{");
                (*media_type, "\"fileUri\":", &**uri)
            }
        };
        if let Some(media_type) = media_type {
            out.raw("\"mimeType\":");
            out.json(media_type);
            out.raw(",");
        }
        out.raw(name);
        out.json(value);
        out.raw("}}");
    }
}

/// Returns the text of a text block or of a text document.
pub(super) fn text_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text { text, .. } => Some(text),
        ContentBlock::Document { source: DocumentSource::Text { data, .. }, .. } => Some(data),
        _ => None,
    }
}
