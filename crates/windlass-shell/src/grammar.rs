//! The allow side's parser: a small positive grammar, everything else refused.
//!
//! ```text
//! text     := list | '(' list ')'
//! list     := item (('&&' | '||' | '|' | '|&' | ';' | newline) item)* [';']
//! item     := command | for NAME in word+ ; do list done | if list ; then list [else list] fi
//! command  := ['!'] (NAME=literal)* word* mixed with redirections; '!' not behind a pipe
//! word     := plain characters, '…', "…" without expansion, $'…', \c, and unquoted * ? [ as patterns; behind the program
//!             also {a,b}, the value of a loop, `$?`, "$PWD…", "$(pwd)…", "$(cat <<'WORD' …)" and <(pipeline), see `words`,
//!             `heredoc` and `compound`
//! redirect := [1|2] ('>' | '>>' | '>|') literal, [0] '<' literal, '&>' literal, '&>>' literal, [n] '>&' (1|2),
//!             [0] '<<<' literal, [0] '<<' WORD with lines that are literal
//! ```
//! A backslash before a line end joins what it separates, everywhere but in single quotes and comments.

mod compound;
mod heredoc;
mod words;

use crate::{
    NotUnderstood, Redirect, RedirectKind, SimpleCommand, Understood, Word,
    command::{Assignment, Connector},
    word::WordPiece,
};

type Result<T> = std::result::Result<T, NotUnderstood>;

const RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "until", "while", "{", "}",
];

/// Parses a text that has passed the character gate.
pub(crate) fn parse(chars: &[char]) -> Result<Understood> {
    GrammarParser::new(chars).text()
}

/// Returns the words of a text which is one command of literal words and nothing else.
pub(crate) fn literal_words(text: &str) -> Option<Vec<String>> {
    let chars: Vec<char> = text.chars().collect();
    let mut parser = GrammarParser::new(&chars);
    let mut words = Vec::new();
    loop {
        parser.skip_blanks();
        if parser.peek().is_none() {
            return Some(words);
        }
        let word = parser.word().ok()?;
        if !word.is_literal() || word.source().is_empty() || parser.no_values().is_err() {
            return None;
        }
        words.push(word.text().to_owned());
    }
}

struct GrammarParser<'a> {
    chars: &'a [char],
    pos: usize,
    /// Variables of the enclosing loops, each with its word.
    bindings: Vec<(String, Word)>,
    /// The end of the list that is read.
    end: ListEnd,
    /// Values of the running shell in the word that was read last.
    values: Vec<words::RuntimeValue>,
    /// Alternatives in each of the braces of the word that was read last.
    alternatives: Vec<Vec<Vec<WordPiece>>>,
    /// `true` if a word depends on the shell's `PWD`.
    names_directory: bool,
    /// Here-documents whose lines follow the current one.
    heredocs: Vec<heredoc::PendingHeredoc>,
    /// Texts of the here-documents that were read, in order.
    bodies: Vec<String>,
    /// `true` if the text of a here-document is not literal, or does not end.
    has_unread_text: bool,
}

/// The end of a list of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListEnd {
    Text,
    Parenthesis,
    /// One of these keywords, in the place of a command.
    Keyword(&'static [&'static str]),
}

impl<'a> GrammarParser<'a> {
    fn new(chars: &'a [char]) -> Self {
        Self {
            chars,
            pos: 0,
            bindings: Vec::new(),
            end: ListEnd::Text,
            values: Vec::new(),
            alternatives: Vec::new(),
            names_directory: false,
            heredocs: Vec::new(),
            bodies: Vec::new(),
            has_unread_text: false,
        }
    }

    fn text(mut self) -> Result<Understood> {
        self.skip_lines();
        if self.peek().is_none() {
            return Err(NotUnderstood::Empty);
        }
        let mut commands = if self.peek() == Some('(') {
            // All of it in a shell of its own: there are no other commands to whom that would matter.
            self.bump();
            self.skip_lines();
            let (list, _) = self.list(Connector::First, ListEnd::Parenthesis)?;
            self.skip_lines();
            if self.peek().is_some() {
                return Err(NotUnderstood::Structure);
            }
            list
        } else {
            self.list(Connector::First, ListEnd::Text)?.0
        };
        if self.has_unread_text || !self.heredocs.is_empty() {
            return Err(NotUnderstood::Redirection);
        }
        self.set_bodies(&mut commands);
        if self.names_directory && commands.iter().any(|command| compound::may_set(command, "PWD")) {
            return Err(NotUnderstood::Expansion);
        }
        Ok(Understood { commands })
    }

