//! Loops, conditions and process substitutions, taken apart into the commands that they run.
//!
//! A loop becomes its body once for each of its words, and twice with a file name pattern in the place of the variable:
//! a later turn may find the files of an earlier one. A condition becomes all of its lists, one after the other.

use super::{GrammarParser, ListEnd, Result};
use crate::command::Connector;
use crate::directory::changes_directory;
use crate::word::WordPiece;
use crate::{NotUnderstood, RedirectKind, SimpleCommand, Word, WordKind};

/// Maximum number of words of a loop.
const MAX_TURNS: usize = 64;
/// Maximum number of commands from one loop.
const MAX_COMMANDS: usize = 128;

/// Programs that read each of their operands as a file, and write none.
const FILE_READERS: &[&str] =
    &["cat", "cmp", "comm", "cut", "diff", "head", "join", "nl", "paste", "sha256sum", "sort", "tail", "wc"];

/// Names that a shell or the programs that it runs know.
const KNOWN_NAMES: &[&str] = &["histchars"];

/// Builtins that set variables, or run others.
const SETTERS: &[&str] = &[
    ".",
    "builtin",
    "command",
    "declare",
    "eval",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "source",
    "typeset",
    "unset",
    "wait",
];

/// Returns `true` if a command may set a variable of the shell.
pub(super) fn may_set(command: &SimpleCommand, name: &str) -> bool {
    let mut words = command.words.iter().map(Word::text).skip_while(|word| matches!(*word, "time" | "-p"));
    let program = words.next().unwrap_or_default();
    let stores = program == "printf" && words.next().is_some_and(|option| option.starts_with("-v"));
    let is_setter = stores || SETTERS.contains(&program);
    is_setter || command.assignments.iter().any(|assignment| assignment.name == name)
}

