//! `awk`: programs of patterns, arithmetic and `print`, without redirection, pipes or `getline`.

use super::effect::{Classification, Findings, PathOperand};
use super::options::{Operands, Spec, parse};
use crate::Word;

pub(super) const AWK: Spec = Spec::new("awk", "", "Fv", Operands::Files(usize::MAX)).ordered();

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
        reads.push(PathOperand::operand(file, false));
    }
    Some(Classification::reading(reads))
}

/// `name=value`, in the place of a file too, of a variable that can only change what is read and printed.
fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| is_variable(name) || matches!(name, "FS" | "OFS" | "ORS" | "RS"))
}

/// A name of the user's own: lower case and not one of the language.
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
    name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !name.is_empty() && !FUNCTIONS.contains(&name)
}

/// What a `/` would be after what was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An operand is due: it begins a pattern.
    Operand,
    /// A value ends here: it divides.
    Value,
    /// Versions differ, or it cannot stand here.
    Other,
}

/// What an open bracket or parenthesis belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// An expression or a call.
    Group,
    /// `if (…)` and its kin: a statement follows.
    Control,
    /// `name[…]`
    Index,
}

/// Whether the program is covered by the small grammar.
pub(super) fn is_harmless(program: &str) -> bool {
    let mut rest = program;
    let mut braces = 0usize;
    let mut before = Before::Operand;
    let mut open: Vec<Open> = Vec::new();
    let mut control = false;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let was_control = std::mem::take(&mut control);
        let token = match c {
            ' ' | '\t' | '\n' if c != '\n' || was_control => {
                control = was_control;
                Some((after, before))
            }
            '"' => string(after).map(|after| (after, Before::Other)),
            '/' if before == Before::Operand => pattern(after).map(|after| (after, Before::Other)),
            '/' if before == Before::Value && !after.starts_with('=') => Some((after, Before::Other)),
            '0'..='9' => Some((after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'), Before::Value)),
            'a'..='z' | 'A'..='Z' | '_' => name(rest).map(|(name, after)| {
                control = matches!(name, "if" | "while" | "for");
                (after, if is_value(name) { Before::Value } else { Before::Other })
            }),
            '{' | '}' if !open.is_empty() => None,
            '{' => {
                braces = braces.saturating_add(1);
                Some((after, Before::Operand))
            }
            '}' => {
                braces = braces.saturating_sub(1);
                Some((after, Before::Operand))
            }
            // Inside braces it may redirect what is printed, but not inside parentheses.
            '>' if (braces > 0 && !open.iter().any(|o| *o != Open::Index)) || after.starts_with('>') => None,
            '|' => after.strip_prefix('|').map(|after| (after, Before::Operand)),
            '&' => after.strip_prefix('&').map(|after| (after, Before::Operand)),
            '(' => {
                open.push(if was_control { Open::Control } else { Open::Group });
                Some((after, Before::Operand))
            }
            '[' => {
                open.push(Open::Index);
                Some((after, Before::Other))
            }
            ')' => match open.pop() {
                Some(Open::Group) => Some((after, Before::Value)),
                Some(Open::Control) => Some((after, Before::Other)),
                _ => None,
            },
            ']' => open.pop().filter(|o| *o == Open::Index).map(|_| (after, Before::Value)),
            ',' | ';' | '\n' | '!' | '~' | '=' => Some((after, Before::Operand)),
            '$' | '+' | '-' | '*' | '%' | '<' | '>' | '?' | ':' | '^' => Some((after, Before::Other)),
            _ => None,
        };
        match token {
            Some((next, next_before)) => (rest, before) = (next, next_before),
            None => return false,
        }
    }
    braces == 0 && open.is_empty()
}

/// Whether the name is a variable's, so that what follows it is an operator.
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

/// Past the end of a pattern. A bracket which versions read differently is refused: they would see other ends.
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

/// Past the end of a bracket that is the same to every version: no delimiter in it, no `[` but in a class, and no
/// `]` in the first place.
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
