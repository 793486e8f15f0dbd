//! Conversion between absolute paths and `file:` URIs, without access to the file system.

use std::path::{Path, PathBuf};

/// Returns the URI of an absolute path.
pub(crate) fn of_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() };
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// Returns the absolute path of a `file:` URI of this machine; `None` for any other or malformed URI.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let after_scheme = uri.strip_prefix("file://")?;
    let encoded_path = after_scheme.strip_prefix("localhost").unwrap_or(after_scheme);
    let text = percent_decode(encoded_path)?;
    if !text.starts_with('/') || text.contains('\0') {
        return None;
    }
    // On Windows `/c:/work` means `c:/work`.
    let is_drive = cfg!(windows) && text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { text.trim_start_matches('/') } else { text.as_str() }))
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn foreign_uris_have_no_path() {
        for uri in
            ["http://a/b", "file://host/a", "file:relative", "file:///%", "file:///%zz", "file:///%ff", "file:///a%00"]
        {
            assert_eq!(to_path(uri), None, "{uri}");
        }
        assert_eq!(to_path("file://localhost/a%20b"), Some("/a b".into()));
        assert_eq!(of_path(Path::new("/a b/é#?.rs")), "file:///a%20b/%C3%A9%23%3F.rs");
    }

    proptest! {
        #[test]
        fn a_path_survives(parts in prop::collection::vec("[^/\u{0}]{1,12}", 1..5)) {
            let path = PathBuf::from(format!("/{}", parts.join("/")));
            prop_assert_eq!(to_path(&of_path(&path)), Some(path));
        }
    }
}
