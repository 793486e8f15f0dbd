//! Attributes of files.

/// Maximum number of bytes of attributes that are read.
const MAX_ATTRIBUTES: usize = 256 * 1024;

/// Drivers for `diff` that git brings along: patterns for the headers of hunks.
const BUILT_IN: &[&str] = &[
    "ada", "bash", "bibtex", "cpp", "csharp", "css", "dts", "elixir", "fortran", "fountain", "golang", "html", "ini",
    "java", "kotlin", "markdown", "matlab", "objc", "pascal", "perl", "php", "python", "r", "ruby", "rust", "scheme",
    "tex",
];

/// Returns `true` if attributes (`.gitattributes`, `info/attributes`) send no file through a filter or a converter. The
/// programs behind those names come from configuration, also the user's own.
#[must_use]
pub fn attributes_are_inert(bytes: &[u8]) -> bool {
    if bytes.len() > MAX_ATTRIBUTES {
        return false;
    }
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
    // Every word is checked, also those of the pattern: a doubt is a no.
    bytes.split(|byte| *byte == b'\n').filter(|line| line.iter().find(|byte| !blank(byte)) != Some(&b'#')).all(|line| {
        line.split(blank).all(|word| match word.strip_prefix(b"filter".as_slice()) {
            Some(rest) => !(rest.is_empty() || rest.starts_with(b"=")),
            None => word.strip_prefix(b"diff=".as_slice()).is_none_or(is_built_in),
        })
    })
}

fn is_built_in(name: &[u8]) -> bool {
    BUILT_IN.iter().any(|known| known.as_bytes() == name)
}

#[cfg(test)]
mod tests;
