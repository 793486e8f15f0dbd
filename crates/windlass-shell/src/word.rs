//! Words: arguments that the shell passes to a program, as far as they are known.

use std::sync::Arc;

/// Certainty about a word's text after bash has expanded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WordKind {
    /// Exactly one argument, and [`Word::text`] is that argument, byte for byte.
    Literal,
    /// An unquoted file name pattern: any number of arguments, each beginning with
    /// [`Word::literal_prefix`], or the pattern itself when nothing matches.
    Glob,
    /// Contains an expansion whose result only the running shell knows.
    Dynamic,
}

/// One word of a command.
///
/// Words of a [`SimpleCommand`](crate::SimpleCommand) are never [`WordKind::Dynamic`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word(Arc<ParsedWord>);

/// Parsed word. The same words occur in commands, in the commands that wrappers run, and in the commands found in them.
#[derive(Debug, PartialEq, Eq)]
struct ParsedWord {
    source: String,
    text: String,
    kind: WordKind,
    pieces: Vec<WordPiece>,
}

/// A part of a word, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordPiece {
    /// Literal characters.
    Text { text: String, quoted: bool },
    /// `*`, `?` or `[`, unquoted.
    Glob(char),
    /// `~` or `~name` where bash would expand it.
    Tilde(String),
    /// `$NAME` or `${NAME}` without operators.
    Param(String),
    /// Any other expansion.
    Unknown,
    /// `{`, `,` or `}`, unquoted, which may take part in a brace expansion.
    Brace(char),
}

impl WordPiece {
    /// The beginning of a text, with room for a usual word.
    pub(crate) fn text(first: char, quoted: bool) -> Self {
        let mut text = String::with_capacity(16);
        text.push(first);
        Self::Text { text, quoted }
    }
}

impl Word {
    /// Returns a word which is exactly `text`, with `text` as its source too.
    pub(crate) fn literal(text: &str) -> Self {
        let piece = WordPiece::Text { text: text.to_owned(), quoted: true };
        Self::from_pieces(text.to_owned(), vec![piece])
    }

    pub(crate) fn from_pieces(source: String, pieces: Vec<WordPiece>) -> Self {
        let mut text = String::with_capacity(source.len());
        let mut kind = WordKind::Literal;
        for piece in &pieces {
            match piece {
                WordPiece::Text { text: part, .. } => text.push_str(part),
                WordPiece::Brace(c) => text.push(*c),
                WordPiece::Glob(c) => {
                    text.push(*c);
                    if kind == WordKind::Literal {
                        kind = WordKind::Glob;
                    }
                }
                WordPiece::Tilde(user) => {
                    text.push('~');
                    text.push_str(user);
                    kind = WordKind::Dynamic;
                }
                WordPiece::Param(name) => {
                    text.push('$');
                    text.push_str(name);
                    kind = WordKind::Dynamic;
                }
                WordPiece::Unknown => {
                    text.push_str("$(..)");
                    kind = WordKind::Dynamic;
                }
            }
        }
        Self(Arc::new(ParsedWord { source, text, kind, pieces }))
    }

    /// Returns the word as it is written, quotes and escapes included.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns the argument. Exact for [`WordKind::Literal`]; for the other kinds a readable approximation in which
    /// pattern characters and expansions stand as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the certainty of [`text`](Self::text).
    #[must_use]
    pub fn kind(&self) -> WordKind {
        self.0.kind
    }

    /// Returns `true` if the word is exactly one known argument.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.0.kind == WordKind::Literal
    }

    /// Returns the argument, if it is exactly known.
    #[must_use]
    pub fn as_literal(&self) -> Option<&str> {
        self.is_literal().then_some(self.0.text.as_str())
    }

    /// Returns the characters that every argument made from this word begins with: the whole text of a literal,
    /// otherwise the text before the first pattern or expansion.
    #[must_use]
    pub fn literal_prefix(&self) -> String {
        let mut prefix = String::new();
        for piece in &self.0.pieces {
            match piece {
                WordPiece::Text { text, .. } => prefix.push_str(text),
                WordPiece::Brace(c) => prefix.push(*c),
                _ => break,
            }
        }
        prefix
    }

    /// Returns `true` if no argument made from this word can be taken for an option.
    #[must_use]
    pub fn cannot_be_option(&self) -> bool {
        let prefix = self.literal_prefix();
        match self.0.kind {
            WordKind::Literal => !prefix.starts_with('-'),
            WordKind::Glob | WordKind::Dynamic => !prefix.is_empty() && !prefix.starts_with('-'),
        }
    }

    pub(crate) fn pieces(&self) -> &[WordPiece] {
        &self.0.pieces
    }
}

/// Returns the last part of a program's path.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
