//! Scripts: operators, keywords, functions, redirections.

use super::assignment::{has_plain_subscript, is_assignment, is_descriptor};
use super::reader::{ScriptReader, UnreadHeredoc};
use crate::word::base_name;
use crate::{Redirect, RedirectKind, Undecided, Word};

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptEnd {
    Text,
    Parenthesis,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CaseClause {
    Pattern,
    Body,
}

/// A command under construction.
#[derive(Default)]
pub(super) struct CurrentCommand {
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) piped: bool,
    assigned: bool,
    after_coproc: bool,
    after_time: bool,
}

impl CurrentCommand {
    /// Returns `true` before the first word: keywords are keywords here.
    fn is_fresh(&self) -> bool {
        self.words.is_empty() && self.redirects.is_empty() && !self.assigned
    }
}

/// Open constructs at one level of a script.
#[derive(Default)]
struct ScriptLevel {
    cases: Vec<CaseClause>,
    /// For each open `{`, `true` if it is a function's body.
    braces: Vec<bool>,
    /// A function whose body comes next.
    function: Option<String>,
    /// The command before, for pipes.
    previous: Vec<Word>,
    /// Number of open loops, conditions and groups, each of which is one pipeline.
    open: usize,
}

impl ScriptReader<'_, '_> {
    pub(super) fn whole_script(&mut self) {
        self.script(ScriptEnd::Text);
    }

    /// Reads on after an opening parenthesis; moves past the closing one.
    pub(super) fn script_in_parentheses(&mut self) {
        self.script(ScriptEnd::Parenthesis);
    }

    fn script(&mut self, end: ScriptEnd) {
        if !self.enter() {
            return;
        }
        let functions = self.sink.functions.len();
        let around = self.sink.scan.pipelines.enter();
        let mut level = ScriptLevel::default();
        let mut current = CurrentCommand::default();
        let mut closed = false;
        loop {
            if level.cases.last() == Some(&CaseClause::Pattern) && current.is_fresh() {
                self.case_pattern(&mut level);
            }
            self.skip_blanks();
            let Some(c) = self.peek() else {
                break;
            };
            if c == ')' {
                self.bump();
                if end == ScriptEnd::Parenthesis {
                    closed = true;
                    break;
                }
                self.undecided(Undecided::Malformed);
                self.finish(&mut level, &mut current, c);
                continue;
            }
            self.step(c, &mut level, &mut current);
        }
        self.finish(&mut level, &mut current, '\n');
        if end == ScriptEnd::Parenthesis && !(closed && self.heredocs.is_empty()) {
            self.undecided(Undecided::Malformed);
            self.heredocs.clear();
        }
        self.sink.functions.truncate(functions);
        self.sink.scan.pipelines.leave(&around);
        self.leave();
    }

    fn step(&mut self, c: char, level: &mut ScriptLevel, current: &mut CurrentCommand) {
        match c {
            '\n' => {
                self.finish(level, current, c);
                self.line_end();
            }
            '#' => self.skip_comment(),
            ';' => {
                self.finish(level, current, c);
                self.bump();
                if self.eat(';') || self.eat('&') {
                    self.eat('&');
                    if let Some(case) = level.cases.last_mut() {
                        *case = CaseClause::Pattern;
                    }
                }
            }
            '&' if self.second() == Some('>') => {
                self.bump();
                self.redirect(current);
            }
            '&' => {
                self.bump();
                let both = self.eat('&');
                self.finish(level, current, if both { ';' } else { '&' });
            }
            '|' => {
                self.bump();
                let both = self.eat('|');
                if !both {
                    self.eat('&');
                }
                self.finish(level, current, if both { ';' } else { '|' });
                current.piped = !both;
            }
            '(' => self.open_parenthesis(level, current),
            '<' | '>' if self.second() != Some('(') => self.redirect(current),
            _ => self.script_word(level, current),
        }
    }

