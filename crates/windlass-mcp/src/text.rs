//! Texts for people.

use rmcp::transport::streamable_http_client::StreamableHttpError;
use windlass_context::Masks;

/// Maximum length of a server's error text, in characters.
pub(crate) const LONGEST_ERROR: usize = 2000;

/// Returns the text of an error with its causes, masked.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    // This error kind does not name its source.
    if let Some(StreamableHttpError::Client(client)) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        return chain(client);
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    // Addresses and headers may hold keys, and servers may repeat them.
    Masks::new().mask(&text).into_owned()
}

/// Cuts a text to at most `most` characters.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
