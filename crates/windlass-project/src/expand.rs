//! Placeholders in the text of a command, and the arguments that take their place.

/// The variable that stands for a plugin's directory in what it brings.
pub(crate) const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// Its placeholder.
pub(crate) const PLUGIN_ROOT_PLACEHOLDER: &str = "${CLAUDE_PLUGIN_ROOT}";

/// The placeholder for a skill's directory.
pub(crate) const SKILL_DIRECTORY: &str = "${CLAUDE_SKILL_DIR}";

/// A part of a command's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text as it is.
    Text(&'a str),
    /// `$ARGUMENTS`.
    All,
    /// `$ARGUMENTS[N]`.
    Index(usize),
    /// `$N`.
    Number(usize),
    /// `${CLAUDE_PLUGIN_ROOT}`.
    PluginRoot,
    /// `${CLAUDE_SKILL_DIR}`.
    SkillDirectory,
}

/// The parts of a text; together they are all of it but the backslashes before placeholders.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(after) = rest.strip_prefix(PLUGIN_ROOT_PLACEHOLDER) {
            rest = after;
            return Some(Piece::PluginRoot);
        }
        if let Some(after) = rest.strip_prefix(SKILL_DIRECTORY) {
            rest = after;
            return Some(Piece::SkillDirectory);
        }
        if let Some((piece, after)) = placeholder(rest) {
            rest = after;
            return Some(piece);
        }
        if let Some((_, after)) = rest.strip_prefix('\\').and_then(placeholder) {
            let kept = rest.strip_prefix('\\').and_then(|kept| kept.strip_suffix(after)).unwrap_or_default();
            rest = after;
            return Some(Piece::Text(kept));
        }
        let mut ends = rest.char_indices().skip(1).filter(|(_, c)| matches!(c, '$' | '\\'));
        let (text, after) = rest.split_at_checked(ends.next().map_or(rest.len(), |(at, _)| at)).unwrap_or((rest, ""));
        rest = after;
        Some(Piece::Text(text))
    })
}

/// The placeholder that a text begins with, and what follows it.
fn placeholder(text: &str) -> Option<(Piece<'_>, &str)> {
    let rest = text.strip_prefix('$')?;
    let continues = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if let Some(rest) = rest.strip_prefix("ARGUMENTS") {
        if let Some((digits, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && !digits.is_empty()
            && digits.len() <= 4
            && digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Some((Piece::Index(digits.parse().ok()?), after));
        }
        return (!continues(rest)).then_some((Piece::All, rest));
    }
    let digit = rest.chars().next()?.to_digit(10)?;
    let after = rest.get(1..)?;
    (!continues(after)).then_some((Piece::Number(usize::try_from(digit).ok()?), after))
}

/// Single arguments: blanks separate them, quotes hold one together.
pub(crate) fn split_arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => current.get_or_insert_default().push(c),
            // Inside of a word it is an apostrophe.
            None if c == '"' || (c == '\'' && current.is_none()) => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            None if c.is_whitespace() => arguments.extend(current.take()),
            None => current.get_or_insert_default().push(c),
        }
    }
    arguments.extend(current);
    arguments
}