    fn open_parenthesis(&mut self, level: &mut ScriptLevel, current: &mut CurrentCommand) {
        self.bump();
        if let ([name], false) = (current.words.as_slice(), current.assigned) {
            // `name ( )`: a function.
            let pos = self.pos;
            self.skip_blanks();
            if self.eat(')') {
                self.defines(level, name.text().to_owned());
                *current = CurrentCommand::default();
                self.skip_lines();
                return;
            }
            self.pos = pos;
        }
        if current.is_fresh() {
            if self.peek() == Some('(') && self.arithmetic() {
                return;
            }
        } else {
            self.undecided(Undecided::Malformed);
        }
        let function = level.function.take();
        let is_function = function.is_some();
        self.sink.functions.extend(function);
        self.script_in_parentheses();
        if is_function {
            self.sink.functions.pop();
        }
    }

    fn script_word(&mut self, level: &mut ScriptLevel, current: &mut CurrentCommand) {
        let word = self.word();
        let source = word.source();
        if source.is_empty() {
            self.bump();
            self.undecided(Undecided::Malformed);
            return;
        }
        if matches!(self.peek(), Some('<' | '>')) {
            if is_descriptor(source) && self.second() != Some('(') {
                return;
            }
            if source.starts_with('{') && source.contains('[') {
                // An element of an array may be a descriptor, too.
                self.undecided(Undecided::Malformed);
            }
        }
        if current.is_fresh() && self.keyword(source, level, current) {
            return;
        }
        if current.words.is_empty() && is_assignment(source) {
            current.assigned = true;
            if !has_plain_subscript(source) {
                self.undecided(Undecided::Malformed);
            }
            self.nested_expansions_of_literal(&word);
            self.assigned(&word);
            self.note_assignment(&word);
            if source.ends_with('=') && self.peek() == Some('(') {
                self.array(&word);
            }
            return;
        }
        if current.after_coproc
            && current.words.len() == 1
            && matches!(source, "{" | "if" | "while" | "until" | "for" | "case" | "[[")
        {
            *current = CurrentCommand::default();
            self.keyword(source, level, current);
            return;
        }
        if current.after_time && current.words.is_empty() && matches!(source, "-p" | "--") {
            return;
        }
        current.words.push(word);
    }

    /// Reads quoted text that a later evaluation may expand.
    pub(super) fn nested_expansions_of_literal(&mut self, word: &Word) {
        if word.text().contains("$(") || word.text().contains('`') {
            self.nested_expansions(word.text());
        }
    }

    fn array(&mut self, array: &Word) {
        self.bump();
        loop {
            self.skip_lines();
            match self.peek() {
                None => {
                    self.undecided(Undecided::Malformed);
                    return;
                }
                Some(')') => {
                    self.bump();
                    // The text that follows directly belongs to the word: `#` begins no comment there.
                    self.word();
                    return;
                }
                Some(_) => {
                    let word = self.word();
                    if word.source().is_empty() {
                        self.bump();
                    }
                    self.note_element(array, &word);
                }
            }
        }
    }

    fn word_or_skip(&mut self) {
        if self.word().source().is_empty() {
            self.bump();
        }
    }

    /// Handles a keyword in the place of a command. Returns false if the word is no keyword.
    fn keyword(&mut self, source: &str, level: &mut ScriptLevel, current: &mut CurrentCommand) -> bool {
        match source {
            "if" | "while" | "until" | "for" | "select" | "{" => level.open = level.open.saturating_add(1),
            "fi" | "done" | "}" => level.open = level.open.saturating_sub(1),
            _ => {}
        }
        match source {
            "if" | "then" | "else" | "elif" | "fi" | "while" | "until" | "do" | "done" | "!" => {}
            "{" => {
                let function = level.function.take();
                level.braces.push(function.is_some());
                self.sink.functions.extend(function);
            }
            "}" => {
                if level.braces.pop() == Some(true) {
                    self.sink.functions.pop();
                }
            }
            "esac" => {
                level.cases.pop();
            }
            "time" => {
                self.sink.push(&[Word::literal("time")], Vec::new());
                current.after_time = true;
            }
            "coproc" => {
                self.undecided(Undecided::Definition);
                current.after_coproc = true;
            }
            "for" | "select" => self.for_head(),
            "case" => {
                self.skip_blanks();
                self.word_or_skip();
                self.skip_lines();
                if self.word().source() != "in" {
                    self.undecided(Undecided::Malformed);
                }
                level.cases.push(CaseClause::Pattern);
            }
            "function" => {
                self.skip_blanks();
                let name = self.word();
                self.skip_blanks();
                let pos = self.pos;
                if self.eat('(') {
                    self.skip_blanks();
                    if !self.eat(')') {
                        self.pos = pos;
                    }
                }
                self.skip_lines();
                self.defines(level, name.text().to_owned());
            }
            "[[" => self.condition(),
            _ => return false,
        }
        true
    }

