//! File name patterns with the meaning of `.gitignore`, matched name by name.
//!
//! Matching by names, not over one string, has two gains: only `**` ever crosses a `/`, and a
//! pattern can tell whether it could match something *below* a directory.

use std::str::Chars;

/// More alternatives than this in one pattern are refused.
const MAX_ALTERNATIVES: usize = 256;
/// More names than this in one pattern are refused: states are the bits of a `u64`.
const MAX_PARTS: usize = 60;

/// Character of [`ANY_NAME`]: no name has it and no class matches it.
const ANY_NAME_CHAR: char = '\0';

/// A name that only patterns for every name match: it represents all names at once.
pub(crate) const ANY_NAME: &str = match str::from_utf8(&[0; MAX_PARTS]) {
    Ok(name) => name,
    Err(_) => "\0",
};

/// Relation of a pattern to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// The pattern matches neither the path nor anything below it.
    No,
    /// The pattern may match an entry below the path.
    Below,
    /// The pattern matches the path, or a directory above it.
    Covers,
}

/// One pattern without alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`: any number of names.
    Tree,
    /// One name without wildcards.
    Literal(String),
    /// One name.
    Name(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `?`
    One,
    /// `*`
    Many,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Part {
    fn of_name(tokens: Vec<Token>) -> Self {
        let plain = tokens.iter().map(|token| match token {
            Token::Char(c) => Some(*c),
            _ => None,
        });
        match plain.collect::<Option<String>>() {
            Some(name) => Self::Literal(name),
            None => Self::Name(tokens),
        }
    }

    /// Returns `true` if the part matches a name.
    fn is(&self, name: &str) -> bool {
        match self {
            Self::Tree => true,
            Self::Literal(own) => own == name,
            Self::Name(tokens) => name_matches(tokens, name),
        }
    }

    /// Returns `true` if one name may match both this part and a part of a shell pattern. Wildcards of the shell match
    /// no leading dot.
    fn meets(&self, shell: &Self) -> bool {
        match (self, shell) {
            (Self::Tree, _) | (_, Self::Tree) => true,
            (own, Self::Literal(name)) => own.is(name),
            (Self::Literal(own), Self::Name(tokens)) => {
                !(own.starts_with('.') && begins_wild(tokens)) && name_matches(tokens, own)
            }
            (Self::Name(own), Self::Name(tokens)) => names_meet(own, tokens),
        }
    }
}

impl Glob {
    /// Parses a relative pattern; `{a,b}` gives several. Names are folded for rules that over-approximate.
    ///
    /// # Errors
    /// The problem, as the end of a sentence.
    pub(crate) fn parse(text: &str, fold: bool) -> Result<Vec<Self>, String> {
        expand(text)?.iter().map(|text| Self::one(text, fold)).collect()
    }

    fn one(text: &str, fold: bool) -> Result<Self, String> {
        let mut parts = Vec::new();
        for name in split_names(text) {
            match name.as_str() {
                "" | "." => {}
                ".." => return Err("has `..` inside: write the path without it".to_owned()),
                "**" if parts.last() == Some(&Part::Tree) => {}
                "**" => parts.push(Part::Tree),
                name => parts.push(Part::of_name(tokens(name, fold)?)),
            }
        }
        if parts.last().is_none_or(|last| *last == Part::Tree) {
            // A pattern that ends in `**` covers the contents, not the directory itself.
            if parts.is_empty() {
                parts.push(Part::Tree);
            }
            parts.push(Part::Name(vec![Token::Many]));
        }
        if parts.len() > MAX_PARTS {
            return Err(format!("has more than {MAX_PARTS} names: write a shorter pattern"));
        }
        Ok(Self { parts })
    }

    /// Makes the pattern match at any depth.
    pub(crate) fn at_any_depth(mut self) -> Self {
        if self.parts.first() != Some(&Part::Tree) {
            self.parts.insert(0, Part::Tree);
        }
        self
    }

    /// Follows the names of a path through the pattern.
    pub(crate) fn reach<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> Reach {
        self.follow(&mut self.through_trees(1), names, |part, name| part.is(name.as_ref()))
    }

    /// Returns the reach for these names and, behind them, a pattern that the shell would expand: any of its matches
    /// may be reached. A wildcard at the start of a name matches no leading dot.
    pub(crate) fn may_reach(&self, names: &[String], paths: &Self) -> Reach {
        if names.len().saturating_add(paths.parts.len()) > MAX_PARTS {
            return Reach::Covers;
        }
        let mut states = self.through_trees(1);
        let on_the_way = self.follow(&mut states, names, |part, name| part.is(name));
        if on_the_way != Reach::Below {
            return on_the_way;
        }
        let known = paths.parts.iter().take_while(|part| **part != Part::Tree);
        let reach = self.follow(&mut states, known, |part, shell| part.meets(shell));
        if reach == Reach::Below && paths.parts.contains(&Part::Tree) { Reach::Covers } else { reach }
    }

    /// Returns `false` if the pattern is about names of files, and about none that this name matches. A name with a dot
    /// is one of a file: entries of a directory with such a name are ignored.
    pub(crate) fn may_be_named(&self, name: &Self) -> bool {
        let (Some(last), Some(name)) = (self.parts.last(), name.parts.last()) else { return true };
        let of_file = match last {
            Part::Tree => false,
            Part::Literal(text) => text.contains('.'),
            Part::Name(tokens) => tokens.contains(&Token::Char('.')),
        };
        !of_file || *name == Part::Tree || last.meets(name)
    }

    /// Takes the states on by names, each of which a part of the pattern may match.
    fn follow<N>(&self, states: &mut u64, names: impl IntoIterator<Item = N>, is: impl Fn(&Part, &N) -> bool) -> Reach {
        for name in names {
            let mut next = 0_u64;
            for (index, part) in self.parts.iter().enumerate() {
                if *states & (1 << index) != 0 {
                    match part {
                        Part::Tree => next |= 1 << index,
                        part if is(part, &name) => next |= 1 << (index + 1),
                        Part::Literal(_) | Part::Name(_) => {}
                    }
                }
            }
            *states = self.through_trees(next);
            if *states & (1 << self.parts.len()) != 0 {
                return Reach::Covers;
            }
            if *states == 0 {
                return Reach::No;
            }
        }
        Reach::Below
    }

    /// Returns `true` if the pattern is about one fixed place below the path with these names: from there on its only
    /// wildcard is one for everything, at its end.
    pub(crate) fn is_fixed_below<S: AsRef<str>>(&self, names: &[S]) -> bool {
        let Some((way, rest)) = self.parts.split_at_checked(names.len()) else { return false };
        let leads =
            way.iter().zip(names).all(|(part, name)| matches!(part, Part::Literal(own) if own == name.as_ref()));
        let rest = match rest {
            [rest @ .., Part::Tree, Part::Name(last)] if *last == [Token::Many] => rest,
            rest => rest,
        };
        leads && rest.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// Adds the states behind each `**`, which may also match no name at all.
    fn through_trees(&self, mut states: u64) -> u64 {
        for (index, part) in self.parts.iter().enumerate() {
            if *part == Part::Tree && states & (1 << index) != 0 {
                states |= 1 << (index + 1);
            }
        }
        states
    }
}

/// Splits at the slashes. A backslash before one changes nothing, as in `.gitignore`.
fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut escaped = false;
    for c in text.chars() {
        if c == '/' {
            if let Some(name) = names.last_mut().filter(|_| escaped) {
                name.pop();
            }
            names.push(String::new());
        } else if let Some(name) = names.last_mut() {
            name.push(c);
        }
        escaped = c == '\\' && !escaped;
    }
    names
}

fn tokens(name: &str, fold: bool) -> Result<Vec<Token>, String> {
    let folded = if fold { crate::path::compose(name) } else { name.into() };
    let mut tokens = Vec::new();
    let mut chars = folded.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' if tokens.last() == Some(&Token::Many) => {}
            '*' => tokens.push(Token::Many),
            '?' => tokens.push(Token::One),
            '[' => {
                let mut ahead = chars.clone();
                match class(&mut ahead)? {
                    Some(token) => {
                        chars = ahead;
                        tokens.push(token);
                    }
                    None => tokens.push(Token::Char('[')),
                }
            }
            c => {
                let c = if c == '\\' { chars.next().ok_or("ends in a lone backslash: remove it")? } else { c };
                if fold {
                    tokens.extend(crate::path::fold_char(c).map(Token::Char));
                } else {
                    tokens.push(Token::Char(c));
                }
            }
        }
    }
    Ok(tokens)
}

