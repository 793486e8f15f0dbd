//! Front matter that is no valid YAML: values that only lack quotes are read as plain text.

use super::node::{self, Node, YamlError};

/// Keys of a head that is no valid YAML.
#[derive(Debug, Default)]
pub(super) struct RepairedFields {
    pub(super) fields: Vec<(String, Node)>,
    pub(super) notices: Vec<String>,
    /// `true` if a part of the head cannot be read.
    pub(super) broken: bool,
}

/// Reads each key separately, with the lines below it. A value on the key's line that is not valid YAML is read as
/// plain text.
pub(super) fn fields(head: &str) -> RepairedFields {
    let mut repaired = RepairedFields::default();
    for chunk in chunks(head) {
        match (node::fields(&chunk), plain_text(&chunk)) {
            (Ok(fields), _) => repaired.fields.extend(fields),
            (Err(YamlError::Malformed(_)), Some((key, text))) => {
                let notice = format!("the value of `{key}` is no valid YAML and is read as text: put it in quotes");
                repaired.notices.push(notice);
                repaired.fields.push((key, Node::Literal(text)));
            }
            (Err(_), _) => repaired.broken = true,
        }
    }
    repaired
}

/// Returns the lines of each key: a line that begins with a key, and those below it that do not.
fn chunks(head: &str) -> Vec<String> {
    let mut chunks: Vec<String> = Vec::new();
    for line in head.lines() {
        match chunks.last_mut() {
            Some(chunk) if entry(line).is_none() => {
                chunk.push_str(line);
                chunk.push('\n');
            }
            _ => chunks.push(format!("{line}\n")),
        }
    }
    chunks
}

/// Returns the key and value of a line that begins with a key.
pub(super) fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let ends = value.is_empty() || value.starts_with([' ', '\t', '\r']);
    (is_key && ends && !key.starts_with('-')).then_some((key, value.trim()))
}

/// Returns the value of a chunk as one text. `None`: no value on the line of the key, a block, or lines without
/// indentation below it.
fn plain_text(chunk: &str) -> Option<(String, String)> {
    let mut lines = chunk.lines();
    let (key, value) = entry(lines.next()?)?;
    let below: Vec<&str> = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
    let is_indented = below.iter().all(|line| line.starts_with([' ', '\t']));
    if value.is_empty() || value.starts_with(['|', '>']) || !is_indented {
        return None;
    }
    let text: Vec<&str> = std::iter::once(value).chain(below.into_iter().map(str::trim)).collect();
    Some((key.to_owned(), text.join(" ")))
}
