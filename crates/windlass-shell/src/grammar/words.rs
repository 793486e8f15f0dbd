//! Words of the small grammar.

use super::{Parser, Result};
use crate::{NotUnderstood, Word, word::Piece};

/// The pieces of a word under construction.
#[derive(Default)]
struct Builder {
    pieces: Vec<Piece>,
    last: Option<char>,
}

impl Builder {
    fn push(&mut self, c: char) {
        self.last = Some(c);
        if let Some(Piece::Text { text, .. }) = self.pieces.last_mut() {
            text.push(c);
        } else {
            self.pieces.push(Piece::text(c, true));
        }
    }

    fn glob(&mut self, c: char) {
        self.last = Some(c);
        self.pieces.push(Piece::Glob(c));
    }
}

impl Parser<'_> {
    /// One word; empty source if none begins here.
    pub(super) fn word(&mut self) -> Result<Word> {
        self.peek();
        let start = self.pos;
        let mut word = Builder::default();
        let mut end = start;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' => break,
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
                    // At the end of a word it stands for itself, as in `grep end$ file`.
                    self.bump();
                    if !matches!(self.peek(), None | Some(' ' | '\t' | '\n')) {
                        return Err(NotUnderstood::Expansion);
                    }
                    word.push('$');
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
        if word.pieces == [Piece::Glob('[')] {
            // Alone it is the command `[`: without a closing bracket there is no pattern.
            word.pieces = vec![Piece::Text { text: "[".to_owned(), quoted: true }];
        }
        let source = self.chars.get(start..end).unwrap_or_default().iter().collect();
        Ok(Word::from_pieces(source, word.pieces))
    }

    fn single_quoted(&mut self, word: &mut Builder) -> Result<()> {
        self.bump();
        word.last = Some('\'');
        if word.pieces.is_empty() {
            word.pieces.push(Piece::Text { text: String::new(), quoted: true });
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
            word.pieces.push(Piece::Text { text: String::new(), quoted: true });
        }
        loop {
            let c = self.peek().ok_or(NotUnderstood::UnfinishedQuote)?;
            self.bump();
            match c {
                '"' => return Ok(()),
                '`' => return Err(NotUnderstood::Expansion),
                '$' => {
                    // A dollar sign before one of these begins nothing, as in "end$" or "^(a|b$)".
                    if !matches!(self.peek(), Some('"' | ' ' | '|' | ')' | '/')) {
                        return Err(NotUnderstood::Expansion);
                    }
                    word.push('$');
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

    /// `{}` or `{name}` without comma or range: bash leaves it as it is (`stash@{0}`, `find -exec {}`).
    fn plain_braces(&mut self, word: &mut Builder) -> Result<()> {
        let rest = self.chars.get(self.pos.saturating_add(1)..).unwrap_or_default();
        let inner = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || matches!(**c, '_' | '-')).count();
        if rest.get(inner) != Some(&'}') {
            return Err(NotUnderstood::Expansion);
        }
        let length = inner.saturating_add(2);
        for c in self.chars.iter().skip(self.pos).take(length) {
            word.push(*c);
        }
        self.pos = self.pos.saturating_add(length);
        Ok(())
    }
}
