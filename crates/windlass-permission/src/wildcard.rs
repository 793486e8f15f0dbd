//! Texts with `*`.

/// A text in which `*` matches any characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wildcard(Vec<String>);

impl Wildcard {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.split('*').map(str::to_owned).collect())
    }

    /// Returns `true` if the pattern has no `*`.
    pub(crate) fn is_literal(&self) -> bool {
        self.0.len() == 1
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_first() else { return false };
        let Some((last, middle)) = rest.split_last() else { return text == first };
        let Some(mut text) = text.strip_prefix(first.as_str()).and_then(|t| t.strip_suffix(last.as_str())) else {
            return false;
        };
        for part in middle {
            match text.split_once(part.as_str()) {
                Some((_, after)) => text = after,
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "a", true),
            ("*a*b*", "xaybz", true),
            ("ab*ba", "aba", false),
            ("a*b*a", "aba", true),
            ("*", "", true),
            ("", "x", false),
            ("a**b", "ab", true),
            ("*bc", "abcabc", true),
        ] {
            assert_eq!(Wildcard::new(pattern).matches(text), expected, "{pattern} {text}");
        }
    }
}
