//! Image and document blocks.

use windlass_http::provider::JsonBody as Json;
use windlass_types::{ContentBlock, DocumentSource, ImageSource};

/// Formats of images, by their types.
const IMAGES: [(&str, &str); 5] =
    [("image/png", "png"), ("image/jpeg", "jpeg"), ("image/jpg", "jpeg"), ("image/gif", "gif"), ("image/webp", "webp")];

/// Formats of documents, by their types.
const DOCUMENTS: [(&str, &str); 9] = [
    ("application/pdf", "pdf"),
    ("text/csv", "csv"),
    ("application/msword", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("text/html", "html"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
];

/// Image or document that the API takes: as bytes, or from a bucket of S3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConverseMedia<'a> {
    is_document: bool,
    format: &'static str,
    source: MediaSource<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MediaSource<'a> {
    /// Data in base64.
    Bytes(&'a str),
    S3(&'a str),
}

impl<'a> ConverseMedia<'a> {
    /// Returns the image or document of a block; `None` for other blocks, and for forms that the API does not take.
    pub(super) fn of(block: &'a ContentBlock) -> Option<Self> {
        match block {
            ContentBlock::Image { source } => {
                let (format, source) = match source {
                    ImageSource::Base64 { media_type, data } => {
                        (by_type(&IMAGES, media_type)?, MediaSource::Bytes(data))
                    }
                    ImageSource::Url { url: uri } | ImageSource::File { file_id: uri } => {
                        (by_end(&IMAGES, uri)?, MediaSource::S3(in_bucket(uri)?))
                    }
                    _ => return None,
                };
                Some(Self { is_document: false, format, source })
            }
            ContentBlock::Document { source, .. } => {
                let (format, source) = match source {
                    DocumentSource::Base64 { media_type, data } => {
                        (by_type(&DOCUMENTS, media_type)?, MediaSource::Bytes(data))
                    }
                    DocumentSource::Url { url: uri } | DocumentSource::File { file_id: uri } => {
                        (by_end(&DOCUMENTS, uri)?, MediaSource::S3(in_bucket(uri)?))
                    }
                    _ => return None,
                };
                Some(Self { is_document: true, format, source })
            }
            _ => None,
        }
    }

    pub(super) fn is_document(&self) -> bool {
        self.is_document
    }

    /// Writes the block. `number` is the number of a document. Its name holds nothing else, because models may take
    /// names for instructions; its title is sent as text.
    pub(super) fn write(&self, out: &mut Json, number: usize) {
        out.raw(if self.is_document { "{\"document\":{\"format\":\"" } else { "{\"image\":{\"format\":\"" });
        out.raw(self.format);
        if self.is_document {
            out.raw("\",\"name\":\"Document ");
            out.json(&number);
        }
        match self.source {
            MediaSource::Bytes(data) => {
                out.raw("\",\"source\":{\"bytes\":");
                out.json(data);
                out.raw("}}}");
            }
            MediaSource::S3(uri) => {
                out.raw("\",\"source\":{\"s3Location\":{\"uri\":");
                out.json(uri);
                out.raw("}}}}");
            }
        }
    }
}

fn by_type(formats: &[(&str, &'static str)], media_type: &str) -> Option<&'static str> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    formats.iter().find(|(known, _)| known.eq_ignore_ascii_case(essence)).map(|(_, format)| *format)
}

fn by_end(formats: &[(&str, &'static str)], uri: &str) -> Option<&'static str> {
    let (_, end) = uri.rsplit_once('.')?;
    let end = if end.eq_ignore_ascii_case("jpg") { "jpeg" } else { end };
    formats.iter().map(|(_, format)| *format).find(|format| format.eq_ignore_ascii_case(end))
}

/// Returns the address of an object in S3; the API reads no others.
fn in_bucket(uri: &str) -> Option<&str> {
    uri.starts_with("s3://").then_some(uri)
}

/// Returns the text of a text block or of a text document.
pub(super) fn text_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text { text, .. } => Some(text),
        ContentBlock::Document { source: DocumentSource::Text { data, .. }, .. } => Some(data),
        _ => None,
    }
}

/// Returns the note that replaces an image or a document that the API does not take.
pub(super) fn note_on(block: &ContentBlock) -> Option<String> {
    if ConverseMedia::of(block).is_some() {
        return None;
    }
    let (what, source) = match block {
        ContentBlock::Image { source } => (
            "image",
            match source {
                ImageSource::Base64 { media_type, .. } => media_type,
                ImageSource::Url { url } => url,
                ImageSource::File { file_id } => file_id,
                _ => "",
            },
        ),
        ContentBlock::Document { source, .. } => (
            "document",
            match source {
                DocumentSource::Base64 { media_type, .. } => media_type,
                DocumentSource::Url { url } => url,
                DocumentSource::File { file_id } => file_id,
                _ => "",
            },
        ),
        _ => return None,
    };
    Some(format!("({what} left out, since this model's API does not take it: {source})"))
}
