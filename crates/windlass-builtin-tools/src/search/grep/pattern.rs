//! Compilation of patterns to matchers, and advice for mistakes.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::query::GrepQuery;

/// Maximum length of a pattern, in bytes.
const MAX_PATTERN: usize = 64 * 1024;

/// A pattern that is not a supported regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid regular expression: {reason}{hint}")]
pub(crate) struct PatternError {
    reason: String,
    hint: String,
}

pub(super) fn compile(query: &GrepQuery) -> Result<RegexMatcher, PatternError> {
    if query.pattern.is_empty() {
        return Err(PatternError { reason: "it is empty".to_owned(), hint: String::new() });
    }
    if query.pattern.len() > MAX_PATTERN {
        return Err(PatternError { reason: format!("it is longer than {MAX_PATTERN} bytes"), hint: String::new() });
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(query.ignore_case).multi_line(true).unicode(true).octal(false);
    if query.multiline {
        builder.dot_matches_new_line(true);
        return builder.build(&query.pattern).map_err(|error| explain(&query.pattern, &error));
    }
    // `$` also matches before CRLF, except in a pattern that contains CR itself.
    builder.crlf(true);
    builder.build(&query.pattern).or_else(|_| {
        builder
            .crlf(false)
            .line_terminator(Some(b'\n'))
            .build(&query.pattern)
            .map_err(|error| explain(&query.pattern, &error))
    })
}

fn explain(pattern: &str, error: &grep_regex::Error) -> PatternError {
    use grep_regex::ErrorKind;
    match error.kind() {
        ErrorKind::NotAllowed(_) => PatternError {
            reason: "it contains a line break".to_owned(),
            hint: "; set `multiline` to true to match across lines".to_owned(),
        },
        ErrorKind::Regex(text) => PatternError {
            // The parser prints the pattern with a caret below; its last line is the message.
            reason: text.lines().last().unwrap_or(text).trim_start_matches("error: ").to_owned(),
            hint: advice(pattern, text),
        },
        _ => PatternError { reason: error.to_string(), hint: String::new() },
    }
}

fn advice(pattern: &str, text: &str) -> String {
    if text.contains("look-around") {
        return "; match more with a plain pattern and narrow the result with `glob` or `-A`/`-B`".to_owned();
    }
    if text.contains("backreferences") {
        return "; spell out the alternatives instead".to_owned();
    }
    if text.contains("size limit") {
        return "; use a smaller repetition".to_owned();
    }
    format!("; to search for the text as it stands, use `{}`", escape(pattern))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
