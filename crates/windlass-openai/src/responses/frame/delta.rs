//! Deltas, read without a JSON parser: flat objects of strings, whole numbers and empty lists. Nearly all events are of
//! this form, with their members in any order.

use std::borrow::Cow;

/// Event whose type ends with `.delta`, with only known members.
#[derive(Default)]
pub(in crate::responses) struct DeltaFrame<'a> {
    pub(in crate::responses) kind: &'a str,
    pub(in crate::responses) text: Cow<'a, str>,
    pub(in crate::responses) item_id: Option<&'a str>,
    pub(in crate::responses) output_index: Option<usize>,
    pub(in crate::responses) content_index: Option<usize>,
    pub(in crate::responses) summary_index: Option<usize>,
}

impl<'a> DeltaFrame<'a> {
    /// Reads a delta of text, reasoning or arguments. `None` if the event is anything else, or is written in another
    /// form: the JSON parser reads it then. An event that is read here is valid JSON, and the parser reads the same.
    pub(in crate::responses) fn read(data: &'a str) -> Option<Self> {
        let mut rest = data.strip_prefix('{')?;
        let mut delta = Self::default();
        let mut seen = ReadMembers::default();
        loop {
            rest = delta.member(rest, &mut seen)?;
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None => break,
            }
        }
        let is_whole = rest.strip_prefix('}')?.trim_end_matches(' ').is_empty();
        (is_whole && seen.has(ReadMembers::DELTA) && seen.has(ReadMembers::TYPE)).then_some(delta)
    }

    /// Reads one member. Returns the text after it.
    fn member(&mut self, text: &'a str, seen: &mut ReadMembers) -> Option<&'a str> {
        let of = |name: &str| text.strip_prefix(name);
        // Names differ in their first letters: only possible ones are compared.
        match text.as_bytes().get(1)? {
            b't' => {
                seen.first(ReadMembers::TYPE)?;
                let (kind, rest) = plain_string(of("\"type\":")?)?;
                self.kind = kind;
                kind.ends_with(".delta").then_some(rest)
            }
            b'd' => {
                seen.first(ReadMembers::DELTA)?;
                let (delta, rest) = string(of("\"delta\":")?)?;
                self.text = delta;
                Some(rest)
            }
            b'i' => {
                seen.first(ReadMembers::ITEM)?;
                let (id, rest) = plain_string(of("\"item_id\":")?)?;
                self.item_id = Some(id);
                Some(rest)
            }
            b'o' => match of("\"output_index\":") {
                Some(rest) => {
                    seen.first(ReadMembers::OUTPUT)?;
                    whole(rest, &mut self.output_index)
                }
                None => Some(plain_string(of("\"obfuscation\":")?)?.1),
            },
            b'c' => {
                seen.first(ReadMembers::CONTENT)?;
                whole(of("\"content_index\":")?, &mut self.content_index)
            }
            b's' => match of("\"sequence_number\":") {
                Some(rest) => Some(number(rest)?.1),
                None => {
                    seen.first(ReadMembers::SUMMARY)?;
                    whole(of("\"summary_index\":")?, &mut self.summary_index)
                }
            },
            b'l' => of("\"logprobs\":[]"),
            _ => None,
        }
    }
}

fn whole<'a>(text: &'a str, into: &mut Option<usize>) -> Option<&'a str> {
    let (number, rest) = number(text)?;
    *into = Some(number);
    Some(rest)
}

/// Members that were read. An event with a repeated member is left to the parser, which refuses it.
#[derive(Default)]
struct ReadMembers(u8);

impl ReadMembers {
    const DELTA: u8 = 1;
    const TYPE: u8 = 2;
    const ITEM: u8 = 4;
    const OUTPUT: u8 = 8;
    const CONTENT: u8 = 16;
    const SUMMARY: u8 = 32;

    fn first(&mut self, member: u8) -> Option<()> {
        let is_first = self.0 & member == 0;
        self.0 |= member;
        is_first.then_some(())
    }

    fn has(&self, member: u8) -> bool {
        self.0 & member != 0
    }
}

/// Reads a whole number of few digits, and returns the text after it.
fn number(text: &str) -> Option<(usize, &str)> {
    let (mut value, mut digits) = (0_usize, 0_usize);
    for byte in text.bytes().take_while(u8::is_ascii_digit).take(9) {
        value = value * 10 + usize::from(byte - b'0');
        digits += 1;
    }
    let is_padded = digits > 1 && text.starts_with('0');
    let rest = text.get(digits..)?;
    // A number that is not whole continues in another way.
    let is_whole = rest.starts_with([',', '}']);
    (digits > 0 && !is_padded && is_whole).then_some((value, rest))
}

/// Reads a string without escapes, and returns the text after it.
fn plain_string(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    // Most of these strings are short: a plain loop finds their end faster than a search optimized for long strings.
    let end = text.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
    let (inside, rest) = text.split_at_checked(end)?;
    Some((inside, rest.strip_prefix('"')?))
}

/// Reads a string, and returns the text after it.
fn string(text: &str) -> Option<(Cow<'_, str>, &str)> {
    if let Some((inside, rest)) = plain_string(text) {
        return Some((Cow::Borrowed(inside), rest));
    }
    // The end is the first quote without an odd number of backslashes before it.
    let mut escaped = false;
    let inside = text.strip_prefix('"')?;
    let end = inside.bytes().position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })?;
    let (literal, rest) = text.split_at_checked(end + 2)?;
    Some((Cow::Owned(serde_json::from_str(literal).ok()?), rest))
}

#[cfg(test)]
mod tests;
