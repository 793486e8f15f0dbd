//! The subset of TOML that manifests need: tables, keys and their literal values. Anything else is skipped.

/// A key of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// The table, with blanks and quotes taken out: `package`, `target.cfg(unix).dependencies`.
    pub(super) table: String,
    /// Number of the table in an array of tables; 0 for others.
    pub(super) number: usize,
    /// Key, dotted as written.
    pub(super) key: String,
    /// Value, without a comment at its end; all lines of an array over several lines.
    pub(super) value: std::borrow::Cow<'a, str>,
}

/// All keys of a text.
pub(super) fn entries(text: &str) -> Vec<Entry<'_>> {
    let (mut table, mut number) = (String::new(), 0_usize);
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line.starts_with('[') {
            let is_array = line.starts_with("[[");
            number = if is_array { number.saturating_add(1) } else { 0 };
            let name = without_comment(line).trim_matches(|c| c == '[' || c == ']');
            table = without_quotes(name);
        } else if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            let mut value = std::borrow::Cow::Borrowed(without_comment(value));
            while is_array_open(&value) {
                let Some(more) = lines.next() else { break };
                let value = value.to_mut();
                value.push(' ');
                value.push_str(without_comment(more));
            }
            found.push(Entry { table: table.clone(), number, key: without_quotes(key), value });
        }
    }
    found
}

/// Text of a string value.
pub(super) fn string(value: &str) -> Option<String> {
    strings(value).into_iter().next().filter(|_| value.trim_start().starts_with(['"', '\'']))
}

/// All strings in a value, such as the items of an array.
pub(super) fn strings(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = if rest.get(start..).is_some_and(|rest| rest.starts_with('"')) { '"' } else { '\'' };
        let Some((inside, after)) = rest.get(start.saturating_add(1)..).and_then(|rest| rest.split_once(quote)) else {
            break;
        };
        found.push(inside.to_owned());
        rest = after;
    }
    found
}

/// Text of a key in an inline table: `path` in `{ path = "../a", version = "1" }`.
pub(super) fn inline(value: &str, key: &str) -> Option<String> {
    let inside = value.trim().strip_prefix('{')?;
    inside.split(',').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        if without_quotes(name) == key { string(value) } else { None }
    })
}

/// `true` if an array is not closed yet.
fn is_array_open(value: &str) -> bool {
    let value = value.trim_start();
    value.starts_with('[') && value.len() < 16_384 && value.matches('[').count() > value.matches(']').count()
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (index, c) in line.char_indices() {
        match (c, quote) {
            ('#', None) => return line.get(..index).unwrap_or_default().trim(),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    line.trim()
}

fn without_quotes(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '"' | '\'') && !c.is_whitespace()).collect()
}
