//! `awk`: programs of patterns, arithmetic and `print`, without redirection, pipes or `getline`.

use super::effect::{Classification, Findings};
use super::options::{OperandKind, ProgramSpec, parse};
use crate::Word;

pub(super) const AWK: ProgramSpec = ProgramSpec::new("awk", "", "Fv", OperandKind::Files(usize::MAX)).ordered();

const NAMES: &[&str] = &[
    "atan2", "cos", "exp", "gensub", "log", "mktime", "rand", "sin", "sqrt", "srand", "strftime", "strtonum",
    "systime", "BEGIN", "END", "FILENAME", "FNR", "FS", "NF", "NR", "OFS", "ORS", "RS", "RSTART", "RLENGTH", "break",
    "continue", "delete", "do", "else", "exit", "for", "gsub", "if", "in", "index", "int", "length", "match", "next",
    "print", "printf", "split", "sprintf", "sub", "substr", "tolower", "toupper", "while",
];

pub(super) fn classify(args: &[Word]) -> Findings {
    let parsed = parse(&AWK, args)?;
    for (name, value) in &parsed.options {
        let value = value.as_deref()?;
        if name == "-v" && !is_assignment(value) {
            return None;
        }
    }
    let (program, files) = parsed.operands.split_first()?;
    if !is_harmless(program.as_literal()?) {
        return None;
    }
    let mut reads = Vec::new();
    for file in files {
        if file.as_literal().is_some_and(is_assignment) {
            continue;
        }
        if file.text().is_empty() || file.text().contains('=') {
            return None;
        }
        reads.push(parsed.operand(file, false));
    }
    Some(Classification::reading(reads))
}

/// Returns `true` for `name=value`, in the place of a file too, if the variable can only change the input and output.
fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| is_variable(name) || matches!(name, "FS" | "OFS" | "ORS" | "RS"))
}

/// Returns `true` for a name of the user's own: lower case and not one of the language, or one letter.
fn is_variable(name: &str) -> bool {
    const FUNCTIONS: &[&str] = &[
        "and",
        "asort",
        "asorti",
        "atan",
        "bindtextdomain",
        "case",
        "close",
        "compl",
        "cos",
        "dcgettext",
        "default",
        "eval",
        "exp",
        "extension",
        "fflush",
        "func",
        "function",
        "gensub",
        "getline",
        "include",
        "load",
        "log",
        "lshift",
        "mktime",
        "namespace",
        "nextfile",
        "or",
        "patsplit",
        "rand",
        "return",
        "rshift",
        "sin",
        "sqrt",
        "srand",
        "strftime",
        "strtonum",
        "switch",
        "system",
        "systime",
        "xor",
    ];
    let is_own = !NAMES.contains(&name) && !FUNCTIONS.contains(&name);
    let is_letter = name.len() == 1 && name.chars().all(|c| c.is_ascii_uppercase());
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_lower = !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(plain);
    is_letter || (is_own && !name.is_empty() && is_lower)
}

/// Meaning of a `/` after the text read so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlashMeaning {
    /// An operand is due: it begins a pattern.
    Operand,
    /// A value ends here: it divides.
    Value,
    /// Versions differ, or it cannot stand here.
    Other,
}

/// Construct of an open bracket or parenthesis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AwkConstruct {
    /// An expression or a call.
    Group,
    /// `if (…)` and its kin: a statement follows.
    Control,
    /// `name[…]`
    Index,
}

/// Returns `true` if the program is covered by the small grammar.
pub(super) fn is_harmless(program: &str) -> bool {
    let mut reading = AwkScan::default();
    let (mut rest, mut before) = (program, SlashMeaning::Operand);
    while let Some(c) = rest.chars().next() {
        match reading.token(c, rest, before) {
            Some(next) => (rest, before) = next,
            None => return false,
        }
    }
    reading.braces == 0 && reading.open.is_empty()
}

/// State of reading a program.
#[derive(Default)]
struct AwkScan {
    braces: usize,
    open: Vec<AwkConstruct>,
    /// `true` after `if`, `while` or `for` and blanks only.
    control: bool,
}

