//! Chunks of one text in the form in which the API writes them, read without a JSON parser: members in their order,
//! and at most one space behind a colon.

use super::UsageMetadata;

/// A chunk of one text or one thought.
#[derive(Debug)]
pub(crate) struct Plain<'a> {
    pub(crate) text: String,
    pub(crate) is_thought: bool,
    pub(crate) usage: UsageMetadata,
    /// What follows the usage: the model and the id, which each chunk repeats. It has not been read as JSON.
    pub(crate) tail: &'a str,
}

impl<'a> Plain<'a> {
    /// Reads such a chunk. `None` if it is anything else, or is written in another form: it is for the JSON parser
    /// then. If the tail is one that the parser has read behind another chunk, the parser reads here the same.
    pub(crate) fn read(data: &'a str) -> Option<Self> {
        let rest = value(data, "{\"candidates\":")?;
        let rest = value(rest, "[{\"content\":")?;
        let rest = value(rest, "{\"parts\":")?;
        let rest = value(rest, "[{\"text\":")?;
        let (text, rest) = string(rest)?;
        let (is_thought, rest) = match value(rest, ",\"thought\":") {
            Some(rest) => (true, rest.strip_prefix("true")?),
            None => (false, rest),
        };
        let rest = value(rest, "}],\"role\":")?.strip_prefix("\"model\"}")?;
        let rest = match value(rest, ",\"index\":") {
            Some(rest) => rest.strip_prefix('0')?,
            None => rest,
        };
        let (usage, tail) = usage(value(rest, "}],\"usageMetadata\":")?)?;
        Some(Self { text, is_thought, usage, tail })
    }
}

/// What follows a member's name, and its one space.
fn value<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    let rest = rest.strip_prefix(name)?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// What stands before the next quote, and what follows that.
fn to_quote(rest: &str) -> Option<(&str, &str)> {
    // Most of these strings are short: a plain loop finds their end sooner than a search made for long ones.
    let end = rest.bytes().position(|byte| byte == b'"')?;
    Some((rest.get(..end)?, rest.get(end + 1..)?))
}

/// A string, and what follows it.
fn string(rest: &str) -> Option<(String, &str)> {
    let (text, behind) = to_quote(rest.strip_prefix('"')?)?;
    // Without an early exit the compiler looks at many bytes at once.
    let is_plain = text.bytes().fold(true, |plain, byte| plain & (byte >= b' ') & (byte != b'\\'));
    if is_plain { Some((text.to_owned(), behind)) } else { escaped(rest) }
}

/// A string with escapes.
fn escaped(rest: &str) -> Option<(String, &str)> {
    let mut bytes = rest.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let (literal, behind) = rest.split_at_checked(at + 1)?;
                return Some((serde_json::from_str(literal).ok()?, behind));
            }
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    None
}

/// A number of few digits, and what follows it.
fn number(rest: &str) -> Option<(u64, &str)> {
    let mut number: u64 = 0;
    let mut digits = 0;
    for byte in rest.bytes() {
        match byte {
            b'0'..=b'9' if digits < 15 => number = number * 10 + u64::from(byte - b'0'),
            // Behind a fraction or an exponent there would be more of the number.
            b',' | b'}' if digits > 0 => break,
            _ => return None,
        }
        digits += 1;
    }
    let is_padded = digits > 1 && rest.starts_with('0');
    if is_padded { None } else { Some((number, rest.get(digits..)?)) }
}

/// The counts, and what follows their object.
fn usage(rest: &str) -> Option<(UsageMetadata, &str)> {
    let mut usage = UsageMetadata::default();
    let mut rest = rest.strip_prefix('{')?;
    loop {
        let (name, behind) = to_quote(rest.strip_prefix('"')?)?;
        rest = value(behind, ":")?;
        let figure = match name {
            "promptTokenCount" => Some(&mut usage.prompt_token_count),
            "cachedContentTokenCount" => Some(&mut usage.cached_content_token_count),
            "toolUsePromptTokenCount" => Some(&mut usage.tool_use_prompt_token_count),
            "candidatesTokenCount" => Some(&mut usage.candidates_token_count),
            "thoughtsTokenCount" => Some(&mut usage.thoughts_token_count),
            "totalTokenCount" => None,
            "promptTokensDetails" | "cacheTokensDetails" | "candidatesTokensDetails" => {
                rest = details(rest)?;
                match end(rest)? {
                    (true, behind) => return Some((usage, behind)),
                    (false, behind) => rest = behind,
                }
                continue;
            }
            _ => return None,
        };
        let (number, behind) = number(rest)?;
        match figure {
            // The parser refuses a member that comes twice.
            Some(Some(_)) => return None,
            Some(figure) => *figure = Some(number),
            None => {}
        }
        match end(behind)? {
            (true, behind) => return Some((usage, behind)),
            (false, behind) => rest = behind,
        }
    }
}

/// Whether an object ends here, or has another member.
fn end(rest: &str) -> Option<(bool, &str)> {
    rest.strip_prefix('}').map(|rest| (true, rest)).or_else(|| rest.strip_prefix(',').map(|rest| (false, rest)))
}

/// What follows a list of counts by kind.
fn details(rest: &str) -> Option<&str> {
    let mut rest = rest.strip_prefix('[')?;
    loop {
        rest = value(rest, "{\"modality\":")?.strip_prefix('"')?;
        rest = rest.trim_start_matches(|char: char| char.is_ascii_uppercase() || char == '_');
        let (_, behind) = number(value(rest, "\",\"tokenCount\":")?)?;
        rest = behind.strip_prefix('}')?;
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return rest.strip_prefix(']'),
        }
    }
}

#[cfg(test)]
mod tests;
