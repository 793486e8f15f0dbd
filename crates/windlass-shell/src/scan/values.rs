//! Values that a text itself gives to variables: `d=/etc`, `for d in /etc ~; do`.

use super::reader::ScriptReader;
use super::script::CurrentCommand;
use crate::word::{Word, WordPiece, base_name};
use crate::{Redirect, directory};

/// Maximum number of values of one variable that are put into a command.
const MAX_VALUES: usize = 16;
/// Most arguments of a script that are put into its commands.
const MAX_ARGUMENTS: usize = 8;
/// Maximum number of values of a text.
const MAX_NAMED: usize = 256;

/// A value of a variable.
#[derive(Debug)]
pub(super) struct NamedValue {
    name: String,
    pieces: Vec<WordPiece>,
}

/// Returns the pieces of a value, if they are known without running anything.
fn known(pieces: Vec<WordPiece>) -> Option<Vec<WordPiece>> {
    let is_known = |piece: &WordPiece| !matches!(piece, WordPiece::Param(_) | WordPiece::Unknown);
    (!pieces.is_empty() && pieces.iter().all(is_known)).then_some(pieces)
}

/// Returns the pieces of an assignment behind its first `=`.
fn behind_equals(word: &Word) -> Vec<WordPiece> {
    let mut pieces = word.pieces().iter();
    let mut value = Vec::new();
    for piece in pieces.by_ref() {
        let WordPiece::Text { text, quoted } = piece else { continue };
        let Some((_, rest)) = text.split_once('=') else { continue };
        if !rest.is_empty() {
            value.push(WordPiece::Text { text: rest.to_owned(), quoted: *quoted });
        }
        break;
    }
    value.extend(pieces.cloned());
    // A tilde at the beginning of a value is read as text of the word.
    if let Some(WordPiece::Text { text, quoted: false }) = value.first().cloned() {
        let user = text.strip_prefix('~').and_then(|rest| rest.split('/').next());
        if let Some(user) = user {
            let rest = text.get(user.len().saturating_add(1)..).unwrap_or_default().to_owned();
            value.splice(..1, [WordPiece::Tilde(user.to_owned()), WordPiece::Text { text: rest, quoted: false }]);
        }
    }
    value
}

impl ScriptReader<'_, '_> {
    /// Notes the value of an assignment.
    pub(super) fn note_assignment(&mut self, word: &Word) {
        let name = word.text().split_once('=').map(|(name, _)| name.trim_end_matches('+').to_owned());
        if let Some(name) = name {
            if word.pieces().contains(&WordPiece::Unknown) && self.sink.scan.assigned_from.len() < MAX_NAMED {
                let pipeline = self.sink.scan.pipelines.current();
                self.sink.scan.assigned_from.push((name.clone(), pipeline));
            }
            self.note_values(&name, behind_equals(word));
        }
    }

    /// Notes a value, in which variables of the text stand for their values.
    fn note_values(&mut self, name: &str, pieces: Vec<WordPiece>) {
        if known(pieces.clone()).is_some() {
            return self.note_value(name.to_owned(), pieces);
        }
        let word = Word::from_pieces(String::new(), pieces);
        for turn in 0..MAX_VALUES {
            let (words, more) = self.with_value(&word, turn);
            if !more {
                return;
            }
            for word in words {
                self.note_value(name.to_owned(), word.pieces().to_vec());
            }
        }
    }

    /// Notes a word of an array as a value of its name.
    pub(super) fn note_element(&mut self, array: &Word, word: &Word) {
        let name = array.text().split_once('=').map(|(name, _)| name.trim_end_matches('+').to_owned());
        if let Some(name) = name {
            self.note_values(&name, word.pieces().to_vec());
        }
    }

    /// Notes what `for NAME; do` goes through: the arguments.
    pub(super) fn note_turns_of_arguments(&mut self, name: &Word) {
        self.note_values(name.text(), vec![WordPiece::Param("@".to_owned())]);
    }

    /// Notes a word of the head of a loop.
    pub(super) fn note_turn(&mut self, name: &Word, word: &Word) {
        for word in self.expand_braces(std::slice::from_ref(word)).iter() {
            self.note_values(name.text(), word.pieces().to_vec());
        }
    }

    /// Notes the arguments of a script: `$0` or `$1` and so on, those that `shift` may lead to behind each, and all for `$@` and `$*`.
    pub(super) fn note_arguments(&mut self, first: usize, arguments: &[Word]) {
        let arguments = arguments.get(..MAX_ARGUMENTS).unwrap_or(arguments);
        for start in 0..arguments.len() {
            let name = start.saturating_add(first).to_string();
            for argument in arguments.iter().skip(start) {
                self.note_value(name.clone(), argument.pieces().to_vec());
            }
        }
        for argument in arguments.iter().skip(1_usize.saturating_sub(first)) {
            for all in ["@", "*"] {
                self.note_value(all.to_owned(), argument.pieces().to_vec());
            }
        }
    }

    fn note_value(&mut self, name: String, pieces: Vec<WordPiece>) {
        if self.sink.values.len() < MAX_NAMED {
            self.sink.values.extend(known(pieces).map(|pieces| NamedValue { name, pieces }));
        }
    }

    /// Records a command once more for each value that the text gives to a variable in it.
    pub(super) fn emit_with_values(&mut self, command: &CurrentCommand) {
        let program = command.words.first().map(|word| base_name(word.text()));
        if self.sink.values.is_empty() || program.is_some_and(directory::is_change) {
            return;
        }
        for turn in 0..MAX_VALUES {
            let mut more = false;
            let mut put = |word: &Word| {
                let (words, was_put) = self.with_value(word, turn);
                more |= was_put;
                words
            };
            let words: Vec<Word> = command.words.iter().flat_map(&mut put).collect();
            let redirects: Vec<Redirect> = command
                .redirects
                .iter()
                .filter_map(|redirect| Some(Redirect::new(redirect.kind, put(&redirect.target).into_iter().next()?)))
                .collect();
            if !more {
                return;
            }
            self.emit(&words, redirects, 0);
        }
    }

    /// Returns a word with the value of this number in the place of each variable; the last one if there are fewer. The
    /// flag is `true` if there is a value of this number.
    fn with_value(&self, word: &Word, turn: usize) -> (Vec<Word>, bool) {
        let mut more = false;
        let mut pieces = Vec::new();
        for piece in word.pieces() {
            let WordPiece::Param(name) = piece else {
                pieces.push(piece.clone());
                continue;
            };
            let values = || self.sink.values.iter().filter(|value| value.name == *name);
            more |= values().nth(turn).is_some();
            match values().nth(turn).or_else(|| values().next_back()) {
                Some(value) => pieces.extend(value.pieces.iter().cloned()),
                None => pieces.push(piece.clone()),
            }
        }
        let put = Word::from_pieces(word.source().to_owned(), pieces);
        let is_split = word.source().starts_with('$') && matches!(word.pieces(), [WordPiece::Param(_)]);
        if is_split && put.is_literal() && put.text().contains(char::is_whitespace) {
            return (put.text().split_whitespace().map(Word::literal).collect(), more);
        }
        (vec![put], more)
    }
}