    /// Reads the commands up to the end of a list. The flag is `true` if the exit status of the last item is not that
    /// of its last command.
    fn list(&mut self, first: Connector, end: ListEnd) -> Result<(Vec<SimpleCommand>, bool)> {
        let around = std::mem::replace(&mut self.end, end);
        let (mut commands, mut connector) = (Vec::new(), first);
        loop {
            let has_own_status = self.item(connector, &mut commands)?;
            match self.connector()? {
                Some(Connector::Sequence) => connector = Connector::Sequence,
                Some(_) if has_own_status => return Err(NotUnderstood::Structure),
                Some(next) => connector = next,
                None => {
                    self.end = around;
                    return Ok((commands, has_own_status));
                }
            }
        }
    }

    /// Reads the operator between two commands; `None` at the end of the list, which is skipped.
    fn connector(&mut self) -> Result<Option<Connector>> {
        let Some(c) = self.peek() else {
            return if self.end == ListEnd::Text { Ok(None) } else { Err(NotUnderstood::Structure) };
        };
        if c == '\n' {
            self.skip_lines();
            return self.sequence();
        }
        self.bump();
        let connector = match (c, self.peek()) {
            (')', _) if self.end == ListEnd::Parenthesis => return Ok(None),
            ('&', Some('&')) => Connector::And,
            ('|', Some('|')) => Connector::Or,
            ('|', Some('&')) => Connector::Pipe,
            ('|', _) => {
                return self.after_operator(Connector::Pipe).map(Some);
            }
            ('&', _) => return Err(NotUnderstood::Background),
            (';', _) => {
                self.skip_lines();
                return self.sequence();
            }
            _ => return Err(NotUnderstood::Operator),
        };
        self.bump();
        self.after_operator(connector).map(Some)
    }

    /// Reads on behind `;` or a line end: another command, or the end of the list.
    fn sequence(&mut self) -> Result<Option<Connector>> {
        let next = self.peek();
        match self.end {
            ListEnd::Text => Ok(next.is_some().then_some(Connector::Sequence)),
            ListEnd::Parenthesis if next == Some(')') => {
                self.bump();
                Ok(None)
            }
            ListEnd::Keyword(keywords) if keywords.iter().any(|keyword| self.is_at_keyword(keyword)) => Ok(None),
            _ if next.is_none() => Err(NotUnderstood::Structure),
            _ => Ok(Some(Connector::Sequence)),
        }
    }

    fn after_operator(&mut self, connector: Connector) -> Result<Connector> {
        self.skip_lines();
        if self.peek().is_some() { Ok(connector) } else { Err(NotUnderstood::Operator) }
    }

