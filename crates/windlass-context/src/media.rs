//! Images and documents that no provider accepts.
//!
//! One of them in the conversation would be refused again with every later request, so it must not enter the
//! conversation.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use windlass_types::{ContentBlock, DocumentSource, IMAGE_TYPES, ImageSource, media_type_of};

/// Maximum number of base64 characters of one image: the limit of the Messages API
/// (<https://docs.claude.com/en/docs/build-with-claude/vision>). Some providers of the same models accept half.
const MAX_IMAGE_CHARS: usize = 10 * 1024 * 1024;
const PDF: &str = "application/pdf";

/// Returns the reason why one of the blocks cannot be sent, as a message for its sender; `None` if all can, as far as
/// their bytes show.
#[must_use]
pub fn unusable_media(blocks: &[ContentBlock]) -> Option<String> {
    blocks.iter().find_map(|block| match block {
        ContentBlock::Image { source: ImageSource::Base64 { media_type, data } } => image(media_type, data),
        ContentBlock::Document { source: DocumentSource::Base64 { media_type, data }, .. } => {
            let problem = match bytes(data) {
                Err(problem) => Some(problem),
                Ok(_) if media_type != PDF => Some(format!("is {media_type}, and only {PDF} can be sent")),
                Ok(_) => None,
            };
            problem.map(|problem| format!("A document of the prompt {problem}."))
        }
        _ => None,
    })
}

fn image(media_type: &str, data: &str) -> Option<String> {
    let problem = match bytes(data) {
        Err(problem) => problem,
        Ok(_) if !IMAGE_TYPES.contains(&media_type) => {
            format!("is {media_type}, and only {} can be sent", IMAGE_TYPES.join(", "))
        }
        Ok(_) if data.len() > MAX_IMAGE_CHARS => {
            format!(
                "takes {} characters of base64, and at most {MAX_IMAGE_CHARS} can be sent: make it smaller",
                data.len()
            )
        }
        Ok(bytes) => {
            let found = media_type_of(&bytes).filter(|found| *found != media_type)?;
            format!("says that it is {media_type}, but it is {found}")
        }
    };
    Some(format!("An image of the prompt {problem}."))
}

fn bytes(data: &str) -> Result<Vec<u8>, String> {
    match STANDARD.decode(data) {
        Ok(bytes) if bytes.is_empty() => Err("is empty".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(format!("is not valid base64: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image_of(media_type: &str, data: &str) -> ContentBlock {
        let (media_type, data) = (media_type.to_owned(), data.to_owned());
        ContentBlock::Image { source: ImageSource::Base64 { media_type, data } }
    }

    fn document_of(media_type: &str, data: &str) -> ContentBlock {
        let (media_type, data) = (media_type.to_owned(), data.to_owned());
        ContentBlock::Document { source: DocumentSource::Base64 { media_type, data }, title: None }
    }

    #[test]
    fn what_no_provider_takes_is_named() {
        let large = STANDARD.encode(vec![0; MAX_IMAGE_CHARS]);
        for (block, says) in [
            (ContentBlock::text("x"), None),
            (image_of("image/png", "AA=="), None),
            (image_of("image/png", "iVBORw0KGgo="), None),
            (image_of("image/jpeg", "iVBORw0KGgo="), Some("but it is image/png")),
            (image_of("image/png", "JVBERi0xLjQ="), Some("but it is application/pdf")),
            (image_of("image/png", ""), Some("is empty")),
            (image_of("image/png", "not base64!"), Some("not valid base64")),
            (image_of("image/png", "AA"), Some("not valid base64")),
            (image_of("image/png", "data:image/png;base64,AA=="), Some("not valid base64")),
            (image_of("image/tiff", "AA=="), Some("only image/png")),
            (image_of("image/png", &large), Some("make it smaller")),
            (document_of(PDF, "JVBERi0xLjQ="), None),
            (document_of(PDF, "%PDF"), Some("not valid base64")),
            (document_of("text/html", "AA=="), Some("only application/pdf")),
        ] {
            let problem = unusable_media(&[ContentBlock::text("see"), block]);
            match (says, &problem) {
                (None, None) => {}
                (Some(says), Some(problem)) => assert!(problem.contains(says), "{problem}"),
                _ => panic!("{says:?}: {problem:?}"),
            }
        }
    }
}
