//! Words and the expansions in them.

use super::reader::ScriptReader;
use crate::{Undecided, Word, word::WordPiece};

/// The pieces of a word under construction.
#[derive(Default)]
pub(super) struct Pieces(Vec<WordPiece>);

impl Pieces {
    fn text(&mut self, c: char, is_quoted: bool) {
        match self.0.last_mut() {
            Some(WordPiece::Text { text, quoted }) if *quoted == is_quoted => text.push(c),
            _ => self.0.push(WordPiece::text(c, is_quoted)),
        }
    }

    fn last(&self) -> Option<char> {
        match self.0.last()? {
            WordPiece::Text { text, .. } => text.chars().next_back(),
            WordPiece::Glob(c) => Some(*c),
            _ => None,
        }
    }
}

impl ScriptReader<'_, '_> {
    /// Reads one word; its source is empty if none begins here.
    pub(super) fn word(&mut self) -> Word {
        self.peek();
        let start = self.pos;
        let mut pieces = Pieces::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | ')' => break,
                '<' | '>' if self.second() == Some('(') => {
                    self.bump();
                    self.bump();
                    self.substitution(&mut pieces);
                }
                '<' | '>' => break,
                '(' => {
                    // Pattern groups: `!(` before a command is a negated subshell instead.
                    let group = matches!(pieces.last(), Some('?' | '*' | '+' | '@' | '!'));
                    if !group || self.pos == start.saturating_add(1) {
                        break;
                    }
                    self.pattern_group();
                    pieces.0.push(WordPiece::Unknown);
                }
                _ => self.word_char(c, start, &mut pieces),
            }
        }
        if pieces.0 == [WordPiece::Glob('[')] {
            pieces.0 = vec![WordPiece::Text { text: "[".to_owned(), quoted: false }];
        }
        Word::from_pieces(self.source(start), pieces.0)
    }

    fn word_char(&mut self, c: char, start: usize, pieces: &mut Pieces) {
        let first = self.pos == start;
        match c {
            '\'' => self.single_quoted(pieces),
            '"' => self.double_quoted(pieces),
            '$' => self.dollar(pieces, false),
            '`' => self.backticks(pieces, false),
            '\\' => {
                self.bump();
                match self.raw(0) {
                    Some(escaped) => {
                        pieces.text(escaped, true);
                        self.bump();
                    }
                    None => pieces.text('\\', true),
                }
            }
            '~' if first => {
                self.bump();
                let mut user = String::new();
                while let Some(c) =
                    self.peek().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'))
                {
                    user.push(c);
                    self.bump();
                }
                pieces.0.push(WordPiece::Tilde(user));
            }
            '*' | '?' | '[' => {
                pieces.0.push(WordPiece::Glob(c));
                self.bump();
            }
            '{' | ',' | '}' => {
                pieces.0.push(WordPiece::Brace(c));
                self.bump();
            }
            _ => {
                pieces.text(c, false);
                self.bump();
            }
        }
    }

    fn single_quoted(&mut self, pieces: &mut Pieces) {
        self.bump();
        pieces.0.push(WordPiece::Text { text: String::new(), quoted: true });
        loop {
            let Some(c) = self.raw(0) else {
                self.undecided(Undecided::Malformed);
                return;
            };
            self.bump();
            if c == '\'' {
                return;
            }
            pieces.text(c, true);
        }
    }

    fn double_quoted(&mut self, pieces: &mut Pieces) {
        self.bump();
        pieces.0.push(WordPiece::Text { text: String::new(), quoted: true });
        if !self.enter() {
            return;
        }
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.bump();
                    self.leave();
                    return;
                }
                _ => self.quoted_char(c, pieces, true),
            }
        }
        self.leave();
        self.undecided(Undecided::Malformed);
    }

    /// Reads a character in a text where expansions happen but words do not end.
    fn quoted_char(&mut self, c: char, pieces: &mut Pieces, in_quotes: bool) {
        match c {
            '$' => self.dollar(pieces, true),
            '`' => self.backticks(pieces, in_quotes),
            '\\' => {
                self.bump();
                match self.raw(0) {
                    Some(next) if matches!(next, '$' | '`' | '"' | '\\') => {
                        self.bump();
                        pieces.text(next, true);
                    }
                    _ => pieces.text('\\', true),
                }
            }
            _ => {
                pieces.text(c, true);
                self.bump();
            }
        }
    }

    /// Reads to the end as the inside of a here-document.
    pub(super) fn expansions(&mut self) {
        let mut pieces = Pieces::default();
        while let Some(c) = self.peek() {
            self.quoted_char(c, &mut pieces, false);
            pieces.0.clear();
        }
    }

    /// Reads an expansion at `$`.
    fn dollar(&mut self, pieces: &mut Pieces, quoted: bool) {
        self.bump();
        match self.peek() {
            Some('(') => {
                self.bump();
                if self.peek() == Some('(') && self.arithmetic() {
                    pieces.0.push(WordPiece::Unknown);
                } else {
                    self.substitution(pieces);
                }
            }
            Some('{') => self.braced_parameter(pieces, quoted),
            Some('[') => {
                self.bump();
                self.until_bracket();
                pieces.0.push(WordPiece::Unknown);
            }
            Some('\'') if !quoted => self.ansi_quoted(pieces),
            Some('"') if !quoted => self.double_quoted(pieces),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.bump();
                }
                pieces.0.push(WordPiece::Param(name));
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '$' | '!' | '-') => {
                self.bump();
                pieces.0.push(WordPiece::Param(c.to_string()));
            }
            _ => pieces.text('$', quoted),
        }
    }

    /// Reads on after `$(` or `<(`.
    fn substitution(&mut self, pieces: &mut Pieces) {
        pieces.0.push(WordPiece::Unknown);
        let waiting = std::mem::take(&mut self.heredocs);
        self.script_in_parentheses();
        self.heredocs = waiting;
    }

    /// Reads an arithmetic expression at the second `(` of `$((` or `((`, if it is one. Otherwise the position is as
    /// before.
    pub(super) fn arithmetic(&mut self) -> bool {
        let start = self.pos;
        self.bump();
        if !self.enter() {
            return true;
        }
        let mut open = 0usize;
        let mut scratch = Pieces::default();
        let mut is_arithmetic = false;
        while let Some(c) = self.peek() {
            match c {
                '(' => {
                    open = open.saturating_add(1);
                    self.bump();
                }
                ')' if open > 0 => {
                    open = open.saturating_sub(1);
                    self.bump();
                }
                ')' => {
                    self.bump();
                    is_arithmetic = self.eat(')');
                    break;
                }
                '\'' | '"' => {
                    self.undecided(Undecided::Malformed);
                    self.bump();
                }
                _ => self.quoted_char(c, &mut scratch, false),
            }
            scratch.0.clear();
        }
        self.leave();
        if !is_arithmetic {
            self.pos = start;
        }
        is_arithmetic
    }

    /// Reads on at the `{` of `${`.
    fn braced_parameter(&mut self, pieces: &mut Pieces, quoted: bool) {
        self.bump();
        let start = self.pos;
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
            self.bump();
        }
        if name.is_empty() && self.second() == Some('}') {
            name.extend(self.peek().filter(|c| matches!(c, '@' | '*')));
            if !name.is_empty() {
                self.bump();
            }
        }
        if !name.is_empty() && self.eat('}') {
            pieces.0.push(WordPiece::Param(name));
            return;
        }
        // An element of an array, and of an argument or the home a default and a cut end too, are the value of the variable, or nearly.
        let is_argument = name == "HOME" || name.starts_with(|c: char| c.is_ascii_digit());
        let is_value = !name.is_empty()
            && match self.peek() {
                Some('[') => true,
                Some('%' | '-') => is_argument,
                Some(':') => is_argument && self.second() == Some('-'),
                _ => false,
            };
        if name.is_empty() && matches!(self.peek(), Some(' ' | '\t' | '\n' | '|')) {
            self.undecided(Undecided::Script);
        }
        pieces.0.push(if is_value { WordPiece::Param(name) } else { WordPiece::Unknown });
        self.until_brace(quoted);
        if self.source(start).contains("@P") {
            // Prompt expansion runs the substitutions inside the value.
            self.undecided(Undecided::Script);
        }
    }

    fn until_brace(&mut self, quoted: bool) {
        if !self.enter() {
            return;
        }
        let mut scratch = Pieces::default();
        while let Some(c) = self.peek() {
            match c {
                '}' => {
                    self.bump();
                    self.leave();
                    return;
                }
                '\'' if quoted => {
                    // A quote or not, depending on the operator.
                    self.undecided(Undecided::Malformed);
                    self.bump();
                }
                '\'' => self.single_quoted(&mut scratch),
                '"' => self.double_quoted(&mut scratch),
                '\\' => {
                    self.bump();
                    self.bump();
                }
                _ => self.quoted_char(c, &mut scratch, quoted),
            }
            scratch.0.clear();
        }
        self.leave();
        self.undecided(Undecided::Malformed);
    }

    /// Reads on after `$[`.
    fn until_bracket(&mut self) {
        if !self.enter() {
            return;
        }
        let mut scratch = Pieces::default();
        let mut open = 1usize;
        while let Some(c) = self.peek() {
            match c {
                '[' => {
                    open = open.saturating_add(1);
                    self.bump();
                }
                ']' => {
                    open = open.saturating_sub(1);
                    self.bump();
                    if open == 0 {
                        self.leave();
                        return;
                    }
                }
                '\'' | '"' => {
                    self.undecided(Undecided::Malformed);
                    self.bump();
                }
                _ => self.quoted_char(c, &mut scratch, false),
            }
            scratch.0.clear();
        }
        self.leave();
        self.undecided(Undecided::Malformed);
    }

    /// Reads on at the `(` of a pattern group such as `@(a|b)`.
    fn pattern_group(&mut self) {
        self.bump();
        if !self.enter() {
            return;
        }
        let mut scratch = Pieces::default();
        let mut open = 1usize;
        while let Some(c) = self.peek() {
            match c {
                '(' => {
                    open = open.saturating_add(1);
                    self.bump();
                }
                ')' => {
                    open = open.saturating_sub(1);
                    self.bump();
                    if open == 0 {
                        self.leave();
                        return;
                    }
                }
                '\'' => self.single_quoted(&mut scratch),
                '"' => self.double_quoted(&mut scratch),
                _ => self.quoted_char(c, &mut scratch, false),
            }
            scratch.0.clear();
        }
        self.leave();
        self.undecided(Undecided::Malformed);
    }

    fn backticks(&mut self, pieces: &mut Pieces, in_quotes: bool) {
        self.bump();
        pieces.0.push(WordPiece::Unknown);
        let mut script = String::new();
        loop {
            let Some(c) = self.raw(0) else {
                self.undecided(Undecided::Malformed);
                break;
            };
            self.bump();
            match (c, self.raw(0)) {
                ('`', _) => break,
                ('\\', Some(next)) if matches!(next, '`' | '$' | '\\') || (in_quotes && next == '"') => {
                    script.push(next);
                    self.bump();
                }
                _ => script.push(c),
            }
        }
        self.nested_script(&script);
    }

    /// Reads on at the quote of `$'`.
    fn ansi_quoted(&mut self, pieces: &mut Pieces) {
        self.bump();
        pieces.0.push(WordPiece::Text { text: String::new(), quoted: true });
        loop {
            let Some(c) = self.raw(0) else {
                self.undecided(Undecided::Malformed);
                return;
            };
            self.bump();
            match c {
                '\'' => return,
                '\\' => {
                    if let Some(escape) = self.raw(0) {
                        self.bump();
                        self.ansi_escape(escape, pieces);
                    }
                }
                _ => pieces.text(c, true),
            }
        }
    }

    fn ansi_escape(&mut self, escape: char, pieces: &mut Pieces) {
        let decoded = match escape {
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'e' | 'E' => Some('\u{1b}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            '\\' | '\'' | '"' | '?' => Some(escape),
            // `\x{...}` has any number of digits, of which bash uses the last two.
            'x' if self.raw(0) == Some('{') => None,
            'x' => self.code(escape, 16, 2, pieces).filter(char::is_ascii),
            'u' => self.code(escape, 16, 4, pieces),
            'U' => self.code(escape, 16, 8, pieces),
            'c' => self.control(pieces),
            '0'..='7' => {
                self.pos = self.pos.saturating_sub(1);
                // A byte alone is no character, and of a greater number bash uses only the last eight bits.
                self.code(escape, 8, 3, pieces).filter(char::is_ascii)
            }
            _ => {
                pieces.text('\\', true);
                Some(escape)
            }
        };
        match decoded {
            // The rest of the word is ignored.
            Some('\0') => {
                self.undecided(Undecided::Malformed);
                pieces.0.push(WordPiece::Unknown);
            }
            Some(c) => pieces.text(c, true),
            None => pieces.0.push(WordPiece::Unknown),
        }
    }

    /// Reads on after `\c` in `$'`. A quote ends the text there too, and a backslash hides the character behind it.
    fn control(&mut self, pieces: &mut Pieces) -> Option<char> {
        match self.raw(0) {
            Some(c) if c.is_ascii() && !matches!(c, '\'' | '\\' | '?') => {
                self.bump();
                char::from_u32(u32::from(c) & 0x1f)
            }
            Some('\\') => {
                self.bump();
                self.bump();
                None
            }
            Some('\'') => {
                pieces.text('\\', true);
                Some('c')
            }
            _ => None,
        }
    }

    /// Reads the character with the number that stands here. Without a digit it is the escape itself, as it is written.
    fn code(&mut self, escape: char, radix: u32, digits: usize, pieces: &mut Pieces) -> Option<char> {
        let mut value = None;
        for _ in 0..digits {
            let Some(digit) = self.raw(0).and_then(|c| c.to_digit(radix)) else {
                break;
            };
            value = Some(value.unwrap_or(0u32).wrapping_mul(radix).wrapping_add(digit));
            self.bump();
        }
        if value.is_none() {
            pieces.text('\\', true);
        }
        value.map_or(Some(escape), char::from_u32)
    }
}