impl AwkScan {
    /// Reads the token at the beginning of `rest`, by its first character. Returns the rest, and the meaning of a `/`
    /// there. `None` if the token is not covered.
    fn token<'p>(&mut self, c: char, rest: &'p str, before: SlashMeaning) -> Option<(&'p str, SlashMeaning)> {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let was_control = std::mem::take(&mut self.control);
        match c {
            ' ' | '\t' | '\n' if c != '\n' || was_control => {
                self.control = was_control;
                Some((after, before))
            }
            '"' => string(after).map(|after| (after, SlashMeaning::Other)),
            '/' if before == SlashMeaning::Operand => pattern(after).map(|after| (after, SlashMeaning::Other)),
            '/' if before == SlashMeaning::Value && !after.starts_with('=') => Some((after, SlashMeaning::Other)),
            '0'..='9' => {
                Some((after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'), SlashMeaning::Value))
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let (name, after) = name(rest)?;
                self.control = matches!(name, "if" | "while" | "for");
                Some((after, if is_value(name) { SlashMeaning::Value } else { SlashMeaning::Other }))
            }
            '{' | '}' | '(' | ')' | '[' | ']' => Some((after, self.bracket(c, was_control)?)),
            // Inside braces `>` may redirect the output, but not inside parentheses.
            '>' if (self.braces > 0 && !self.open.iter().any(|o| *o != AwkConstruct::Index))
                || after.starts_with('>') =>
            {
                None
            }
            '|' => after.strip_prefix('|').map(|after| (after, SlashMeaning::Operand)),
            '&' => after.strip_prefix('&').map(|after| (after, SlashMeaning::Operand)),
            ',' | ';' | '\n' | '!' | '~' | '=' => Some((after, SlashMeaning::Operand)),
            '$' | '+' | '-' | '*' | '%' | '<' | '>' | '?' | ':' | '^' => Some((after, SlashMeaning::Other)),
            _ => None,
        }
    }

    /// Opens or closes a bracket; `None` if it does not fit.
    fn bracket(&mut self, c: char, was_control: bool) -> Option<SlashMeaning> {
        match c {
            '{' | '}' if !self.open.is_empty() => None,
            '{' => {
                self.braces = self.braces.saturating_add(1);
                Some(SlashMeaning::Operand)
            }
            '}' => {
                self.braces = self.braces.saturating_sub(1);
                Some(SlashMeaning::Operand)
            }
            '(' => {
                self.open.push(if was_control { AwkConstruct::Control } else { AwkConstruct::Group });
                Some(SlashMeaning::Operand)
            }
            '[' => {
                self.open.push(AwkConstruct::Index);
                Some(SlashMeaning::Other)
            }
            ')' => match self.open.pop() {
                Some(AwkConstruct::Group) => Some(SlashMeaning::Value),
                Some(AwkConstruct::Control) => Some(SlashMeaning::Other),
                _ => None,
            },
            ']' => self.open.pop().filter(|o| *o == AwkConstruct::Index).map(|_| SlashMeaning::Value),
            _ => None,
        }
    }
}

/// Returns `true` if the name is a variable's, so that an operator follows.
fn is_value(name: &str) -> bool {
    is_variable(name) || matches!(name, "NF" | "NR" | "FNR" | "RSTART" | "RLENGTH")
}

fn name(text: &str) -> Option<(&str, &str)> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = text.strip_suffix(after)?;
    (NAMES.contains(&name) || is_variable(name)).then_some((name, after))
}

fn string(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '"' => return Some(chars.as_str()),
            '\\' => {
                chars.next()?;
            }
            '\n' => return None,
            _ => {}
        }
    }
}

/// Returns the text past the end of a pattern. A bracket that versions read differently is refused: they would see
/// other ends.
fn pattern(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = match next(rest)? {
            ('/', after) => return Some(after),
            ('\\', after) => next(after)?.1,
            ('[', after) => bracket(after)?,
            ('\n', _) => return None,
            (_, after) => after,
        };
    }
}

fn next(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    Some((chars.next()?, chars.as_str()))
}

/// Returns the text past the end of a bracket that is the same to every version: no delimiter in it, no `[` but in a
/// class, and no `]` in the first place.
fn bracket(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('^').unwrap_or(text);
    if rest.starts_with(']') {
        return None;
    }
    loop {
        rest = match next(rest)? {
            (']', after) => return Some(after),
            ('\\', after) => next(after).filter(|(c, _)| *c != '\n')?.1,
            ('[', after) => {
                let (class, after) = after.strip_prefix(':')?.split_once(":]")?;
                class.chars().all(|c| c.is_ascii_lowercase()).then_some(after)?
            }
            ('/' | '\n', _) => return None,
            (_, after) => after,
        };
    }
}