impl GrammarParser<'_> {
    /// Reads one item of a list. The answer is `true` if its exit status may be another than that of its last command.
    pub(super) fn item(&mut self, connector: Connector, commands: &mut Vec<SimpleCommand>) -> Result<bool> {
        self.skip_blanks();
        let before = commands.len();
        let has_own_status = if self.is_at_keyword("for") {
            self.for_loop(connector, commands)?
        } else if self.is_at_keyword("if") {
            self.condition(connector, commands)?
        } else {
            commands.extend(self.command(connector)?);
            return Ok(false);
        };
        // Behind a pipe all of its commands run beside those before the pipe, in a shell of their own. The connectors
        // say that of a single command only.
        let mut own = commands.iter().skip(before);
        let is_single = own.next().is_some_and(|command| !changes_directory(command)) && own.next().is_none();
        if connector == Connector::Pipe && !is_single {
            return Err(NotUnderstood::Structure);
        }
        Ok(has_own_status)
    }

    /// Returns `true` if a keyword stands here.
    pub(super) fn is_at_keyword(&self, keyword: &str) -> bool {
        let rest = self.chars.get(self.pos..).unwrap_or_default();
        let ends = |c: Option<&char>| matches!(c, None | Some(' ' | '\t' | '\n' | ';' | ')'));
        keyword.chars().zip(rest).filter(|(own, found)| own == *found).count() == keyword.len()
            && ends(rest.get(keyword.len()))
    }

    fn keyword(&mut self, keyword: &str) -> Result<()> {
        if !self.is_at_keyword(keyword) {
            return Err(NotUnderstood::Structure);
        }
        self.pos = self.pos.saturating_add(keyword.len());
        Ok(())
    }

    fn for_loop(&mut self, connector: Connector, commands: &mut Vec<SimpleCommand>) -> Result<bool> {
        self.keyword("for")?;
        self.skip_blanks();
        let name = self.name();
        if name.is_empty() || KNOWN_NAMES.contains(&name.as_str()) {
            return Err(NotUnderstood::Structure);
        }
        self.skip_blanks();
        self.keyword("in")?;
        let items = self.items()?;
        self.skip_lines();
        self.keyword("do")?;
        self.skip_lines();
        let start = self.pos;
        let before = commands.len();
        // The lines of a document from before the loop would be read once for each turn.
        if !self.heredocs.is_empty() {
            return Err(NotUnderstood::Redirection);
        }
        let (mut connector, mut has_own_status) = (connector, false);
        for item in items {
            let is_pattern = item.kind() != WordKind::Literal;
            for _ in 0..if is_pattern { 2 } else { 1 } {
                self.pos = start;
                self.bindings.push((name.clone(), item.clone()));
                let body = self.list(connector, ListEnd::Keyword(&["done"]));
                self.bindings.pop();
                let (body, has_status) = body?;
                if !self.heredocs.is_empty() {
                    return Err(NotUnderstood::Redirection);
                }
                if body.iter().any(|part| may_set(part, &name)) {
                    return Err(NotUnderstood::Structure);
                }
                // The number of runs of such a body is not known.
                if is_pattern && body.iter().any(changes_directory) {
                    return Err(NotUnderstood::Structure);
                }
                commands.extend(body);
                if commands.len() > before.saturating_add(MAX_COMMANDS) {
                    return Err(NotUnderstood::TooLong);
                }
                (connector, has_own_status) = (Connector::Sequence, has_status);
            }
        }
        self.keyword("done")?;
        self.skip_blanks();
        Ok(has_own_status)
    }

    /// Reads a name of small letters and digits: no program knows a variable of such a name.
    fn name(&mut self) -> String {
        let rest = self.chars.get(self.pos..).unwrap_or_default();
        let name: String = rest.iter().take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit()).collect();
        self.pos = self.pos.saturating_add(name.len());
        if name.starts_with(|c: char| c.is_ascii_digit()) { String::new() } else { name }
    }

    /// Reads the words of a loop, up to the end of the line.
    fn items(&mut self) -> Result<Vec<Word>> {
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(';') if !items.is_empty() => {
                    self.bump();
                    return Ok(items);
                }
                Some('\n') if !items.is_empty() => {
                    self.line_end();
                    return Ok(items);
                }
                None | Some(';' | '\n' | '|' | '&' | '<' | '>' | '#') => return Err(NotUnderstood::Structure),
                Some(_) => {
                    let word = self.word()?;
                    if !self.values.is_empty() {
                        return Err(NotUnderstood::Expansion);
                    }
                    items.extend(self.expanded(word)?);
                }
            }
            if items.len() > MAX_TURNS {
                return Err(NotUnderstood::TooLong);
            }
        }
    }

    fn condition(&mut self, connector: Connector, commands: &mut Vec<SimpleCommand>) -> Result<bool> {
        self.keyword("if")?;
        self.skip_lines();
        let (condition, has_own_status) = self.list(connector, ListEnd::Keyword(&["then"]))?;
        if has_own_status {
            return Err(NotUnderstood::Structure);
        }
        commands.extend(condition);
        self.keyword("then")?;
        self.skip_lines();
        commands.extend(self.list(Connector::And, ListEnd::Keyword(&["else", "fi"]))?.0);
        if self.keyword("else").is_ok() {
            self.skip_lines();
            commands.extend(self.list(Connector::Sequence, ListEnd::Keyword(&["fi"]))?.0);
        }
        self.keyword("fi")?;
        self.skip_blanks();
        Ok(true)
    }

    /// `<(pipeline)` as a word of its own. To the program it is a file that nobody else can name.
    pub(super) fn process_substitution(
        &mut self,
        command: &mut SimpleCommand,
        commands: &mut Vec<SimpleCommand>,
    ) -> Result<Word> {
        let start = self.pos;
        let before = start.checked_sub(1).and_then(|at| self.chars.get(at));
        let reads = command.program().is_some_and(|program| FILE_READERS.contains(&program));
        if !(reads && matches!(before, Some(' ' | '\t'))) {
            return Err(NotUnderstood::Redirection);
        }
        self.bump();
        self.peek();
        self.bump();
        self.skip_lines();
        let has_document =
            |part: &SimpleCommand| part.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Inline);
        let is_pending = !self.heredocs.is_empty();
        let (inner, _) = self.list(command.connector, ListEnd::Parenthesis)?;
        // The texts of documents are given out in the order of the commands.
        if is_pending || has_document(command) || inner.iter().any(has_document) {
            return Err(NotUnderstood::Redirection);
        }
        let is_pipeline = inner.iter().skip(1).all(|part| part.connector == Connector::Pipe);
        if !is_pipeline || inner.iter().any(changes_directory) {
            return Err(NotUnderstood::Redirection);
        }
        if !matches!(self.peek(), None | Some(' ' | '\t' | '\n' | ';' | '|' | '&' | ')')) {
            return Err(NotUnderstood::Redirection);
        }
        commands.extend(inner);
        // They run at the same time.
        command.connector = Connector::Pipe;
        let source = self.chars.get(start..self.pos).unwrap_or_default().iter().collect();
        Ok(Word::from_pieces(source, vec![WordPiece::Text { text: "/dev/null".to_owned(), quoted: true }]))
    }
}
