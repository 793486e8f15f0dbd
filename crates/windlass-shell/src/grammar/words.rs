//! Words of the small grammar.

use super::{GrammarParser, Result};
use crate::{NotUnderstood, SimpleCommand, Word, WordKind, word::WordPiece};

/// Maximum number of words that braces make of one.
const MAX_WORDS: usize = 64;

/// A value that only the running shell has, of which all that matters is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuntimeValue {
    /// `$?`: a number, replaced by a zero.
    Status,
    /// `"$PWD"` or `"$(pwd)"`: the directory, replaced by a dot.
    Directory,
    /// A match of a loop's pattern, within another text, replaced by an underline.
    Name,
}

impl RuntimeValue {
    /// Programs to whom it makes no difference that something else stands in its place.
    const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Status => &["[", "echo", "printf", "test"],
            Self::Name => &["echo", "printf"],
            Self::Directory => &[
                "[", "basename", "cat", "cd", "dirname", "du", "echo", "find", "head", "ls", "realpath", "stat",
                "tail", "test", "tree", "wc",
            ],
        }
    }
}

/// The pieces of a word under construction.
#[derive(Default)]
struct Builder {
    pieces: Vec<WordPiece>,
    last: Option<char>,
    /// The pattern of a loop in the place of the whole word.
    whole: Option<Word>,
}

impl Builder {
    fn push(&mut self, c: char) {
        self.last = Some(c);
        if let Some(WordPiece::Text { text, .. }) = self.pieces.last_mut() {
            text.push(c);
        } else {
            self.pieces.push(WordPiece::text(c, true));
        }
    }

    fn glob(&mut self, c: char) {
        self.last = Some(c);
        self.pieces.push(WordPiece::Glob(c));
    }
}

