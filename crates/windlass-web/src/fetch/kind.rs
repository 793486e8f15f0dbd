//! Kind of a body, by its type and its beginning.

/// Kind of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    /// Bytes without a text form.
    Binary,
}

/// Splits a `content-type` into the media type, in lower case, and the charset.
pub(super) fn media_type(header: &str) -> (String, Option<String>) {
    let mut parts = header.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    (media_type, charset)
}

/// Returns the kind of a body. A text type is not trusted if the bytes are no text.
pub(super) fn of(media_type: &str, bytes: &[u8]) -> Kind {
    const TEXTS: [&str; 11] = [
        "application/json",
        "application/ld+json",
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/x-sh",
        "application/graphql",
    ];
    let beginning: Vec<u8> = bytes.iter().take(1024).copied().collect();
    let has_mark = encoding_rs::Encoding::for_bom(&beginning).is_some();
    if beginning.contains(&0) && !has_mark {
        return Kind::Binary;
    }
    match media_type {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "" | "application/octet-stream" if looks_like_html(&beginning) => Kind::Html,
        "" => Kind::Text,
        "application/octet-stream" if std::str::from_utf8(bytes).is_ok() => Kind::Text,
        _ if media_type.starts_with("text/") || TEXTS.contains(&media_type) => Kind::Text,
        _ if media_type.ends_with("+json") || media_type.ends_with("+xml") || media_type.ends_with("+yaml") => {
            Kind::Text
        }
        _ => Kind::Binary,
    }
}

fn looks_like_html(beginning: &[u8]) -> bool {
    let text: String = beginning.iter().map(|byte| char::from(*byte).to_ascii_lowercase()).collect();
    let text = text.trim_start();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| text.starts_with(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_apart() {
        for (header, bytes, expected) in [
            ("text/html; charset=utf-8", &b"x"[..], Kind::Html),
            ("TEXT/HTML", b"x", Kind::Html),
            ("text/html", b"a\0b", Kind::Binary),
            ("text/plain", b"\xff\xfea\0", Kind::Text),
            ("text/markdown", b"# x", Kind::Text),
            ("application/json", b"{}", Kind::Text),
            ("application/vnd.api+json", b"{}", Kind::Text),
            ("image/svg+xml", b"<svg/>", Kind::Text),
            ("image/png", b"x", Kind::Binary),
            ("application/pdf", b"%PDF", Kind::Binary),
            ("application/zip", b"PK", Kind::Binary),
            ("application/octet-stream", b"plain", Kind::Text),
            ("application/octet-stream", b"\xff\xfe\xfd", Kind::Binary),
            ("", b" <!DOCTYPE html><p>", Kind::Html),
            ("", b"plain", Kind::Text),
        ] {
            assert_eq!(of(&media_type(header).0, bytes), expected, "{header}");
        }
        assert_eq!(media_type("text/html; x=y; Charset=\"utf-8\"").1.as_deref(), Some("utf-8"));
    }
}