    /// Reads on after `for` or `select`.
    fn for_head(&mut self) {
        self.skip_blanks();
        if self.peek() == Some('(') {
            self.bump();
            if !(self.peek() == Some('(') && self.arithmetic()) {
                self.undecided(Undecided::Malformed);
            }
            return;
        }
        let name = self.word();
        if name.source().is_empty() {
            self.bump();
        }
        self.named(std::slice::from_ref(&name));
        self.skip_lines();
        let pos = self.pos;
        if self.word().source() != "in" {
            self.pos = pos;
            return self.note_turns_of_arguments(&name);
        }
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('\n' | ';' | '#') => return,
                Some(')' | '&' | '|') => {
                    self.undecided(Undecided::Malformed);
                    return;
                }
                Some(_) => {
                    let word = self.word();
                    if word.source().is_empty() {
                        self.bump();
                    }
                    self.note_turn(&name, &word);
                }
            }
        }
    }

    /// Reads on after `[[`.
    fn condition(&mut self) {
        loop {
            match self.peek() {
                None => {
                    self.undecided(Undecided::Malformed);
                    return;
                }
                Some(' ' | '\t' | ';' | '|' | '&' | '(' | ')') => self.bump(),
                Some('\n') => self.line_end(),
                Some(_) => {
                    let word = self.word();
                    match word.source() {
                        "]]" => return,
                        // `<` and `>` compare here.
                        "" => self.bump(),
                        _ => self.nested_expansions_of_literal(&word),
                    }
                }
            }
        }
    }

    /// Reads up to and with the `)` of a case pattern, or `esac`.
    fn case_pattern(&mut self, level: &mut ScriptLevel) {
        self.skip_lines();
        let mut first = true;
        loop {
            self.skip_blanks();
            match self.peek() {
                None => {
                    level.cases.pop();
                    return;
                }
                Some(')') => {
                    self.bump();
                    break;
                }
                Some('\n') => self.line_end(),
                Some('(' | '|' | ';' | '&' | '<' | '>') => self.bump(),
                Some(_) => {
                    let word = self.word();
                    if first && word.source() == "esac" {
                        level.cases.pop();
                        return;
                    }
                    if word.source().is_empty() {
                        self.bump();
                    }
                }
            }
            first = false;
        }
        if let Some(case) = level.cases.last_mut() {
            *case = CaseClause::Body;
        }
    }

    /// Reads a redirection at `<` or `>`.
    fn redirect(&mut self, current: &mut CurrentCommand) {
        let kind = if self.eat('<') {
            match self.peek() {
                Some('<') => {
                    self.bump();
                    if !self.eat('<') {
                        self.heredoc(current);
                        return;
                    }
                    RedirectKind::Inline
                }
                Some('&') => {
                    self.bump();
                    RedirectKind::Duplicate
                }
                Some('>') => {
                    self.bump();
                    RedirectKind::Write
                }
                _ => RedirectKind::Read,
            }
        } else {
            self.bump();
            match self.peek() {
                Some('>') => {
                    self.bump();
                    RedirectKind::Append
                }
                Some('|') => {
                    self.bump();
                    RedirectKind::Write
                }
                Some('&') => {
                    self.bump();
                    RedirectKind::Duplicate
                }
                _ => RedirectKind::Write,
            }
        };
        self.skip_blanks();
        let target = self.word();
        let descriptor = target.source().trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        let kind = match kind {
            RedirectKind::Duplicate if !descriptor => RedirectKind::Write,
            kind => kind,
        };
        current.redirects.push(Redirect::new(kind, target));
    }

    /// Reads on after `<<`.
    fn heredoc(&mut self, current: &mut CurrentCommand) {
        let strip_tabs = self.eat('-');
        self.skip_blanks();
        let target = self.word();
        let source = target.source().replace("\\\n", "");
        let quoted = source.contains(['\'', '"', '\\']);
        // Expansions in the delimiter stay as they are written.
        let delimiter = if quoted { target.text().to_owned() } else { source };
        if quoted && !target.is_literal() {
            self.undecided(Undecided::Malformed);
        }
        // The command gets its place in the scan when it is complete.
        let place = (usize::MAX, current.redirects.len());
        self.heredocs.push(UnreadHeredoc { delimiter, quoted, strip_tabs, script: false, place });
        current.redirects.push(Redirect::new(RedirectKind::Inline, Word::literal("")));
    }

    /// Completes the command; `after` is the operator behind it.
    fn finish(&mut self, level: &mut ScriptLevel, current: &mut CurrentCommand, after: char) {
        let command = std::mem::take(current);
        if command.words.is_empty() && command.redirects.is_empty() {
            // A line may end behind `|`.
            current.piped = command.piped && after == '\n';
            self.end_pipeline(level, current.piped || after == '|');
            return;
        }
        self.note_fork_bomb(level, &command, after);
        let index = self.sink.scan.found.len();
        for heredoc in self.heredocs.iter_mut().filter(|heredoc| heredoc.place.0 == usize::MAX) {
            heredoc.place.0 = index;
        }
        let reads_script = self.emit(&command.words, command.redirects.clone(), 0);
        self.emit_with_values(&command);
        if reads_script || runs_its_input(&command) {
            self.undecided(Undecided::Input);
            self.script_from_input(level, &command);
        }
        level.previous = command.words;
        self.end_pipeline(level, after == '|');
    }

    /// Begins another pipeline, unless the one that was read goes on.
    fn end_pipeline(&mut self, level: &ScriptLevel, goes_on: bool) {
        if !goes_on && level.open == 0 {
            self.sink.scan.pipelines.next();
        }
    }

    /// Notes a function whose body comes next.
    fn defines(&mut self, level: &mut ScriptLevel, name: String) {
        self.sink.scan.functions.push(name.clone());
        level.function = Some(name);
    }

    fn note_fork_bomb(&mut self, level: &ScriptLevel, command: &CurrentCommand, after: char) {
        let Some(program) = command.words.first() else {
            return;
        };
        let own = self.sink.functions.iter().any(|f| f == program.text()) || matches!(program.text(), "$0" | "./$0");
        let both = command.piped && level.previous.first().is_some_and(|p| p.text() == program.text());
        if own && (after == '&' || both) {
            self.sink.scan.fork_bomb = true;
        }
    }

    /// Gives a shell its script from a here-document, a here-string or an echo.
    fn script_from_input(&mut self, level: &ScriptLevel, command: &CurrentCommand) {
        for heredoc in &mut self.heredocs {
            heredoc.script = true;
        }
        for redirect in &command.redirects {
            if redirect.kind == RedirectKind::Inline {
                self.nested_script(redirect.target.text());
            }
        }
        if command.piped && matches!(level.previous.first().map(Word::text), Some("echo" | "printf" | "cat")) {
            let text: Vec<&str> = level.previous.iter().skip(1).map(Word::text).collect();
            self.nested_script(&text.join(" "));
            for word in &text {
                self.nested_script(word);
            }
        }
    }
}

/// Returns `true` for programs that take commands from a here-document where none is among their words; those that
/// keep a script for later take it from a pipe too.
fn runs_its_input(command: &CurrentCommand) -> bool {
    let has_text = command.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Inline);
    match command.words.first().map(|word| base_name(word.text())) {
        Some("at" | "batch") => has_text || command.piped,
        Some("parallel" | "ssh") => has_text,
        _ => false,
    }
}
