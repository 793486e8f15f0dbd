//! Words that are no arguments: assignments, and descriptors before a redirection.

/// Returns `true` if a text directly before a redirection is no argument: a number, or the name of a variable in
/// braces. Other words in braces, such as `{rm,x}`, are words.
pub(super) fn is_descriptor(source: &str) -> bool {
    if let Some(name) = source.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        return name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    }
    source.chars().all(|c| c.is_ascii_digit())
}

/// Returns `true` for `NAME=`, `NAME+=` or `NAME[...]=` before anything that quotes the name.
pub(super) fn is_assignment(source: &str) -> bool {
    let name = source.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if name.len() == source.len() || source.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let rest = match name.strip_prefix('[') {
        Some(subscript) => subscript.rsplit_once("]=").map_or("", |_| "="),
        None => name,
    };
    let rest = if name.starts_with('[') && source.contains("]+=") { "=" } else { rest };
    rest.starts_with('=') || rest.starts_with("+=")
}

/// Returns `true` if the subscript of an assignment, if it has one, certainly ends at its first bracket outside of
/// quotes. Otherwise the word may be a command.
pub(super) fn has_plain_subscript(source: &str) -> bool {
    let Some((_, subscript)) = source.split_once('[').filter(|(name, _)| !name.contains('=')) else {
        return true;
    };
    let mut quote = None;
    for (at, c) in subscript.char_indices() {
        match (quote, c) {
            (_, '\\' | '`' | '(' | '{') => return false,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => return false,
            (None, ']') => {
                let rest = subscript.get(at.saturating_add(1)..).unwrap_or_default();
                return rest.starts_with('=') || rest.starts_with("+=");
            }
            (None, _) => {}
        }
    }
    false
}
