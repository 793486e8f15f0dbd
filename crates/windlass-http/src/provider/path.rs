//! Paths of requests.

use std::fmt::Write as _;

/// Appends a path segment, with other than plain characters percent-encoded: a slash or a colon would end a name.
pub fn escape_segment(segment: &str, path: &mut String) {
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~@".contains(&byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one() {
        let mut path = "/models/".to_owned();
        escape_segment("a b/ü?#c:d@1", &mut path);
        assert_eq!(path, "/models/a%20b%2F%C3%BC%3F%23c%3Ad@1");
    }
}
