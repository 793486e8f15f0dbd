//! File name patterns with the meaning of `.gitignore`, matched name by name.
//!
//! Because names are matched one by one, only `**` crosses a `/`, and a pattern can tell whether it could match
//! something *below* a directory.

use std::str::Chars;

/// Maximum number of alternatives into which one pattern may expand.
const MAX_ALTERNATIVES: usize = 256;
/// Maximum number of names in one pattern, because states are the bits of a `u64`.
const MAX_PARTS: usize = 60;

/// Character of which [`ANY_NAME`] consists. No file name contains it, and no negated class matches it.
const ANY_NAME_CHAR: char = '\0';

/// Placeholder for every possible name. Only patterns that match every name match it.
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
    AnyChar,
    /// `*`
    AnyChars,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Part {
    fn of_name(tokens: Vec<Token>) -> Self {
        let literal = tokens.iter().map(|token| match token {
            Token::Char(c) => Some(*c),
            _ => None,
        });
        match literal.collect::<Option<String>>() {
            Some(name) => Self::Literal(name),
            None => Self::Name(tokens),
        }
    }

    /// Returns `true` if the part matches a name.
    fn matches_name(&self, name: &str) -> bool {
        match self {
            Self::Tree => true,
            Self::Literal(literal) => literal == name,
            Self::Name(tokens) => name_matches(tokens, name),
        }
    }

    /// Returns `true` if one name may match both this part and a part of a shell pattern. Wildcards of the shell match
    /// no leading dot.
    fn overlaps(&self, shell: &Self) -> bool {
        match (self, shell) {
            (Self::Tree, _) | (_, Self::Tree) => true,
            (rule, Self::Literal(name)) => rule.matches_name(name),
            (Self::Literal(name), Self::Name(tokens)) => {
                !(name.starts_with('.') && begins_wild(tokens)) && name_matches(tokens, name)
            }
            (Self::Name(rule), Self::Name(tokens)) => names_overlap(rule, tokens),
        }
    }
}

impl Glob {
    /// Parses a relative pattern into one [`Glob`] for each alternative of `{a,b}`. `fold` removes differences of case
    /// and Unicode form, for rules that may match too much.
    ///
    /// # Errors
    /// The problem, as the end of a sentence whose subject is the pattern.
    pub(crate) fn parse(text: &str, fold: bool) -> Result<Vec<Self>, String> {
        expand(text)?.iter().map(|text| Self::parse_alternative(text, fold)).collect()
    }

