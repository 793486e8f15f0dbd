//! PDF documents: their number of pages, and the text of pages for models that do not read documents.
//!
//! Documents may be hostile. Reading is bounded: in the bytes of a document, the unpacked bytes of one of its streams,
//! the time over all pages, and the text of each page. A panic of the parser is an error. Not bounded are the memory of
//! a document of many streams that each stay below their limit, and the time of reading one file of the largest size.

mod text;

use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::{Document, LoadOptions};

/// Maximum number of unpacked bytes of one stream.
const MAX_STREAM: usize = 32 * 1024 * 1024;
/// Maximum number of characters of one page that are shown.
const MAX_PAGE: usize = 40_000;

/// Counts the pages of a document.
///
/// # Errors
/// Reason why it cannot be read, as the rest of a sentence that begins with the document.
pub(crate) fn page_count(bytes: &[u8]) -> Result<u32, String> {
    catch_panic(|| {
        let document = load(bytes)?;
        u32::try_from(document.page_iter().count()).map_err(|_| "it has too many pages".to_owned())
    })
}

/// Text of pages, in their order; `is_stopped` is polled for a request to end.
///
/// # Errors
/// As for [`page_count`], or the pages do not exist.
pub(crate) fn text(
    bytes: &[u8],
    first: u32,
    last: u32,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<String, String> {
    catch_panic(|| {
        let document = load(bytes)?;
        let count = document.page_iter().count();
        let selected = document.page_iter().zip(1_u32..).filter(|(_, number)| (first..=last).contains(number));
        let mut shown = format!("[PDF document of {count} pages. Their text, without pictures and layout.]\n");
        let mut found = false;
        for (page, number) in selected {
            found = true;
            shown.push_str(&format!("\n--- page {number} ---\n"));
            if is_stopped() {
                return Err("reading it takes too long".to_owned());
            }
            match text::of_page(&document, page, MAX_PAGE, is_stopped) {
                Ok(text) if text.trim().is_empty() => shown.push_str("[no text: it may be a scan]\n"),
                Ok(text) => shown.push_str(&format!("{}\n", text.trim_end())),
                Err(problem) => shown.push_str(&format!("[not readable: {problem}]\n")),
            }
        }
        if found { Ok(shown) } else { Err(format!("it has only {count} pages")) }
    })
}

fn load(bytes: &[u8]) -> Result<Document, String> {
    let options = LoadOptions::with_max_decompressed_size(MAX_STREAM);
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| match error {
        lopdf::Error::InvalidPassword | lopdf::Error::Decryption(_) => "it is protected by a password".to_owned(),
        error => format!("it is damaged: {error}"),
    })?;
    if document.is_encrypted() {
        return Err("it is protected by a password".to_owned());
    }
    if document.page_iter().next().is_none() {
        return Err("it is damaged: it has no pages".to_owned());
    }
    Ok(document)
}

/// Turns a panic of the parser into the error of a damaged document.
fn catch_panic<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err("it is damaged: the parser failed on it".to_owned()))
}

#[cfg(test)]
mod tests;