/// Reads the rest of a class after its `[`; `None` if it does not close, so that the bracket is literal.
fn class(chars: &mut Chars<'_>) -> Result<Option<Token>, String> {
    let negated = chars.as_str().starts_with(['!', '^']);
    if negated {
        chars.next();
    }
    let mut ranges = Vec::new();
    loop {
        let Some(c) = chars.next() else { return Ok(None) };
        let low = match c {
            ']' if !ranges.is_empty() => return Ok(Some(Token::Class { negated, ranges })),
            '\\' => match chars.next() {
                Some(c) => c,
                None => return Ok(None),
            },
            '[' if chars.as_str().starts_with([':', '.', '=']) => {
                return Err("uses a named character class: write the characters out".to_owned());
            }
            c => c,
        };
        let mut ahead = chars.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some('\\')) => ahead.next(),
            (Some('-'), Some(high)) if high != ']' => Some(high),
            _ => None,
        };
        match high {
            None => ranges.push((low, low)),
            Some(high) if high < low => return Err(format!("has the empty range `{low}-{high}`: swap its ends")),
            Some(high) => {
                *chars = ahead;
                ranges.push((low, high));
            }
        }
    }
}

/// Returns `true` if a name matches. Only the last `*` is tried again, so the cost is at most the product of both
/// lengths.
fn name_matches(tokens: &[Token], name: &str) -> bool {
    let (mut rest, mut chars) = (tokens, name.chars());
    let mut retry: Option<(&[Token], Chars<'_>)> = None;
    loop {
        if let Some((Token::Many, after)) = rest.split_first() {
            rest = after;
            retry = Some((after, chars.clone()));
            continue;
        }
        let mut ahead = chars.clone();
        match (rest.split_first(), ahead.next()) {
            (None, None) => return true,
            (Some((token, after)), Some(c)) if token.matches(c) => {
                rest = after;
                chars = ahead;
            }
            _ => {
                let Some((after, mut from)) = retry.take() else { return false };
                if from.next().is_none() {
                    return false;
                }
                rest = after;
                chars = from.clone();
                retry = Some((after, from));
            }
        }
    }
}

fn begins_wild(tokens: &[Token]) -> bool {
    !matches!(tokens.first(), None | Some(Token::Char(_)))
}

/// Returns `true` if one name may match a rule's name pattern and a shell's.
fn names_meet(rule: &[Token], shell: &[Token]) -> bool {
    let hidden = |tokens: &[Token]| tokens.first() == Some(&Token::Char('.'));
    if hidden(rule) && begins_wild(shell) {
        return false;
    }
    // One row of a table: `true` if the preceding part of the shell's pattern and the first tokens of the rule's can
    // match the same text.
    let mut row = vec![true];
    for own in rule {
        row.push(*own == Token::Many && row.last() == Some(&true));
    }
    for token in shell {
        let mut next = vec![*token == Token::Many && row.first() == Some(&true)];
        for (own, around) in rule.iter().zip(row.windows(2)) {
            let (before, above) = (around.first() == Some(&true), around.last() == Some(&true));
            let many = *token == Token::Many || *own == Token::Many;
            next.push(if many { above || next.last() == Some(&true) } else { before && own.meets(token) });
        }
        row = next;
    }
    row.last() == Some(&true)
}

impl Token {
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Char(c), token) | (token, Self::Char(c)) => token.matches(*c),
            _ => true,
        }
    }

    fn matches(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::One | Self::Many => true,
            Self::Class { negated, ranges } => {
                let holds = |c: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
                holds(c) != *negated && (!*negated || c != ANY_NAME_CHAR)
            }
        }
    }
}