    /// Reads a command, behind those whose output it reads through a file.
    fn command(&mut self, connector: Connector) -> Result<Vec<SimpleCommand>> {
        let negated = connector != Connector::Pipe && self.skip_negation();
        let start = self.pos;
        let mut end = start;
        let mut commands = Vec::new();
        let mut command = SimpleCommand {
            connector,
            negated,
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            source: String::new(),
        };
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|') => break,
                Some(')') if self.end == ListEnd::Parenthesis => break,
                Some('<') if self.peek_second() == Some('(') => {
                    let word = self.process_substitution(&mut command, &mut commands)?;
                    command.words.push(word);
                }
                Some('#') => {
                    self.skip_comment();
                    break;
                }
                Some('&') => {
                    if self.peek_second() != Some('>') {
                        break;
                    }
                    self.bump();
                    let redirect = self.redirect_both()?;
                    command.redirects.push(redirect);
                }
                Some('<' | '>') => {
                    let redirect = self.redirect(None)?;
                    command.redirects.push(redirect);
                }
                Some(_) => self.word_or_redirect(&mut command)?,
            }
            end = self.pos;
        }
        if command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty() {
            return Err(NotUnderstood::Operator);
        }
        check_timed_program(&command)?;
        command.source = self.chars.get(start..end).unwrap_or_default().iter().collect();
        commands.push(command);
        Ok(commands)
    }

    /// Skips `!` as a word of its own. The answer is `true` if there was one.
    fn skip_negation(&mut self) -> bool {
        self.skip_blanks();
        let negated = self.peek() == Some('!') && matches!(self.peek_second(), Some(' ' | '\t'));
        if negated {
            self.bump();
            self.skip_blanks();
        }
        negated
    }

    fn word_or_redirect(&mut self, command: &mut SimpleCommand) -> Result<()> {
        let word = self.word()?;
        if matches!(self.peek(), Some('<' | '>')) {
            let source = word.source();
            if !source.is_empty() && source.chars().all(|c| c.is_ascii_digit()) {
                let redirect = self.redirect(Some(source))?;
                command.redirects.push(redirect);
                return Ok(());
            }
            // `{name}>file` stores a descriptor in a variable; a continuation inside the number would hide it.
            if source.contains(['{', '\n']) {
                return Err(NotUnderstood::Redirection);
            }
        }
        if command.words.is_empty() {
            if let Some(assignment) = assignment(&word)? {
                command.assignments.push(assignment);
                return self.no_values();
            }
            check_program(&word)?;
            self.no_values()?;
            if word.source().contains('$') {
                return Err(NotUnderstood::Program);
            }
        }
        self.push_argument(word, command)
    }

    /// Reads a redirection after `&`, at `>`.
    fn redirect_both(&mut self) -> Result<Redirect> {
        self.bump();
        let mut kind = RedirectKind::Write;
        match self.peek() {
            Some('>') => {
                self.bump();
                kind = RedirectKind::Append;
            }
            Some('&' | '|' | '(') => return Err(NotUnderstood::Redirection),
            _ => {}
        }
        Ok(Redirect::new(kind, self.target()?))
    }

    /// Reads a redirection at `<` or `>`, after an optional descriptor number.
    fn redirect(&mut self, descriptor: Option<&str>) -> Result<Redirect> {
        let operator = self.peek();
        self.bump();
        if operator == Some('<') {
            let next = self.peek();
            if matches!(next, Some('>' | '&' | '(')) || !matches!(descriptor, None | Some("0")) {
                return Err(NotUnderstood::Redirection);
            }
            if next == Some('<') {
                return self.inline();
            }
            return Ok(Redirect::new(RedirectKind::Read, self.target()?));
        }
        if !matches!(descriptor, None | Some("1" | "2")) {
            return Err(NotUnderstood::Redirection);
        }
        let kind = match self.peek() {
            Some('&') => {
                self.bump();
                let target = self.target()?;
                if !matches!(target.source(), "1" | "2") {
                    return Err(NotUnderstood::Redirection);
                }
                return Ok(Redirect::new(RedirectKind::Duplicate, target));
            }
            Some('(') => return Err(NotUnderstood::Redirection),
            Some('>') => {
                self.bump();
                RedirectKind::Append
            }
            Some('|') => {
                self.bump();
                RedirectKind::Write
            }
            _ => RedirectKind::Write,
        };
        Ok(Redirect::new(kind, self.target()?))
    }

    fn target(&mut self) -> Result<Word> {
        self.skip_blanks();
        if matches!(self.peek(), None | Some('\n' | ';' | '|' | '&' | '<' | '>' | '#')) {
            return Err(NotUnderstood::Redirection);
        }
        let word = self.word()?;
        self.no_values()?;
        // bash opens these names itself, as sockets.
        let network = ["/dev/tcp", "/dev/udp"].iter().any(|p| word.text().starts_with(p));
        if !word.is_literal() || word.text().is_empty() || network {
            return Err(NotUnderstood::Redirection);
        }
        Ok(word)
    }

    /// Returns the next character, line continuations skipped.
    fn peek(&mut self) -> Option<char> {
        while self.chars.get(self.pos) == Some(&'\\') && self.chars.get(self.pos.saturating_add(1)) == Some(&'\n') {
            self.pos = self.pos.saturating_add(2);
        }
        self.chars.get(self.pos).copied()
    }

    fn peek_second(&mut self) -> Option<char> {
        let pos = self.pos;
        self.bump();
        let second = self.peek();
        self.pos = pos;
        second
    }

    /// Moves past the character that `peek` gave.
    fn bump(&mut self) {
        self.pos = self.pos.saturating_add(1);
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.bump();
        }
    }

    /// Skips blanks, empty lines and comments: only to be used where a word may begin.
    fn skip_lines(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.bump(),
                Some('\n') => self.line_end(),
                Some('#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.chars.get(self.pos).is_some_and(|c| *c != '\n') {
            self.bump();
        }
    }
}

fn assignment(word: &Word) -> Result<Option<Assignment>> {
    let Some((name, _)) = word.source().split_once('=') else {
        return Ok(None);
    };
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let value = word.text().strip_prefix(name).and_then(|rest| rest.strip_prefix('='));
    match (plain && word.is_literal(), value) {
        (true, Some(value)) => Ok(Some(Assignment { name: name.to_owned(), value: value.to_owned() })),
        _ => Err(NotUnderstood::Program),
    }
}

fn check_program(word: &Word) -> Result<()> {
    let text = word.text();
    if RESERVED.contains(&text) {
        return Err(NotUnderstood::Structure);
    }
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | ':' | '@' | '[') || !c.is_ascii()
    };
    if word.is_literal() && !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        Ok(())
    } else {
        Err(NotUnderstood::Program)
    }
}

/// `time` is a keyword: the word behind it is again in the place of a program.
fn check_timed_program(command: &SimpleCommand) -> Result<()> {
    let mut words = command.words.iter().peekable();
    if command.words.first().is_none_or(|w| w.text() != "time") {
        return Ok(());
    }
    while words.next_if(|w| matches!(w.text(), "-p" | "time")).is_some() {}
    let program = words.next().ok_or(NotUnderstood::Program)?;
    if program.source().contains('=') {
        return Err(NotUnderstood::Program);
    }
    check_program(program)
}

#[cfg(test)]
mod tests;
