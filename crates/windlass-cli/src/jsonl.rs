//! JSON Lines in and out.

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use windlass::JsonText;
use windlass::text::visible_json;

/// Maximum length of a line that is read, in bytes.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// A line of input.
pub(crate) struct Line<T> {
    /// Number of the line, from one.
    pub(crate) number: u64,
    /// Id of the line, as far as it is known.
    pub(crate) id: Option<JsonText>,
    /// Content of the line, or the reason why it cannot be used.
    pub(crate) value: Result<T, String>,
    /// Warnings about a line that is used nevertheless.
    pub(crate) warnings: Vec<String>,
}

/// An answer to a line that cannot be used.
#[derive(Serialize)]
pub(crate) struct Refused<'a> {
    id: Option<&'a JsonText>,
    line: u64,
    error: &'a str,
}

impl<T> Line<T> {
    /// The answer to a line that cannot be used.
    pub(crate) fn refuse<'a>(&'a self, error: &'a str) -> Refused<'a> {
        Refused { id: self.id.as_ref(), line: self.number, error }
    }
}

/// The lines of an input, blank ones left out. A line that cannot be used does not stop the rest.
///
/// Keys other than these are ignored with a warning: a typo in the name of a rule list would otherwise go unnoticed.
pub(crate) fn lines<T: DeserializeOwned>(
    mut input: impl BufRead,
    keys: &'static [&'static str],
) -> impl Iterator<Item = io::Result<Line<T>>> {
    let mut number = 0;
    std::iter::from_fn(move || {
        loop {
            number += 1;
            match read_line(&mut input) {
                Err(error) => return Some(Err(error)),
                Ok(None) => return None,
                Ok(Some(Err(problem))) => {
                    return Some(Ok(Line { number, id: None, value: Err(problem), warnings: Vec::new() }));
                }
                Ok(Some(Ok(text))) if text.trim().is_empty() => {}
                Ok(Some(Ok(text))) => {
                    let text = text.trim();
                    let value = serde_json::from_str(text).map_err(|error| error.to_string());
                    return Some(Ok(Line { number, id: id_of(text), value, warnings: unknown_keys(text, keys) }));
                }
            }
        }
    })
}

fn unknown_keys(text: &str, known: &[&str]) -> Vec<String> {
    let found: BTreeMap<String, IgnoredAny> = serde_json::from_str(text).unwrap_or_default();
    let unknown = found.into_keys().filter(|key| !known.contains(&key.as_str()));
    unknown.map(|key| format!("the key {key:?} is not known and was ignored")).collect()
}

/// Reads one line. The inner error is the reason why it cannot be used.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Result<String, String>>> {
    let mut bytes = Vec::new();
    if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if !bytes.ends_with(b"\n") && bytes.len() as u64 == MAX_LINE_BYTES {
        skip_line(input)?;
        return Ok(Some(Err(format!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20))));
    }
    Ok(Some(String::from_utf8(bytes).map_err(|_| "the line is not UTF-8 text".to_owned())))
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let (used, ended) = match input.fill_buf()? {
            [] => return Ok(()),
            bytes => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        input.consume(used);
        if ended {
            return Ok(());
        }
    }
}

/// Returns the id of a line, even if the line is damaged after the id.
fn id_of(text: &str) -> Option<JsonText> {
    text.match_indices("\"id\"").find_map(|(at, key)| {
        let value = text.get(at + key.len()..)?.trim_start().strip_prefix(':')?;
        serde_json::Deserializer::from_str(value).into_iter::<JsonText>().next()?.ok()
    })
}

/// Writes one line, at once. Hidden characters are escaped: people may look at it.
pub(crate) fn write(out: &mut impl Write, value: &impl Serialize) -> anyhow::Result<()> {
    let line = serde_json::to_string(value)?;
    out.write_all(format!("{}\n", visible_json(&line)).as_bytes())?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8]) -> Vec<(u64, Option<String>, bool)> {
        lines::<BTreeMap<String, JsonText>>(input, &[])
            .map(|line| line.unwrap())
            .map(|line| (line.number, line.id.map(|id| id.to_string()), line.value.is_ok()))
            .collect()
    }

    #[test]
    fn damaged_lines_keep_their_id_and_do_not_stop_the_rest() {
        let input = b"{\"id\":1}\n\n{\"id\": \"b\",\"tool\":\nnonsense\n\xff\n{\"tool\":\"x\",\"id\":[3]}";
        let id = |text: &str| Some(text.to_owned());
        assert_eq!(
            read(input),
            [(1, id("1"), true), (3, id("\"b\""), false), (4, None, false), (5, None, false), (6, id("[3]"), true)]
        );
    }

    #[test]
    fn a_line_without_end_is_refused_and_skipped() {
        let mut input = vec![b'x'; MAX_LINE_BYTES as usize + 10];
        input.extend_from_slice(b"\n{\"id\":2}\n");
        assert_eq!(read(&input), [(1, None, false), (2, Some("2".to_owned()), true)]);
    }
}