/// Expands `{a,b}`, also nested. A brace without its partner is literal.
fn expand(text: &str) -> Result<Vec<String>, String> {
    let mut open = vec![text.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        match first_braces(&text) {
            None => done.push(text),
            Some((before, choices, after)) => {
                open.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{after}")));
            }
        }
        if open.len().saturating_add(done.len()) > MAX_ALTERNATIVES {
            return Err(format!("has more than {MAX_ALTERNATIVES} alternatives: write several rules"));
        }
    }
    Ok(done)
}

/// Returns the first outermost group with a comma: the text before it, its choices, and the text after it.
fn first_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let mut from = 0;
    while let Some(start) = find_plain(text, from, |c| c == '{') {
        from = start.saturating_add(1);
        let mut depth = 0_usize;
        let mut cut = from;
        let mut choices = Vec::new();
        let mut at = from;
        while let Some(next) = find_plain(text, at, |c| matches!(c, '{' | '}' | ',')) {
            at = next.saturating_add(1);
            match text.as_bytes().get(next) {
                Some(b'{') => depth = depth.saturating_add(1),
                Some(b',') if depth == 0 => {
                    choices.push(text.get(cut..next)?);
                    cut = at;
                }
                Some(b'}') if depth == 0 => {
                    if choices.is_empty() {
                        break;
                    }
                    choices.push(text.get(cut..next)?);
                    return Some((text.get(..start)?, choices, text.get(at..)?));
                }
                Some(b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    None
}

/// Returns the place of the next such character that no backslash precedes.
fn find_plain(text: &str, from: usize, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.get(from..)?.char_indices() {
        if !escaped && wanted(c) {
            return Some(from.saturating_add(at));
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// Escapes a name so that it is literal in a pattern.
pub(crate) fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests;
