//! Reading of the files that servers are shown.

use std::path::Path;

use crate::CodeError;

/// Maximum size of a file, in bytes.
pub(crate) const LARGEST: u64 = 4 * 1024 * 1024;

/// Reads the text of a regular file. Bytes that are not UTF-8 are replaced, like servers do when they read the file
/// themselves.
pub(crate) async fn text(path: &Path) -> Result<String, CodeError> {
    let wrong = |why: String| CodeError::File { path: path.display().to_string(), why };
    let about = tokio::fs::metadata(path).await.map_err(|error| wrong(error.to_string()))?;
    if !about.is_file() {
        return Err(wrong("it is no regular file".to_owned()));
    }
    if about.len() > LARGEST {
        return Err(wrong(format!("it has {} bytes, and at most {LARGEST} are shown to a server", about.len())));
    }
    let bytes = tokio::fs::read(path).await.map_err(|error| wrong(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the number of UTF-16 units before a character of a line; both counted from one. A position behind the end of
/// a line is its end.
pub(crate) fn utf16_offset(text: &str, line: u32, character: u32) -> u32 {
    let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = text.lines().nth(at).unwrap_or_default();
    let before = usize::try_from(character.saturating_sub(1)).unwrap_or(usize::MAX);
    let units: usize = line.chars().take(before).map(char::len_utf16).sum();
    u32::try_from(units).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_as_the_protocol_does() {
        let text = "ab\né🦀x\r\n";
        for (line, character, expected) in [(1, 1, 0), (1, 3, 2), (2, 2, 1), (2, 3, 3), (2, 9, 4), (7, 3, 0), (0, 0, 0)]
        {
            assert_eq!(utf16_offset(text, line, character), expected, "{line}:{character}");
        }
    }

    #[tokio::test]
    async fn only_regular_files_of_a_bounded_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let large = folder.path().join("large");
        std::fs::File::create(&large).unwrap().set_len(LARGEST + 1).unwrap();
        std::fs::write(folder.path().join("odd"), b"a\xff").unwrap();
        assert!(matches!(text(folder.path()).await, Err(CodeError::File { .. })));
        assert!(matches!(text(&large).await, Err(CodeError::File { .. })));
        assert_eq!(text(&folder.path().join("odd")).await.unwrap(), "a\u{fffd}");
    }
}
