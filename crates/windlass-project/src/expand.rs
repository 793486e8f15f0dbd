//! Placeholders in the text of a command, and the arguments that take their place.

/// Name of the variable for a plugin's directory in the plugin's files.
pub(crate) const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// Placeholder for the directory of a plugin.
pub(crate) const PLUGIN_ROOT_PLACEHOLDER: &str = "${CLAUDE_PLUGIN_ROOT}";

/// The placeholder for a skill's directory.
pub(crate) const SKILL_DIRECTORY: &str = "${CLAUDE_SKILL_DIR}";

/// The placeholder for the directory where the session starts.
pub(crate) const PROJECT_DIRECTORY: &str = "${CLAUDE_PROJECT_DIR}";
/// The placeholder for the id of the session.
const SESSION: &str = "${CLAUDE_SESSION_ID}";

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
    /// `$name`: the argument at this place.
    Named(usize),
    /// `${CLAUDE_SKILL_DIR}`.
    SkillDirectory,
    /// `${CLAUDE_PROJECT_DIR}`.
    Project,
    /// `${CLAUDE_SESSION_ID}`.
    Session,
}

impl Piece<'_> {
    /// Returns `true` if an argument replaces the placeholder.
    pub(crate) fn is_argument(&self) -> bool {
        matches!(self, Self::All | Self::Index(_) | Self::Number(_) | Self::Named(_))
    }
}

/// Values for placeholders. A placeholder without a value is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values<'a> {
    /// All arguments, as they were given.
    pub(crate) arguments: &'a str,
    /// The single arguments.
    pub(crate) single: &'a [String],
    /// Number of the first argument: 0 or 1.
    pub(crate) first: usize,
    /// Names of the arguments.
    pub(crate) names: &'a [String],
    pub(crate) plugin_root: Option<&'a str>,
    pub(crate) skill_directory: Option<&'a str>,
    pub(crate) project: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
}

impl<'a> Values<'a> {
    /// Returns the text of a piece with its placeholder replaced.
    pub(crate) fn of<'b>(&self, piece: &Piece<'b>) -> &'b str
    where
        'a: 'b,
    {
        let single = |index: usize| self.single.get(index).map_or("", String::as_str);
        match piece {
            Piece::Text(text) => text,
            Piece::All => self.arguments,
            Piece::Index(index) | Piece::Named(index) => single(*index),
            Piece::Number(number) => number.checked_sub(self.first).map_or("", single),
            Piece::PluginRoot => self.plugin_root.unwrap_or(PLUGIN_ROOT_PLACEHOLDER),
            Piece::SkillDirectory => self.skill_directory.unwrap_or(SKILL_DIRECTORY),
            Piece::Project => self.project.unwrap_or(PROJECT_DIRECTORY),
            Piece::Session => self.session.unwrap_or(SESSION),
        }
    }
}

/// Returns the parts of a text; together they are all of it except the backslashes before placeholders. `names` are the
/// names of the arguments.
pub(crate) fn pieces<'a>(text: &'a str, names: &'a [String]) -> impl Iterator<Item = Piece<'a>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((piece, after)) = surrounding(rest).or_else(|| placeholder(rest, names)) {
            rest = after;
            return Some(piece);
        }
        if let Some((_, after)) = rest.strip_prefix('\\').and_then(|rest| placeholder(rest, names)) {
            let literal = rest.strip_prefix('\\').and_then(|literal| literal.strip_suffix(after)).unwrap_or_default();
            rest = after;
            return Some(Piece::Text(literal));
        }
        let mut boundaries = rest.char_indices().skip(1).filter(|(_, c)| matches!(c, '$' | '\\'));
        let (text, after) =
            rest.split_at_checked(boundaries.next().map_or(rest.len(), |(position, _)| position)).unwrap_or((rest, ""));
        rest = after;
        Some(Piece::Text(text))
    })
}

/// Returns the placeholder for a place or the session at the beginning of a text, and the rest.
fn surrounding(text: &str) -> Option<(Piece<'_>, &str)> {
    [
        (PLUGIN_ROOT_PLACEHOLDER, Piece::PluginRoot),
        (SKILL_DIRECTORY, Piece::SkillDirectory),
        (PROJECT_DIRECTORY, Piece::Project),
        (SESSION, Piece::Session),
    ]
    .into_iter()
    .find_map(|(placeholder, piece)| Some((piece, text.strip_prefix(placeholder)?)))
}

/// Returns the placeholder for arguments at the beginning of a text, and the rest.
fn placeholder<'a>(text: &'a str, names: &[String]) -> Option<(Piece<'a>, &'a str)> {
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
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(rest.len());
    let (name, behind) = rest.split_at_checked(end)?;
    if let Some(index) = names.iter().position(|known| known == name) {
        return Some((Piece::Named(index), behind));
    }
    let digit = rest.chars().next()?.to_digit(10)?;
    let after = rest.get(1..)?;
    (!continues(after)).then_some((Piece::Number(usize::try_from(digit).ok()?), after))
}

/// Splits arguments: blanks separate them, quotes keep one together.
#[must_use]
pub fn split_arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => current.get_or_insert_default().push(c),
            // Inside a word, a single quote is an apostrophe.
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
