//! `awk`: programs of patterns, arithmetic and `print`, without redirection, pipes or `getline`.

use super::{
    Classification, Findings, PathOperand,
    options::{Operands, Spec, parse},
};
use crate::Word;

const AWK: Spec = Spec::new("awk", "", "Fv", Operands::Files(usize::MAX));

const NAMES: &[&str] = &[
    "BEGIN", "END", "FILENAME", "FNR", "FS", "NF", "NR", "OFS", "ORS", "RS", "RSTART", "RLENGTH", "break", "continue",
    "delete", "do", "else", "exit", "for", "gsub", "if", "in", "index", "int", "length", "match", "next", "print",
    "printf", "split", "sprintf", "sub", "substr", "tolower", "toupper", "while",
];

pub(super) fn classify(args: &[Word]) -> Findings {
    let parsed = parse(&AWK, args)?;
    for (name, value) in &parsed.options {
        let value = value.as_deref()?;
        if name == "-v" {
            let (variable, _) = value.split_once('=')?;
            if !is_variable(variable) {
                return None;
            }
        }
    }
    let (program, files) = parsed.operands.split_first()?;
    if !is_harmless(program.as_literal()?) {
        return None;
    }
    let mut reads = Vec::new();
    for file in files {
        // `name=value` is an assignment.
        if file.text().is_empty() || file.text().contains('=') {
            return None;
        }
        reads.push(PathOperand::operand(file, false));
    }
    Some(Classification::reading(reads))
}

/// A name of the user's own: lower case and not one of the language.
fn is_variable(name: &str) -> bool {
    const FUNCTIONS: &[&str] = &[
        "and",
        "asort",
        "asorti",
        "atan",
        "bindtextdomain",
        "close",
        "compl",
        "cos",
        "dcgettext",
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

/// Whether the program is covered by the small grammar.
pub(super) fn is_harmless(program: &str) -> bool {
    let mut rest = program;
    let mut braces = 0usize;
    // Whether a `/` here begins a pattern (and not a division).
    let mut operand = true;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let token = match c {
            ' ' | '\t' => Some((after, operand)),
            '"' => string(after).map(|after| (after, false)),
            '/' if operand => pattern(after).map(|after| (after, false)),
            '0'..='9' => Some((after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'), false)),
            'a'..='z' | 'A'..='Z' | '_' => name(rest).map(|after| (after, false)),
            '{' => {
                braces = braces.saturating_add(1);
                Some((after, true))
            }
            '}' => {
                braces = braces.saturating_sub(1);
                Some((after, true))
            }
            // Inside braces it may redirect what is printed.
            '>' if braces > 0 => None,
            '|' => after.strip_prefix('|').map(|after| (after, true)),
            '&' => after.strip_prefix('&').map(|after| (after, true)),
            '(' | ',' | ';' | '\n' | '!' | '~' | '=' => Some((after, true)),
            ')' | ']' | '$' | '+' | '-' | '*' | '%' | '[' | '<' | '>' | '?' | ':' | '^' => Some((after, false)),
            _ => None,
        };
        match token {
            Some((next, next_operand)) => (rest, operand) = (next, next_operand),
            None => return false,
        }
    }
    braces == 0
}

fn name(text: &str) -> Option<&str> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = text.strip_suffix(after)?;
    (NAMES.contains(&name) || is_variable(name)).then_some(after)
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

fn pattern(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    let mut bracket = false;
    loop {
        match chars.next()? {
            '/' => return (!bracket).then_some(chars.as_str()),
            '\\' => {
                chars.next()?;
            }
            '[' => bracket = true,
            ']' => bracket = false,
            '\n' => return None,
            _ => {}
        }
    }
}