impl GrammarParser<'_> {
    /// Reads one word; empty source if none begins here.
    pub(super) fn word(&mut self) -> Result<Word> {
        self.values.clear();
        self.alternatives.clear();
        self.peek();
        let start = self.pos;
        let mut word = Builder::default();
        let mut end = start;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' => break,
                ')' if self.end == super::ListEnd::Parenthesis => break,
                _ if word.whole.is_some() => return Err(NotUnderstood::Expansion),
                '(' | ')' => return Err(NotUnderstood::Structure),
                '`' => return Err(NotUnderstood::Expansion),
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    self.bump();
                    let escaped = self.chars.get(self.pos).ok_or(NotUnderstood::UnfinishedQuote)?;
                    word.push(*escaped);
                    self.bump();
                }
                '$' => {
                    self.bump();
                    self.dollar(&mut word)?;
                }
                '~' if matches!(word.last, None | Some('=' | ':')) => return Err(NotUnderstood::Expansion),
                '*' | '?' | '[' => {
                    word.glob(c);
                    self.bump();
                }
                '{' => self.plain_braces(&mut word)?,
                '}' => return Err(NotUnderstood::Structure),
                _ => {
                    word.push(c);
                    self.bump();
                }
            }
            end = self.pos;
        }
        if word.pieces == [WordPiece::Glob('[')] {
            // Alone it is the command `[`: without a closing bracket there is no pattern.
            word.pieces = vec![WordPiece::Text { text: "[".to_owned(), quoted: true }];
        }
        let source = self.chars.get(start..end).unwrap_or_default().iter().collect();
        let pieces = word.whole.map_or(word.pieces, |whole| whole.pieces().to_vec());
        Ok(Word::from_pieces(source, pieces))
    }

    /// Reads on behind an unquoted `$`.
    fn dollar(&mut self, word: &mut Builder) -> Result<()> {
        match self.peek() {
            // At the end of a word `$` is literal, as in `grep end$ file`.
            None | Some(' ' | '\t' | '\n') => word.push('$'),
            Some(')') if self.end == super::ListEnd::Parenthesis => word.push('$'),
            Some('?') => {
                self.bump();
                self.values.push(RuntimeValue::Status);
                word.push('0');
            }
            Some('\'') => self.ansi_quoted(word)?,
            _ => {
                let bound = self.variable().ok_or(NotUnderstood::Expansion)?;
                let plain =
                    |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+' | '@' | ',' | ':');
                let text = bound.as_literal().filter(|text| !text.is_empty() && text.chars().all(plain));
                text.ok_or(NotUnderstood::Expansion)?.chars().for_each(|c| word.push(c));
            }
        }
        Ok(())
    }

    /// Returns the word of the loop variable with the name, perhaps in braces, at this position.
    fn variable(&mut self) -> Option<Word> {
        let rest = self.chars.get(self.pos..).unwrap_or_default();
        let braced = rest.first() == Some(&'{');
        let name: String =
            rest.iter().skip(usize::from(braced)).take_while(|c| c.is_ascii_alphanumeric() || **c == '_').collect();
        let length = name.len().saturating_add(if braced { 2 } else { 0 });
        // Braces are taken apart before variables, and line ends behind a backslash before both: the name may go on
        // behind them.
        let goes_on = |c: &char| matches!(c, '{' | '\\');
        let ends = if braced {
            rest.get(length.saturating_sub(1)) == Some(&'}')
        } else {
            !rest.get(length).is_some_and(goes_on)
        };
        if !ends {
            return None;
        }
        let (_, word) = self.bindings.iter().rev().find(|(bound, _)| *bound == name)?;
        let word = word.clone();
        self.pos = self.pos.saturating_add(length);
        Some(word)
    }

    /// Reads `$'…'` with the escapes of a tab, a line end, a quote and a backslash.
    fn ansi_quoted(&mut self, word: &mut Builder) -> Result<()> {
        self.bump();
        word.last = Some('\'');
        if word.pieces.is_empty() {
            word.pieces.push(WordPiece::Text { text: String::new(), quoted: true });
        }
        loop {
            let c = *self.chars.get(self.pos).ok_or(NotUnderstood::UnfinishedQuote)?;
            self.bump();
            match c {
                '\'' => return Ok(()),
                '\\' => {
                    let escaped = self.chars.get(self.pos).ok_or(NotUnderstood::UnfinishedQuote)?;
                    word.push(match escaped {
                        't' => '\t',
                        'n' => '\n',
                        '\'' | '"' | '\\' => *escaped,
                        _ => return Err(NotUnderstood::Expansion),
                    });
                    self.bump();
                }
                c => word.push(c),
            }
        }
    }

    /// Adds an argument to a command: one word, or those that its braces make.
    pub(super) fn push_argument(&mut self, word: Word, command: &mut SimpleCommand) -> Result<()> {
        let is_first = command.words.is_empty();
        if is_first && !self.alternatives.is_empty() {
            return Err(NotUnderstood::Program);
        }
        let program = command.program().unwrap_or_default();
        // The first argument of `printf` is a format.
        let is_format = program == "printf" && command.words.len() == 1;
        if self.values.iter().any(|value| is_format || !value.programs().contains(&program)) {
            return Err(NotUnderstood::Expansion);
        }
        let words = self.expanded(word)?;
        command.words.extend(words);
        Ok(())
    }

    /// Refuses values and braces in the word that was read last.
    pub(super) fn no_values(&self) -> Result<()> {
        if self.values.is_empty() && self.alternatives.is_empty() { Ok(()) } else { Err(NotUnderstood::Expansion) }
    }

    /// Returns the words that the braces in the word that was read last make of it.
    pub(super) fn expanded(&mut self, word: Word) -> Result<Vec<Word>> {
        let alternatives = std::mem::take(&mut self.alternatives);
        if alternatives.is_empty() {
            return Ok(vec![word]);
        }
        let mut made = vec![Vec::new()];
        let mut braces = alternatives.iter();
        for piece in word.pieces() {
            let of_piece: Vec<Vec<WordPiece>> = match piece {
                WordPiece::Brace(_) => braces.next().into_iter().flatten().cloned().collect(),
                piece => vec![vec![piece.clone()]],
            };
            let longer =
                |pieces: &Vec<WordPiece>, next: &Vec<WordPiece>| pieces.iter().chain(next).cloned().collect::<Vec<_>>();
            made = made.iter().flat_map(|pieces| of_piece.iter().map(move |next| longer(pieces, next))).collect();
            if made.len() > MAX_WORDS {
                return Err(NotUnderstood::TooLong);
            }
        }
        let words = made.into_iter().map(|pieces| Word::from_pieces(word.source().to_owned(), pieces));
        // An empty word without quotes is none.
        words.map(|word| if word.text().is_empty() { Err(NotUnderstood::Expansion) } else { Ok(word) }).collect()
    }

    fn single_quoted(&mut self, word: &mut Builder) -> Result<()> {
        self.bump();
        word.last = Some('\'');
        if word.pieces.is_empty() {
            word.pieces.push(WordPiece::Text { text: String::new(), quoted: true });
        }
        loop {
            let c = *self.chars.get(self.pos).ok_or(NotUnderstood::UnfinishedQuote)?;
            self.bump();
            if c == '\'' {
                return Ok(());
            }
            word.push(c);
        }
    }

    fn double_quoted(&mut self, word: &mut Builder) -> Result<()> {
        self.bump();
        word.last = Some('"');
        if word.pieces.is_empty() {
            word.pieces.push(WordPiece::Text { text: String::new(), quoted: true });
        }
        loop {
            let c = self.peek().ok_or(NotUnderstood::UnfinishedQuote)?;
            self.bump();
            match c {
                '"' => return Ok(()),
                '`' => return Err(NotUnderstood::Expansion),
                '$' => {
                    self.quoted_dollar(word)?;
                }
                '\\' => {
                    let next = *self.chars.get(self.pos).ok_or(NotUnderstood::UnfinishedQuote)?;
                    if matches!(next, '$' | '`' | '"' | '\\') {
                        self.bump();
                        word.push(next);
                    } else {
                        word.push('\\');
                    }
                }
                _ => word.push(c),
            }
        }
    }

    /// Reads on behind a `$` in double quotes.
    fn quoted_dollar(&mut self, word: &mut Builder) -> Result<()> {
        let begins = matches!(word.pieces.as_slice(), [WordPiece::Text { text, .. }] if text.is_empty());
        if let Some(text) = self.document() {
            text.chars().for_each(|c| word.push(c));
            return Ok(());
        }
        match self.peek() {
            // Before one of these it begins nothing, as in "end$" or "^(a|b$)".
            Some('"' | ' ' | '|' | ')' | '/') => word.push('$'),
            Some('?') => {
                self.bump();
                self.values.push(RuntimeValue::Status);
                word.push('0');
            }
            _ if begins && self.directory() => {
                self.names_directory = true;
                self.values.push(RuntimeValue::Directory);
                word.push('.');
            }
            _ => {
                let bound = self.variable().ok_or(NotUnderstood::Expansion)?;
                match bound.kind() {
                    WordKind::Literal => bound.text().chars().for_each(|c| word.push(c)),
                    _ if begins && self.chars.get(self.pos) == Some(&'"') => word.whole = Some(bound),
                    _ => {
                        self.values.push(RuntimeValue::Name);
                        word.push('_');
                    }
                }
            }
        }
        Ok(())
    }

    /// Skips `PWD`, `{PWD}` or `(pwd)` before a quote or a slash.
    fn directory(&mut self) -> bool {
        let rest = self.chars.get(self.pos..).unwrap_or_default();
        let forms = ["PWD", "{PWD}", "(pwd)"];
        let is_here = |form: &&str| {
            form.chars().zip(rest).filter(|(own, found)| own == *found).count() == form.len()
                && matches!(rest.get(form.len()), Some('"' | '/'))
        };
        let Some(form) = forms.iter().find(|form| is_here(form)) else { return false };
        self.pos = self.pos.saturating_add(form.len());
        true
    }

    /// Reads `{}` or `{name}` without comma or range: bash leaves it unchanged (`stash@{0}`, `find -exec {}`).
    fn plain_braces(&mut self, word: &mut Builder) -> Result<()> {
        let rest = self.chars.get(self.pos.saturating_add(1)..).unwrap_or_default();
        let inner = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || matches!(**c, '_' | '-')).count();
        if rest.get(inner) != Some(&'}') {
            return self.brace_list(word);
        }
        let length = inner.saturating_add(2);
        for c in self.chars.iter().skip(self.pos).take(length) {
            word.push(*c);
        }
        self.pos = self.pos.saturating_add(length);
        Ok(())
    }

    /// Reads `{a,b}` with plain alternatives: the word is repeated with each of them in its place.
    fn brace_list(&mut self, word: &mut Builder) -> Result<()> {
        let rest = self.chars.get(self.pos.saturating_add(1)..).unwrap_or_default();
        let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | ',' | '*' | '?');
        let inner: String = rest.iter().take_while(|c| plain(c)).collect();
        let is_range = inner.contains("..");
        if rest.get(inner.len()) != Some(&'}') || !inner.contains(',') || is_range {
            return Err(NotUnderstood::Expansion);
        }
        self.alternatives.push(inner.split(',').map(alternative).collect());
        word.last = Some('}');
        word.pieces.push(WordPiece::Brace('{'));
        self.pos = self.pos.saturating_add(inner.len()).saturating_add(2);
        Ok(())
    }
}

/// Returns the pieces of one of the texts in braces.
fn alternative(text: &str) -> Vec<WordPiece> {
    let mut word = Builder::default();
    for c in text.chars() {
        if matches!(c, '*' | '?') { word.glob(c) } else { word.push(c) }
    }
    word.pieces
}
