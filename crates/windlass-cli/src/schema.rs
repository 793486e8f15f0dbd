//! `--json-schema`.

use std::path::Path;
use windlass::JsonText;
use windlass::project::read_named;

/// Largest schema file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A schema given as text or as the name of a file.
pub(crate) fn read(given: &str) -> Result<JsonText, String> {
    let trimmed = given.trim();
    let text = if trimmed.starts_with('{') { trimmed.to_owned() } else { file(given)? };
    JsonText::parse(text.trim()).map_err(|error| format!("it is not JSON: {error}"))
}

fn file(path: &str) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("it is neither a JSON object nor a file that can be read: {error}");
    read_named(Path::new(path), MAX_BYTES).map_err(cannot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_or_a_file() {
        assert_eq!(read(r#" {"type":"object"} "#).unwrap().as_str(), r#"{"type":"object"}"#);
        assert!(read("{").unwrap_err().contains("not JSON"));
        assert!(read("no such file").unwrap_err().contains("neither"));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("schema.json");
        std::fs::write(&path, "{\"type\":\"object\"}\n").unwrap();
        assert!(read(path.to_str().unwrap()).is_ok());
    }
}
