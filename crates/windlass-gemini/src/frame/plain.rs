//! Chunks of one text in the form in which the API writes them, read without a JSON parser: members in their order, and
//! at most one space after a colon.

use super::UsageMetadata;

/// Chunk of one text or one thought.
#[derive(Debug)]
pub(crate) struct Plain<'a> {
    pub(crate) text: String,
    pub(crate) is_thought: bool,
    pub(crate) usage: UsageMetadata,
    /// Text after the usage: the model and the id, which each chunk repeats. Not read as JSON.
    pub(crate) tail: &'a str,
}

impl<'a> Plain<'a> {
    /// Reads such a chunk. `None` if the chunk is anything else, or is written in another form: the JSON parser reads
    /// it then. If the parser has read the same tail after another chunk, it reads here the same.
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

/// Returns the text after a member's name and one space.
fn value<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    let rest = rest.strip_prefix(name)?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// Splits a text at the next quote.
fn to_quote(rest: &str) -> Option<(&str, &str)> {
    // Most of these strings are short: a plain loop finds their end sooner than a search made for long ones.
    let end = rest.bytes().position(|byte| byte == b'"')?;
    Some((rest.get(..end)?, rest.get(end + 1..)?))
}

/// Reads a string, and returns the text after it.
fn string(rest: &str) -> Option<(String, &str)> {
    let (text, behind) = to_quote(rest.strip_prefix('"')?)?;
    // Without an early exit the compiler can process many bytes at once.
    let is_plain = text.bytes().fold(true, |plain, byte| plain & (byte >= b' ') & (byte != b'\\'));
    if is_plain { Some((text.to_owned(), behind)) } else { escaped(rest) }
}

/// Reads a string with escapes.
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

/// Reads a number of few digits, and returns the text after it.
fn number(rest: &str) -> Option<(u64, &str)> {
    let mut number: u64 = 0;
    let mut digits = 0;
    for byte in rest.bytes() {
        match byte {
            b'0'..=b'9' if digits < 15 => number = number * 10 + u64::from(byte - b'0'),
            // Other characters would belong to a fraction or an exponent.
            b',' | b'}' if digits > 0 => break,
            _ => return None,
        }
        digits += 1;
    }
    let is_padded = digits > 1 && rest.starts_with('0');
    if is_padded { None } else { Some((number, rest.get(digits..)?)) }
}

/// Reads the counts, and returns the text after their object.
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
            // The parser refuses a repeated member.
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

/// Returns `true` at the end of an object, `false` before another member, and the text after it.
fn end(rest: &str) -> Option<(bool, &str)> {
    rest.strip_prefix('}').map(|rest| (true, rest)).or_else(|| rest.strip_prefix(',').map(|rest| (false, rest)))
}

/// Returns the text after a list of counts by modality.
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
