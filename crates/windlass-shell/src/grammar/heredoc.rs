//! Here-documents and here-strings whose text is literal.

use super::{GrammarParser, Result};
use crate::{NotUnderstood, Redirect, RedirectKind, SimpleCommand, Word};

/// A here-document whose lines follow.
pub(super) struct PendingHeredoc {
    delimiter: String,
    /// `true` if a part of the delimiter is quoted: then nothing in the text is expanded.
    quoted: bool,
    strip_tabs: bool,
}

impl GrammarParser<'_> {
    /// Behind `<`, at another one: `<<WORD`, `<<-WORD` or `<<<text`.
    pub(super) fn inline(&mut self) -> Result<Redirect> {
        self.bump();
        if self.peek() == Some('<') {
            self.bump();
            self.skip_blanks();
            let text = self.word()?;
            self.no_values()?;
            if text.source().is_empty() || !text.is_literal() {
                return Err(NotUnderstood::Redirection);
            }
            return Ok(Redirect::new(RedirectKind::Inline, text));
        }
        let strip_tabs = self.peek() == Some('-');
        if strip_tabs {
            self.bump();
        }
        self.skip_blanks();
        let word = self.word()?;
        self.no_values()?;
        let quoted = word.source().contains(['\'', '"', '\\']);
        let is_one_line = !word.source().contains('\n');
        let delimiter = word.as_literal().filter(|text| is_one_line && !text.is_empty() && is_plain(text));
        let delimiter = delimiter.ok_or(NotUnderstood::Redirection)?.to_owned();
        self.heredocs.push(PendingHeredoc { delimiter, quoted, strip_tabs });
        Ok(Redirect::new(RedirectKind::Inline, Word::literal("")))
    }

    /// Moves past a line end and the here-documents whose lines begin there.
    pub(super) fn line_end(&mut self) {
        self.bump();
        for heredoc in std::mem::take(&mut self.heredocs) {
            match self.body(&heredoc) {
                Some(body) => self.bodies.push(body),
                None => self.has_unread_text = true,
            }
        }
    }

    /// Reads the lines of a here-document, if their meaning is their text. The position is behind the delimiter then.
    fn body(&mut self, heredoc: &PendingHeredoc) -> Option<String> {
        let mut body = String::new();
        loop {
            let rest = self.chars.get(self.pos..).filter(|rest| !rest.is_empty())?;
            let length = rest.iter().position(|c| *c == '\n');
            let line: String = rest.iter().take(length.unwrap_or(rest.len())).collect();
            self.pos = self.pos.saturating_add(length.unwrap_or(rest.len()));
            let line = if heredoc.strip_tabs { line.trim_start_matches('\t') } else { &line };
            if line == heredoc.delimiter {
                // A line end behind the delimiter ends its line.
                self.pos = self.pos.saturating_add(usize::from(length.is_some()));
                return (heredoc.quoted || !body.contains(['$', '`', '\\'])).then_some(body);
            }
            length?;
            self.pos = self.pos.saturating_add(1);
            body.push_str(line);
            body.push('\n');
        }
    }

    /// Gives the redirections of here-documents their texts, in order.
    pub(super) fn set_bodies(&mut self, commands: &mut [SimpleCommand]) {
        let inline = commands.iter_mut().flat_map(|command| &mut command.redirects);
        let documents =
            inline.filter(|redirect| redirect.kind == RedirectKind::Inline && redirect.target.source().is_empty());
        for (redirect, body) in documents.zip(std::mem::take(&mut self.bodies)) {
            redirect.target = Word::literal(&body);
        }
    }

    /// Reads `(cat <<WORD … )` behind a `$` in double quotes, and returns its text. The position is behind the
    /// parenthesis then.
    pub(super) fn document(&mut self) -> Option<String> {
        let start = self.pos;
        let document = self.document_from(start);
        if document.is_none() {
            self.pos = start;
        }
        document
    }

    fn document_from(&mut self, start: usize) -> Option<String> {
        let rest = self.chars.get(start..)?;
        let line: String = rest.iter().take_while(|c| **c != '\n').collect();
        let operator = line.strip_prefix('(')?.trim_start_matches([' ', '\t']).strip_prefix("cat")?;
        let word = operator.trim_start_matches([' ', '\t']).strip_prefix("<<")?;
        let strip_tabs = word.starts_with('-');
        let word = word.strip_prefix('-').unwrap_or(word).trim_matches([' ', '\t']);
        let inner = ['\'', '"'].iter().find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote));
        let delimiter = inner.unwrap_or(word);
        let is_name = !delimiter.is_empty() && delimiter.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // The lines of another document would come first.
        if !is_name || !self.heredocs.is_empty() {
            return None;
        }
        self.pos = start.saturating_add(line.chars().count()).saturating_add(1);
        let heredoc = PendingHeredoc { delimiter: delimiter.to_owned(), quoted: inner.is_some(), strip_tabs };
        let body = self.body(&heredoc)?;
        // To some versions of bash such a line is the last one, whatever follows the delimiter.
        if body.lines().any(|line| line.trim_start().starts_with(delimiter)) {
            return None;
        }
        while matches!(self.chars.get(self.pos), Some(' ' | '\t' | '\n')) {
            self.bump();
        }
        (self.chars.get(self.pos) == Some(&')')).then_some(())?;
        self.bump();
        let ends_elsewhere =
            naive_end(self.chars.get(start..)?).is_some_and(|end| start.saturating_add(end) != self.pos);
        (!ends_elsewhere).then(|| body.trim_end_matches('\n').to_owned())
    }
}

/// Characters of delimiters that no version of bash reads in another way.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '!'))
}

/// Returns the end of a parenthesis for a shell that does not know here-documents in it, as bash before 4.0: it looks
/// for the closing one outside of quotes. `None`: it finds none, and refuses the text.
fn naive_end(chars: &[char]) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut at = 0_usize;
    while let Some(c) = chars.get(at) {
        at = at.saturating_add(1);
        match (quote, c) {
            (Some('"') | None, '\\') => at = at.saturating_add(1),
            (Some(open), c) if *c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(*c),
            (None, '(') => depth = depth.saturating_add(1),
            (None, ')') if depth <= 1 => return Some(at),
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    None
}