    /// Parses a pattern without alternatives.
    fn parse_alternative(text: &str, fold: bool) -> Result<Self, String> {
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
            parts.push(Part::Name(vec![Token::AnyChars]));
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

    /// Returns the relation of the pattern to the path with these names.
    pub(crate) fn reach<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> Reach {
        self.advance(&mut self.close_over_trees(1), names, |part, name| part.matches_name(name.as_ref()))
    }

    /// Returns the strongest relation that the pattern may have to a path that begins with `names` and continues with a
    /// match of `shell_pattern`. As in the shell, a wildcard at the start of a name matches no leading dot.
    pub(crate) fn may_reach(&self, names: &[String], shell_pattern: &Self) -> Reach {
        if names.len().saturating_add(shell_pattern.parts.len()) > MAX_PARTS {
            return Reach::Covers;
        }
        let mut states = self.close_over_trees(1);
        let reach_of_names = self.advance(&mut states, names, |part, name| part.matches_name(name));
        if reach_of_names != Reach::Below {
            return reach_of_names;
        }
        let parts_before_tree = shell_pattern.parts.iter().take_while(|part| **part != Part::Tree);
        let reach = self.advance(&mut states, parts_before_tree, |part, shell| part.overlaps(shell));
        if reach == Reach::Below && shell_pattern.parts.contains(&Part::Tree) { Reach::Covers } else { reach }
    }

    /// Returns `false` if the pattern ends in a file name that `name` cannot match. A last name with a dot is treated
    /// as a file name: entries of a directory with such a name are ignored.
    pub(crate) fn may_be_named(&self, name: &Self) -> bool {
        let (Some(last), Some(name)) = (self.parts.last(), name.parts.last()) else { return true };
        let is_file_name = match last {
            Part::Tree => false,
            Part::Literal(text) => text.contains('.'),
            Part::Name(tokens) => tokens.contains(&Token::Char('.')),
        };
        !is_file_name || *name == Part::Tree || last.overlaps(name)
    }

    /// Advances the states by each name in turn. `matches_part` decides if a part matches a name.
    fn advance<N>(
        &self,
        states: &mut u64,
        names: impl IntoIterator<Item = N>,
        matches_part: impl Fn(&Part, &N) -> bool,
    ) -> Reach {
        for name in names {
            let mut next = 0_u64;
            for (index, part) in self.parts.iter().enumerate() {
                if *states & (1 << index) != 0 {
                    match part {
                        Part::Tree => next |= 1 << index,
                        part if matches_part(part, &name) => next |= 1 << (index + 1),
                        Part::Literal(_) | Part::Name(_) => {}
                    }
                }
            }
            *states = self.close_over_trees(next);
            if *states & (1 << self.parts.len()) != 0 {
                return Reach::Covers;
            }
            if *states == 0 {
                return Reach::No;
            }
        }
        Reach::Below
    }

    /// Returns `true` if the pattern begins with these names and continues with literal names, apart from a final
    /// wildcard for everything.
    pub(crate) fn is_fixed_below<S: AsRef<str>>(&self, names: &[S]) -> bool {
        let Some((prefix, rest)) = self.parts.split_at_checked(names.len()) else { return false };
        let prefix_matches =
            prefix.iter().zip(names).all(|(part, name)| matches!(part, Part::Literal(text) if text == name.as_ref()));
        let rest = match rest {
            [rest @ .., Part::Tree, Part::Name(last)] if *last == [Token::AnyChars] => rest,
            rest => rest,
        };
        prefix_matches && rest.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// Adds the state after each active `**`, because `**` may match no name at all.
    fn close_over_trees(&self, mut states: u64) -> u64 {
        for (index, part) in self.parts.iter().enumerate() {
            if *part == Part::Tree && states & (1 << index) != 0 {
                states |= 1 << (index + 1);
            }
        }
        states
    }
}

/// Splits a pattern at its slashes. A slash after a backslash also splits, as in `.gitignore`.
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
            '*' if tokens.last() == Some(&Token::AnyChars) => {}
            '*' => tokens.push(Token::AnyChars),
            '?' => tokens.push(Token::AnyChar),
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

/// Returns `true` if the tokens match a name. Only the last `*` is retried, so the cost is at most the product of both
/// lengths.
fn name_matches(tokens: &[Token], name: &str) -> bool {
    let (mut rest, mut chars) = (tokens, name.chars());
    let mut retry: Option<(&[Token], Chars<'_>)> = None;
    loop {
        if let Some((Token::AnyChars, after)) = rest.split_first() {
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
                let Some((after, mut retry_chars)) = retry.take() else { return false };
                if retry_chars.next().is_none() {
                    return false;
                }
                rest = after;
                chars = retry_chars.clone();
                retry = Some((after, retry_chars));
            }
        }
    }
}

fn begins_wild(tokens: &[Token]) -> bool {
    !matches!(tokens.first(), None | Some(Token::Char(_)))
}

/// Returns `true` if one name may match a rule's name pattern and a shell's.
fn names_overlap(rule: &[Token], shell: &[Token]) -> bool {
    let begins_with_dot = |tokens: &[Token]| tokens.first() == Some(&Token::Char('.'));
    if begins_with_dot(rule) && begins_wild(shell) {
        return false;
    }
    // Row of a dynamic programming table: entry `i` is `true` if the shell tokens so far and the first `i` rule tokens
    // can match the same text.
    let mut row = vec![true];
    for rule_token in rule {
        row.push(*rule_token == Token::AnyChars && row.last() == Some(&true));
    }
    for shell_token in shell {
        let mut next = vec![*shell_token == Token::AnyChars && row.first() == Some(&true)];
        for (rule_token, cells) in rule.iter().zip(row.windows(2)) {
            let (diagonal, above) = (cells.first() == Some(&true), cells.last() == Some(&true));
            let has_star = *shell_token == Token::AnyChars || *rule_token == Token::AnyChars;
            next.push(if has_star {
                above || next.last() == Some(&true)
            } else {
                diagonal && rule_token.overlaps(shell_token)
            });
        }
        row = next;
    }
    row.last() == Some(&true)
}

impl Token {
    /// Returns `true` if one character may match both tokens. Two tokens that are no literals are assumed to overlap.
    fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Char(c), token) | (token, Self::Char(c)) => token.matches(*c),
            _ => true,
        }
    }

    fn matches(&self, c: char) -> bool {
        match self {
            Self::Char(literal) => *literal == c,
            Self::AnyChar | Self::AnyChars => true,
            Self::Class { negated, ranges } => {
                let in_ranges = |c: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
                in_ranges(c) != *negated && (!*negated || c != ANY_NAME_CHAR)
            }
        }
    }
}

/// Expands `{a,b}`, also nested. A brace without its partner is literal.
fn expand(text: &str) -> Result<Vec<String>, String> {
    let mut pending = vec![text.to_owned()];
    let mut expanded = Vec::new();
    while let Some(text) = pending.pop() {
        match first_braces(&text) {
            None => expanded.push(text),
            Some((before, choices, after)) => {
                pending.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{after}")));
            }
        }
        if pending.len().saturating_add(expanded.len()) > MAX_ALTERNATIVES {
            return Err(format!("has more than {MAX_ALTERNATIVES} alternatives: write several rules"));
        }
    }
    Ok(expanded)
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

/// Returns the byte index of the next wanted character that no backslash escapes.
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

/// Escapes a path so that a pattern matches it literally.
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
